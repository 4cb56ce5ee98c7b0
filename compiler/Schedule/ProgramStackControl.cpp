//===- ProgramStackControl.cpp - Loops and branches of several programs ---===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of ProgramStack: where programs run another number of iterations, or
// another side of a branch, and may nevertheless run together.
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Program/TileQueries.h"
#include "compiler/Schedule/ElementBranches.h"
#include "compiler/Schedule/ProgramStack.h"
#include "dialects/Tile/Transforms/AffineMask.h"
#include "dialects/Tile/Transforms/NeutralIteration.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

using Kind = ProgramValue::Kind;

/// `target` is one of two values.
bool ProgramStack::join(Operation *op, Value one, Value other, Value target) {
  ProgramValue x = of(one), y = of(other);
  if (x.isSame() && y.isSame())
    return true;
  if (!x.isStacked() && !y.isStacked())
    return (x.kind == Kind::Shifted && y.kind == Kind::Shifted &&
            x.rate == y.rate)
               ? assign(target, x.isBounded ? y : x)
               : fail(op, "a number of " + nameOf(op) +
                              " depends on the position of the program");
  ProgramValue found = x.isStacked() ? x : y;
  found.isBounded = x.isBounded && y.isBounded;
  found.rate = x.rate == y.rate ? x.rate : 0;
  for (Value value : {one, other})
    if (!isa<BlockPtrType>(value.getType())
            ? excessOf(value, found.dim) != found.excess
            : !of(value).isStacked() || of(value).dim != found.dim)
      return fail(op, "a tile of " + nameOf(op) +
                          " is one for all programs at one time, and rows of "
                          "each at another");
  return assign(target, found);
}

bool ProgramStack::visitFor(scf::ForOp op) {
  if (!of(op.getLowerBound()).isSame() || !of(op.getStep()).isSame())
    return fail(op, "a loop starts at the position of the program");
  ProgramValue end = of(op.getUpperBound());
  bool isLonger = !end.isSame();
  if (isLonger && end.kind != Kind::Rising &&
      !(end.kind == Kind::Shifted && end.rate > 0))
    return fail(op, "a loop ends earlier in the next program");
  for (auto [init, argument] :
       llvm::zip(op.getInitArgs(), op.getRegionIterArgs()))
    if (of(argument).isSame())
      assign(argument, of(init));
  if (!visit(*op.getBody()))
    return false;
  for (auto [init, argument, yielded, result] :
       llvm::zip(op.getInitArgs(), op.getRegionIterArgs(),
                 op.getYieldedValues(), op.getResults())) {
    if (!join(op, argument, yielded, argument) ||
        !join(op, init, argument, argument))
      return false;
    assign(result, of(argument));
  }
  if (!isLonger || !isStrict)
    return true;
  std::string reason = whyNotLonger(op);
  return reason.empty() ||
         fail(op, "a loop ends at the position of the program, and " + reason);
}

/// Why programs may not run what others have a branch for, to throw the result
/// away; empty where they may.
static std::string whyNotForAll(scf::IfOp op) {
  std::string reason;
  op->walk([&](Operation *inner) {
    if (isa<StoreOp>(inner))
      reason = "it stores";
    else if (isa<AssumeOp, scf::WhileOp>(inner))
      reason = "what is in it relies on the condition";
    auto load = dyn_cast<LoadOp>(inner);
    if (load &&
        (!isa<BlockPtrType>(load.getPointer().getType()) || load.getInBounds()))
      reason = "it loads without looking at bounds";
  });
  return reason;
}

/// Of a branch that some programs take: both sides are computed for all rows.
bool ProgramStack::visitSides(scf::IfOp op) {
  std::string reason = whyNotForAll(op);
  if (!reason.empty())
    return fail(op, "a branch depends on the position of the program, and " +
                        reason);
  for (Region &region : op->getRegions())
    if (!region.empty() && !visit(region.front()))
      return false;
  for (auto [index, result] : llvm::enumerate(op.getResults())) {
    Value yes = op.thenYield().getOperand(index);
    Value no = op.elseYield().getOperand(index);
    if (yes == no && of(yes).isSame())
      continue;
    if (!join(op, yes, no, result))
      return false;
    ProgramValue found = of(result);
    if (!found.isStacked() || found.excess != 0 || !tileType(result))
      return fail(op, "a branch that some programs take gives something else "
                      "than rows");
  }
  return true;
}

