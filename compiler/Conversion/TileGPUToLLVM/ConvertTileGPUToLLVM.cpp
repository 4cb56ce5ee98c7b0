//===- ConvertTileGPUToLLVM.cpp - Kernels to functions of a thread --------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the function around what GpuEmitter emits.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Numerics/F64Functions.h"
#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"
#include "compiler/Conversion/TileGPUToLLVM/Passes.h"
#include "compiler/Conversion/TileGPUToLLVM/ProductCalls.h"
#include "compiler/Conversion/TileGPUToLLVM/RegisterNeeds.h"
#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"

#include "dialects/TileGPU/IR/LaunchAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSet.h"

namespace flashtile::gpu {
#define GEN_PASS_DEF_CONVERTTILEGPUTOLLVMPASS
#include "compiler/Conversion/TileGPUToLLVM/Passes.h.inc"
} // namespace flashtile::gpu

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

/// The warpgroup of a producer, of which one thread works.
static constexpr int64_t kProducerThreads = 128;
/// Of the multiprocessor that has most, and what the system adds to a block.
static constexpr int64_t kMostSharedBytes = 228 * 1024;
static constexpr int64_t kReservedSharedBytes = 1024;

namespace {
struct ConvertTileGPUToLLVM
    : public flashtile::gpu::impl::ConvertTileGPUToLLVMPassBase<
          ConvertTileGPUToLLVM> {
  using ConvertTileGPUToLLVMPassBase::ConvertTileGPUToLLVMPassBase;

  void runOnOperation() override {
    for (KernelOp kernel :
         llvm::make_early_inc_range(getOperation().getOps<KernelOp>()))
      if (failed(convert(kernel)))
        return signalPassFailure();
  }

private:
  LogicalResult convert(KernelOp kernel);
  LLVM::GlobalOp sharedMemory(OpBuilder &builder, Location loc);
};
} // namespace

/// Dynamic shared memory, aligned for every swizzle.
LLVM::GlobalOp ConvertTileGPUToLLVM::sharedMemory(OpBuilder &builder,
                                                  Location loc) {
  constexpr char kName[] = "__flashtile_shared";
  if (auto global = getOperation().lookupSymbol<LLVM::GlobalOp>(kName))
    return global;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(getOperation().getBody());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  return LLVM::GlobalOp::create(
      builder, loc, type, /*isConstant=*/false, LLVM::Linkage::External, kName,
      Attribute(),
      /*alignment=*/1024, static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
}

/// The value's tile is spread over the warps of the kernel. A tile of fewer
/// would be there several times and nobody would know: what is added to memory
/// would be added as often.
static LogicalResult checkLayout(Value value, int64_t warps) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return success();
  auto layout = dyn_cast_or_null<tilegpu::LayoutAttr>(type.getEncoding());
  if (!layout)
    return emitError(value.getLoc())
           << "expected a tile with a layout, but got " << Type(type);
  if (int64_t count = toLayout(layout).warpCount(); count != warps)
    return emitError(value.getLoc())
           << "expected a layout of " << warps << " warps, as '"
           << tilegpu::TileGPUDialect::kNumWarpsAttr
           << "' of the kernel says, but got one of " << count << ": "
           << Type(type);
  return success();
}

/// LLVM ends the process at a function that the target has no code for.
static LogicalResult checkFunction(Operation *op) {
  static const llvm::StringSet<> instructions = {
      "absf", "absi",  "ceil",      "copysign", "ctlz",  "ctpop",
      "cttz", "floor", "fma",       "fpowi",    "isnan", "isfinite",
      "sqrt", "round", "roundeven", "rsqrt",    "trunc"};
  const StringRef name = op->getName().stripDialect();
  if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
      instructions.contains(name) || numeric::isF64Function(name))
    return success();
  return op->emitOpError("is not supported by the gpu targets yet");
}

