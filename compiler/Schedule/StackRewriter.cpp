//===- StackRewriter.cpp - One program in place of several ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stacked values get more rows where they are; what is the same in all programs
// is computed once more, for all rows, where it meets one.
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/StackRewriter.h"

#include "compiler/Analysis/Program/TileQueries.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

namespace {
class StackRewriter {
public:
  StackRewriter(KernelOp kernel, ProgramAxis axis, int64_t count,
                const ProgramStack &stack)
      : kernel(kernel), axis(axis), count(count), stack(stack),
        builder(kernel.getContext()) {}

  void run();

private:
  Type widened(Type type, unsigned dim);
  Value widen(Value value, unsigned dim);
  /// `value` in the last of the programs.
  Value inLast(Value value, Operation *user);
  void widenOperand(OpOperand &operand, unsigned dim);
  void widenOperands(Operation *op);
  void dropPromise(Operation *op, unsigned dim);
  void lengthen(scf::ForOp loop);
  void movePrograms();

  KernelOp kernel;
  ProgramAxis axis;
  int64_t count;
  const ProgramStack &stack;
  OpBuilder builder;
  DenseMap<std::pair<Value, unsigned>, Value> wide;
};
} // namespace

Type StackRewriter::widened(Type type, unsigned dim) {
  if (auto window = dyn_cast<BlockPtrType>(type)) {
    SmallVector<int64_t> shape(window.getShape());
    shape[dim] *= count;
    return BlockPtrType::get(type.getContext(), shape, window.getElementType());
  }
  auto tile = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tile.getShape());
  shape[dim] *= count;
  return tile.clone(shape);
}

/// A tile that is the same in all programs, for the rows of all.
Value StackRewriter::widen(Value value, unsigned dim) {
  Value &known = wide[{value, dim}];
  if (known)
    return known;
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  SmallVector<std::pair<Value, unsigned>> sources;
  if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    unsigned at = expand.getAxis();
    sources.emplace_back(expand.getOperand(), dim > at ? dim - 1 : dim);
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    if (broadcast.getOperand().getType().getDimSize(dim) != 1)
      sources.emplace_back(broadcast.getOperand(), dim);
  } else if (auto trans = dyn_cast<TransOp>(op)) {
    sources.emplace_back(trans.getOperand(), trans.getOrder()[dim]);
  } else if (!isa<SplatOp>(op)) {
    for (Value operand : op->getOperands())
      if (tileType(operand))
        sources.emplace_back(operand, dim);
  }
  for (auto [source, at] : sources)
    mapping.map(source, widen(source, at));
  builder.setInsertionPointAfter(op);
  Type type = widened(value.getType(), dim);
  Value made;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    made = arith::ConstantOp::create(
        builder, op->getLoc(),
        elements.resizeSplat(cast<RankedTensorType>(type)));
  } else if (auto arange = dyn_cast<ArangeOp>(op)) {
    int32_t start = arange.getStart();
    made = ArangeOp::create(
        builder, op->getLoc(), start,
        int32_t(start + cast<RankedTensorType>(type).getDimSize(0)));
  } else {
    Operation *clone = builder.clone(*op, mapping);
    clone->getResult(0).setType(type);
    made = clone->getResult(0);
  }
  wide[{value, dim}] = made;
  return made;
}

void StackRewriter::widenOperand(OpOperand &operand, unsigned dim) {
  if (tileType(operand.get()) && stack.of(operand.get()).isSame())
    operand.set(widen(operand.get(), dim));
}

