//===- ConvertTileToTileGPU.cpp - Layouts for a kernel's tiles ------ ===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives every tile the layout that LayoutChoice found for it, and every use the
// layout that it asks for:
//  - what is cheap (constants, splats, index arithmetic, broadcasts of such) is
//    computed again in the layout of each use;
//  - everything else is converted by tilegpu.convert_layout.
// Dots become tilegpu.mma on operands in shared memory, seen through
// transposes; a left operand that is in the right registers already stays.
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Layout/LayoutConversion.h"
#include "compiler/Analysis/Program/TileQueries.h"
#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"
#include "compiler/Conversion/TileToTileGPU/LayoutChoice.h"
#include "compiler/Conversion/TileToTileGPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace flashtile::gpu {
#define GEN_PASS_DEF_CONVERTTILETOTILEGPUPASS
#include "compiler/Conversion/TileToTileGPU/Passes.h.inc"
} // namespace flashtile::gpu

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using flashtile::tile::getElementType;

namespace {
/// Rewrites one kernel in place.
class KernelConverter {
public:
  KernelConverter(KernelOp kernel, int64_t warps)
      : kernel(kernel), warps(warps), layouts(chooseLayouts(kernel, warps)),
        builder(kernel.getContext()) {}

  LogicalResult convert();

private:
  /// `value` in this layout, computed or converted before `user`.
  Value demand(Value value, const DistributedLayout &layout, Operation *user);
  Value rematerialize(Value value, const DistributedLayout &layout,
                      Operation *user);
  void demandOperands(Operation *op, const DistributedLayout &layout);
  void setTypes(ValueRange values);

  LogicalResult convertOp(Operation *op);
  void convertReduce(Operation *op);
  void convertTrans(TransOp op);
  void convertFor(scf::ForOp loop);
  void convertIf(scf::IfOp branch);
  void convertLoad(LoadOp op);
  void convertStore(StoreOp op);
  void convertAtomic(AtomicAddOp op);
  LogicalResult convertDot(DotOp op);
  Value stage(Value operand, Operation *user, bool isLeft, bool &transposed);

  KernelOp kernel;
  int64_t warps;
  DenseMap<Value, DistributedLayout> layouts;
  OpBuilder builder;
};
} // namespace

/// Operations that exist only in the layouts that their uses ask for.
static bool isMadeOnDemand(Operation *op) {
  if (op->getNumResults() != 1 || !tileType(op->getResult(0)))
    return false;
  return isa<ExpandDimsOp, BroadcastOp>(op) || isCheap(op->getResult(0));
}

/// The layout that a broadcast's operand needs for a result in `layout`.
static DistributedLayout operandOfBroadcast(BroadcastOp op,
                                            DistributedLayout layout) {
  auto from = tileType(op.getOperand()), to = tileType(op.getResult());
  for (int64_t dim = 0; dim < from.getRank(); ++dim)
    if (from.getDimSize(dim) == 1 && to.getDimSize(dim) != 1)
      layout = expandDims(slice(layout, dim), dim);
  return layout;
}

Value KernelConverter::rematerialize(Value value,
                                     const DistributedLayout &layout,
                                     Operation *user) {
  Operation *op = value.getDefiningOp();
  RankedTensorType type = withLayout(value.getType(), layout);
  if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    Value operand =
        demand(expand.getOperand(), slice(layout, expand.getAxis()), user);
    return ExpandDimsOp::create(builder, op->getLoc(), type, operand,
                                expand.getAxisAttr());
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    Value operand = demand(broadcast.getOperand(),
                           operandOfBroadcast(broadcast, layout), user);
    return BroadcastOp::create(builder, op->getLoc(), type, operand);
  }
  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant)))
    return arith::ConstantOp::create(builder, op->getLoc(),
                                     constant.resizeSplat(type));
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (tileType(operand)) {
      DistributedLayout wanted = layout;
      if (auto trans = dyn_cast<TransOp>(op)) {
        SmallVector<unsigned> inverse(trans.getOrder().size());
        for (auto [dim, source] : llvm::enumerate(trans.getOrder()))
          inverse[source] = dim;
        wanted = transpose(layout, inverse);
      }
      mapping.map(operand, demand(operand, wanted, user));
    }
  builder.setInsertionPoint(user);
  Operation *clone = builder.clone(*op, mapping);
  clone->getResult(0).setType(type);
  return clone->getResult(0);
}

