//===- DelayProducts.cpp - Products an iteration later --------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A left operand that all warps make in registers has to be in shared memory
// before any of them multiplies it. If nothing of the loop needs the product,
// because it is added to memory and that is all, it can run one iteration
// later:
//
//   r = ...; stage r; barrier                 r = ...; write r to buffer n mod
//   2 start u = r^T . k                ->       arrive at full[n mod 2] wait
//   for u; memory at j += u              wait for full[(n - 1) mod 2]
//                                             start u = r(n - 1)^T . k
//                                             wait for u; memory at the last j
//                                             += u arrive at empty[(n - 1) mod
//                                             2]
//
// Nobody waits for a warpgroup that is less than an iteration behind, so that
// one computes while another multiplies. The last product comes behind the last
// loop. The first iteration of a program multiplies what it finds in the buffer
// and adds nothing (its window has no rows): a branch around products would
// have to be the same for all.
//
// n counts the iterations of all loops and programs of a block, from 0. In
// iteration n each warp arrives once at full[n mod 2], and once at empty[(n -
// 1) mod 2]. So phase n / 2 of full ends when buffer n mod 2 is written. It is
// written again in iteration n + 2, behind the arrivals of n + 1 at empty:
// phase (n + 1) / 2, counted with the one of iteration 0, behind which there is
// no buffer to free. Seen from iteration n, both phases have the parity of (n -
// 1) / 2; for n = 0 that is the one that new barriers have behind them. Nobody
// waits forever: iteration n needs n - 1 of the other warps, or less.
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/DelayProducts.h"
#include "compiler/Schedule/ProductChain.h"
#include "compiler/Schedule/SharedNeeds.h"
#include "compiler/Schedule/TurnBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using tilegpu::AtomicAddOp;
using tilegpu::MbarrierArriveOp;
using tilegpu::MbarrierWaitOp;
using tilegpu::SlotOp;
using tilegpu::StageOp;
using tilegpu::WgmmaOp;
using tilegpu::WgmmaWaitOp;

namespace {
/// A product whose result is added to memory, and what belongs to it.
struct Addition {
  scf::ForOp loop;
  StageOp stage;
  WgmmaOp product;
  WgmmaWaitOp wait;
  llvm::SetVector<Operation *> shaping; ///< from the product to what is added
  llvm::SetVector<Operation *> placing; ///< what the window is made of
  AtomicAddOp add;
  tile::MakeBlockPtrOp window; ///< where it is added
  unsigned counter = 0;        ///< which of the values that the loop carries
};
} // namespace

//===----------------------------------------------------------------------===//
// What can be delayed
//===----------------------------------------------------------------------===//

