//===- OverlapProducts.cpp - Products while other things happen -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two chained products, with work on tiles between them (attention):
//
//   for j:                                  prologue: s(0) and the work on it
//     s = a . k(j)                          for j > 0:
//     p = work on s                   ->      start s(j) = a . k(j)
//     o = p . v(j) + scaled o                 start o = p . v(j - 1) + scaled o
//                                             wait for s(j); its row maxima
//                                             wait for o; the rest of the work,
//                                             pack p; scale o
//                                           epilogue: o = p . v(last) + scaled
//                                           o
//
// Loops that go on where another ended (tiles without a mask, then those with
// one) are one sequence: nothing is waited for between them.
//
// Warpgroups start their products in turns, so that one works on its scores
// while another's products run.
//
// The work on one tile of scores runs while the tensor cores multiply the one
// before (FlashAttention-3, section 3.2). Packing p stays behind the wait:
// registers that a product reads must not be written while one is under way.
//
// One product (matmul): the wait for it moves to the next iteration.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"
#include "compiler/Schedule/IssueProducts.h"
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/ProductChain.h"
#include "dialects/Tile/Transforms/Remark.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

#include <vector>

namespace flashtile::gpu {
#define GEN_PASS_DEF_OVERLAPPRODUCTSPASS
#include "compiler/Schedule/Passes.h.inc"
} // namespace flashtile::gpu

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using tilegpu::MbarrierArriveOp;
using tilegpu::MbarrierWaitOp;
using tilegpu::SlotOp;
using tilegpu::WgmmaOp;
using tilegpu::WgmmaWaitOp;

namespace {
struct OverlapProducts
    : public flashtile::gpu::impl::OverlapProductsPassBase<OverlapProducts> {
  using OverlapProductsPassBase::OverlapProductsPassBase;
  void runOnOperation() override;
};
} // namespace

//===----------------------------------------------------------------------===//
// Sequences of loops
//===----------------------------------------------------------------------===//

namespace {
/// Barriers by which warpgroups take turns: one computes while another's
/// products run.
struct Turns {
  /// Who waits and who lets it go: a warpgroup each.
  static constexpr int32_t kThreads = 2 * 128;
  Value mine, next;
};

/// Writes a sequence of loops anew.
class Rotation {
public:
  Rotation(ArrayRef<Chain> chains, const std::optional<Turns> &turns)
      : Rotation(chains, chains.front().loop) {
    this->turns = turns;
  }
  void run();

private:
  Rotation(ArrayRef<Chain> chains, scf::ForOp first)
      : chains(chains), b(first.getLoc(), first) {}

  /// What is carried from one tile to the next, and what waits for its second
  /// product.
  struct State {
    SmallVector<Value> carried; ///< as the loops'; null for the sum
    Value scaled;               ///< the sum, scaled
    Value packed;               ///< the left operand
  };

  State firstStage(const Chain &chain, Value counter,
                   const SmallVector<Value> &carried,
                   std::optional<State> pending, Value sum);
  WgmmaOp startSecond(const Chain &chain, const State &state, Value &index);
  Value finishSecond(const Chain &chain, WgmmaOp start, Value index,
                     State &state);
  Value nextCounter(Value counter) {
    Value one = arith::ConstantOp::create(b, b.getI32IntegerAttr(1));
    return arith::AddIOp::create(b, counter, one);
  }
  Value runs(scf::ForOp loop) {
    return arith::CmpIOp::create(b,
                                 loop.getUnsignedCmp()
                                     ? arith::CmpIPredicate::ult
                                     : arith::CmpIPredicate::slt,
                                 loop.getLowerBound(), loop.getUpperBound());
  }
  void takeTurn() { barrier(turns->mine, /*arrive=*/false); }
  void passTurn() { barrier(turns->next, /*arrive=*/true); }
  void barrier(Value id, bool arrive) {
    tilegpu::NamedBarrierOp::create(b, arrive, id, Turns::kThreads);
  }
  State firstTile(ArrayRef<Value> runs, size_t position);
  State otherTiles(const Chain &chain, Value start, const State &before);
  void finishLast(const Chain &chain, scf::IfOp branch);
  SmallVector<Value> flatten(const State &state);
  State unflatten(ValueRange values);

  ArrayRef<Chain> chains;
  ImplicitLocOpBuilder b;
  std::optional<Turns> turns;
};
} // namespace

