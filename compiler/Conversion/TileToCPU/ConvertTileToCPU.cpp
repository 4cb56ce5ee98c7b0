//===- ConvertTileToCPU.cpp - Tile kernels to functions for the CPU -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the two functions of each kernel: one with the fixed signature that
// launchers call, and the body, whose scratch memory comes as separate noalias
// pointers so that LLVM can keep values in registers across stores.
//
//   tile.kernel @k(%x: !tile.ptr<f32>, %n: i32) grid...
//   ->
//   func.func @flashtile_kernel_k(%arguments: !llvm.ptr, %ids: !llvm.ptr,
//   %context: !llvm.ptr,
//                                 %context: !llvm.ptr, %arena: memref<4096xi8>)
//   func.func private @k.body(%x: !llvm.ptr, %n: i32, %ids..., %context,
//                             %slot0: memref<4096xi8> {llvm.noalias})
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToCPU/KernelEmitter.h"
#include "compiler/Conversion/TileToCPU/Numerics.h"
#include "compiler/Conversion/TileToCPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace flashtile::cpu {
#define GEN_PASS_DEF_CONVERTTILETOCPUPASS
#include "compiler/Conversion/TileToCPU/Passes.h.inc"
} // namespace flashtile::cpu

using namespace mlir;
using namespace flashtile::tile;
using namespace flashtile::cpu;

namespace {
struct ConvertTileToCPU
    : public flashtile::cpu::impl::ConvertTileToCPUPassBase<ConvertTileToCPU> {
  using ConvertTileToCPUPassBase::ConvertTileToCPUPassBase;

  void runOnOperation() override;

private:
  LogicalResult convert(KernelOp kernel);
  func::FuncOp createBody(KernelOp kernel, const KernelPlan &plan);
  void createEntry(KernelOp kernel, const KernelPlan &plan, func::FuncOp body);
};
} // namespace

/// Type in which an argument is passed to the body.
static Type argumentType(Type type) {
  if (isa<PtrType>(type))
    return LLVM::LLVMPointerType::get(type.getContext());
  return type;
}

func::FuncOp ConvertTileToCPU::createBody(KernelOp kernel,
                                          const KernelPlan &plan) {
  OpBuilder b(kernel);
  MLIRContext *context = &getContext();
  SmallVector<Type> types;
  for (Type type : kernel.getArgumentTypes())
    types.push_back(argumentType(type));
  types.append(6, b.getI32Type());
  types.push_back(LLVM::LLVMPointerType::get(context));
  unsigned firstSlot = types.size();
  for (int64_t bytes : plan.slotBytes())
    types.push_back(MemRefType::get({bytes}, b.getI8Type()));
  auto body = func::FuncOp::create(b, kernel.getLoc(),
                                   (kernel.getSymName() + ".body").str(),
                                   b.getFunctionType(types, {}));
  body.setPrivate();
  for (unsigned slot = firstSlot; slot < types.size(); ++slot)
    body.setArgAttr(slot, LLVM::LLVMDialect::getNoAliasAttrName(),
                    b.getUnitAttr());
  // Inlining would trade the arguments' noalias for metadata.
  body->setAttr("passthrough", b.getStrArrayAttr({"noinline"}));
  body->setAttr("llvm.linkage",
                LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
  return body;
}

void ConvertTileToCPU::createEntry(KernelOp kernel, const KernelPlan &plan,
                                   func::FuncOp body) {
  ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
  Type pointer = LLVM::LLVMPointerType::get(&getContext());
  int64_t arenaBytes = 0;
  for (int64_t bytes : plan.slotBytes())
    arenaBytes += bytes;
  auto arenaType = MemRefType::get({arenaBytes}, b.getI8Type());
  auto entry = func::FuncOp::create(
      b, entrySymbol(kernel.getSymName()),
      b.getFunctionType({pointer, pointer, pointer, arenaType}, {}));
  entry->setAttr(kArenaBytesAttr, b.getI64IntegerAttr(arenaBytes));
  b.setInsertionPointToStart(entry.addEntryBlock());

  auto element = [&](Value base, Type type, int64_t position) -> Value {
    return LLVM::GEPOp::create(b, pointer, type, base,
                               ArrayRef<LLVM::GEPArg>{int32_t(position)});
  };
  SmallVector<Value> operands;
  for (auto [position, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    Value slot = LLVM::LoadOp::create(
        b, pointer, element(entry.getArgument(0), pointer, position));
    Type memory = isa<PtrType>(type) ? pointer : getMemoryType(type);
    Value value = LLVM::LoadOp::create(b, memory, slot);
    operands.push_back(isa<PtrType>(type) ? value : decode(b, value, type));
  }
  for (int64_t axis = 0; axis < 6; ++axis)
    operands.push_back(LLVM::LoadOp::create(
        b, b.getI32Type(),
        element(entry.getArgument(1), b.getI32Type(), axis)));
  operands.push_back(entry.getArgument(2));
  int64_t offset = 0;
  for (int64_t bytes : plan.slotBytes()) {
    operands.push_back(memref::ViewOp::create(
        b, MemRefType::get({bytes}, b.getI8Type()), entry.getArgument(3),
        arith::ConstantIndexOp::create(b, offset), ValueRange()));
    offset += bytes;
  }
  func::CallOp::create(b, body, operands);
  func::ReturnOp::create(b);
}

LogicalResult ConvertTileToCPU::convert(KernelOp kernel) {
  KernelPlan plan(kernel, VectorShape{lanes, registers});
  numBuffers += plan.buffers().size();
  numSlots += plan.slotBytes().size();
  func::FuncOp body = createBody(kernel, plan);
  createEntry(kernel, plan, body);

  Block *entry = body.addEntryBlock();
  OpBuilder b(entry, entry->begin());
  ValueRange arguments = entry->getArguments();
  unsigned count = kernel.getArgumentTypes().size();
  KernelEmitter emitter(kernel, plan, b);
  if (failed(
          emitter.emit(arguments.take_front(count), arguments.slice(count, 6),
                       arguments.drop_front(count + 7), arguments[count + 6])))
    return failure();
  b.setInsertionPointToEnd(entry);
  func::ReturnOp::create(b, kernel.getLoc());
  kernel.erase();
  return success();
}

namespace {
/// sum and carry -> addi and a comparison.
struct ExpandAddExtended : OpRewritePattern<arith::AddUIExtendedOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::AddUIExtendedOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value sum = arith::AddIOp::create(rewriter, loc, op.getLhs(), op.getRhs());
    Value carry = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::ult, sum, op.getLhs());
    rewriter.replaceOp(op, {sum, carry});
    return success();
  }
};

