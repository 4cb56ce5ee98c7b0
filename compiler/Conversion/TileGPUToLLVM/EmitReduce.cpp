//===- EmitReduce.cpp - Reductions along a dimension ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First the registers of a thread, then lanes by butterfly shuffles, then warps
// through shared memory. Every thread of a line ends up with the result.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "compiler/Analysis/Program/TileQueries.h"
#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using flashtile::tile::getElementType;

/// Combines partial results: one value for each operand of the reduction.
SmallVector<Value> GpuEmitter::combine(Operation *reduce, ValueRange lhs,
                                       ValueRange rhs) {
  if (auto general = dyn_cast<ReduceOp>(reduce)) {
    Block &block = general.getCombiner().front();
    IRMapping mapping;
    for (auto [argument, value] : llvm::zip(
             block.getArguments(),
             llvm::concat<Value>(llvm::to_vector(lhs), llvm::to_vector(rhs))))
      mapping.map(argument, value);
    for (Operation &op : block.without_terminator()) {
      for (Value operand : op.getOperands())
        if (!mapping.contains(operand))
          mapping.map(operand, scalar(operand));
      b.clone(op, mapping);
    }
    SmallVector<Value> results;
    for (Value value : block.getTerminator()->getOperands())
      results.push_back(mapping.lookup(value));
    return results;
  }
  Value x = lhs.front(), y = rhs.front();
  bool floats = isa<FloatType>(x.getType());
  if (isa<SumOp>(reduce))
    return {floats ? Value(arith::AddFOp::create(b, x, y))
                   : Value(arith::AddIOp::create(b, x, y))};
  bool isMax = isa<MaxOp>(reduce);
  if (floats)
    return {isMax ? Value(arith::MaximumFOp::create(b, x, y))
                  : Value(arith::MinimumFOp::create(b, x, y))};
  if (x.getType().isInteger(1))
    return {isMax ? Value(arith::OrIOp::create(b, x, y))
                  : Value(arith::AndIOp::create(b, x, y))};
  return {isMax ? Value(arith::MaxSIOp::create(b, x, y))
                : Value(arith::MinSIOp::create(b, x, y))};
}

/// Partial results of warps that hold parts of the same line meet in shared
/// memory, where every thread combines them in the same order.
void GpuEmitter::combineWarps(Operation *reduce, const ReductionPlan &plan,
                              std::vector<SmallVector<Value>> &partials) {
  int64_t warps =
      kernel->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::kNumWarpsAttr)
          .getInt();
  constexpr int64_t kSlotBytes = 8;
  size_t operands = reduce->getNumOperands();
  int64_t slots = partials.size() * operands;
  int64_t base = reserveScratch(slots * warps * lanesPerWarp * kSlotBytes);
  auto pointer = [&](int64_t slot, Value ofWarp) -> Value {
    Value thread = arith::AddIOp::create(
        b, arith::MulIOp::create(b, ofWarp, i32(lanesPerWarp)), lane);
    Value offset = arith::MulIOp::create(b, thread, i32(kSlotBytes));
    int64_t start = base + slot * warps * lanesPerWarp * kSlotBytes;
    Value address = arith::AddIOp::create(
        b, arith::AddIOp::create(b, sharedBase, i32(start)), offset);
    return LLVM::IntToPtrOp::create(
        b,
        LLVM::LLVMPointerType::get(
            b.getContext(),
            static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared)),
        address);
  };
  auto inMemory = [&](Type type) -> Type {
    return type.isInteger(1) ? b.getI8Type() : type;
  };
  barrier();
  for (auto [index, partial] : llvm::enumerate(partials))
    for (auto [operand, value] : llvm::enumerate(partial)) {
      Type type = inMemory(value.getType());
      Value stored = value.getType() == type
                         ? value
                         : Value(arith::ExtUIOp::create(b, type, value));
      LLVM::StoreOp::create(b, stored,
                            pointer(index * operands + operand, warp));
    }
  barrier();
  Value home = warp;
  for (const DigitPosition &digit : plan.warpDigits) {
    Value own = digitOf(HardwareIndex::Warp, digit.stride, digit.extent);
    home = arith::SubIOp::create(
        b, home, arith::MulIOp::create(b, own, i32(digit.stride)));
  }
  for (auto [index, partial] : llvm::enumerate(partials)) {
    SmallVector<Value> total;
    for (int64_t part = 0; part < plan.warpPartials; ++part) {
      int64_t rest = part, offset = 0;
      for (const DigitPosition &digit : plan.warpDigits) {
        offset += rest % digit.extent * digit.stride;
        rest /= digit.extent;
      }
      Value from = arith::AddIOp::create(b, home, i32(offset));
      SmallVector<Value> values;
      for (auto [operand, value] : llvm::enumerate(partial)) {
        Type type = inMemory(value.getType());
        Value read = LLVM::LoadOp::create(
            b, type, pointer(index * operands + operand, from));
        if (type != value.getType())
          read = arith::TruncIOp::create(b, value.getType(), read);
        values.push_back(read);
      }
      total = total.empty() ? values : combine(reduce, total, values);
    }
    partial = total;
  }
}

LogicalResult GpuEmitter::emitReduce(Operation *op) {
  unsigned axis = op->getAttrOfType<IntegerAttr>("axis").getInt();
  DistributedLayout layout = layoutOf(op->getOperand(0).getType());
  std::optional<ReductionPlan> plan = planReduction(layout, axis);
  if (!plan)
    return op->emitOpError("in this layout is not supported");
  if (plan->isPadded)
    return op->emitOpError("over a padded dimension is not supported by the "
                           "gpu targets yet");
  size_t operands = op->getNumOperands();
  // Sums of narrow floats are made in f32.
  auto widen = [&](Value value) -> Value {
    bool narrow = isa<SumOp>(op) && isa<FloatType>(value.getType()) &&
                  value.getType().getIntOrFloatBitWidth() < 32;
    return narrow ? Value(arith::ExtFOp::create(b, b.getF32Type(), value))
                  : value;
  };
  std::vector<SmallVector<Value>> partials;
  for (const auto &group : plan->registers) {
    SmallVector<Value> partial;
    for (int64_t index : group) {
      SmallVector<Value> values;
      for (Value operand : op->getOperands())
        values.push_back(widen(tiles.at(operand)[index]));
      partial = partial.empty() ? values : combine(op, partial, values);
    }
    for (int64_t mask : plan->laneMasks) {
      SmallVector<Value> other;
      for (Value value : partial)
        other.push_back(shuffleXor(value, mask));
      partial = combine(op, partial, other);
    }
    partials.push_back(partial);
  }
  if (!plan->warpDigits.empty())
    combineWarps(op, *plan, partials);
  for (size_t operand = 0; operand < operands; ++operand) {
    Value result = op->getResult(operand);
    Type type = registerType(getElementType(result.getType()));
    Registers values;
    for (SmallVector<Value> &partial : partials) {
      Value value = partial[operand];
      if (value.getType() != type)
        value = arith::TruncFOp::create(b, type, value);
      values.push_back(value);
    }
    if (tileType(result))
      tiles[result] = values;
    else
      scalars.map(result, values.front());
  }
  return success();
}