/// Starts the product that waits in `state`; its buffer is number `index`.
WgmmaOp Rotation::startSecond(const Chain &chain, const State &state,
                              Value &index) {
  scf::ForOp loop = chain.loop;
  IRMapping mapping;
  mapping.map(loop.getRegionIterArg(chain.counter),
              state.carried[chain.counter]);
  std::function<void(Value)> scalar = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != loop.getBody() || mapping.contains(value))
      return;
    for (Value operand : op->getOperands())
      scalar(operand);
    b.clone(*op, mapping);
  };
  Product second = chain.second;
  scalar(second.slot.getIndex());
  scalar(second.arrival.getPhase());
  b.clone(*second.arrival, mapping);
  b.clone(*second.slot, mapping);
  index = mapping.lookupOrDefault(second.slot.getIndex());
  mapping.map(second.start.getA(), state.packed);
  mapping.map(second.start.getC(), state.scaled);
  return cast<WgmmaOp>(b.clone(*second.start, mapping));
}

/// Waits for it and frees its buffer. The sum.
Value Rotation::finishSecond(const Chain &chain, WgmmaOp start, Value index,
                             State &state) {
  auto wait = WgmmaWaitOp::create(b, TypeRange{start.getType()},
                                  ValueRange{start.getResult()},
                                  b.getI32IntegerAttr(0));
  MbarrierArriveOp release = chain.second.release;
  MbarrierArriveOp::create(b, release.getBarriers(), index);
  state.carried[chain.counter] = nextCounter(state.carried[chain.counter]);
  return wait.getResult(0);
}

/// The first product and the work on it. The second product of the tile before,
/// if any, runs meanwhile; else `sum` is what the first tile adds to.
Rotation::State Rotation::firstStage(const Chain &chain, Value counter,
                                     const SmallVector<Value> &carried,
                                     std::optional<State> pending, Value sum) {
  scf::ForOp loop = chain.loop;
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), counter);
  for (auto [argument, value] : llvm::zip(loop.getRegionIterArgs(), carried))
    if (value)
      mapping.map(argument, value);
  State next;
  next.carried.assign(carried.begin(), carried.end());
  WgmmaOp running;
  Value index;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (chain.late.contains(&op))
      continue;
    if (&op == chain.first.start && pending && turns)
      takeTurn();
    if (&op == chain.first.wait && pending) {
      running = startSecond(chain, *pending, index);
      if (turns)
        passTurn();
    }
    Operation *clone = b.clone(op, mapping);
    if (&op == chain.first.wait)
      cast<WgmmaWaitOp>(clone).setPending(pending ? 1 : 0);
    if (pending && &op == chain.fence.tile.getDefiningOp()) {
      // Of other types, the wait is where an assembler wants it.
      Value tile = mapping.lookup(chain.fence.tile);
      if (getElementTypeOrSelf(tile.getType()).isF32())
        tilegpu::ScheduleFenceOp::create(b, tile, chain.fence.isFirst);
      next.carried[chain.counter] = pending->carried[chain.counter];
      sum = finishSecond(chain, running, index, next);
      if (chain.fence.holds)
        tilegpu::ScheduleHoldOp::create(b, tile, sum);
    }
  }
  Value counted = next.carried[chain.counter];
  mapping.map(loop.getRegionIterArg(chain.sum), sum);
  for (Operation *op : chain.pack)
    next.packed = b.clone(*op, mapping)->getResult(0);
  next.scaled = sum;
  const bool remains = !pending && beginsAtZero(chain, chains.front().loop);
  if (arith::MulFOp scale = chain.scale; scale && !remains)
    next.scaled = b.clone(*scale, mapping)->getResult(0);
  for (auto [position, yielded] : llvm::enumerate(loop.getYieldedValues()))
    next.carried[position] =
        position == chain.sum ? Value() : mapping.lookupOrDefault(yielded);
  next.carried[chain.counter] = counted;
  return next;
}

SmallVector<Value> Rotation::flatten(const State &state) {
  SmallVector<Value> values;
  for (Value value : state.carried)
    if (value)
      values.push_back(value);
  values.push_back(state.scaled);
  values.push_back(state.packed);
  return values;
}

Rotation::State Rotation::unflatten(ValueRange values) {
  const Chain &chain = chains.front();
  scf::ForOp loop = chain.loop;
  State state;
  size_t at = 0;
  for (size_t position = 0; position < loop.getNumRegionIterArgs(); ++position)
    state.carried.push_back(position == chain.sum ? Value() : values[at++]);
  state.scaled = values[at++];
  state.packed = values[at];
  return state;
}

