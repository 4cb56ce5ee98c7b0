//===- NormalizeBlockPtrs.cpp - Offsets instead of carried windows --------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A carried window moved by invariant distances is, at every iteration, the
// first window advanced by (iteration number) * distance:
//
//   scf.for %k = %lb to %ub step %s iter_args(%p = %p0) {
//     ... %p ...
//     scf.yield tile.advance %p, [%d]
//   }
//
// becomes
//
//   scf.for %k = %lb to %ub step %s {
//     ... tile.advance %p0, [(%k - %lb) / %s * %d] ...
//   }
//
// and canonicalisation folds the advance into the window's own offsets. The
// advance is used, not a new window, so that nests work from the inside out:
// an inner loop needs to know nothing of where its pointer comes from.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/Passes.h"
#include "dialects/Tile/Transforms/Remark.h"
#include "dialects/Tile/Transforms/ScalarFacts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;

namespace flashtile::tile {
#define GEN_PASS_DEF_NORMALIZEBLOCKPTRSPASS
#include "dialects/Tile/Transforms/Passes.h.inc"
} // namespace flashtile::tile

using namespace flashtile::tile;

namespace {

/// Distances of one iteration, for each dimension the terms to add.
using Distances = SmallVector<SmallVector<Value>>;

/// Rewrites one loop.
class CarriedPointers {
public:
  CarriedPointers(scf::ForOp loop, StringRef pass) : loop(loop), pass(pass) {}

  /// Counts of pointers removed and left.
  std::pair<unsigned, unsigned> run() {
    unsigned removed = 0, kept = 0;
    for (unsigned index = 0; index < loop.getNumRegionIterArgs(); ++index) {
      if (!isa<BlockPtrType>(loop.getRegionIterArg(index).getType()))
        continue;
      std::optional<Distances> distances = findDistances(index);
      if (!distances) {
        ++kept;
        continue;
      }
      rewrite(index, *distances);
      ++removed;
    }
    return {removed, kept};
  }

private:
  /// Terms by which the body moves iter_arg `index`; none where it does not
  /// merely move it, with a remark.
  std::optional<Distances> findDistances(unsigned index) {
    BlockArgument argument = loop.getRegionIterArg(index);
    Distances distances(cast<BlockPtrType>(argument.getType()).getRank());
    Value pointer = loop.getYieldedValues()[index];
    while (pointer != argument) {
      auto advance = pointer.getDefiningOp<AdvanceOp>();
      if (!advance) {
        remarkMissed(loop, pass, "PointerReplaced",
                     "carried value " + Twine(index) +
                         " stays a block pointer: the body replaces it by "
                         "another window instead of advancing it");
        return std::nullopt;
      }
      for (auto [terms, offset] : llvm::zip(distances, advance.getOffsets())) {
        if (!loop.isDefinedOutsideOfLoop(offset) && !getConstantInt(offset)) {
          remarkMissed(
              advance, pass, "DistanceVaries",
              "carried value " + Twine(index) +
                  " stays a block pointer: the distance it is advanced "
                  "by changes in the loop");
          return std::nullopt;
        }
        if (getConstantInt(offset) != 0)
          terms.push_back(offset);
      }
      pointer = advance.getPointer();
    }
    return distances;
  }

  Value toI64(OpBuilder &builder, Value value) {
    Type i64 = builder.getI64Type();
    if (value.getType() == i64)
      return value;
    if (value.getType().isIndex())
      return builder.createOrFold<arith::IndexCastOp>(loop.getLoc(), i64,
                                                      value);
    return builder.createOrFold<arith::ExtSIOp>(loop.getLoc(), i64, value);
  }

  Value constant(OpBuilder &builder, int64_t value) {
    return arith::ConstantIntOp::create(builder, loop.getLoc(), value, 64);
  }

  /// `distance` summed up, defined before the loop.
  Value sum(OpBuilder &before, ArrayRef<Value> terms) {
    Value total = constant(before, 0);
    for (Value term : terms) {
      std::optional<int64_t> known = getConstantInt(term);
      // Constants second, where the folder of the addition looks for zero.
      total = before.createOrFold<arith::AddIOp>(
          loop.getLoc(), known ? constant(before, *known) : term, total);
    }
    return total;
  }

