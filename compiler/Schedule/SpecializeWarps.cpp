//===- SpecializeWarps.cpp - A copying thread beside computing warps ------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads of dot operands move to a producer of their own, which runs ahead:
//
//   producer                               consumer
//     for ...:                               for ...:
//       wait empty[n mod stages]               wait full[n mod stages]
//       expect bytes; TMA to buffer            products, softmax, ...
//                                              arrive at empty[n mod stages]
//
// The counter n goes on from loop to loop, so that loops over parts of one
// tensor (interior and masked iterations) share a ring, and the producer is
// never drained between them.
//
// In a persistent kernel both run a loop over the programs of the block around
// all that, and counters go on over programs, too. A tile that is loaded
// outside of loops then has a ring of one buffer, freed after its last use: the
// producer loads the next program's tile while the consumers store this one's
// results.
//
// Rows of numbers that the loop reads as well (one for each column of a
// product, say) come with one of its tiles: same slot, same barriers, one wait
// for both.
//
// Both roles go through the same uses of every ring, whatever the bounds are:
// the same programs, loops with the same bounds, and in each of them every load
// once. Loops may stand in loops (over the heads that share keys, say):
// counters go on through all of them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/ProgramOrder.h"
#include "compiler/Schedule/Specializer.h"
#include "compiler/Support/RegisterBudget.h"
#include "dialects/Tile/Transforms/Remark.h"
#include "dialects/Tile/Transforms/ScalarFacts.h"
#include "dialects/TileGPU/IR/LaunchAttributes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/PatternMatch.h"

namespace flashtile::gpu {
#define GEN_PASS_DEF_SPECIALIZEWARPSPASS
#include "compiler/Schedule/Passes.h.inc"
} // namespace flashtile::gpu

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using flashtile::tilegpu::MbarriersType;
using flashtile::tilegpu::RingType;
using flashtile::tilegpu::SmemType;
using flashtile::tilegpu::StageOp;
using flashtile::tilegpu::TensorMapType;

namespace {
struct SpecializeWarps
    : public flashtile::gpu::impl::SpecializeWarpsPassBase<SpecializeWarps> {
  using SpecializeWarpsPassBase::SpecializeWarpsPassBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    auto target =
        kernel->getAttrOfType<StringAttr>(tilegpu::TileGPUDialect::kTargetAttr);
    bool hasProducts = false;
    kernel.getBody().walk([&](tilegpu::WgmmaOp) { hasProducts = true; });
    std::optional<Persistence> persistence = parsePersistence(persistent);
    if (!persistence) {
      kernel.emitError("expected 'persistent' to be auto, off, static or "
                       "dynamic, but got '")
          << persistent << "'";
      return signalPassFailure();
    }
    if (numStages < 1 || numStages > 8) {
      kernel.emitError("expected 1 to 8 stages, but got ")
          << int64_t(numStages);
      return signalPassFailure();
    }
    if (sharedLimit < 0) {
      kernel.emitError("expected at least 0 bytes of shared memory, but got ")
          << int64_t(sharedLimit);
      return signalPassFailure();
    }
    if (!target || target != "sm_90a" || !hasProducts ||
        kernel->hasAttr(tilegpu::kPlainAttr))
      return;
    std::string reason =
        Specializer(kernel, numStages, sharedLimit, *persistence).run();
    if (!reason.empty())
      remarkMissed(kernel, "tilegpu-specialize-warps", "Roles",
                   "no producer warp: " + reason);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

void Specializer::makeRings() {
  int64_t warps =
      kernel->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::kNumWarpsAttr)
          .getInt();
  b.setInsertionPointToStart(&body);
  for (Ring &ring : rings) {
    ring.map = createTensorMap(b, ring.window, ring.slot);
    ring.buffers = tilegpu::AllocOp::create(
        b, RingType::get(kernel.getContext(), ring.stages, ring.slot.getShape(),
                         ring.slot.getElementType(), ring.slot.getSwizzle()));
    if (ring.leader) {
      ring.full = rings[*ring.leader].full;
      continue;
    }
    auto barriers = MbarriersType::get(kernel.getContext(), ring.stages);
    ring.full = tilegpu::MbarriersOp::create(b, barriers, 1);
    if (ring.inLoop || share)
      ring.empty = tilegpu::MbarriersOp::create(b, barriers, warps);
  }
}

SmallVector<RingLoad *> Specializer::loadsIn(Block *block) {
  SmallVector<RingLoad *> found;
  for (RingLoad &each : loads)
    if (each.load && each.load->getBlock() == block && !rings[each.ring].leader)
      found.push_back(&each);
  llvm::sort(found, [](RingLoad *x, RingLoad *y) {
    return x->load->isBeforeInBlock(y->load);
  });
  return found;
}

SmallVector<RingLoad *> Specializer::loadsIn(Block *block, int64_t producer) {
  SmallVector<RingLoad *> found = loadsIn(block);
  llvm::erase_if(found, [&](RingLoad *each) {
    return rings[each->ring].producer != producer;
  });
  return found;
}

template <typename... Producer>
SmallVector<unsigned> Specializer::ringsIn(scf::ForOp loop,
                                           Producer... producer) {
  SmallVector<unsigned> found;
  auto add = [&](Block *block) {
    for (RingLoad *each : loadsIn(block, producer...))
      if (!llvm::is_contained(found, each->ring))
        found.push_back(each->ring);
  };
  add(loop.getBody());
  loop.getBody()->walk([&](scf::ForOp inner) { add(inner.getBody()); });
  return found;
}

SmallVector<RingLoad *> Specializer::companionsOf(const RingLoad &each) {
  SmallVector<RingLoad *> found;
  for (RingLoad &other : loads)
    if (other.load && other.load->getBlock() == each.load->getBlock() &&
        rings[other.ring].leader == each.ring)
      found.push_back(&other);
  return found;
}

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

Value Specializer::inProducer(Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op)
    return value; // an argument of the kernel
  for (Value operand : op->getOperands())
    inProducer(operand, mapping);
  b.clone(*op, mapping);
  return mapping.lookup(value);
}