/// The first tile of the first loop from `position` on that runs; one does.
Rotation::State Rotation::firstTile(ArrayRef<Value> runs, size_t position) {
  const Chain &chain = chains[position];
  scf::ForOp first = chains.front().loop, loop = chain.loop;
  SmallVector<Value> inits(first.getInitArgs());
  auto here = [&] {
    return firstStage(chain, loop.getLowerBound(), inits, std::nullopt,
                      inits[chain.sum]);
  };
  if (position + 1 == chains.size())
    return here();
  SmallVector<Type> types;
  for (auto [index, init] : llvm::enumerate(inits))
    if (index != chain.sum)
      types.push_back(init.getType());
  types.push_back(inits[chain.sum].getType());
  types.push_back(WgmmaOp(chain.second.start).getA().getType());
  auto branch =
      scf::IfOp::create(b, types, runs[position], /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, flatten(here()));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, flatten(firstTile(runs, position + 1)));
  return unflatten(branch.getResults());
}

/// A loop from `start` on, with the second product of the tile before pending.
Rotation::State Rotation::otherTiles(const Chain &chain, Value start,
                                     const State &before) {
  scf::ForOp loop = chain.loop;
  auto rotated = scf::ForOp::create(b, start, loop.getUpperBound(),
                                    loop.getStep(), flatten(before));
  rotated.setUnsignedCmp(loop.getUnsignedCmp());
  rotated->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(rotated.getBody());
  State inner = unflatten(rotated.getRegionIterArgs());
  State after = firstStage(chain, rotated.getInductionVar(), inner.carried,
                           inner, Value());
  scf::YieldOp::create(b, flatten(after));
  return unflatten(rotated.getResults());
}

/// The place of `op` in `block`, which is around it or has it.
static Operation *placeIn(Block *block, Operation *op) {
  return block->findAncestorOpInBlock(*op);
}

/// What needs no result of `wait`, in front of it: operations of the block that
/// come later, and those from before it that only later ones use.
static llvm::SetVector<Operation *> gatherBefore(WgmmaWaitOp wait) {
  Block *block = wait->getBlock();
  auto canMove = [](Operation &op) {
    return op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
           !isa<WgmmaWaitOp, WgmmaOp, BroadcastOp>(op) &&
           !op.hasTrait<OpTrait::IsTerminator>();
  };
  llvm::SetVector<Operation *> moved;
  for (Operation &op : llvm::make_early_inc_range(
           llvm::make_range(std::next(Block::iterator(wait)), block->end())))
    if (canMove(op) && llvm::all_of(op.getOperands(), [&](Value operand) {
          return isAvailable(operand, wait, moved);
        })) {
      op.moveBefore(wait);
      moved.insert(&op);
    }
  SmallVector<Operation *> before;
  for (Operation &op : llvm::make_range(block->begin(), Block::iterator(wait)))
    before.push_back(&op);
  Operation *place = moved.empty() ? wait : moved.front();
  for (Operation *op : llvm::reverse(before))
    if (!moved.contains(op) && canMove(*op) &&
        llvm::none_of(op->getUsers(), [&](Operation *user) {
          return placeIn(block, user)->isBeforeInBlock(wait) &&
                 !moved.contains(placeIn(block, user));
        })) {
      op->moveBefore(place);
      place = op;
      moved.insert(op);
    }
  return moved;
}

/// What a thread has few elements of and makes before `wait`, for use behind
/// it, goes through the wait, so that nothing lets it be made later.
static void finishBefore(WgmmaWaitOp wait,
                         const llvm::SetVector<Operation *> &moved) {
  constexpr int64_t kMostElements = 8;
  Block *block = wait->getBlock();
  auto isBehind = [&](OpOperand &use) {
    return wait->isBeforeInBlock(placeIn(block, use.getOwner()));
  };
  auto isFinished = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getElementType().isF32() &&
           layoutOf(type).registersPerThread() <= kMostElements &&
           llvm::any_of(value.getUses(), isBehind);
  };
  SmallVector<Value> tiles(wait.getTiles());
  for (Operation *op : moved)
    if (!op->hasTrait<OpTrait::ConstantLike>())
      llvm::copy_if(op->getResults(), std::back_inserter(tiles), isFinished);
  OpBuilder b(wait);
  // An assembler sees what is computed only.
  for (Value tile : llvm::drop_begin(tiles))
    for (bool isFirst : {true, false})
      tilegpu::ScheduleFenceOp::create(b, wait.getLoc(), tile, isFirst);
  auto all = WgmmaWaitOp::create(b, wait.getLoc(), ValueRange(tiles).getTypes(),
                                 tiles, wait.getPendingAttr());
  wait.getResult(0).replaceAllUsesWith(all.getResult(0));
  for (auto [tile, result] :
       llvm::drop_begin(llvm::zip(tiles, all.getResults())))
    tile.replaceUsesWithIf(result, isBehind);
  wait.erase();
}

