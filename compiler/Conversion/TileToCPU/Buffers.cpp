//===- Buffers.cpp - Memory for the tiles of a plan -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values are immutable; the one place where memory is overwritten while it is
// still named is a loop's carried buffer, and updatesInPlace states when that
// is safe. Buffers whose values are never alive together share a slot.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToCPU/KernelPlan.h"
#include "compiler/Conversion/TileToCPU/Numerics.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

using namespace mlir;
using namespace flashtile::tile;
using namespace flashtile::cpu;

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
    if (isInlined(op))
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

KernelPlan::Reads KernelPlan::collectReads() const {
  Reads reads;
  for (Operation *op : order) {
    if (auto dot = dyn_cast<DotOp>(op)) {
      VectorOperand vector = vectorOperand(dot, laneDim(dot.getResult()));
      reads.byDots[vector.root].insert(vector.laneDim);
    }
    if (isInlined(op))
      continue;
    SmallVector<Leaf> leaves;
    if (auto dot = dyn_cast<DotOp>(op))
      collectLeaves(dot.getC(), true, leaves);
    else
      for (auto [operand, identity] : evaluatedOperands(op))
        collectLeaves(operand, identity, leaves);
    for (const Leaf &leaf : leaves)
      reads.otherwise.insert(leaf.value);
  }
  return reads;
}

/// The loop that carries `value` to its next iteration, and as what.
static std::pair<scf::ForOp, Value> carriedBy(Value value) {
  for (OpOperand &use : value.getUses())
    if (auto yield = dyn_cast<scf::YieldOp>(use.getOwner()))
      if (auto loop = dyn_cast<scf::ForOp>(yield->getParentOp()))
        return {loop, loop.getRegionIterArgs()[use.getOperandNumber()]};
  return {};
}

void KernelPlan::assignCarriedBuffers(scf::ForOp loop) {
  for (auto [init, argument, result] : llvm::zip(
           loop.getInitArgs(), loop.getRegionIterArgs(), loop.getResults())) {
    if (!tileType(argument))
      continue;
    // A value that only starts this loop gives its buffer away.
    bool adopt = bufferIds.contains(init) && init.hasOneUse() &&
                 init.getParentBlock() == loop->getBlock() &&
                 bufferIds[init].size() == 1 &&
                 laneDim(init) == laneDim(argument);
    unsigned id = adopt ? bufferIds[init].front()
                        : newBuffer(tileType(argument), laneDim(argument),
                                    positions.lookup(loop));
    bufferIds[argument] = {id};
    bufferIds[result] = {id};
  }
}

void KernelPlan::assignCarriedBuffers(scf::WhileOp loop) {
  for (Value value :
       llvm::concat<Value>(llvm::to_vector_of<Value>(loop.getBeforeArguments()),
                           llvm::to_vector_of<Value>(loop.getAfterArguments())))
    if (tileType(value))
      bufferIds[value] = {
          newBuffer(tileType(value), laneDim(value), positions.lookup(loop))};
}

/// One buffer for each lane dimension in which the result is read.
void KernelPlan::assignResultBuffers(Value result, const Reads &reads) {
  Operation *op = result.getDefiningOp();
  auto dots = reads.byDots.find(result);
  bool readByDots = dots != reads.byDots.end();
  // What a region yields is copied once; dots repack it.
  bool regionResult = op->getNumRegions() != 0 && !isa<ReduceOp, ScanOp>(op);
  SmallVector<unsigned> dims;
  if (regionResult || reads.otherwise.contains(result) || !readByDots)
    dims.push_back(laneDim(result));
  if (!regionResult && readByDots)
    for (unsigned dim : dots->second)
      if (!llvm::is_contained(dims, dim))
        dims.push_back(dim);
  auto [loop, carried] = carriedBy(result);
  if (carried && dims.size() == 1 && dims.front() == laneDim(result) &&
      bufferIds[carried].size() == 1 && updatesInPlace(result, carried, loop)) {
    unsigned id = bufferIds[carried].front();
    bufferIds[result] = {id};
    return;
  }
  for (unsigned dim : dims)
    bufferIds[result].push_back(
        newBuffer(tileType(result), dim, emissionPosition(op)));
}

/// Dots whose operand is in no buffer of the lane dimension they need get a
/// copy that is.
void KernelPlan::assignRepackBuffers() {
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

void KernelPlan::assignBuffers() {
  Reads reads = collectReads();
  for (Operation *op : order) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      assignCarriedBuffers(loop);
      continue; // the results are the carried values
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      assignCarriedBuffers(loop);
    for (Value result : op->getResults())
      if (tileType(result) && buffered.contains(result))
        assignResultBuffers(result, reads);
  }
  assignRepackBuffers();
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
    if (!isInlined(op)) {
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