Value KernelConverter::demand(Value value, const DistributedLayout &layout,
                              Operation *user) {
  builder.setInsertionPoint(user);
  if (Operation *op = value.getDefiningOp())
    if (!tilegpu::getLayout(value.getType()) && isMadeOnDemand(op))
      return rematerialize(value, layout, user);
  RankedTensorType type = withLayout(value.getType(), layout);
  if (value.getType() == type)
    return value;
  return tilegpu::ConvertLayoutOp::create(builder, value.getLoc(), type, value);
}

void KernelConverter::demandOperands(Operation *op,
                                     const DistributedLayout &layout) {
  for (OpOperand &operand : op->getOpOperands())
    if (tileType(operand.get()))
      operand.set(demand(operand.get(), layout, op));
}

void KernelConverter::setTypes(ValueRange values) {
  for (Value value : values)
    if (tileType(value))
      value.setType(withLayout(value.getType(), layouts.at(value)));
}

void KernelConverter::convertReduce(Operation *op) {
  unsigned axis = op->getAttrOfType<IntegerAttr>("axis").getInt();
  DistributedLayout from = layouts.at(op->getOperand(0));
  auto type = tileType(op->getOperand(0));
  if (!planReduction(from, axis)) {
    // Some layouts cannot be reduced in place; a blocked one always can.
    SmallVector<unsigned> order;
    for (unsigned dim = type.getRank(); dim-- > 0;)
      order.push_back(dim);
    from = blocked(type.getShape(), 1, order, warps);
  }
  demandOperands(op, from);
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    if (!tileType(result))
      continue;
    DistributedLayout natural = slice(from, axis), chosen = layouts.at(result);
    RankedTensorType wanted = withLayout(result.getType(), chosen);
    result.setType(withLayout(result.getType(), natural));
    if (result.getType() == wanted)
      continue;
    auto convert =
        tilegpu::ConvertLayoutOp::create(builder, op->getLoc(), wanted, result);
    result.replaceAllUsesExcept(convert, convert);
    layouts.try_emplace(convert, chosen);
  }
}

void KernelConverter::convertTrans(TransOp op) {
  SmallVector<unsigned> inverse(op.getOrder().size());
  for (auto [dim, source] : llvm::enumerate(op.getOrder()))
    inverse[source] = dim;
  // The operand where the result wants it, so that transposing moves nothing.
  DistributedLayout layout = layouts.at(op.getResult());
  demandOperands(op, transpose(layout, inverse));
  setTypes(op->getResults());
}

void KernelConverter::convertFor(scf::ForOp loop) {
  setTypes(loop.getRegionIterArgs());
  setTypes(loop.getResults());
  for (auto [init, argument] :
       llvm::zip(loop.getInitArgsMutable(), loop.getRegionIterArgs()))
    if (tileType(argument))
      init.set(demand(init.get(), layouts.at(argument), loop));
}

void KernelConverter::convertIf(scf::IfOp branch) {
  setTypes(branch.getResults());
}

void KernelConverter::convertLoad(LoadOp op) {
  auto type = withLayout(op.getType(), layouts.at(op.getResult()));
  DistributedLayout layout = layouts.at(op.getResult());
  auto in = [&](Value value) {
    return value && tileType(value) ? demand(value, layout, op) : value;
  };
  Value pointer = in(op.getPointer()), mask = in(op.getMask()),
        other = in(op.getOther());
  builder.setInsertionPoint(op);
  auto load =
      tilegpu::LoadOp::create(builder, op.getLoc(), type, pointer, mask, other,
                              op.getPadding(), op.getInBoundsAttr());
  layouts.insert_or_assign(load.getResult(), layout);
  op.getResult().replaceAllUsesWith(load.getResult());
  op.erase();
}