/// Whether it is words that are waited for, for which no buffer has to be free.
static bool waitsForWords(Operation *wait) {
  Operation *next = wait->getNextNode();
  while (isMemoryEffectFree(next) && next != wait->getBlock()->getTerminator())
    next = next->getNextNode();
  return isa<MbarrierWaitOp>(wait) && isa<tilegpu::ReadWordOp>(next);
}

/// Whether the operation, or one in it, starts products or waits for others:
/// for a buffer, say, that a product which is under way still reads.
static bool needsProductsDone(Operation &op) {
  return op
      .walk([](Operation *inner) {
        return isa<WgmmaOp, MbarrierWaitOp, tilegpu::BarrierOp,
                   tilegpu::NamedBarrierOp>(inner) &&
                       !waitsForWords(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Waits for the last product where its result is used, or where others are
/// waited for; what does not need it is done meanwhile.
void Rotation::finishLast(const Chain &chain, scf::IfOp branch) {
  Value sum = branch.getResult(chain.sum);
  Block *block = branch->getBlock();
  Operation *place = branch->getNextNode();
  while (!place->hasTrait<OpTrait::IsTerminator>() &&
         !needsProductsDone(*place) &&
         llvm::none_of(sum.getUsers(), [&](Operation *user) {
           return placeIn(block, user) == place;
         }))
    place = place->getNextNode();
  b.setInsertionPoint(place);
  auto wait = WgmmaWaitOp::create(b, TypeRange{sum.getType()}, ValueRange{sum},
                                  b.getI32IntegerAttr(0));
  sum.replaceAllUsesExcept(wait.getResult(0), wait);
  auto guard = scf::IfOp::create(b, branch.getCondition(),
                                 /*withElseRegion=*/false);
  b.setInsertionPoint(guard.thenYield());
  MbarrierArriveOp release = chain.second.release;
  MbarrierArriveOp::create(b, release.getBarriers(),
                           branch.getResults().back());
  finishBefore(wait, gatherBefore(wait));
}

void Rotation::run() {
  scf::ForOp first = chains.front().loop, last = chains.back().loop;
  SmallVector<Value> running;
  Value any;
  for (const Chain &chain : chains) {
    running.push_back(runs(chain.loop));
    any = any ? Value(arith::OrIOp::create(b, any, running.back()))
              : running.back();
  }
  SmallVector<Type> types(last.getResultTypes());
  types.push_back(b.getI32Type());
  auto branch = scf::IfOp::create(b, types, any, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> unchanged(first.getInitArgs());
  unchanged.push_back(arith::ConstantOp::create(b, b.getI32IntegerAttr(0)));
  scf::YieldOp::create(b, unchanged);
  b.setInsertionPointToStart(branch.thenBlock());
  State state = firstTile(running, 0);
  Value begun; // whether an earlier loop had the first tile
  for (auto [chain, ran] : llvm::zip(chains, running)) {
    scf::ForOp loop = chain.loop;
    Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
    Value step = loop.getStep();
    // The second tile, or the end: without overflow.
    Value more =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ugt,
                              arith::SubIOp::create(b, upper, lower), step);
    Value start = arith::SelectOp::create(
        b, more, arith::AddIOp::create(b, lower, step), upper);
    if (begun) // and nothing where the loop does not run at all
      start = arith::SelectOp::create(b, begun, lower, start);
    else
      start = arith::SelectOp::create(b, ran, start, upper);
    state = otherTiles(chain, start, state);
    begun = begun ? Value(arith::OrIOp::create(b, begun, ran)) : ran;
  }
  Value index;
  const Chain &chain = chains.back();
  WgmmaOp product = startSecond(chain, state, index);
  state.carried[chain.sum] = product.getResult();
  state.carried[chain.counter] = nextCounter(state.carried[chain.counter]);
  state.carried.push_back(index);
  scf::YieldOp::create(b, state.carried);
  last.replaceAllUsesWith(branch.getResults().drop_back());
  finishLast(chain, branch);
  for (const Chain &chain : llvm::reverse(chains)) {
    scf::ForOp loop = chain.loop;
    loop.erase();
  }
}

//===----------------------------------------------------------------------===//
// One product
//===----------------------------------------------------------------------===//

/// Lets the product of an iteration run into the next one. Why not, or nothing.
static std::string delayWait(scf::ForOp loop) {
  SmallVector<WgmmaOp> starts(loop.getBody()->getOps<WgmmaOp>());
  if (starts.size() != 1)
    return otherCount(starts.size(), 1);
  WgmmaOp start = starts.front();
  WgmmaWaitOp wait = waitOf(start);
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  auto carried = dyn_cast_or_null<BlockArgument>(start.getC());
  if (!wait || !carried || carried.getOwner() != loop.getBody() ||
      !carried.hasOneUse())
    return "the product does not add to a carried tile";
  Value result = wait.getResult(0);
  unsigned sum = carried.getArgNumber() - 1;
  if (!result.hasOneUse() || yield.getOperand(sum) != result)
    return "the product is used in the loop";
  if (!isa<tilegpu::SmemType>(start.getA().getType()))
    return "the product's left operand is in registers, which the next "
           "iteration writes";
  for (Value operand : {Value(start.getA()), Value(start.getB())})
    if (auto stage = operand.getDefiningOp<tilegpu::StageOp>();
        stage && loop->isProperAncestor(stage))
      return "the product's operand goes through one buffer, which the next "
             "iteration writes";
  SmallVector<MbarrierArriveOp> releases(
      loop.getBody()->getOps<MbarrierArriveOp>());
  SmallVector<unsigned> counters;
  for (MbarrierArriveOp release : releases) {
    std::optional<unsigned> counter = counterOf(release.getIndex(), loop);
    if (!counter || release->isBeforeInBlock(wait))
      return "a buffer is not released behind the product";
    counters.push_back(*counter);
  }
  ImplicitLocOpBuilder b(loop.getLoc(), wait);
  auto i32 = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  };
  wait.setPending(1);
  auto released = [&](MbarrierArriveOp release, Value counter) {
    auto remainder = release.getIndex().getDefiningOp<arith::RemUIOp>();
    auto stages = remainder.getRhs().getDefiningOp<arith::ConstantOp>();
    Value last = arith::SubIOp::create(b, counter, i32(1));
    Value index =
        arith::RemUIOp::create(b, last, b.clone(*stages)->getResult(0));
    MbarrierArriveOp::create(b, release.getBarriers(), index);
  };
  // The buffers of the iteration before: there is one behind the first.
  if (!releases.empty()) {
    b.setInsertionPointAfter(releases.front());
    Value isLater =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                              loop.getInductionVar(), loop.getLowerBound());
    auto guard = scf::IfOp::create(b, isLater, /*withElseRegion=*/false);
    b.setInsertionPoint(guard.thenYield());
    for (auto [release, counter] : llvm::zip(releases, counters))
      released(release, loop.getRegionIterArg(counter));
  }
  b.setInsertionPointAfter(loop);
  auto done = WgmmaWaitOp::create(b, TypeRange{result.getType()},
                                  ValueRange{loop.getResult(sum)},
                                  b.getI32IntegerAttr(0));
  loop.getResult(sum).replaceAllUsesExcept(done.getResult(0), done);
  if (!releases.empty()) {
    Value ran =
        arith::CmpIOp::create(b,
                              loop.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                                    : arith::CmpIPredicate::slt,
                              loop.getLowerBound(), loop.getUpperBound());
    auto guard = scf::IfOp::create(b, ran, /*withElseRegion=*/false);
    b.setInsertionPoint(guard.thenYield());
    for (auto [release, counter] : llvm::zip(releases, counters))
      released(release, loop.getResult(counter));
  }
  for (MbarrierArriveOp release : releases)
    release.erase();
  return {};
}

/// The first turn is the first warpgroup's.
static Turns startTurns(tilegpu::WarpSpecializeOp roles, int64_t groups) {
  constexpr int64_t kFirstBarrier = 2;
  auto b = ImplicitLocOpBuilder::atBlockBegin(roles.getLoc(),
                                              &roles.getConsumer().front());
  auto i32 = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  };
  Value group = tilegpu::WarpgroupIdOp::create(b);
  Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, group,
                                       i32(groups - 1));
  Turns turns;
  turns.mine = arith::AddIOp::create(b, group, i32(kFirstBarrier));
  turns.next =
      arith::SelectOp::create(b, isLast, i32(kFirstBarrier),
                              arith::AddIOp::create(b, turns.mine, i32(1)));
  auto branch = scf::IfOp::create(b, isLast, /*withElseRegion=*/false);
  b.setInsertionPoint(branch.thenYield());
  tilegpu::NamedBarrierOp::create(b, /*arrive=*/true, turns.next,
                                  Turns::kThreads);
  return turns;
}