/// Whether a number takes divisions by what is known at run time, which are
/// some thirty instructions each.
static bool needsDivisions(Value value) {
  SetVector<Operation *> made;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  (void)getBackwardSlice(value, &made, options);
  return llvm::any_of(made, [](Operation *op) {
    return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
               arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(
               op) &&
           !getConstantInt(op->getOperand(1));
  });
}

/// What `value` takes of such numbers from before a loop is computed there:
/// anything else would take registers, of which a producer has few.
void Specializer::divideBefore(scf::ForOp loop, Value value,
                               IRMapping &mapping) {
  SetVector<Value> needed;
  needed.insert(value);
  for (size_t index = 0; index < needed.size(); ++index) {
    Value each = needed[index];
    if (!loop.isDefinedOutsideOfLoop(each)) {
      if (Operation *op = each.getDefiningOp())
        needed.insert(op->operand_begin(), op->operand_end());
    } else if (needsDivisions(each)) {
      inProducer(each, mapping);
    }
  }
}

void Specializer::produce(const RingLoad &each, Value counter,
                          IRMapping &mapping) {
  Ring &ring = rings[each.ring];
  Value index = counter ? slotIndex(counter, ring.stages) : i32(0);
  if (counter) {
    Value freed = arith::SubIOp::create(b, i32(1), phase(counter, ring.stages));
    tilegpu::MbarrierWaitOp::create(b, ring.empty, index, freed);
  }
  SmallVector<RingLoad *> companions = companionsOf(each);
  auto bytesOf = [](const Ring &ring) {
    return cast<TensorMapType>(ring.map.getType()).getBytes();
  };
  int64_t bytes = bytesOf(ring);
  for (RingLoad *other : companions)
    bytes += bytesOf(rings[other->ring]);
  tilegpu::MbarrierExpectOp::create(b, ring.full, index, bytes);
  copy(each, index, mapping);
  for (RingLoad *other : companions)
    copy(*other, index, mapping);
}

