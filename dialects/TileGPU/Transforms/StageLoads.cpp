//===- StageLoads.cpp - Asynchronous copies of dot operands ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop with a ring of n buffers looks like this:
//
//   barrier                        everyone is done with what was here before
//   for s < n - 1:  copy of iteration s to buffer s; commit
//   loop:
//     wait until n - 2 groups are pending; barrier
//     copy of iteration + n - 1 to the buffer that the last iteration read
//     commit                       also where there is nothing left to copy
//     ... the buffer of this iteration
//
// In a loop that only adds up a product, the copies come behind it: its
// operands are read at once, and copies start while the instructions run.
//
// The barrier makes the copies of all threads visible and says that nobody
// reads the buffer that is overwritten next: one is enough. Products of
// warpgroups read by another proxy: each thread fences its copies before it.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/Remark.h"
#include "dialects/TileGPU/IR/LaunchAttributes.h"
#include "dialects/TileGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"

namespace flashtile::tilegpu {
#define GEN_PASS_DEF_STAGELOADSPASS
#include "dialects/TileGPU/Transforms/Passes.h.inc"
} // namespace flashtile::tilegpu

using namespace mlir;
using namespace flashtile;
using namespace flashtile::tile;
using namespace flashtile::tilegpu;

namespace {
/// A load and its tile in shared memory, which other uses of the load read,
/// too.
struct StagedLoad {
  tilegpu::LoadOp load;
  StageOp stage;
  int64_t bytes() const {
    SmemType type = StageOp(stage).getType();
    int64_t bytes = type.getShape().back() *
                    type.getElementType().getIntOrFloatBitWidth() / 8;
    if (type.getSwizzle()) // whole spans
      bytes = llvm::alignTo(bytes, type.getSwizzle());
    for (int64_t extent : type.getShape().drop_back())
      bytes *= extent;
    return bytes;
  }
  void replaceBy(Value slot, Operation *reader) const;
};

struct StageLoads
    : public flashtile::tilegpu::impl::StageLoadsPassBase<StageLoads> {
  using StageLoadsPassBase::StageLoadsPassBase;

  void runOnOperation() override;

private:
  /// The loads of a loop that a ring can take; the others get a remark.
  SmallVector<StagedLoad> findInLoop(scf::ForOp loop);
  void pipeline(scf::ForOp loop, ArrayRef<StagedLoad> staged, int64_t stages);
  void copyOnce(StagedLoad staged);
  void copyInPlace();
  /// Until no more than `pending` groups of copies are under way.
  void waitForCopies(ImplicitLocOpBuilder &b, int64_t pending);
  RingType ringType(StageOp stage, int64_t count) {
    SmemType type = stage.getType();
    return RingType::get(&getContext(), count, type.getShape(),
                         type.getElementType(), type.getSwizzle());
  }
  /// Which read shared memory by another proxy.
  bool hasWarpgroupProducts = false;
  /// Loops whose every iteration waits for all copies made before them.
  SmallPtrSet<Operation *, 4> waiting;
};
} // namespace

/// Lets all uses read the buffer, into which the tile was copied; from
/// `reader` on it is there.
void StagedLoad::replaceBy(Value slot, Operation *reader) const {
  tilegpu::LoadOp from = load;
  StageOp memory = stage;
  memory.replaceAllUsesWith(slot);
  memory.erase();
  if (!from->use_empty()) {
    OpBuilder builder(reader);
    from.getResult().replaceAllUsesWith(
        LoadSharedOp::create(builder, from.getLoc(), from.getType(), slot));
  }
  from.erase();
}

/// Why a copy cannot stand for this load; empty where it can.
static std::string whyNotCopied(tilegpu::LoadOp load) {
  if (!isa<BlockPtrType>(load.getPointer().getType()))
    return "it reads through single pointers";
  if (load.getPadding() != Padding::Zero) {
    auto inBounds = load.getInBounds();
    if (!inBounds || llvm::is_contained(*inBounds, false))
      return "its padding is not zero";
  }
  if (llvm::count_if(load->getUsers(), llvm::IsaPred<StageOp>) > 1)
    return "products read it in several forms";
  return {};
}

/// A number that is read from memory, such as a page of a table.
static bool isScalarLoad(Operation *op) {
  return isa<tile::LoadOp, tilegpu::LoadOp>(op) &&
         !isa<ShapedType>(op->getResult(0).getType());
}