/// Both halves of a product -> muli, and a product in twice the width.
template <typename MulOp, typename ExtendOp>
struct ExpandMulExtended : OpRewritePattern<MulOp> {
  using OpRewritePattern<MulOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = op.getLhs().getType();
    unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    Type element = rewriter.getIntegerType(2 * width), wide = element;
    TypedAttr shift = rewriter.getIntegerAttr(element, width);
    if (auto tile = dyn_cast<RankedTensorType>(type)) {
      wide = tile.clone(element);
      shift = DenseElementsAttr::get(cast<ShapedType>(wide), shift);
    }
    auto extend = [&](Value value) -> Value {
      return ExtendOp::create(rewriter, loc, wide, value);
    };
    Value product = arith::MulIOp::create(rewriter, loc, extend(op.getLhs()),
                                          extend(op.getRhs()));
    Value high =
        arith::ShRUIOp::create(rewriter, loc, product,
                               arith::ConstantOp::create(rewriter, loc, shift));
    rewriter.replaceOp(
        op, {arith::MulIOp::create(rewriter, loc, op.getLhs(), op.getRhs()),
             arith::TruncIOp::create(rewriter, loc, type, high)});
    return success();
  }
};
} // namespace

void ConvertTileToCPU::runOnOperation() {
  if (!llvm::is_contained({4, 8, 16}, int64_t(lanes)) ||
      !llvm::is_contained({16, 32}, int64_t(registers))) {
    getOperation().emitError("expected 4, 8 or 16 lanes and 16 or 32 "
                             "registers, but got ")
        << int64_t(lanes) << " and " << int64_t(registers);
    return signalPassFailure();
  }
  flashtile::numeric::expandMathOps(getOperation());
  // Divisions that round up or down become truncating ones, and operations of
  // two results become operations of one.
  RewritePatternSet patterns(&getContext());
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  patterns.add<ExpandAddExtended,
               ExpandMulExtended<arith::MulSIExtendedOp, arith::ExtSIOp>,
               ExpandMulExtended<arith::MulUIExtendedOp, arith::ExtUIOp>>(
      &getContext());
  if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
    return signalPassFailure();
  for (KernelOp kernel :
       llvm::make_early_inc_range(getOperation().getOps<KernelOp>()))
    if (failed(convert(kernel)))
      return signalPassFailure();
}