void Specializer::copy(const RingLoad &each, Value index, IRMapping &mapping) {
  Ring &ring = rings[each.ring];
  SmallVector<Value> coordinates;
  for (Value coordinate : each.window.coordinates)
    coordinates.push_back(toCoordinate(b, inProducer(coordinate, mapping)));
  Value slot = tilegpu::SlotOp::create(b, ring.buffers, index);
  tilegpu::TmaLoadOp::create(b, ring.map, coordinates, slot, ring.full, index);
}

ProgramLoop Specializer::openPrograms() {
  if (!share)
    return {};
  SmallVector<Value> inits;
  for (Ring &ring : rings)
    if (ring.inLoop)
      inits.push_back(i32(0));
  return openProgramLoop(b, *share, inits);
}

void Specializer::closePrograms(const ProgramLoop &programs,
                                ArrayRef<Value> counters,
                                PositionFunction positionOf) {
  if (!programs)
    return;
  SmallVector<Value> carried;
  for (auto [ring, counter] : llvm::zip(rings, counters))
    if (ring.inLoop)
      carried.push_back(counter);
  closeProgramLoop(b, *share, programs, carried, positionOf);
}

SmallVector<Value> Specializer::firstCounters(const ProgramLoop &programs) {
  SmallVector<Value> counters;
  unsigned carried = 0;
  for (Ring &ring : rings) {
    Value once = programs.round;
    if (ring.inLoop)
      once = programs ? programs.carried[carried++] : i32(0);
    counters.push_back(once);
  }
  return counters;
}

/// Each producer fills rings of its own: none waits for another's buffers.
int64_t Specializer::chooseProducers() {
  constexpr int64_t kMost = 4; // warps of a warpgroup
  int64_t count = 0;
  for (Ring &ring : rings)
    if (ring.inLoop && !ring.leader)
      ring.producer = count++ % kMost;
  return std::clamp<int64_t>(count, 1, kMost);
}

void Specializer::writeProducers(Block *block, int64_t count) {
  b.setInsertionPointToStart(block);
  Value id;
  if (count > 1)
    id = tilegpu::ProducerIdOp::create(b);
  for (int64_t producer = 0; producer < count; ++producer) {
    if (!id) {
      writeProducer(producer);
      continue;
    }
    // One inside of the other's else: none keeps its number.
    bool hasNext = producer + 1 < count;
    Value mine =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, id, i32(producer));
    auto branch = scf::IfOp::create(b, mine, /*withElseRegion=*/hasNext);
    b.setInsertionPoint(branch.thenYield());
    writeProducer(producer);
    if (hasNext)
      b.setInsertionPoint(branch.elseYield());
  }
  b.setInsertionPointToEnd(block);
  tilegpu::YieldOp::create(b);
}

/// The loops of `block`, without what the kernel computes in them.
void Specializer::produceLoops(int64_t producer, Block *block,
                               SmallVectorImpl<Value> &counters,
                               IRMapping &outer) {
  for (auto loop : llvm::to_vector(block->getOps<scf::ForOp>())) {
    SmallVector<unsigned> used = ringsIn(loop, producer);
    if (used.empty())
      continue;
    SmallVector<Value> inits;
    for (unsigned ring : used)
      inits.push_back(counters[ring]);
    Value lower = inProducer(loop.getLowerBound(), outer);
    Value upper = inProducer(loop.getUpperBound(), outer);
    Value step = inProducer(loop.getStep(), outer);
    for (const RingLoad &each : loads)
      if (each.load && rings[each.ring].producer == producer &&
          loop->isAncestor(each.load))
        for (Value coordinate : each.window.coordinates)
          divideBefore(loop, coordinate, outer);
    auto copy = scf::ForOp::create(b, lower, upper, step, inits);
    copy.setUnsignedCmp(loop.getUnsignedCmp());
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(copy.getBody());
      IRMapping inner = outer;
      inner.map(loop.getInductionVar(), copy.getInductionVar());
      for (auto [ring, counter] : llvm::zip(used, copy.getRegionIterArgs()))
        counters[ring] = counter;
      for (RingLoad *each : loadsIn(loop.getBody(), producer)) {
        produce(*each, counters[each->ring], inner);
        counters[each->ring] = next(counters[each->ring]);
      }
      produceLoops(producer, loop.getBody(), counters, inner);
      SmallVector<Value> yields;
      for (unsigned ring : used)
        yields.push_back(counters[ring]);
      scf::YieldOp::create(b, yields);
    }
    for (auto [ring, result] : llvm::zip(used, copy.getResults()))
      counters[ring] = result;
  }
}