/// What computes `value` inside `loop`, in order; none where that is more than
/// arithmetic on the counter, on values from outside and on numbers in memory.
static std::optional<llvm::SetVector<Operation *>> sliceOf(Value value,
                                                           scf::ForOp loop) {
  llvm::SetVector<Operation *> slice;
  SmallVector<Value> pending = {value};
  SmallPtrSet<Operation *, 16> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (next == loop.getInductionVar() || loop.isDefinedOutsideOfLoop(next))
      continue;
    Operation *op = next.getDefiningOp();
    if (!op || op->getBlock() != loop.getBody() || op->getNumRegions() != 0 ||
        !(isMemoryEffectFree(op) || isScalarLoad(op)))
      return std::nullopt;
    if (seen.insert(op).second)
      llvm::append_range(pending, op->getOperands());
  }
  for (Operation &op : *loop.getBody())
    if (seen.contains(&op))
      slice.insert(&op);
  return slice;
}

/// Why the place of a load cannot be known iterations earlier, in a loop that
/// writes nothing; empty where it can.
static std::string whyPlaceIsLate(tilegpu::LoadOp load, scf::ForOp loop) {
  auto slice = sliceOf(load.getPointer(), loop);
  if (!slice)
    return "its place depends on values that the loop carries or branches on";
  // What the author asserts about a number may be what makes it a place.
  bool asserts = loop.getBody()
                     ->walk([](AssertOp) { return WalkResult::interrupt(); })
                     .wasInterrupted();
  if (asserts && llvm::any_of(*slice, isScalarLoad))
    return "its place is read from memory, and the loop has assertions";
  return {};
}

static bool writesMemory(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<tilegpu::StoreOp, tile::StoreOp, tilegpu::AtomicAddOp,
                   tile::AtomicAddOp>(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

SmallVector<StagedLoad> StageLoads::findInLoop(scf::ForOp loop) {
  SmallVector<StagedLoad> found;
  SmallVector<tilegpu::LoadOp> seen;
  bool writes = writesMemory(loop);
  for (StageOp stage : loop.getBody()->getOps<StageOp>()) {
    auto load = stage.getOperand().getDefiningOp<tilegpu::LoadOp>();
    if (!load || load->getBlock() != loop.getBody() ||
        llvm::is_contained(seen, load))
      continue;
    seen.push_back(load);
    std::string reason = whyNotCopied(load);
    if (reason.empty() && writes)
      reason = "the loop writes to memory";
    if (reason.empty())
      reason = whyPlaceIsLate(load, loop);
    if (!reason.empty()) {
      remarkMissed(load, "tilegpu-stage-loads", "CopyAsync",
                   "not copied ahead: " + reason);
      continue;
    }
    found.push_back({load, stage});
  }
  return found;
}

/// Whether more than `count` steps are between `counter` and the end; without
/// overflow, as the counter is below the end.
static Value hasStepsLeft(ImplicitLocOpBuilder &b, scf::ForOp loop,
                          Value counter, int64_t count) {
  Value step = loop.getStep();
  Value left = arith::SubIOp::create(b, loop.getUpperBound(), counter);
  Value any;
  for (int64_t index = 0; index < count; ++index) {
    Value more =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, left, step);
    any = any ? Value(arith::AndIOp::create(b, any, more)) : more;
    left = arith::SubIOp::create(b, left, step);
  }
  return any;
}

static Value counterAt(ImplicitLocOpBuilder &b, scf::ForOp loop, Value counter,
                       int64_t steps) {
  for (int64_t index = 0; index < steps; ++index)
    counter = arith::AddIOp::create(b, counter, loop.getStep());
  return counter;
}

/// The windows of all loads for the iteration at `counter`, copied to buffer
/// `index` of their rings.
static void copyIteration(ImplicitLocOpBuilder &b, scf::ForOp loop,
                          ArrayRef<StagedLoad> staged, ArrayRef<Value> rings,
                          Value counter, Value index) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), counter);
  for (auto [each, ring] : llvm::zip(staged, rings)) {
    tilegpu::LoadOp load = each.load;
    auto slice = sliceOf(load.getPointer(), loop);
    for (Operation *op : *slice)
      if (!mapping.contains(op->getResult(0)))
        b.clone(*op, mapping);
    Value slot = SlotOp::create(b, ring, index);
    CopyAsyncOp::create(b, mapping.lookupOrDefault(load.getPointer()), slot,
                        load.getInBoundsAttr());
  }
}