/// The body, or the side of a branch there that has products.
static Block &productBlockOf(scf::ForOp loop) {
  if (!loop.getBody()->getOps<WgmmaOp>().empty())
    return *loop.getBody();
  for (auto branch : loop.getBody()->getOps<scf::IfOp>())
    for (Region *side : {&branch.getElseRegion(), &branch.getThenRegion()})
      if (!side->empty() && !side->front().getOps<WgmmaOp>().empty())
        return side->front();
  return *loop.getBody();
}

void OverlapProducts::runOnOperation() {
  SmallVector<scf::ForOp> loops;
  getOperation().getBody().walk([&](tilegpu::WarpSpecializeOp roles) {
    roles.getConsumer().walk([&](scf::ForOp loop) {
      if (!productBlockOf(loop).getOps<WgmmaOp>().empty())
        loops.push_back(loop);
    });
  });
  auto warps = getOperation()->getAttrOfType<IntegerAttr>(
      tilegpu::TileGPUDialect::kNumWarpsAttr);
  if (loops.empty() || !warps)
    return;
  SmallVector<Handover> handovers;
  const bool mayDelay =
      delay && llvm::any_of(loops, [](scf::ForOp loop) {
        return !productBlockOf(loop).getOps<tilegpu::AtomicAddOp>().empty();
      });
  if (mayDelay) {
    std::string whyNot = delayProducts(loops, sharedLimit, handovers);
    if (whyNot.empty())
      remarkApplied(loops.front(), "tilegpu-overlap-products", "Delay",
                    "what is added to memory is multiplied an iteration later: "
                    "no warpgroup waits for one that is less than that behind");
    else
      remarkMissed(loops.front(), "tilegpu-overlap-products", "Delay",
                   "what is added to memory is multiplied in its iteration: " +
                       whyNot);
  }
  std::vector<std::vector<Chain>> sequences;
  for (scf::ForOp loop : loops) {
    Chain chain;
    std::string whyNoChain = matchChain(loop, chain);
    if (whyNoChain.empty()) {
      remarkApplied(loop, "tilegpu-overlap-products", "Overlap",
                    "the first product of a tile runs beside the second of "
                    "the one before");
      if (sequences.empty() || !continues(sequences.back().back(), chain,
                                          sequences.back().front().loop))
        sequences.emplace_back();
      else
        remarkApplied(loop, "tilegpu-overlap-products", "Overlap",
                      "the loop goes on while the last product of the one "
                      "before runs");
      sequences.back().push_back(chain);
      continue;
    }
    std::string whyAlone = delayWait(loop);
    if (whyAlone.empty()) {
      remarkApplied(loop, "tilegpu-overlap-products", "Overlap",
                    "the product runs while the next iteration starts");
      continue;
    }
    std::string whyInOrder =
        issueProducts(loop, productBlockOf(loop), handovers, sharedLimit);
    if (whyInOrder.empty())
      remarkApplied(loop, "tilegpu-overlap-products", "Overlap",
                    "products start when their operands are there, and are "
                    "waited for where they are used");
    else
      remarkMissed(loop, "tilegpu-overlap-products", "Overlap",
                   "products are waited for: " + whyNoChain + "; " + whyAlone +
                       "; " + whyInOrder);
  }
  std::optional<Turns> turns;
  auto roles = getOperation().getBody().getOps<tilegpu::WarpSpecializeOp>();
  int64_t groups = warps.getInt() / 4;
  if (!sequences.empty() && groups > 1 && takeTurns) {
    turns = startTurns(*roles.begin(), groups);
    remarkApplied(*roles.begin(), "tilegpu-overlap-products", "Turns",
                  "warpgroups start their products in turns");
  }
  for (const std::vector<Chain> &sequence : sequences)
    Rotation(sequence, turns).run();
}