void Specializer::writeProducer(int64_t producer) {
  auto positions = [&](Value place) { return positionsOf(place); };
  PositionFunction positionOf;
  if (producer == 0)
    positionOf = positions;
  IRMapping outer;
  ProgramLoop programs = openPrograms();
  SmallVector<Value> counters = firstCounters(programs);
  if (programs)
    for (auto id : body.getOps<tilegpu::BlockIdOp>())
      if (id != share->block.getDefiningOp())
        outer.map(id.getResult(), programs.place);
  for (auto [position, value] : llvm::zip(this->positions, programs.position))
    outer.map(position, value);
  for (RingLoad *each : loadsIn(&body, producer))
    produce(*each, counters[each->ring], outer);
  produceLoops(producer, &body, counters, outer);
  closePrograms(programs, counters, positionOf);
}

//===----------------------------------------------------------------------===//
// The consumer
//===----------------------------------------------------------------------===//

/// Adds the products in the block of `value` that are made of it.
static void collectProducts(Value value, DenseSet<Operation *> &seen,
                            SmallVectorImpl<Operation *> &products) {
  for (Operation *user : value.getUsers()) {
    if (user->getBlock() != value.getParentBlock() || !seen.insert(user).second)
      continue;
    if (isa<tilegpu::WgmmaOp>(user)) {
      products.push_back(user);
      continue;
    }
    for (Value result : user->getResults())
      collectProducts(result, seen, products);
  }
}

/// When a product has been waited for.
static Operation *completionOf(Operation *reader) {
  if (auto product = dyn_cast<tilegpu::WgmmaOp>(reader))
    for (Operation *user : product->getUsers())
      if (isa<tilegpu::WgmmaWaitOp>(user))
        return user;
  return reader;
}

void Specializer::consume(RingLoad &each, Value counter) {
  Ring &ring = rings[each.ring];
  tilegpu::LoadOp load = each.load;
  StageOp stage = each.stage;
  Block *block = load->getBlock();
  SmallVector<Operation *> readers(stage->getUsers());
  bool inRegisters = false;
  for (Operation *user : load->getUsers())
    if (user != stage) {
      readers.push_back(user);
      inRegisters = true;
    }
  // What a finished product was made of has been read; other reads by ordinary
  // loads need a fence.
  bool needsFence = inRegisters;
  SmallVector<RingLoad *> companions = companionsOf(each);
  for (RingLoad *other : companions) {
    llvm::append_range(readers, other->load->getUsers());
    DenseSet<Operation *> seen;
    SmallVector<Operation *> products;
    collectProducts(other->load.getResult(), seen, products);
    needsFence |= products.empty();
    llvm::append_range(readers, products);
  }
  Operation *first = nullptr, *last = nullptr;
  for (Operation *reader : readers) {
    Operation *at = block->findAncestorOpInBlock(*reader);
    if (!first || at->isBeforeInBlock(first))
      first = at;
    Operation *done = block->findAncestorOpInBlock(*completionOf(reader));
    if (!last || last->isBeforeInBlock(done))
      last = done;
  }
  b.setInsertionPoint(first ? first : load);
  Value index = counter ? slotIndex(counter, ring.stages) : i32(0);
  tilegpu::MbarrierWaitOp::create(
      b, ring.full, index, counter ? phase(counter, ring.stages) : i32(0));
  Value slot = tilegpu::SlotOp::create(b, ring.buffers, index);
  stage.replaceAllUsesWith(slot);
  stage.erase();
  if (inRegisters)
    load.getResult().replaceAllUsesWith(
        tilegpu::LoadSharedOp::create(b, load.getType(), slot));
  load.erase();
  each.load = {};
  for (RingLoad *other : companions) {
    Operation *user = nullptr;
    for (Operation *each : other->load->getUsers()) {
      Operation *at = block->findAncestorOpInBlock(*each);
      if (!user || at->isBeforeInBlock(user))
        user = at;
    }
    b.setInsertionPoint(user);
    Value row = tilegpu::SlotOp::create(b, rings[other->ring].buffers, index);
    other->load.getResult().replaceAllUsesWith(
        tilegpu::LoadSharedOp::create(b, other->load.getType(), row));
    other->load.erase();
    other->load = {};
  }
  if (!counter)
    return;
  if (last)
    b.setInsertionPointAfter(last);
  if (needsFence)
    tilegpu::FenceProxyOp::create(b);
  tilegpu::MbarrierArriveOp::create(b, ring.empty, index);
}