  /// (iterations times step) * distance / step, without a division where the
  /// distance is a multiple of the step.
  Value scaled(OpBuilder &builder, Value travelled, Value step,
               Value distance) {
    Location loc = loop.getLoc();
    std::optional<int64_t> stepValue = getConstantInt(step);
    std::optional<int64_t> distanceValue = getConstantInt(distance);
    if (distance == step)
      return travelled;
    if (stepValue && distanceValue && *stepValue > 0 &&
        *distanceValue % *stepValue == 0)
      return builder.createOrFold<arith::MulIOp>(
          loc, travelled, constant(builder, *distanceValue / *stepValue));
    Value count = travelled;
    if (stepValue != 1)
      count = builder.createOrFold<arith::DivSIOp>(loc, travelled, step);
    return builder.createOrFold<arith::MulIOp>(loc, count, distance);
  }

  void rewrite(unsigned index, const Distances &distances) {
    Location loc = loop.getLoc();
    OpBuilder before(loop);
    Value lower = toI64(before, loop.getLowerBound());
    Value step = toI64(before, loop.getStep());
    SmallVector<Value> totals;
    for (ArrayRef<Value> terms : distances)
      totals.push_back(sum(before, terms));
    Value initial = loop.getInitArgs()[index];

    // In the body: (iv - lower) has been travelled.
    OpBuilder body = OpBuilder::atBlockBegin(loop.getBody());
    Value travelled = body.createOrFold<arith::SubIOp>(
        loc, toI64(body, loop.getInductionVar()), lower);
    SmallVector<Value> offsets;
    for (Value total : totals)
      offsets.push_back(scaled(body, travelled, step, total));
    Value current =
        AdvanceOp::create(body, loc, initial.getType(), initial, offsets);
    BlockArgument argument = loop.getRegionIterArg(index);
    argument.replaceAllUsesWith(current);
    // Yielding the argument itself lets canonicalisation drop it.
    loop.getBody()->getTerminator()->setOperand(index, argument);

    Value result = loop.getResult(index);
    if (result.use_empty())
      return;
    // After the loop: ceil((upper - lower) / step) iterations, at least none.
    OpBuilder after(loop->getContext());
    after.setInsertionPointAfter(loop);
    Value zero = constant(after, 0), one = constant(after, 1);
    Value span = after.createOrFold<arith::SubIOp>(
        loc, toI64(after, loop.getUpperBound()), lower);
    span = after.createOrFold<arith::MaxSIOp>(loc, span, zero);
    span = after.createOrFold<arith::AddIOp>(
        loc, span, after.createOrFold<arith::SubIOp>(loc, step, one));
    Value trips = after.createOrFold<arith::DivSIOp>(loc, span, step);
    offsets.clear();
    for (Value total : totals)
      offsets.push_back(after.createOrFold<arith::MulIOp>(loc, trips, total));
    Value last =
        AdvanceOp::create(after, loc, initial.getType(), initial, offsets);
    result.replaceAllUsesWith(last);
  }

  scf::ForOp loop;
  StringRef pass;
};

} // namespace

/// Whether two windows differ in their offsets alone.
static bool sameTensor(MakeBlockPtrOp a, MakeBlockPtrOp b) {
  return a && b && a.getType() == b.getType() && a.getBase() == b.getBase() &&
         a.getShape() == b.getShape() && a.getStrides() == b.getStrides() &&
         a.getOrderAttr() == b.getOrderAttr();
}

namespace {

/// select(c, make(..., o1), make(..., o2)) -> make(..., select(c, o1, o2))
struct SelectOffsets : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SelectOp op,
                                PatternRewriter &rewriter) const override {
    auto yes = op.getTrueValue().getDefiningOp<MakeBlockPtrOp>();
    auto no = op.getFalseValue().getDefiningOp<MakeBlockPtrOp>();
    if (!sameTensor(yes, no))
      return rewriter.notifyMatchFailure(op, "not windows of one tensor");
    SmallVector<Value> offsets;
    for (auto [a, b] : llvm::zip(yes.getOffsets(), no.getOffsets()))
      offsets.push_back(rewriter.createOrFold<arith::SelectOp>(
          op.getLoc(), op.getCondition(), a, b));
    rewriter.replaceOpWithNewOp<MakeBlockPtrOp>(
        op, op.getType(), yes.getBase(), yes.getShape(), yes.getStrides(),
        offsets, yes.getOrderAttr());
    return success();
  }
};