/// The operations of the body that `value` is made of, if that are pure
/// functions of the induction variable and of what the loop does not change.
static bool collectPlacing(scf::ForOp loop, Value value,
                           llvm::SetVector<Operation *> &placing) {
  if (value == loop.getInductionVar() || loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *made = value.getDefiningOp();
  if (placing.contains(made))
    return true;
  if (!made || made->getBlock() != loop.getBody() || made->getNumRegions() ||
      !isMemoryEffectFree(made) || isa<WgmmaOp, WgmmaWaitOp>(made))
    return false;
  for (Value operand : made->getOperands())
    if (!collectPlacing(loop, operand, placing))
      return false;
  placing.insert(made);
  return true;
}

/// The operations behind the product: pure ones, and one addition to memory.
static bool collectShaping(Addition &found) {
  llvm::SetVector<Operation *> made;
  made.insert(found.wait);
  auto isFromProduct = [&](Value value) {
    Operation *maker = value.getDefiningOp();
    return maker && made.contains(maker);
  };
  for (size_t index = 0; index < made.size(); ++index)
    for (Operation *user : made[index]->getUsers()) {
      // Also what is used in a region is used.
      if (user->getBlock() != found.loop.getBody())
        return false;
      if (auto add = dyn_cast<AtomicAddOp>(user)) {
        if ((found.add && found.add != add) || add.getMask() ||
            !add->use_empty() || !isFromProduct(add.getValue()) ||
            isFromProduct(add.getPointer()))
          return false;
        found.add = add;
        continue;
      }
      if (user->getNumRegions() || !isMemoryEffectFree(user) ||
          user->hasTrait<OpTrait::IsTerminator>())
        return false;
      made.insert(user);
    }
  // In the order of the text, and of nothing else that the loop makes.
  for (Operation &op : *found.loop.getBody()) {
    if (!made.contains(&op) || &op == found.wait)
      continue;
    if (!llvm::all_of(op.getOperands(), [&](Value value) {
          return isFromProduct(value) ||
                 found.loop.isDefinedOutsideOfLoop(value);
        }))
      return false;
    found.shaping.insert(&op);
  }
  return found.add != nullptr;
}

/// Whether it may read or write the memory of tensors.
static bool usesTensors(Operation &op) {
  return !isMemoryEffectFree(&op) &&
         !isa<WgmmaOp, WgmmaWaitOp, MbarrierWaitOp, MbarrierArriveOp,
              tilegpu::FenceProxyOp, SlotOp, tilegpu::LoadSharedOp, StageOp>(
             op);
}

static bool hasOtherEffects(Addition &found) {
  return llvm::any_of(
      found.loop.getBody()->without_terminator(),
      [&](Operation &op) { return usesTensors(op) && &op != found.add; });
}

/// Whether the memory of tensors is used between the loops, which are in one
/// block: the last addition of one comes in the first iteration of the next.
static bool useTensorsBetween(ArrayRef<Addition> additions) {
  for (size_t index = 1; index < additions.size(); ++index) {
    scf::ForOp before = additions[index - 1].loop, loop = additions[index].loop;
    for (Operation *op = before->getNextNode(); op != loop;
         op = op->getNextNode())
      if (usesTensors(*op))
        return true;
  }
  return false;
}

/// Why the loop's staged operand is not that of such a product, or nothing.
static std::string matchAddition(scf::ForOp loop, Addition &found) {
  found.loop = loop;
  auto stages = llvm::to_vector(loop.getBody()->getOps<StageOp>());
  if (stages.size() != 1 ||
      !willTakeTurns(stages.front(), [](StageOp) { return false; }))
    return "its staged operands are not of one product among several";
  found.stage = stages.front();
  found.product = found.stage->hasOneUse()
                      ? dyn_cast<WgmmaOp>(*found.stage->getUsers().begin())
                      : WgmmaOp();
  if (found.product && found.product.getWarpgroups() == 1)
    return "there is one warpgroup, which waits for nobody";
  if (!found.product || found.product.getA() != found.stage.getResult() ||
      found.product.getC() || found.product.getHead() ||
      !loop.isDefinedOutsideOfLoop(found.product.getB()))
    return "a product multiplies or adds up what the loop changes";
  found.wait = waitOf(found.product);
  if (!found.wait)
    return "a product is not waited for by itself";
  if (!collectShaping(found) || hasOtherEffects(found))
    return "a product is not only added to memory";
  found.window = found.add.getPointer().getDefiningOp<tile::MakeBlockPtrOp>();
  if (!found.window ||
      !collectPlacing(loop, found.add.getPointer(), found.placing))
    return "the place in memory is not made of the position in the loop";
  found.placing.insert(found.window); // be it made before the loop
  auto counter =
      dyn_cast_or_null<BlockArgument>(findTurnCounter(*loop.getBody()));
  if (!counter)
    return "it has no counter";
  found.counter = counter.getArgNumber() - 1;
  auto next =
      loop.getYieldedValues()[found.counter].getDefiningOp<arith::AddIOp>();
  if (!next || next.getLhs() != counter ||
      !matchPattern(next.getRhs(), m_One()))
    return "it has no counter";
  return {};
}

bool flashtile::gpu::hasDelayableProduct(scf::ForOp loop) {
  Addition found;
  return matchAddition(loop, found).empty();
}

namespace {
/// Whether two additions are the same functions of their loops' positions and
/// products.
class Likeness {
public:
  Likeness(Addition &left, Addition &right) : left(left), right(right) {}
  bool holds();

private:
  bool isSame(Value a, Value b);

  Addition &left, &right;
  /// What has been compared: many values may be made of one.
  DenseSet<std::pair<Value, Value>> same;
};
} // namespace

bool Likeness::isSame(Value a, Value b) {
  if (a == b || same.contains({a, b}))
    return true;
  if (a == left.loop.getInductionVar() || b == right.loop.getInductionVar())
    return a == left.loop.getInductionVar() &&
           b == right.loop.getInductionVar() && a.getType() == b.getType();
  Operation *makesA = a.getDefiningOp(), *makesB = b.getDefiningOp();
  if (!makesA || !makesB || makesA->getName() != makesB->getName() ||
      makesA->getAttrDictionary() != makesB->getAttrDictionary() ||
      a.getType() != b.getType() ||
      makesA->getNumOperands() != makesB->getNumOperands())
    return false;
  if (makesA == left.wait || makesB == right.wait)
    return makesA == left.wait && makesB == right.wait;
  if (!isMemoryEffectFree(makesA) || makesA->getNumRegions())
    return false;
  for (auto [operandA, operandB] :
       llvm::zip(makesA->getOperands(), makesB->getOperands()))
    if (!isSame(operandA, operandB))
      return false;
  same.insert({a, b});
  return true;
}

bool Likeness::holds() {
  return left.product.getB() == right.product.getB() &&
         left.product->getAttrDictionary() ==
             right.product->getAttrDictionary() &&
         left.product.getType() == right.product.getType() &&
         left.stage.getType() == right.stage.getType() &&
         isSame(left.add.getPointer(), right.add.getPointer()) &&
         isSame(left.add.getValue(), right.add.getValue());
}

/// Whether the loops follow each other, and their counter is one that starts at
/// 0 and counts nothing but their iterations, in all loops around them.
static bool countsAll(ArrayRef<Addition> additions) {
  for (size_t index = 1; index < additions.size(); ++index) {
    scf::ForOp before = additions[index - 1].loop, loop = additions[index].loop;
    if (loop->getBlock() != before->getBlock() ||
        loop.getInitArgs()[additions[index].counter] !=
            before.getResult(additions[index - 1].counter))
      return false;
  }
  const Addition &first = additions.front(), &last = additions.back();
  scf::ForOp loop = first.loop, end = last.loop;
  Value in = loop.getInitArgs()[first.counter];
  Value out = end.getResult(last.counter);
  while (auto argument = dyn_cast<BlockArgument>(in)) {
    Operation *around = argument.getOwner()->getParentOp();
    if (auto outer = dyn_cast<scf::ForOp>(around);
        outer && argument.getArgNumber() > 0) {
      unsigned at = argument.getArgNumber() - 1;
      if (outer.getYieldedValues()[at] != out)
        return false;
      in = outer.getInitArgs()[at];
      out = outer.getResult(at);
    } else if (auto outer = dyn_cast<scf::WhileOp>(around)) {
      unsigned at = argument.getArgNumber();
      if (argument.getOwner() != outer.getAfterBody())
        return false;
      auto handed =
          dyn_cast<BlockArgument>(outer.getConditionOp().getArgs()[at]);
      if (!handed || handed.getOwner() != outer.getBeforeBody() ||
          outer.getYieldOp()->getOperand(handed.getArgNumber()) != out)
        return false;
      in = outer.getInits()[handed.getArgNumber()];
      out = outer.getResult(at);
    } else {
      return false;
    }
  }
  return matchPattern(in, m_Zero());
}

//===----------------------------------------------------------------------===//
// The delay
//===----------------------------------------------------------------------===//

namespace {
/// Writes one sequence of loops anew.
class Delay {
public:
  Delay(MutableArrayRef<Addition> additions, tilegpu::AllocOp ring)
      : additions(additions), ring(ring) {}
  void run(SmallVectorImpl<scf::ForOp> &loops,
           SmallVectorImpl<Handover> &handovers);

private:
  /// Where an iteration is in the buffers.
  struct Turn {
    Value index, lastIndex, lastPhase;
  };
  Turn turnOf(ImplicitLocOpBuilder &b, Value counter);
  Value i32(ImplicitLocOpBuilder &b, int64_t value) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  }
  void makeBarriers();
  Value windowAt(ImplicitLocOpBuilder &b, Addition &addition, Value position,
                 Value isThere);
  Handover handOver(Addition &addition);
  void finish();

  MutableArrayRef<Addition> additions;
  tilegpu::AllocOp ring;
  Value full, empty;
  /// Of the iteration before, and whether there is one.
  Value position, isThere;
};
} // namespace

