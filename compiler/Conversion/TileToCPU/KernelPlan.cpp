//===- KernelPlan.cpp - Buffered values and clusters ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every decision is made on the tile program, where values are immutable.
// Values and loop nests come first; Buffers.cpp then gives the values memory.
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

void KernelPlan::bufferOperands(DotOp dot) {
  buffered.insert(peelTranspose(dot.getA()).root);
  buffered.insert(peelTranspose(dot.getB()).root);
}

bool KernelPlan::isInlined(Operation *op) const {
  return op->getNumResults() == 1 && tileType(op->getResult(0)) &&
         !buffered.contains(op->getResult(0));
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
      bool inlined = isInlined(user) && (isElementwise(user) || isView(user));
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
      bufferOperands(dot);
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
  // Many values may be made of one.
  llvm::SmallSetVector<std::pair<Value, unsigned>, 16> needed;
  needed.insert({value, identity});
  for (size_t index = 0; index < needed.size(); ++index) {
    auto [each, isIdentity] = needed[index];
    if (!tileType(each) || buffered.contains(each)) {
      leaves.push_back({each, isIdentity != 0});
      continue;
    }
    for (auto [operand, sameCoordinates] :
         evaluatedOperands(each.getDefiningOp()))
      needed.insert({operand, isIdentity != 0 && sameCoordinates});
  }
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
