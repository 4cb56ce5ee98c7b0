//===- KernelPlan.cpp - Buffered values, clusters, buffers
//--------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every decision is made on the tile program, where values are immutable; the
// one place where memory is overwritten while it is still named is a loop's
// carried buffer, and updatesInPlace states when that is safe.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToCPU/KernelPlan.h"

#include "compiler/Conversion/TileToCPU/Numerics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace flashtile::tile;
using namespace flashtile::cpu;

//===----------------------------------------------------------------------===//
// Questions about operations
//===----------------------------------------------------------------------===//

VectorOperand flashtile::cpu::vectorOperand(DotOp dot, unsigned laneDim) {
  if (laneDim == 1) {
    DotOperand b = peelTranspose(dot.getB());
    return {b.root, b.columnDim};
  }
  DotOperand a = peelTranspose(dot.getA());
  return {a.root, a.rowDim};
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

KernelPlan::KernelPlan(KernelOp kernel, VectorShape vectors)
    : vectors(vectors), kernel(kernel) {
  numberOperations(kernel);
  chooseLaneDims();
  chooseBuffered();
  assignBuffers();
  extendLiveRanges();
  assignSlots();
}

void KernelPlan::numberOperations(KernelOp kernel) {
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    positions[op] = order.size();
    order.push_back(op);
  });
  for (Operation *op : order) {
    unsigned last = positions[op];
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) {
        last = std::max(last, positions.lookup(inner));
      });
    endPositions[op] = last;
  }
}

unsigned KernelPlan::laneDim(Value value) const {
  return laneDims.lookup(value);
}

ArrayRef<unsigned> KernelPlan::buffersOf(Value value) const {
  auto it = bufferIds.find(value);
  assert(it != bufferIds.end() && "value has no buffer");
  return it->second;
}

const Cluster *KernelPlan::clusterLedBy(Operation *op) const {
  Cluster *cluster = clusterOf.lookup(op);
  return cluster && cluster->members.front() == op ? cluster : nullptr;
}

std::optional<unsigned> KernelPlan::repackBuffer(DotOp dot) const {
  auto it = repackBuffers.find(dot);
  if (it == repackBuffers.end())
    return std::nullopt;
  return it->second;
}

//===----------------------------------------------------------------------===//
// What is buffered
//===----------------------------------------------------------------------===//

/// Values that are computed by loops of their own in any case.
static bool isAlwaysBuffered(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op) // a region's argument
    return true;
  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant)))
    return !constant.isSplat();
  return !isElementwise(op) && !isView(op) &&
         !isa<ArangeOp, SplatOp, FullOp, arith::ConstantOp>(op);
}

bool KernelPlan::needsBufferFor(Value value, OpOperand &use) const {
  Operation *user = use.getOwner();
  if (user->getBlock() != value.getParentBlock())
    return true;
  return isa<scf::YieldOp, scf::ConditionOp>(user);
}

void KernelPlan::bufferConstantsAndOperands(DotOp dot) {
  buffered.insert(peelTranspose(dot.getA()).root);
  buffered.insert(peelTranspose(dot.getB()).root);
}

/// Whether `value` is evaluated by one cluster or operation only, once for
/// each of its elements.
bool KernelPlan::isEvaluatedOnce(Value value) const {
  SmallPtrSet<void *, 4> sites;
  SmallVector<Value> worklist = {value};
  SmallPtrSet<void *, 8> seen;
  while (!worklist.empty()) {
    Value current = worklist.pop_back_val();
    for (OpOperand &use : current.getUses()) {
      Operation *user = use.getOwner();
      bool inlined = user->getNumResults() == 1 &&
                     tileType(user->getResult(0)) &&
                     (isElementwise(user) || isView(user)) &&
                     !buffered.contains(user->getResult(0));
      if (isa<BroadcastOp, ReshapeOp, CatOp>(user))
        return false; // each element is evaluated many times, or gathered
      if (inlined) {
        if (seen.insert(user).second)
          worklist.push_back(user->getResult(0));
        continue;
      }
      Cluster *cluster = clusterOf.lookup(user);
      sites.insert(cluster ? static_cast<void *>(cluster)
                           : static_cast<void *>(user));
    }
  }
  return sites.size() <= 1;
}

void KernelPlan::chooseBuffered() {
  SmallVector<Value> candidates;
  for (Operation *op : order) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (tileType(argument) && !isa<ReduceOp, ScanOp>(op))
            buffered.insert(argument);
    for (Value result : op->getResults()) {
      if (!tileType(result))
        continue;
      if (isAlwaysBuffered(result))
        buffered.insert(result);
      else if (!isCheap(result))
        candidates.push_back(result);
    }
    if (auto dot = dyn_cast<DotOp>(op))
      bufferConstantsAndOperands(dot);
  }
  for (Value value : candidates)
    for (OpOperand &use : value.getUses())
      if (needsBufferFor(value, use))
        buffered.insert(value);

  // Clusters decide how often a value is evaluated, and buffering a value
  // changes the clusters. Each round only adds buffers, so this ends.
  bool changed = true;
  while (changed) {
    formClusters();
    changed = false;
    for (Value value : candidates)
      if (!buffered.contains(value) && isHeavy(value.getDefiningOp()) &&
          !isEvaluatedOnce(value)) {
        buffered.insert(value);
        changed = true;
      }
  }
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