void Delay::makeBarriers() {
  auto kernel = ring->getParentOfType<tile::KernelOp>();
  ImplicitLocOpBuilder b(ring.getLoc(), ring->getBlock(),
                         std::next(ring->getIterator()));
  auto warps = kernel->getAttrOfType<IntegerAttr>(
      tilegpu::TileGPUDialect::kNumWarpsAttr);
  auto type = tilegpu::MbarriersType::get(b.getContext(), kTurnBuffers);
  IntegerAttr arrivals = b.getI32IntegerAttr(warps.getInt());
  full = tilegpu::MbarriersOp::create(b, type, arrivals);
  empty = tilegpu::MbarriersOp::create(b, type, arrivals);
}

Delay::Turn Delay::turnOf(ImplicitLocOpBuilder &b, Value counter) {
  Value count = i32(b, kTurnBuffers);
  Value last = arith::SubIOp::create(b, counter, i32(b, 1));
  Turn turn;
  turn.index = arith::RemUIOp::create(b, counter, count);
  turn.lastIndex = arith::RemUIOp::create(b, last, count);
  turn.lastPhase = arith::RemUIOp::create(
      b, arith::DivUIOp::create(b, last, count), i32(b, 2));
  return turn;
}

/// The window of the addition at another position in the loop; without rows
/// where there is none.
Value Delay::windowAt(ImplicitLocOpBuilder &b, Addition &addition,
                      Value position, Value isThere) {
  IRMapping mapping;
  mapping.map(addition.loop.getInductionVar(), position);
  for (Operation *op : addition.placing)
    b.clone(*op, mapping);
  auto window = mapping.lookup(addition.window.getResult())
                    .getDefiningOp<tile::MakeBlockPtrOp>();
  b.setInsertionPoint(window);
  Value rows = window.getShape().front();
  Value none =
      arith::ConstantOp::create(b, b.getIntegerAttr(rows.getType(), 0));
  window.getShapeMutable()[0].assign(
      arith::SelectOp::create(b, isThere, rows, none));
  b.setInsertionPointAfter(window);
  return window;
}

