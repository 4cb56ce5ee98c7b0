//===- RowAlignment.cpp - Which dimensions of values correspond -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By unification over the operations of the loop's body.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/RowAlignment.h"

#include "dialects/Tile/IR/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace flashtile::tile;

bool flashtile::tile::isUniformOp(Operation *op) {
  return isa<SplatOp, FullOp>(op) || op->hasTrait<OpTrait::ConstantLike>();
}

size_t flashtile::tile::rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : 0;
}

/// Operations whose operands and results correspond element by element.
static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() ||
         isa<arith::SelectOp, LoadOp, AtomicAddOp>(op);
}

RowAlignment::RowAlignment(scf::ForOp loop) : loop(loop) {
  unify(loop.getBody());
  for (auto [argument, yielded] :
       llvm::zip(loop.getRegionIterArgs(), loop.getYieldedValues()))
    unifyAll(argument, yielded);
}

bool RowAlignment::mixesDimensions() {
  auto mixes = [&](Value value) {
    llvm::SmallSet<Dim, 4> seen;
    for (size_t dim = 0; dim < rankOf(value); ++dim)
      if (!seen.insert(leader(value, dim)).second)
        return true;
    return false;
  };
  WalkResult walked = loop->walk([&](Operation *op) {
    bool mixed = op != loop && llvm::any_of(op->getResults(), mixes);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        mixed |= llvm::any_of(block.getArguments(), mixes);
    return mixed ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walked.wasInterrupted();
}

bool RowAlignment::hasRows(Value value) const {
  for (size_t dim = 0; dim < rankOf(value); ++dim)
    if (isRow(value, dim))
      return true;
  return false;
}

void RowAlignment::unify(Value a, size_t i, Value b, size_t j) {
  // Values from outside are not computed from what the loop carries.
  auto counts = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return !loop.isDefinedOutsideOfLoop(value) && !(op && isUniformOp(op));
  };
  if (counts(a) && counts(b))
    classes.unionSets(Dim(a.getAsOpaquePointer(), i),
                      Dim(b.getAsOpaquePointer(), j));
}

void RowAlignment::unifyAll(Value a, Value b) {
  if (rankOf(a) == rankOf(b))
    for (size_t dim = 0; dim < rankOf(a); ++dim)
      unify(a, dim, b, dim);
}

void RowAlignment::unify(Block *block) {
  for (Operation &op : block->without_terminator())
    unify(&op);
}

void RowAlignment::unify(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ExpandDimsOp expand) {
        for (size_t dim = 0; dim < rankOf(expand.getOperand()); ++dim)
          unify(expand.getOperand(), dim, expand,
                dim + (dim >= expand.getAxis()));
      })
      .Case([&](BroadcastOp broadcast) {
        ArrayRef<int64_t> from = broadcast.getOperand().getType().getShape();
        for (size_t dim = 0; dim < from.size(); ++dim)
          if (from[dim] == broadcast.getType().getDimSize(dim))
            unify(broadcast.getOperand(), dim, broadcast, dim);
      })
      .Case([&](TransOp trans) {
        for (auto [dim, source] : llvm::enumerate(trans.getOrder()))
          unify(trans.getOperand(), source, trans, dim);
      })
      .Case<MaxOp, MinOp, SumOp>([&](auto reduce) {
        for (size_t dim = 0; dim < rankOf(reduce.getResult()); ++dim)
          unify(reduce.getOperand(), dim + (dim >= reduce.getAxis()),
                reduce.getResult(), dim);
      })
      .Case([&](DotOp dot) {
        unify(dot.getA(), 0, dot, 0);
        unify(dot.getA(), 1, dot.getB(), 0);
        unify(dot.getB(), 1, dot, 1);
        unifyAll(dot.getC(), dot);
      })
      .Case([&](scf::IfOp branch) {
        for (Region &region : branch->getRegions())
          for (Block &block : region) {
            unify(&block);
            for (auto [yielded, result] : llvm::zip(
                     block.getTerminator()->getOperands(), branch.getResults()))
              unifyAll(yielded, result);
          }
      })
      .Case([&](scf::ForOp inner) {
        unify(inner.getBody());
        for (auto [argument, init, yielded, result] :
             llvm::zip(inner.getRegionIterArgs(), inner.getInitArgs(),
                       inner.getYieldedValues(), inner.getResults())) {
          unifyAll(argument, init);
          unifyAll(argument, yielded);
          unifyAll(argument, result);
        }
      })
      .Default([&](Operation *) {
        if (!isElementwise(op))
          return;
        for (Value operand : op->getOperands())
          for (Value result : op->getResults())
            unifyAll(operand, result);
      });
}