/// The tile whose elements a cluster member is computed for.
static Value iterationTile(Operation *op) {
  return isAxisReduce(op) ? op->getOperand(0) : op->getResult(0);
}

static int64_t reducedAxisOf(Operation *op) {
  return isAxisReduce(op) ? op->getAttrOfType<IntegerAttr>("axis").getInt()
                          : -1;
}

unsigned KernelPlan::emissionPosition(Operation *op) const {
  if (Cluster *cluster = clusterOf.lookup(op))
    return cluster->position;
  return positions.lookup(op);
}

SmallVector<std::pair<Value, bool>>
KernelPlan::evaluatedOperands(Operation *op) const {
  SmallVector<std::pair<Value, bool>> operands;
  if (auto dot = dyn_cast<DotOp>(op)) {
    operands.push_back({peelTranspose(dot.getA()).root, false});
    operands.push_back({peelTranspose(dot.getB()).root, false});
    operands.push_back({dot.getC(), true});
    return operands;
  }
  bool identity = isElementwise(op) || isAxisReduce(op);
  for (Value operand : op->getOperands()) {
    auto type = tileType(operand);
    bool sameShape =
        type && (isAxisReduce(op) || op->getNumResults() != 1 ||
                 !tileType(op->getResult(0)) ||
                 type.getShape() == tileType(op->getResult(0)).getShape());
    operands.push_back({operand, identity && sameShape});
  }
  return operands;
}

void KernelPlan::collectLeaves(Value value, bool identity,
                               SmallVectorImpl<Leaf> &leaves) const {
  if (!tileType(value) || buffered.contains(value)) {
    leaves.push_back({value, identity});
    return;
  }
  Operation *op = value.getDefiningOp();
  for (auto [operand, sameCoordinates] : evaluatedOperands(op))
    collectLeaves(operand, identity && sameCoordinates, leaves);
}

/// Joins `candidate` where it iterates over the same elements and everything
/// it reads exists at the cluster's position.
bool KernelPlan::tryJoin(Cluster &cluster, Operation *candidate) const {
  Value tile = iterationTile(candidate);
  int64_t axis = reducedAxisOf(candidate);
  if (tileType(tile).getShape() != cluster.shape ||
      laneDim(tile) != cluster.laneDim)
    return false;
  if (axis >= 0 && cluster.reducedAxis >= 0 && axis != cluster.reducedAxis)
    return false;
  SmallVector<Leaf> leaves;
  for (auto [operand, identity] : evaluatedOperands(candidate))
    collectLeaves(operand, identity, leaves);
  for (const Leaf &leaf : leaves) {
    Operation *producer = leaf.value.getDefiningOp();
    if (!producer || producer->getBlock() != candidate->getBlock())
      continue; // defined outside of this block
    bool member = llvm::is_contained(cluster.members, producer);
    if (member && leaf.identity && !isAxisReduce(producer))
      continue;
    if (member || emissionPosition(producer) >= cluster.position)
      return false;
    // What a region computes exists once the whole region has run.
    if (endPositions.lookup(producer) >= cluster.position)
      return false;
  }
  cluster.members.push_back(candidate);
  cluster.reducedAxis = std::max(cluster.reducedAxis, axis);
  return true;
}