void KernelConverter::convertStore(StoreOp op) {
  // Coalesced where memory says how; else where the value is.
  auto type = tileType(op.getValue());
  unsigned rank = type.getRank();
  unsigned contiguous = memoryLaneDim(op.getPointer(), rank);
  SmallVector<unsigned> order = {contiguous};
  for (unsigned dim = rank; dim-- > 0;)
    if (dim != contiguous)
      order.push_back(dim);
  int64_t bits =
      std::max<int64_t>(8, type.getElementType().getIntOrFloatBitWidth());
  DistributedLayout layout = blocked(type.getShape(), 128 / bits, order, warps);
  auto in = [&](Value value) {
    return value && tileType(value) ? demand(value, layout, op) : value;
  };
  Value pointer = in(op.getPointer()), value = in(op.getValue()),
        mask = in(op.getMask());
  builder.setInsertionPoint(op);
  tilegpu::StoreOp::create(builder, op.getLoc(), pointer, value, mask,
                           op.getInBoundsAttr());
  op.erase();
}

void KernelConverter::convertAtomic(AtomicAddOp op) {
  DistributedLayout layout = layouts.at(op.getResult());
  auto in = [&](Value value) {
    return value && tileType(value) ? demand(value, layout, op) : value;
  };
  Value pointer = in(op.getPointer()), value = in(op.getValue()),
        mask = in(op.getMask());
  builder.setInsertionPoint(op);
  auto atomic = tilegpu::AtomicAddOp::create(
      builder, op.getLoc(), value.getType(), pointer, value, mask);
  layouts.insert_or_assign(atomic.getResult(), layout);
  op.getResult().replaceAllUsesWith(atomic.getResult());
  op.erase();
}

//===----------------------------------------------------------------------===//
// Dots
//===----------------------------------------------------------------------===//

/// The operand in shared memory. Transposes are seen through: `transposed`
/// says that memory holds columns where the operand has rows.
Value KernelConverter::stage(Value operand, Operation *user, bool isLeft,
                             bool &transposed) {
  DotOperand peeled = peelTranspose(operand);
  transposed = peeled.rowDim == 1;
  Value root = peeled.root;
  auto type = tileType(root);
  root = demand(root, layouts.at(root), user);
  builder.setInsertionPoint(user);
  int64_t bits = type.getElementType().getIntOrFloatBitWidth();
  // Whole instructions: 16 x 256 bits of a, 256 bits x 8 of b.
  int64_t depth = 256 / bits, outer = isLeft ? 16 : 8;
  auto roundUp = [](int64_t value, int64_t unit) {
    return (value + unit - 1) / unit * unit;
  };
  bool depthIsRow = isLeft == transposed;
  int64_t rows = roundUp(type.getDimSize(0), depthIsRow ? depth : outer);
  int64_t columns = roundUp(type.getDimSize(1), depthIsRow ? outer : depth);
  int64_t rowBytes = columns * bits / 8;
  int64_t swizzle = rowBytes % 128 == 0  ? 128
                    : rowBytes % 64 == 0 ? 64
                    : rowBytes % 32 == 0 ? 32
                                         : 0;
  auto memory = tilegpu::SmemType::get(kernel.getContext(), {rows, columns},
                                       type.getElementType(), swizzle);
  return tilegpu::StageOp::create(builder, user->getLoc(), memory, root);
}