/// The product of a loop that does nothing else with it than to add it up.
static MmaOp onlyProduct(scf::ForOp loop) {
  MmaOp found;
  for (Operation &op : *loop.getBody())
    if (auto product = dyn_cast<MmaOp>(op)) {
      if (found || !product->hasOneUse() ||
          *product->user_begin() != loop.getBody()->getTerminator())
        return {};
      found = product;
    }
  return found;
}

void StageLoads::waitForCopies(ImplicitLocOpBuilder &b, int64_t pending) {
  WaitCopiesOp::create(b, pending);
  if (hasWarpgroupProducts)
    FenceProxyOp::create(b);
  BarrierOp::create(b);
}

void StageLoads::pipeline(scf::ForOp loop, ArrayRef<StagedLoad> staged,
                          int64_t stages) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  auto i32 = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  };
  SmallVector<Value> rings;
  for (const StagedLoad &each : staged) {
    StageOp stage = each.stage;
    rings.push_back(
        AllocOp::create(b, stage.getLoc(), ringType(stage, stages)));
  }
  BarrierOp::create(b);
  Value first = loop.getLowerBound();
  Value runs =
      arith::CmpIOp::create(b,
                            loop.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                                  : arith::CmpIPredicate::slt,
                            first, loop.getUpperBound());
  for (int64_t ahead = 0; ahead < stages - 1; ++ahead) {
    Value condition = runs;
    if (ahead > 0)
      condition =
          arith::AndIOp::create(b, runs, hasStepsLeft(b, loop, first, ahead));
    auto guard = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard restore(b);
      b.setInsertionPoint(guard.thenYield());
      copyIteration(b, loop, staged, rings, counterAt(b, loop, first, ahead),
                    i32(ahead));
    }
    CommitCopiesOp::create(b);
  }
  // The buffer of an iteration is one more carried value.
  Value zero = i32(0);
  IRRewriter rewriter(b);
  auto piped = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, zero, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &builder, Location loc,
          ArrayRef<BlockArgument> arguments) -> SmallVector<Value> {
        ImplicitLocOpBuilder at(loc, builder);
        Value next = arith::AddIOp::create(
            at, arguments.front(),
            arith::ConstantOp::create(at, at.getI32IntegerAttr(1)));
        Value wraps = arith::CmpIOp::create(
            at, arith::CmpIPredicate::eq, next,
            arith::ConstantOp::create(at, at.getI32IntegerAttr(stages)));
        return {arith::SelectOp::create(
            at, wraps, arith::ConstantOp::create(at, at.getI32IntegerAttr(0)),
            next)};
      }));
  Value current = piped.getRegionIterArgs().back();
  b.setInsertionPointToStart(piped.getBody());
  waitForCopies(b, stages - 2);
  Value counter = piped.getInductionVar();
  // (current + stages - 1) mod stages: the buffer of the last iteration.
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, current, i32(0));
  Value target = arith::SelectOp::create(
      b, isFirst, i32(stages - 1), arith::SubIOp::create(b, current, i32(1)));
  auto guard = scf::IfOp::create(b, hasStepsLeft(b, piped, counter, stages - 1),
                                 /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPoint(guard.thenYield());
    copyIteration(b, piped, staged, rings,
                  counterAt(b, piped, counter, stages - 1), target);
  }
  auto commit = CommitCopiesOp::create(b);
  if (MmaOp product = onlyProduct(piped)) {
    commit->moveAfter(product);
    guard->moveAfter(product);
  }
  for (auto [each, ring] : llvm::zip(staged, rings)) {
    StageOp stage = each.stage;
    int64_t bytes = each.bytes();
    Value slot = SlotOp::create(b, stage.getLoc(), ring, current);
    tilegpu::LoadOp load = each.load;
    remarkApplied(load, "tilegpu-stage-loads", "CopyAsync",
                  "copied ahead by cp.async through " + std::to_string(stages) +
                      " buffers of " + std::to_string(bytes) + " bytes");
    each.replaceBy(slot, load);
  }
  waiting.insert(piped);
}

/// Whether something between two operations of a block writes to memory.
static bool writesBetween(Operation *first, Operation *last) {
  for (Operation *op = first->getNextNode(); op && op != last;
       op = op->getNextNode())
    if (writesMemory(op))
      return true;
  return false;
}