/// A window yielded by both branches of an `scf.if` becomes its offsets,
/// appended to the results.
struct YieldOffsets : OpRewritePattern<scf::IfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::IfOp op,
                                PatternRewriter &rewriter) const override {
    for (OpResult result : op.getResults()) {
      unsigned index = result.getResultNumber();
      if (!isa<BlockPtrType>(result.getType()) || result.use_empty())
        continue;
      auto yes =
          op.thenYield().getOperand(index).getDefiningOp<MakeBlockPtrOp>();
      auto no =
          op.elseYield().getOperand(index).getDefiningOp<MakeBlockPtrOp>();
      if (!sameTensor(yes, no) || !describedOutside(op, yes))
        continue;
      rewrite(op, index, yes, no, rewriter);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "yields no windows of one tensor");
  }

  /// Base, extents and strides are visible after the `scf.if`.
  static bool describedOutside(scf::IfOp op, MakeBlockPtrOp make) {
    auto outside = [&](Value value) {
      return !op->isAncestor(value.getParentBlock()->getParentOp());
    };
    return outside(make.getBase()) && llvm::all_of(make.getShape(), outside) &&
           llvm::all_of(make.getStrides(), outside);
  }

  static void rewrite(scf::IfOp op, unsigned index, MakeBlockPtrOp yes,
                      MakeBlockPtrOp no, PatternRewriter &rewriter) {
    SmallVector<Type> types(op.getResultTypes());
    types.append(yes.getOffsets().size(), rewriter.getI64Type());
    auto wider = scf::IfOp::create(rewriter, op.getLoc(), types,
                                   op.getCondition(), /*withElseRegion=*/true);
    wider->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    auto move = [&](Region &from, Region &to, MakeBlockPtrOp make) {
      rewriter.eraseBlock(&to.front());
      rewriter.inlineRegionBefore(from, to, to.end());
      Operation *yield = to.front().getTerminator();
      rewriter.modifyOpInPlace(yield, [&] {
        yield->insertOperands(yield->getNumOperands(), make.getOffsets());
      });
    };
    move(op.getThenRegion(), wider.getThenRegion(), yes);
    move(op.getElseRegion(), wider.getElseRegion(), no);
    unsigned old = op.getNumResults();
    auto make = MakeBlockPtrOp::create(
        rewriter, op.getLoc(), op.getResult(index).getType(), yes.getBase(),
        yes.getShape(), yes.getStrides(), wider.getResults().drop_front(old),
        yes.getOrderAttr());
    SmallVector<Value> results(wider.getResults().take_front(old));
    results[index] = make;
    rewriter.replaceOp(op, results);
  }
};

struct NormalizeBlockPtrs
    : flashtile::tile::impl::NormalizeBlockPtrsPassBase<NormalizeBlockPtrs> {
  using NormalizeBlockPtrsPassBase::NormalizeBlockPtrsPassBase;

protected:
  void runOnOperation() override {
    // Inside out, so that a nest's inner pointers are gone when the outer loop
    // is looked at.
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      if (llvm::none_of(loop.getRegionIterArgs(), [](Value argument) {
            return isa<BlockPtrType>(argument.getType());
          }))
        continue;
      // Distances computed inside from invariant values count as invariant.
      moveLoopInvariantCode(loop);
      auto [removed, kept] = CarriedPointers(loop, getArgument()).run();
      numCarried += removed;
      numKept += kept;
    }
    RewritePatternSet patterns(&getContext());
    patterns.add<SelectOffsets, YieldOffsets>(&getContext());
    AdvanceOp::getCanonicalizationPatterns(patterns, &getContext());
    scf::ForOp::getCanonicalizationPatterns(patterns, &getContext());
    scf::IfOp::getCanonicalizationPatterns(patterns, &getContext());
    unsigned chosenBefore = visitChosen([](Operation *) {});
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    numChosen +=
        chosenBefore - visitChosen([&](Operation *op) {
          remarkMissed(
              op, getArgument(), "PointerChosen",
              "block pointer stays conditional: the choice is not between "
              "windows of one tensor");
        });
  }

  /// Calls `visit` for every choice between block pointers; their number.
  unsigned visitChosen(llvm::function_ref<void(Operation *)> visit) {
    unsigned count = 0;
    getOperation().walk([&](Operation *op) {
      if (!isa<scf::IfOp, arith::SelectOp>(op) ||
          llvm::none_of(op->getResultTypes(), llvm::IsaPred<BlockPtrType>))
        return;
      ++count;
      visit(op);
    });
    return count;
  }
};

} // namespace