void KernelPlan::formClusters() {
  clusters.clear();
  clusterOf.clear();
  // How far ahead of a leader its members are looked for.
  constexpr unsigned kWindow = 96;
  auto isMember = [&](Operation *op) {
    if (isAxisReduce(op))
      return true;
    return op->getNumResults() == 1 && buffered.contains(op->getResult(0)) &&
           !isAlwaysBuffered(op->getResult(0));
  };
  for (Operation *op : order) {
    if (!isMember(op) || clusterOf.contains(op))
      continue;
    auto cluster = std::make_unique<Cluster>();
    Value tile = iterationTile(op);
    cluster->shape = tileType(tile).getShape();
    cluster->laneDim = laneDim(tile);
    cluster->reducedAxis = reducedAxisOf(op);
    cluster->members.push_back(op);
    cluster->position = positions.lookup(op);
    clusterOf[op] = cluster.get();
    unsigned looked = 0;
    for (Operation *next = op->getNextNode(); next && looked < kWindow;
         next = next->getNextNode(), ++looked)
      if (isMember(next) && !clusterOf.contains(next) &&
          tryJoin(*cluster, next))
        clusterOf[next] = cluster.get();
    clusters.push_back(std::move(cluster));
  }
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

int64_t KernelPlan::bufferBytes(RankedTensorType type, unsigned laneDim) const {
  Type element = getBufferType(type.getElementType());
  int64_t extent = type.getDimSize(laneDim);
  return type.getNumElements() / extent * paddedExtent(extent) *
         (element.getIntOrFloatBitWidth() / 8);
}

unsigned KernelPlan::newBuffer(RankedTensorType type, unsigned laneDim,
                               unsigned position) {
  allBuffers.push_back({type, laneDim, position, position, 0});
  return allBuffers.size() - 1;
}

/// Whether computing `yielded` into the buffer of the loop's `carried` value
/// is safe: nothing reads `carried` afterwards, and the computation itself
/// reads it only at the element it is about to write.
bool KernelPlan::updatesInPlace(Value yielded, Value carried,
                                Operation *loop) const {
  Operation *producer = yielded.getDefiningOp();
  if (!producer || producer->getBlock() != carried.getParentBlock() ||
      laneDim(yielded) != laneDim(carried) ||
      yielded.getType() != carried.getType())
    return false;
  Cluster *cluster = clusterOf.lookup(producer);
  if (!isa<DotOp>(producer) && (!cluster || isAxisReduce(producer)))
    return false;
  unsigned position = emissionPosition(producer);
  bool safe = true;
  loop->getRegion(0).walk([&](Operation *op) {
    // Inlined operations read where their users do.
    bool inlined = op->getNumResults() == 1 && tileType(op->getResult(0)) &&
                   !buffered.contains(op->getResult(0));
    if (inlined)
      return;
    SmallVector<Leaf> leaves;
    for (auto [operand, identity] : evaluatedOperands(op))
      collectLeaves(operand, identity, leaves);
    for (const Leaf &leaf : leaves) {
      if (leaf.value != carried)
        continue;
      bool sameUnit =
          op == producer || (cluster && clusterOf.lookup(op) == cluster);
      if (sameUnit ? !leaf.identity
                   : emissionPosition(op) > position || isa<scf::YieldOp>(op))
        safe = false;
    }
  });
  return safe;
}

void KernelPlan::assignBuffers() {
  // Lane dimensions that the dots ask of a value, besides its own.
  DenseMap<Value, llvm::SmallSetVector<unsigned, 2>> wanted;
  DenseMap<Value, bool> readOtherwise;
  for (Operation *op : order) {
    if (auto dot = dyn_cast<DotOp>(op)) {
      VectorOperand vector = vectorOperand(dot, laneDim(dot.getResult()));
      wanted[vector.root].insert(vector.laneDim);
    }
    bool inlined = op->getNumResults() == 1 && tileType(op->getResult(0)) &&
                   !buffered.contains(op->getResult(0));
    if (inlined)
      continue;
    SmallVector<Leaf> leaves;
    if (auto dot = dyn_cast<DotOp>(op))
      collectLeaves(dot.getC(), true, leaves);
    else
      for (auto [operand, identity] : evaluatedOperands(op))
        collectLeaves(operand, identity, leaves);
    for (const Leaf &leaf : leaves)
      readOtherwise[leaf.value] = true;
  }

  auto carriedOf = [&](Value value) -> std::pair<scf::ForOp, Value> {
    for (OpOperand &use : value.getUses())
      if (auto yield = dyn_cast<scf::YieldOp>(use.getOwner()))
        if (auto loop = dyn_cast<scf::ForOp>(yield->getParentOp()))
          return {loop, loop.getRegionIterArgs()[use.getOperandNumber()]};
    return {};
  };

  for (Operation *op : order) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [init, argument, result] :
           llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(),
                     loop.getResults())) {
        if (!tileType(argument))
          continue;
        // A value that only starts this loop gives its buffer away.
        bool adopt = bufferIds.contains(init) && init.hasOneUse() &&
                     init.getParentBlock() == loop->getBlock() &&
                     bufferIds[init].size() == 1 &&
                     laneDim(init) == laneDim(argument);
        unsigned id = adopt ? bufferIds[init].front()
                            : newBuffer(tileType(argument), laneDim(argument),
                                        positions.lookup(op));
        bufferIds[argument] = {id};
        bufferIds[result] = {id};
      }
      continue;
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      for (Value value : llvm::concat<Value>(
               llvm::to_vector_of<Value>(loop.getBeforeArguments()),
               llvm::to_vector_of<Value>(loop.getAfterArguments())))
        if (tileType(value))
          bufferIds[value] = {
              newBuffer(tileType(value), laneDim(value), positions.lookup(op))};
    }
    for (Value result : op->getResults()) {
      if (!tileType(result) || !buffered.contains(result))
        continue;
      auto &layouts = wanted[result];
      bool regionResult =
          op->getNumRegions() != 0 && !isa<ReduceOp, ScanOp>(op);
      SmallVector<unsigned> dims;
      if (regionResult || readOtherwise[result] || layouts.empty())
        dims.push_back(laneDim(result));
      if (!regionResult)
        for (unsigned dim : layouts)
          if (!llvm::is_contained(dims, dim))
            dims.push_back(dim);
      auto [loop, carried] = carriedOf(result);
      if (carried && dims.size() == 1 && dims.front() == laneDim(result) &&
          bufferIds[carried].size() == 1 &&
          updatesInPlace(result, carried, loop)) {
        unsigned id = bufferIds[carried].front();
        bufferIds[result] = {id};
        continue;
      }
      for (unsigned dim : dims)
        bufferIds[result].push_back(
            newBuffer(tileType(result), dim, emissionPosition(op)));
    }
  }

  for (Operation *op : order) {
    auto dot = dyn_cast<DotOp>(op);
    if (!dot)
      continue;
    VectorOperand vector = vectorOperand(dot, laneDim(dot.getResult()));
    if (llvm::none_of(buffersOf(vector.root), [&](unsigned id) {
          return allBuffers[id].laneDim == vector.laneDim;
        }))
      repackBuffers[op] = newBuffer(tileType(vector.root), vector.laneDim,
                                    positions.lookup(op));
  }
}