void StageLoads::copyOnce(StagedLoad staged) {
  StageOp stage = staged.stage;
  tilegpu::LoadOp load = staged.load;
  ImplicitLocOpBuilder b(stage.getLoc(), load);
  Value ring = AllocOp::create(b, ringType(stage, 1));
  Value zero = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  BarrierOp::create(b);
  Value slot = SlotOp::create(b, ring, zero);
  CopyAsyncOp::create(b, load.getPointer(), slot, load.getInBoundsAttr());
  CommitCopiesOp::create(b);
  // Wait as late as possible, but before anything is written to memory, which
  // the copy must not see. Loops that wait in every iteration do so themselves;
  // without iterations they do not, so that the end of the last one has to.
  Operation *firstUse = nullptr, *lastUse = nullptr;
  bool waited = true;
  SmallVector<Operation *> users(stage->getUsers());
  for (Operation *user : load->getUsers())
    if (user != stage)
      users.push_back(user);
  for (Operation *user : users) {
    Operation *ancestor = stage->getBlock()->findAncestorOpInBlock(*user);
    waited &= waiting.contains(ancestor);
    if (!firstUse || ancestor->isBeforeInBlock(firstUse))
      firstUse = ancestor;
    if (!lastUse || lastUse->isBeforeInBlock(ancestor))
      lastUse = ancestor;
  }
  if (!firstUse || writesBetween(load, firstUse))
    b.setInsertionPoint(load);
  else if (waited)
    b.setInsertionPointAfter(lastUse);
  else
    b.setInsertionPoint(firstUse);
  waitForCopies(b, 0);
  staged.replaceBy(slot, firstUse ? firstUse : load.getOperation());
}

/// Short code: each tile is copied where it is needed, and waited for.
void StageLoads::copyInPlace() {
  SmallVector<StagedLoad> found;
  SmallPtrSet<Operation *, 8> seen;
  getOperation().getBody().walk([&](StageOp stage) {
    auto load = stage.getOperand().getDefiningOp<tilegpu::LoadOp>();
    if (load && load->getBlock() == stage->getBlock() &&
        whyNotCopied(load).empty() && seen.insert(load).second)
      found.push_back({load, stage});
  });
  for (const StagedLoad &each : found)
    copyOnce(each);
}

void StageLoads::runOnOperation() {
  KernelOp kernel = getOperation();
  if (sharedLimit < 0) {
    kernel.emitError("expected at least 0 bytes of shared memory, but got ")
        << int64_t(sharedLimit);
    return signalPassFailure();
  }
  if (numStages < 1 || numStages > 8) {
    kernel.emitError("expected 1 to 8 stages, but got ") << int64_t(numStages);
    return signalPassFailure();
  }
  kernel.getBody().walk([&](WgmmaOp) { hasWarpgroupProducts = true; });
  if (kernel->hasAttr(kPlainAttr))
    return copyInPlace();
  // Straight-line stages are there all the time; loops come and go.
  int64_t resident = 0;
  SmallVector<scf::ForOp> loops;
  kernel.getBody().walk([&](scf::ForOp loop) { loops.push_back(loop); });
  SmallVector<StagedLoad> straight;
  kernel.getBody().walk([&](StageOp stage) {
    StagedLoad each = {stage.getOperand().getDefiningOp<tilegpu::LoadOp>(),
                       stage};
    if (stage->getParentOfType<scf::ForOp>())
      return;
    resident += each.bytes();
    if (each.load && each.load->getBlock() == stage->getBlock() &&
        whyNotCopied(each.load).empty())
      straight.push_back(each);
  });
  for (scf::ForOp loop : loops) {
    SmallVector<StagedLoad> staged = findInLoop(loop);
    if (staged.empty())
      continue;
    int64_t bytes = 0;
    for (const StagedLoad &each : staged)
      bytes += each.bytes();
    int64_t stages = numStages;
    while (stages > 1 && resident + stages * bytes > sharedLimit)
      --stages;
    if (stages < numStages)
      remarkMissed(loop, "tilegpu-stage-loads", "Ring",
                   std::to_string(stages) + " instead of " +
                       std::to_string(int64_t(numStages)) +
                       " buffers: one takes " + std::to_string(bytes) +
                       " bytes beside " + std::to_string(resident) + " of " +
                       std::to_string(int64_t(sharedLimit)));
    if (stages > 1)
      pipeline(loop, staged, stages);
  }
  for (const StagedLoad &each : straight)
    copyOnce(each);
}