/// The loops of `block` carry the counters of the rings that they use.
void Specializer::consumeLoops(Block *block, SmallVectorImpl<Value> &counters) {
  for (auto loop : llvm::to_vector(block->getOps<scf::ForOp>())) {
    SmallVector<unsigned> used = ringsIn(loop);
    if (used.empty())
      continue;
    b.setInsertionPoint(loop);
    SmallVector<Value> inits;
    for (unsigned ring : used)
      inits.push_back(counters[ring]);
    SmallVector<RingLoad *> inside = loadsIn(loop.getBody());
    IRRewriter rewriter(b);
    auto counted = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &builder, Location loc,
            ArrayRef<BlockArgument> arguments) {
          ImplicitLocOpBuilder at(loc, builder);
          SmallVector<Value> next(arguments);
          if (inside.empty())
            return next;
          Value one = arith::ConstantOp::create(at, at.getI32IntegerAttr(1));
          for (Value &argument :
               MutableArrayRef<Value>(next).take_front(inside.size()))
            argument = arith::AddIOp::create(at, argument, one);
          return next;
        }));
    ArrayRef<BlockArgument> added =
        ArrayRef<BlockArgument>(counted.getRegionIterArgs())
            .take_back(used.size());
    for (auto [each, counter] : llvm::zip(inside, added))
      consume(*each, counter);
    for (auto [ring, counter] : llvm::zip(used, added))
      counters[ring] = counter;
    consumeLoops(counted.getBody(), counters);
    // Those of loops in it go on where these have ended.
    auto yield = cast<scf::YieldOp>(counted.getBody()->getTerminator());
    unsigned first = yield->getNumOperands() - used.size();
    for (size_t at = inside.size(); at < used.size(); ++at)
      yield->setOperand(first + at, counters[used[at]]);
    for (auto [ring, result] :
         llvm::zip(used, counted.getResults().take_back(used.size())))
      counters[ring] = result;
  }
}

/// The kernel's operations become those of a consumer in `block`; of each of
/// its programs where there are several.
void Specializer::rewriteConsumer(Block *block,
                                  ArrayRef<Operation *> operations) {
  b.setInsertionPointToStart(block);
  ProgramLoop programs = openPrograms();
  SmallVector<Value> counters = firstCounters(programs);
  Block *home = b.getInsertionBlock();
  if (programs)
    for (Operation *op : operations)
      if (auto id = dyn_cast<tilegpu::BlockIdOp>(op))
        id.getResult().replaceAllUsesWith(programs.place);
  for (auto [position, value] : llvm::zip(positions, programs.position))
    position.replaceAllUsesWith(value);
  for (Operation *op : operations)
    op->moveBefore(home, home->end());
  for (RingLoad *each : loadsIn(home))
    consume(*each, counters[each->ring]);
  consumeLoops(home, counters);
  closePrograms(programs, counters, {});
  b.setInsertionPointToEnd(block);
  tilegpu::YieldOp::create(b);
}

/// The first numbers that are known not to be negative, as the kernel knows of
/// positions in the grid. Divisions by the extents are before them.
void Specializer::findPositions(ArrayRef<Operation *> operations) {
  constexpr size_t kMost = 3;
  DenseSet<Value> depend;
  for (Operation *op : operations) {
    bool depends = isa<tilegpu::BlockIdOp>(op) ||
                   llvm::any_of(op->getOperands(), [&](Value operand) {
                     return depend.contains(operand);
                   });
    if (!depends || op->getNumRegions() != 0 || !isMemoryEffectFree(op) ||
        op->getNumResults() != 1)
      continue;
    Value result = op->getResult(0);
    if (isa<AssumeOp>(op) && result.getType().isInteger(32) &&
        positions.size() < kMost) {
      if (!result.use_empty())
        positions.push_back(result);
    } else {
      depend.insert(result);
    }
  }
}