bool ProgramStack::visitIf(scf::IfOp op) {
  ProgramValue condition = of(op.getCondition());
  if (condition.kind == Kind::Differs)
    return visitSides(op);
  if (condition.kind == Kind::Any) {
    // Programs branch together: what one does for the other's sake changes
    // nothing.
    Value root = op.getCondition();
    while (auto max = root.getDefiningOp<MaxOp>())
      root = max.getOperand();
    bool writes = false;
    op->walk([&](StoreOp) { writes = true; });
    if (writes || !keepsOthers(op, root))
      return fail(op,
                  "a branch on elements changes rows without such elements");
  } else if (!condition.isSame()) {
    return fail(op, "a branch depends on the position of the program");
  }
  for (Region &region : op->getRegions())
    if (!region.empty() && !visit(region.front()))
      return false;
  for (auto [index, result] : llvm::enumerate(op.getResults()))
    if (!join(op, op.thenYield().getOperand(index),
              op.elseYield().getOperand(index), result))
      return false;
  return true;
}

/// Whether a mask decides about everything that a product gives.
static bool isMasked(Value product, unsigned depth = 0) {
  constexpr unsigned kMostSteps = 4;
  return depth < kMostSteps &&
         llvm::all_of(
             product.getUsers(),
             [&](auto *op) {
               return isa<arith::SelectOp>(op) ||
                      (isElementwise(op) && op->getNumResults() == 1 &&
                       isMasked(op->getResult(0), depth + 1));
             });
}

/// Where a product adds weights of zero, what they are multiplied by may be no
/// number: rows are looked at again behind the loop.
bool ProgramStack::isMendedBehind(scf::ForOp loop) {
  bool areMasked = true;
  loop->walk([&](DotOp dot) {
    bool isSum = dot->getBlock() == loop.getBody() &&
                 llvm::all_of(dot->getUsers(), llvm::IsaPred<scf::YieldOp>);
    areMasked &= isSum || isMasked(dot.getResult());
  });
  if (!areMasked)
    return false;
  for (auto [index, yielded] : llvm::enumerate(loop.getYieldedValues())) {
    if (!yielded.getDefiningOp<DotOp>())
      continue;
    Value sum = loop.getResult(index);
    bool isMended = false;
    kernel.getBody().walk([&](scf::IfOp branch) {
      if (of(branch.getCondition()).kind != Kind::Any)
        return;
      Value root = branch.getCondition();
      constexpr unsigned kMost = 16;
      for (unsigned step = 0; step < kMost && root != sum; ++step) {
        Operation *op = root.getDefiningOp();
        if (!op || !(isa<MaxOp>(op) || isElementwise(op)))
          return;
        root = op->getOperand(0);
      }
      isMended |= root == sum;
    });
    if (!isMended)
      return false;
  }
  return true;
}

/// Why a program may not run iterations that only the next one has; empty where
/// it may, as they change nothing.
std::string ProgramStack::whyNotLonger(scf::ForOp loop) {
  bool writes = false, isSafe = true;
  loop->walk([&](Operation *op) {
    writes |= isa<StoreOp>(op);
    if (auto load = dyn_cast<LoadOp>(op))
      isSafe &=
          isa<BlockPtrType>(load.getPointer().getType()) && !load.getInBounds();
  });
  if (writes || !isSafe)
    return "it stores, or loads without looking at bounds";
  if (!isMendedBehind(loop))
    return "hidden elements that are not finite would reach the next program's "
           "neighbour";
  SmallVector<Value> ends = {loop.getUpperBound()};
  for (size_t i = 0; i < ends.size(); ++i) {
    Operation *op = ends[i].getDefiningOp();
    bool isMinimum = isa_and_nonnull<arith::MinSIOp>(op);
    if (!isMinimum && !isa_and_nonnull<arith::ExtSIOp, arith::TruncIOp,
                                       arith::IndexCastOp, AssumeOp>(op))
      continue;
    if (isMinimum)
      ends.push_back(op->getOperand(1));
    ends[i--] = op->getOperand(0);
  }
  // Whichever of the ends it is, an iteration behind it has no effect. Where it
  // is one of all programs, there is none.
  for (Value end : ends) {
    if (of(end).isSame())
      continue;
    std::string reason;
    std::optional<AffineForm> form = readAffine(end, loop, reason);
    if (!form)
      return "where is not understood: " + reason;
    DenseSet<Value> isFalse;
    loop.getBody()->walk([&](arith::CmpIOp compare) {
      for (auto &[atom, value] :
           readComparison(compare, /*negated=*/false, loop).atoms) {
        AffineForm least;
        least.constant = atom.smallest;
        least.symbols = atom.symbols;
        if (value && atom.induction > 0 && least.add(*form, atom.induction) &&
            least.symbols.empty() && least.induction == 0 && least.constant > 0)
          isFalse.insert(value);
      }
    });
    if (std::optional<std::string> effect =
            findEffectOfIteration(loop, isFalse))
      return "iterations behind that may have an effect: " + *effect;
  }
  return {};
}