Handover Delay::handOver(Addition &addition) {
  // The next loop starts behind the last iteration of this one.
  IRRewriter rewriter(addition.loop.getContext());
  NewYieldValuesFn yields = [](OpBuilder &b, Location loc,
                               ArrayRef<BlockArgument> arguments) {
    Value induction = arguments.front().getOwner()->getArgument(0);
    Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    return SmallVector<Value>{induction, yes};
  };
  DictionaryAttr attributes = addition.loop->getDiscardableAttrDictionary();
  rewriter.setInsertionPoint(addition.loop);
  addition.loop = cast<scf::ForOp>(
      *cast<LoopLikeOpInterface>(*addition.loop)
           .replaceWithAdditionalYields(rewriter, {position, isThere},
                                        /*replaceInitOperandUsesInLoop=*/false,
                                        yields));
  addition.loop->setDiscardableAttrs(attributes);
  scf::ForOp loop = addition.loop;

  ImplicitLocOpBuilder b(addition.stage.getLoc(), addition.stage);
  Turn turn = turnOf(b, loop.getRegionIterArg(addition.counter));
  Value slot = SlotOp::create(b, ring, turn.index);
  Handover handover;
  handover.product = addition.product;
  if (Operation *made = addition.stage.getOperand().getDefiningOp();
      made && made->getBlock() == loop.getBody())
    handover.before.push_back(made);
  auto also = [&](Operation *op) { handover.before.push_back(op); };
  also(MbarrierWaitOp::create(b, empty, turn.index, turn.lastPhase));
  also(tilegpu::StoreSharedOp::create(b, addition.stage.getOperand(), slot));
  also(tilegpu::FenceProxyOp::create(b));
  also(MbarrierArriveOp::create(b, full, turn.index));
  also(MbarrierWaitOp::create(b, full, turn.lastIndex, turn.lastPhase));
  Value last = SlotOp::create(b, ring, turn.lastIndex);
  addition.stage.replaceAllUsesWith(last);
  addition.stage.erase();
  b.setInsertionPointAfter(addition.wait);
  handover.release = MbarrierArriveOp::create(b, empty, turn.lastIndex);

  b.setInsertionPoint(addition.add);
  auto carried = loop.getRegionIterArgs().take_back(2);
  addition.add.getPointerMutable().assign(
      windowAt(b, addition, carried[0], carried[1]));
  position = loop.getResults().take_back(2)[0];
  isThere = loop.getResults().take_back(2)[1];
  return handover;
}