/// Of an operation some of whose values are stacked.
void StackRewriter::widenOperands(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [init, argument] :
         llvm::zip(loop.getInitArgsMutable(), loop.getRegionIterArgs()))
      if (ProgramValue carried = stack.of(argument); carried.isStacked())
        widenOperand(init, carried.dim);
    return;
  }
  if (isa<scf::YieldOp>(op)) {
    for (auto [yielded, result] :
         llvm::zip(op->getOpOperands(), op->getParentOp()->getResults()))
      if (ProgramValue target = stack.of(result); target.isStacked())
        widenOperand(yielded, target.dim);
    return;
  }
  if (auto dot = dyn_cast<DotOp>(op)) {
    if (ProgramValue result = stack.of(dot.getResult()); result.isStacked())
      widenOperand(dot.getCMutable(), result.dim);
    return;
  }
  if (auto advance = dyn_cast<AdvanceOp>(op)) {
    // The window of all programs, which each moves to its own rows.
    ProgramValue moved = stack.of(advance.getResult());
    Operation *window = advance.getPointer().getDefiningOp();
    if (!moved.isStacked() || !stack.of(advance.getPointer()).isSame())
      return;
    builder.setInsertionPoint(op);
    Value clone = builder.clone(*window)->getResult(0);
    clone.setType(widened(clone.getType(), moved.dim));
    advance.getPointerMutable().assign(clone);
    return;
  }
  std::optional<unsigned> dim;
  if (isa<LoadOp, StoreOp>(op)) {
    if (ProgramValue pointer = stack.of(op->getOperand(0)); pointer.isStacked())
      dim = pointer.dim;
    if (dim)
      dropPromise(op, *dim);
  } else if (isElementwise(op) || isAxisReduce(op) ||
             isa<ReduceOp, ScanOp>(op)) {
    for (Value operand : op->getOperands())
      if (ProgramValue each = stack.of(operand); each.isStacked())
        dim = each.dim;
  }
  if (dim)
    for (OpOperand &operand : op->getOpOperands())
      widenOperand(operand, *dim);
}

/// The last program's rows may lie outside.
void StackRewriter::dropPromise(Operation *op, unsigned dim) {
  auto load = dyn_cast<LoadOp>(op);
  auto store = dyn_cast<StoreOp>(op);
  auto promised = load ? load.getInBoundsAttr() : store.getInBoundsAttr();
  if (!promised)
    return;
  SmallVector<bool> kept(promised.asArrayRef());
  kept[dim] = false;
  auto weaker = builder.getDenseBoolArrayAttr(kept);
  load ? load.setInBoundsAttr(weaker) : store.setInBoundsAttr(weaker);
}

Value StackRewriter::inLast(Value value, Operation *user) {
  if (stack.of(value).isSame())
    return value;
  Operation *op = value.getDefiningOp();
  builder.setInsertionPoint(user);
  if (auto id = dyn_cast<ProgramIdOp>(op)) {
    // Still that of one program: movePrograms() multiplies it.
    Value last = arith::ConstantOp::create(
        builder, op->getLoc(), builder.getI32IntegerAttr(count - 1));
    return arith::AddIOp::create(builder, op->getLoc(), id, last);
  }
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, inLast(operand, user));
  builder.setInsertionPoint(user);
  return builder.clone(*op, mapping)->getResult(0);
}

void StackRewriter::lengthen(scf::ForOp loop) {
  Value end = loop.getUpperBound();
  if (!stack.of(end).isSame())
    loop.getUpperBoundMutable().assign(inLast(end, loop));
}

void StackRewriter::movePrograms() {
  SmallVector<ProgramIdOp> ids;
  kernel.getBody().walk([&](ProgramIdOp id) {
    if (id.getAxis() == axis)
      ids.push_back(id);
  });
  for (ProgramIdOp id : ids) {
    builder.setInsertionPointAfter(id);
    Value factor = arith::ConstantOp::create(builder, id.getLoc(),
                                             builder.getI32IntegerAttr(count));
    auto first = arith::MulIOp::create(builder, id.getLoc(), id, factor);
    id.getResult().replaceAllUsesExcept(first, first);
  }
  AffineMap grid = kernel.getGrid();
  SmallVector<AffineExpr> extents(grid.getResults());
  AffineExpr &extent = extents[unsigned(axis)];
  extent = extent.ceilDiv(count);
  kernel.setGrid(AffineMap::get(grid.getNumDims(), grid.getNumSymbols(),
                                extents, kernel.getContext()));
}

void StackRewriter::run() {
  SmallVector<Operation *> ops;
  kernel.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      lengthen(loop);
    widenOperands(op);
  }
  auto setType = [&](Value value) {
    if (ProgramValue each = stack.of(value); each.isStacked())
      value.setType(widened(value.getType(), each.dim));
  };
  for (Operation *op : ops) {
    llvm::for_each(op->getResults(), setType);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), setType);
  }
  movePrograms();
}

void flashtile::gpu::stackPrograms(KernelOp kernel, ProgramAxis axis,
                                   int64_t count, const ProgramStack &stack) {
  StackRewriter(kernel, axis, count, stack).run();
}