LogicalResult KernelConverter::convertDot(DotOp op) {
  DistributedLayout layout = layouts.at(op.getResult());
  auto type = cast<RankedTensorType>(op.getType());
  WarpGrid grid = warpGrid(type.getDimSize(0), type.getDimSize(1), warps);
  bool instructions = usesMatrixInstructions(op) && grid.m * grid.n == warps;
  // P of P * V: the accumulator's registers are the left operand's already.
  Value a;
  bool transA = false, transB = false;
  int64_t bits = getElementType(op.getA().getType()).getIntOrFloatBitWidth();
  if (instructions && bits == 16 && !op.getA().getDefiningOp<TransOp>() &&
      !isCheap(op.getA())) {
    auto aType = tileType(op.getA());
    DistributedLayout operand = mmaOperandA(
        aType.getDimSize(0), aType.getDimSize(1), bits, grid.m, grid.n);
    auto plan = planConversion(layouts.at(op.getA()), operand, bits / 8);
    if (plan.kind != LayoutConversion::Kind::SharedMemory &&
        plan.kind != LayoutConversion::Kind::Lanes)
      a = demand(op.getA(), operand, op);
  }
  if (!a)
    a = stage(op.getA(), op, /*isLeft=*/true, transA);
  Value b = stage(op.getB(), op, /*isLeft=*/false, transB);
  Value c = demand(op.getC(), layout, op);
  builder.setInsertionPoint(op);
  auto mma = tilegpu::MmaOp::create(
      builder, op.getLoc(), c.getType(), a, b, c,
      builder.getI32IntegerAttr(grid.m), builder.getI32IntegerAttr(grid.n),
      transA ? builder.getUnitAttr() : UnitAttr(),
      transB ? builder.getUnitAttr() : UnitAttr(), op.getInputPrecisionAttr());
  layouts.insert_or_assign(mma.getResult(), layout);
  op.getResult().replaceAllUsesWith(mma.getResult());
  op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

LogicalResult KernelConverter::convertOp(Operation *op) {
  if (isMadeOnDemand(op))
    return success();
  if (auto load = dyn_cast<LoadOp>(op)) {
    if (tileType(load.getResult()))
      convertLoad(load);
  } else if (auto store = dyn_cast<StoreOp>(op)) {
    if (tileType(store.getValue()))
      convertStore(store);
  } else if (auto atomic = dyn_cast<AtomicAddOp>(op)) {
    if (tileType(atomic.getValue()))
      convertAtomic(atomic);
  } else if (auto dot = dyn_cast<DotOp>(op)) {
    return convertDot(dot);
  } else if (isAxisReduce(op) || isa<ReduceOp>(op)) {
    convertReduce(op);
  } else if (auto trans = dyn_cast<TransOp>(op)) {
    // Dots see through it.
    if (!llvm::all_of(trans->getUsers(), llvm::IsaPred<DotOp, TransOp>))
      convertTrans(trans);
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    convertFor(loop);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    convertIf(branch);
  } else if (isa<scf::YieldOp>(op)) {
    for (auto [operand, result] :
         llvm::zip(op->getOpOperands(), op->getParentOp()->getResults()))
      if (tileType(operand.get()))
        operand.set(demand(operand.get(), layouts.at(result), op));
  } else if (isElementwise(op) || isa<ScanOp>(op)) {
    if (op->getNumResults() == 0 || !tileType(op->getResult(0)))
      return success();
    demandOperands(op, layouts.at(op->getResult(0)));
    setTypes(op->getResults());
  } else if (isa<AssertOp, PrintOp>(op)) {
    for (OpOperand &operand : op->getOpOperands())
      if (tileType(operand.get()))
        operand.set(demand(operand.get(), layouts.at(operand.get()), op));
  } else if (llvm::any_of(op->getResults(), tileType) ||
             llvm::any_of(op->getOperands(), tileType)) {
    return op->emitOpError("is not supported on tiles by the gpu targets yet");
  }
  return success();
}

LogicalResult KernelConverter::convert() {
  // A snapshot: conversion adds and replaces operations.
  SmallVector<Operation *> ops;
  kernel.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    // Combiners are scalar code.
    if (isa<ReduceOp, ScanOp>(op->getParentOp()))
      continue;
    if (failed(convertOp(op)))
      return failure();
  }
  // What was made on demand left its pattern behind, without uses.
  ops.clear();
  kernel.getBody().walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty() && op->getNumResults() && op->getNumRegions() == 0 &&
        isMemoryEffectFree(op))
      op->erase();
  return success();
}

namespace {
struct ConvertTileToTileGPU
    : public flashtile::gpu::impl::ConvertTileToTileGPUPassBase<
          ConvertTileToTileGPU> {
  using ConvertTileToTileGPUPassBase::ConvertTileToTileGPUPassBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (target != "sm_80" && target != "sm_90a") {
      kernel.emitError("expected target sm_80 or sm_90a, but got '")
          << target << "'";
      return signalPassFailure();
    }
    if (numWarps < 1 || numWarps > 8) {
      kernel.emitError("expected 1 to 8 warps, but got ") << int64_t(numWarps);
      return signalPassFailure();
    }
    Builder builder(&getContext());
    kernel->setAttr(tilegpu::TileGPUDialect::kTargetAttr,
                    builder.getStringAttr(target));
    kernel->setAttr(tilegpu::TileGPUDialect::kNumWarpsAttr,
                    builder.getI32IntegerAttr(numWarps));
    if (failed(KernelConverter(kernel, numWarps).convert()))
      return signalPassFailure();
  }
};
} // namespace