SmallVector<Value> Specializer::positionsOf(Value place) {
  IRMapping mapping;
  for (auto id : body.getOps<tilegpu::BlockIdOp>())
    mapping.map(id.getResult(), place);
  SmallVector<Value> values;
  for (Value position : positions)
    values.push_back(inProducer(position, mapping));
  return values;
}

/// How blocks share the programs. All operations of a program.
SmallVector<Operation *>
Specializer::sharePrograms(std::optional<Persistence> how, int64_t producers) {
  bool turns = !costOfPrograms(kernel).isUniform();
  if (how)
    placePrograms(kernel, ProgramOrder()); // those that no order has placed
  SmallVector<Operation *> operations;
  for (Operation &op : body.without_terminator())
    operations.push_back(&op);
  if (!how)
    return operations;
  b.setInsertionPoint(body.getTerminator());
  kernel->setAttr(tilegpu::kPersistentAttr, b.getI64IntegerAttr(1));
  if (how == Persistence::Counter) {
    kernel->setAttr(tilegpu::kProgramCounterAttr, b.getUnitAttr());
    int64_t warps =
        kernel
            ->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::kNumWarpsAttr)
            .getInt();
    findPositions(operations);
    // Consumers arrive once for each warp, other producers with a thread.
    share = countPrograms(b, warps + producers - 1,
                          positionsOf(tilegpu::BlockIdOp::create(b)));
    // Loops in loops.
    share->areLong = llvm::any_of(loads, [&](RingLoad &each) {
      Block *block = each.load->getBlock();
      return block != &body && block->getParentOp()->getBlock() != &body;
    });
  } else {
    share = shareOfPrograms(b, turns);
  }
  return operations;
}

/// What only loads needed that another role does now.
static void eraseUnused(Region &region) {
  region.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

std::string Specializer::run() {
  int64_t warps =
      kernel->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::kNumWarpsAttr)
          .getInt();
  if (warps % 4 != 0)
    return "the kernel has " + std::to_string(warps) +
           " warps, not whole warpgroups";
  if (std::string reason = checkOperations(); !reason.empty())
    return reason;
  if (std::string reason = collect(); !reason.empty())
    return reason;
  if (std::string reason = checkStores(); !reason.empty())
    return reason;
  if (std::string reason = chooseStages(); !reason.empty())
    return reason;

  constexpr char kName[] = "tilegpu-specialize-warps";
  std::string whyNot;
  std::optional<Persistence> how = choosePersistence(whyNot);
  if (how)
    remarkApplied(kernel, kName, "Persistent",
                  how == Persistence::Counter
                      ? "a block for each multiprocessor takes one program "
                        "after the other, by a counter in memory"
                      : "a block for each multiprocessor takes one program "
                        "after the other");
  else
    remarkMissed(kernel, kName, "Persistent",
                 "a block for each program: " + whyNot);
  int64_t producers = chooseProducers();
  SmallVector<Operation *> operations = sharePrograms(how, producers);
  makeRings();
  b.setInsertionPoint(body.getTerminator());
  auto [producer, consumer] = registersOfRoles(warps / 4);
  auto roles = tilegpu::WarpSpecializeOp::create(
      b, int32_t(producer), int32_t(consumer), int32_t(producers));
  Block *produces = &roles.getProducer().emplaceBlock();
  Block *consumes = &roles.getConsumer().emplaceBlock();
  writeProducers(produces, producers);
  rewriteConsumer(consumes, operations);
  eraseUnused(roles.getConsumer());
  int64_t stages = 1;
  for (Ring &ring : rings)
    stages = std::max(stages, ring.stages);
  remarkApplied(
      kernel, kName, "Roles",
      (producers == 1 ? std::string("a producer warp loads")
                      : std::to_string(producers) + " producer warps load") +
          " by TMA through rings of " + std::to_string(stages) + " buffers");
  return {};
}