//===----------------------------------------------------------------------===//
// Live ranges and slots
//===----------------------------------------------------------------------===//

void KernelPlan::extendLiveRanges() {
  auto isLoop = [](Operation *op) { return isa<scf::ForOp, scf::WhileOp>(op); };
  // A read inside a loop that the value is defined outside of happens again.
  auto lastRead = [&](Value value, Operation *reader) {
    Block *home = value.getParentBlock();
    unsigned last = endPositions.lookup(reader);
    last = std::max(last, emissionPosition(reader));
    for (Operation *parent = reader; parent && parent->getBlock() != home;
         parent = parent->getParentOp())
      if (Operation *outer = parent->getParentOp())
        if (isLoop(outer))
          last = std::max(last, endPositions.lookup(outer));
    return last;
  };
  auto read = [&](Value value, Operation *reader) {
    for (unsigned id : bufferIds.lookup(value))
      allBuffers[id].end =
          std::max(allBuffers[id].end, lastRead(value, reader));
  };
  for (Operation *op : order) {
    bool inlined = op->getNumResults() == 1 && tileType(op->getResult(0)) &&
                   !buffered.contains(op->getResult(0));
    if (!inlined) {
      SmallVector<Leaf> leaves;
      for (auto [operand, identity] : evaluatedOperands(op))
        collectLeaves(operand, identity, leaves);
      for (const Leaf &leaf : leaves)
        if (tileType(leaf.value))
          read(leaf.value, op);
    }
    // Carried buffers live through their loop.
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          for (unsigned id : bufferIds.lookup(argument))
            allBuffers[id].end =
                std::max(allBuffers[id].end, endPositions.lookup(op));
    // A region's results are written at the end of its branches.
    if (op->getNumRegions())
      for (Value result : op->getResults())
        for (unsigned id : bufferIds.lookup(result)) {
          allBuffers[id].begin =
              std::min(allBuffers[id].begin, positions.lookup(op));
          allBuffers[id].end =
              std::max(allBuffers[id].end, endPositions.lookup(op));
        }
  }
  // The position of a cluster's results is its leader's; a dead result still
  // occupies its buffer while it is computed, which begin == end covers.
}

void KernelPlan::assignSlots() {
  SmallVector<unsigned> byBegin(allBuffers.size());
  std::iota(byBegin.begin(), byBegin.end(), 0);
  llvm::sort(byBegin, [&](unsigned a, unsigned b) {
    return std::pair(allBuffers[a].begin, a) <
           std::pair(allBuffers[b].begin, b);
  });
  SmallVector<unsigned> slotEnds;
  for (unsigned id : byBegin) {
    Buffer &buffer = allBuffers[id];
    int64_t bytes = (bufferBytes(buffer.type, buffer.laneDim) + 63) / 64 * 64;
    // Best fit among the slots whose last value is dead.
    std::optional<unsigned> best;
    for (unsigned slot = 0; slot < slots.size(); ++slot)
      if (slotEnds[slot] < buffer.begin &&
          (!best ||
           std::abs(slots[slot] - bytes) < std::abs(slots[*best] - bytes)))
        best = slot;
    if (!best) {
      best = slots.size();
      slots.push_back(0);
      slotEnds.push_back(0);
    }
    slots[*best] = std::max(slots[*best], bytes);
    slotEnds[*best] = buffer.end;
    buffer.slot = *best;
  }
}