/// What the last iteration has handed over. No buffer is released: the first
/// iteration of the next program does so.
void Delay::finish() {
  Addition &last = additions.back();
  ImplicitLocOpBuilder b(last.loop.getLoc(), last.loop->getBlock(),
                         std::next(last.loop->getIterator()));
  Turn turn = turnOf(b, last.loop.getResult(last.counter));
  MbarrierWaitOp::create(b, full, turn.lastIndex, turn.lastPhase);
  IRMapping mapping;
  mapping.map(last.product.getA(), SlotOp::create(b, ring, turn.lastIndex));
  b.clone(*last.product, mapping);
  b.clone(*last.wait, mapping);
  for (Operation *op : last.shaping)
    b.clone(*op, mapping);
  Value window = windowAt(b, last, position, isThere);
  mapping.map(last.add.getPointer(), window);
  b.clone(*last.add, mapping);
}

void Delay::run(SmallVectorImpl<scf::ForOp> &loops,
                SmallVectorImpl<Handover> &handovers) {
  makeBarriers();
  Addition &first = additions.front();
  ImplicitLocOpBuilder b(first.loop.getLoc(), first.loop);
  position = first.loop.getLowerBound();
  isThere = arith::ConstantOp::create(b, b.getBoolAttr(false));
  for (Addition &addition : additions) {
    auto place = llvm::find(loops, addition.loop);
    handovers.push_back(handOver(addition));
    *place = addition.loop;
  }
  finish();
}

std::string
flashtile::gpu::delayProducts(SmallVectorImpl<scf::ForOp> &loops,
                              int64_t sharedLimit,
                              SmallVectorImpl<Handover> &handovers) {
  SmallVector<Addition> additions;
  for (scf::ForOp loop : loops) {
    bool stages = false;
    loop->walk([&](StageOp) { stages = true; });
    if (!stages)
      continue;
    Addition found;
    if (std::string reason = matchAddition(loop, found); !reason.empty())
      return reason;
    additions.push_back(found);
  }
  if (additions.empty())
    return "no operand of it is staged";
  for (Addition &addition : additions)
    if (!Likeness(additions.front(), addition).holds())
      return "loops add different products";
  if (!countsAll(additions))
    return "no counter counts all of its iterations";
  if (useTensorsBetween(additions))
    return "memory is used between its loops";
  tilegpu::AllocOp ring = findTurnBuffers(additions.front().stage, sharedLimit);
  if (!ring)
    return "there is no room for two buffers";
  Delay(additions, ring).run(loops, handovers);
  return {};
}
