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
  /// `value` in one of the programs.
  Value inProgram(int64_t number, Value value, Operation *user);
  void widenOperand(OpOperand &operand, unsigned dim);
  void widenOperands(Operation *op);
  void dropPromise(Operation *op, unsigned dim);
  void lengthen(scf::ForOp loop);
  void noteBranch(scf::IfOp branch);
  void branchByRows(scf::IfOp branch, ArrayRef<Value> conditions);
  Value rowsOf(ArrayRef<Value> conditions, RankedTensorType type, unsigned dim);
  void movePrograms();

  KernelOp kernel;
  ProgramAxis axis;
  int64_t count;
  const ProgramStack &stack;
  OpBuilder builder;
  DenseMap<std::pair<Value, unsigned>, Value> wide;
  /// Branches that some programs take, with the condition of each.
  SmallVector<std::pair<scf::IfOp, SmallVector<Value>>> branches;
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

Value StackRewriter::inProgram(int64_t number, Value value, Operation *user) {
  ProgramValue known = stack.of(value);
  if (known.isSame() || number == 0)
    return value;
  builder.setInsertionPoint(user);
  if (known.kind == ProgramValue::Kind::Shifted) {
    Value shift = arith::ConstantOp::create(
        builder, value.getLoc(),
        builder.getIntegerAttr(value.getType(), known.rate * number));
    return arith::AddIOp::create(builder, value.getLoc(), value, shift);
  }
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, inProgram(number, operand, user));
  builder.setInsertionPoint(user);
  return builder.clone(*op, mapping)->getResult(0);
}

void StackRewriter::lengthen(scf::ForOp loop) {
  Value end = loop.getUpperBound();
  if (!stack.of(end).isSame())
    loop.getUpperBoundMutable().assign(inProgram(count - 1, end, loop));
}

void StackRewriter::noteBranch(scf::IfOp branch) {
  if (stack.of(branch.getCondition()).kind != ProgramValue::Kind::Differs)
    return;
  SmallVector<Value> conditions;
  for (int64_t number = 0; number < count; ++number)
    conditions.push_back(inProgram(number, branch.getCondition(), branch));
  branches.emplace_back(branch, conditions);
}

/// Which rows of a tile have programs whose condition holds.
Value StackRewriter::rowsOf(ArrayRef<Value> conditions, RankedTensorType type,
                            unsigned dim) {
  Location loc = conditions[0].getLoc();
  int64_t rows = type.getDimSize(dim), each = rows / count;
  auto flat = RankedTensorType::get({rows}, builder.getI1Type());
  Value row = ArangeOp::create(builder, loc, 0, int32_t(rows));
  Value holds = SplatOp::create(builder, loc, flat, conditions.back());
  for (int64_t number = count - 1; number-- > 0;) {
    Value end = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(cast<RankedTensorType>(row.getType()),
                               int32_t((number + 1) * each)));
    Value isBefore = arith::CmpIOp::create(builder, loc,
                                           arith::CmpIPredicate::slt, row, end);
    Value own = SplatOp::create(builder, loc, flat, conditions[number]);
    holds = arith::SelectOp::create(builder, loc, isBefore, own, holds);
  }
  SmallVector<int64_t> shape = {rows};
  for (unsigned axisOf = 0; axisOf < type.getRank(); ++axisOf) {
    if (axisOf == dim)
      continue;
    shape.insert(shape.begin() + axisOf, 1);
    holds = ExpandDimsOp::create(
        builder, loc, RankedTensorType::get(shape, builder.getI1Type()), holds,
        builder.getI32IntegerAttr(axisOf));
  }
  auto full = RankedTensorType::get(type.getShape(), builder.getI1Type());
  return holds.getType() == full
             ? holds
             : BroadcastOp::create(builder, loc, full, holds).getResult();
}

/// Where any program has the condition, both sides are computed, and each row
/// takes its own; elsewhere only the other side is.
void StackRewriter::branchByRows(scf::IfOp branch, ArrayRef<Value> conditions) {
  if (branch.getNumResults() == 0)
    return; // nobody sees what it does
  Location loc = branch.getLoc();
  builder.setInsertionPoint(branch);
  Value any = conditions[0];
  for (Value other : conditions.drop_front())
    any = arith::OrIOp::create(builder, loc, any, other);
  auto both = scf::IfOp::create(builder, loc, branch.getResultTypes(), any,
                                /*withElseRegion=*/true);
  auto cloneSide = [&](Block &side) {
    IRMapping mapping;
    for (Operation &op : side.without_terminator())
      builder.clone(op, mapping);
    SmallVector<Value> yields;
    for (Value yielded : side.getTerminator()->getOperands())
      yields.push_back(mapping.lookupOrDefault(yielded));
    return yields;
  };
  builder.setInsertionPointToStart(both.elseBlock());
  scf::YieldOp::create(builder, loc, cloneSide(*branch.elseBlock()));
  builder.setInsertionPointToStart(both.thenBlock());
  SmallVector<Value> yes = cloneSide(*branch.thenBlock());
  SmallVector<Value> no = cloneSide(*branch.elseBlock());
  for (auto [own, other, result] : llvm::zip(yes, no, branch.getResults()))
    if (ProgramValue each = stack.of(result); each.isStacked())
      own = arith::SelectOp::create(
          builder, loc,
          rowsOf(conditions, cast<RankedTensorType>(result.getType()),
                 each.dim),
          own, other);
  scf::YieldOp::create(builder, loc, yes);
  branch.replaceAllUsesWith(both.getResults());
  branch.erase();
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
    if (auto branch = dyn_cast<scf::IfOp>(op))
      noteBranch(branch);
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
  // Inner ones first: they are part of what outer ones compute twice.
  for (auto &[branch, conditions] : llvm::reverse(branches))
    branchByRows(branch, conditions);
}

void flashtile::gpu::stackPrograms(KernelOp kernel, ProgramAxis axis,
                                   int64_t count, const ProgramStack &stack) {
  StackRewriter(kernel, axis, count, stack).run();
}