/// What follows relies on: layouts, and functions that exist.
static LogicalResult checkKernel(KernelOp kernel, int64_t warps) {
  auto check = [&](Value value) {
    return succeeded(checkLayout(value, warps));
  };
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    bool isRight =
        succeeded(checkFunction(op)) && llvm::all_of(op->getResults(), check);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        isRight = isRight && llvm::all_of(block.getArguments(), check);
    return isRight ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult ConvertTileGPUToLLVM::convert(KernelOp kernel) {
  auto warps = kernel->getAttrOfType<IntegerAttr>(
      tilegpu::TileGPUDialect::kNumWarpsAttr);
  if (!warps)
    return kernel.emitError("expected layouts: run convert-tile-to-tilegpu "
                            "before convert-tilegpu-to-llvm");
  if (failed(checkKernel(kernel, warps.getInt())))
    return failure();
  warnOfTilesBeyondRegisters(kernel);
  remarkCallsBesideProducts(kernel);
  MLIRContext *context = &getContext();
  ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
  auto global = LLVM::LLVMPointerType::get(
      context, static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
  SmallVector<Type> types;
  for (Type type : kernel.getArgumentTypes())
    types.push_back(isa<PtrType>(type) ? Type(global) : type);
  SmallVector<tilegpu::TensorMapOp> maps = tensorMapsOf(kernel);
  types.append(maps.size(), LLVM::LLVMPointerType::get(context));
  bool counts = kernel->hasAttr(tilegpu::kProgramCounterAttr);
  if (counts)
    types.push_back(global);
  types.append(3, b.getI32Type());
  auto function = LLVM::LLVMFuncOp::create(
      b, kernel.getSymName(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types));
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    b.getUnitAttr());
  // What passes have decided about launches.
  for (NamedAttribute attribute : kernel->getDiscardableAttrs())
    if (tilegpu::isLaunchAttribute(attribute.getName()))
      function->setAttr(attribute.getName(), attribute.getValue());
  declareTensorMaps(function, maps, kernel.getArgumentTypes().size());
  int32_t threads = warps.getInt() * lanesPerWarp;
  if (!kernel.getBody().getOps<tilegpu::WarpSpecializeOp>().empty()) {
    threads += kProducerThreads;
    function->setAttr(tilegpu::kNumThreadsAttr, b.getI64IntegerAttr(threads));
    // Without it ptxas ignores the budgets of registers.
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                      b.getI32IntegerAttr(1));
  }
  function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                    b.getDenseI32ArrayAttr({threads, 1, 1}));
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  SmallVector<Value> arguments;
  for (Value argument :
       entry->getArguments().take_front(kernel.getArgumentTypes().size()))
    arguments.push_back(
        isa<LLVM::LLVMPointerType>(argument.getType())
            ? Value(LLVM::PtrToIntOp::create(b, b.getI64Type(), argument))
            : argument);
  Value shared = LLVM::PtrToIntOp::create(
      b, b.getI32Type(),
      LLVM::AddressOfOp::create(b, sharedMemory(b, kernel.getLoc())));
  GpuEmitter emitter(kernel, b);
  for (auto [map, parameter] :
       llvm::zip(maps, entry->getArguments().slice(
                           kernel.getArgumentTypes().size(), maps.size())))
    emitter.bindTensorMap(map, parameter);
  if (counts)
    emitter.bindProgramCounter(LLVM::PtrToIntOp::create(
        b, b.getI64Type(),
        entry->getArgument(kernel.getArgumentTypes().size() + maps.size())));
  if (failed(
          emitter.emit(arguments, entry->getArguments().take_back(3), shared)))
    return failure();
  // Where shared memory has room for one block, ptxas would save registers for
  // a second one and spill.
  if (2 * (emitter.sharedBytes() + kReservedSharedBytes) > kMostSharedBytes)
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                      b.getI32IntegerAttr(1));
  b.setInsertionPointToEnd(entry);
  LLVM::ReturnOp::create(b, ValueRange());
  function->setAttr(kSharedBytesAttr,
                    b.getI64IntegerAttr(emitter.sharedBytes()));
  function->setAttr(kSharedBuffersAttr, emitter.sharedBuffers());
  kernel.erase();
  return success();
}
