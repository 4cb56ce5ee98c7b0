//===- EmitClusters.cpp - Elementwise members and reductions --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction across another dimension than the lanes keeps one accumulator
// vector for each lane group and runs innermost; a reduction along the lanes
// ends with one horizontal step. Padding lanes compute values that nobody
// reads; only horizontal reductions have to mask them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToCPU/KernelEmitter.h"
#include "compiler/Conversion/TileToCPU/Numerics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace flashtile::tile;
using namespace flashtile::cpu;
using flashtile::tile::getElementType;

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

/// Elements of what the members compute. All are evaluated before any is
/// written: a member may read a loop's carried buffer that another overwrites.
SmallVector<std::pair<Value, Value>>
KernelEmitter::evaluateMembers(ArrayRef<Operation *> members,
                               ArrayRef<Coord> coords) {
  SmallVector<std::pair<Value, Value>> elements;
  for (Operation *member : members)
    scope.computing.insert(member);
  for (Operation *member : members)
    elements.push_back(
        {member->getResult(0), evaluateVector(member->getResult(0), coords)});
  return elements;
}

void KernelEmitter::writeMembers(ArrayRef<std::pair<Value, Value>> elements,
                                 ArrayRef<Coord> coords) {
  for (auto [result, value] : elements)
    writeBuffer(plan.buffersOf(result).front(), coords, value);
}

/// Kind of vector.reduction that finishes `reduce` across lanes.
static vector::CombiningKind horizontalKind(Operation *reduce, Type element) {
  bool floats = isa<FloatType>(element);
  if (isa<SumOp>(reduce))
    return vector::CombiningKind::ADD;
  if (element.isInteger(1))
    return isa<MaxOp>(reduce) ? vector::CombiningKind::OR
                              : vector::CombiningKind::AND;
  if (isa<MaxOp>(reduce))
    return floats ? vector::CombiningKind::MAXIMUMF
                  : vector::CombiningKind::MAXSI;
  return floats ? vector::CombiningKind::MINIMUMF
                : vector::CombiningKind::MINSI;
}

/// A cluster with reductions. Accumulators are vectors in registers, a set of
/// one for each reduction for each vector that a loop body handles.
class KernelEmitter::ReducingCluster {
public:
  ReducingCluster(KernelEmitter &emitter, const Cluster &cluster);
  void emit() { emitNest(0); }

private:
  /// Loops over the dimensions from `dim` on that are neither reduced nor the
  /// lanes', around the reduction of one line or of one group of lanes.
  void emitNest(unsigned dim);
  void reduceAlongLanes();
  void reduceAcrossLanes();
  /// Handles `count` vectors from `first` on; gives the new accumulators.
  SmallVector<Value> step(Value first, ValueRange carried);
  void accumulate(MutableArrayRef<Value> accumulators);
  SmallVector<Value> identities();
  void finish(Operation *reduce, Value value);
  void setLanes(Value first, int64_t vector);

  KernelEmitter &emitter;
  ImplicitLocOpBuilder &b;
  const Cluster &cluster;
  unsigned axis, laneDim;
  int64_t lanes, extent; ///< of a vector; of the lane dimension
  int64_t count;         ///< vectors of a loop body
  SmallVector<Operation *> reduces, elementwise;
  Coords coords;
};

KernelEmitter::ReducingCluster::ReducingCluster(KernelEmitter &emitter,
                                                const Cluster &cluster)
    : emitter(emitter), b(emitter.b), cluster(cluster),
      axis(cluster.reducedAxis), laneDim(cluster.laneDim),
      lanes(emitter.plan.vectors.lanes), extent(cluster.shape[laneDim]),
      count(emitter.vectorsAtATime(extent)), coords(cluster.shape.size()) {
  for (Operation *member : cluster.members)
    (isAxisReduce(member) ? reduces : elementwise).push_back(member);
}

void KernelEmitter::ReducingCluster::setLanes(Value first, int64_t vector) {
  coords[laneDim] = emitter.offsetCoord({Coord::Lanes, first}, vector * lanes);
}

SmallVector<Value> KernelEmitter::ReducingCluster::identities() {
  SmallVector<Value> values;
  for (int64_t vector = 0; vector < count; ++vector)
    for (Operation *reduce : reduces) {
      Type element = getElementType(reduce->getOperand(0).getType());
      values.push_back(emitter.reductionIdentity(
          reduce, emitter.vectorOf(getComputeType(element))));
    }
  return values;
}

/// All members at `coords`; one accumulator for each reduction.
void KernelEmitter::ReducingCluster::accumulate(
    MutableArrayRef<Value> accumulators) {
  auto elements = emitter.evaluateMembers(elementwise, coords);
  for (auto [reduce, accumulator] : llvm::zip_equal(reduces, accumulators)) {
    b.setLoc(reduce->getLoc());
    Value operand = emitter.evaluateVector(reduce->getOperand(0), coords);
    if (axis == laneDim && extent % lanes != 0) {
      Value valid = emitter.validLanes(coords[laneDim], extent);
      operand = arith::SelectOp::create(
          b, valid, operand,
          emitter.reductionIdentity(reduce, operand.getType()));
    }
    accumulator = emitter.combine(reduce, accumulator, operand);
  }
  emitter.writeMembers(elements, coords);
}

SmallVector<Value> KernelEmitter::ReducingCluster::step(Value first,
                                                        ValueRange carried) {
  SmallVector<Value> accumulators(carried);
  for (int64_t vector = 0; vector < count; ++vector) {
    setLanes(first, vector);
    accumulate(MutableArrayRef(accumulators)
                   .slice(vector * reduces.size(), reduces.size()));
  }
  return accumulators;
}

/// Rounds the reduced value and puts it where the result lives.
void KernelEmitter::ReducingCluster::finish(Operation *reduce, Value value) {
  Value result = reduce->getResult(0);
  value = roundTo(b, value, getElementType(result.getType()));
  if (!tileType(result)) {
    emitter.scalars.map(result, value);
    return;
  }
  Coords outer(coords);
  outer.erase(outer.begin() + axis);
  emitter.writeBuffer(emitter.plan.buffersOf(result).front(), outer, value);
}

void KernelEmitter::ReducingCluster::reduceAlongLanes() {
  SmallVector<Value> sums =
      emitter.loop(0, emitter.plan.paddedExtent(extent), lanes * count,
                   identities(), [&](Value first, ValueRange carried) {
                     NewScope fresh(emitter);
                     return step(first, carried);
                   });
  for (auto [position, reduce] : llvm::enumerate(reduces)) {
    Value total = sums[position];
    for (int64_t vector = 1; vector < count; ++vector)
      total = emitter.combine(reduce, total,
                              sums[vector * reduces.size() + position]);
    Type element = getElementTypeOrSelf(total.getType());
    auto flags = isa<SumOp>(reduce) ? arith::FastMathFlags::reassoc
                                    : arith::FastMathFlags::none;
    finish(reduce, vector::ReductionOp::create(
                       b, horizontalKind(reduce, element), total, flags));
  }
}

void KernelEmitter::ReducingCluster::reduceAcrossLanes() {
  auto reduceGroup = [&](Value first, ValueRange) -> SmallVector<Value> {
    SmallVector<Value> sums =
        emitter.loop(0, cluster.shape[axis], 1, identities(),
                     [&](Value position, ValueRange carried) {
                       NewScope fresh(emitter);
                       coords[axis] = {Coord::Scalar, position};
                       return step(first, carried);
                     });
    for (int64_t vector = 0; vector < count; ++vector) {
      setLanes(first, vector);
      for (auto [position, reduce] : llvm::enumerate(reduces))
        finish(reduce, sums[vector * reduces.size() + position]);
    }
    return {};
  };
  emitter.loop(0, emitter.plan.paddedExtent(extent), lanes * count, {},
               reduceGroup);
}

void KernelEmitter::ReducingCluster::emitNest(unsigned dim) {
  if (dim == cluster.shape.size())
    return axis == laneDim ? reduceAlongLanes() : reduceAcrossLanes();
  if (dim == laneDim || dim == axis)
    return emitNest(dim + 1);
  emitter.loop(0, cluster.shape[dim], 1, {},
               [&](Value position, ValueRange) -> SmallVector<Value> {
                 coords[dim] = {Coord::Scalar, position};
                 emitNest(dim + 1);
                 return {};
               });
}

LogicalResult KernelEmitter::emitCluster(const Cluster &cluster) {
  b.setLoc(cluster.members.front()->getLoc());
  if (cluster.reducedAxis >= 0) {
    ReducingCluster(*this, cluster).emit();
  } else {
    forEachVector(cluster.shape, cluster.laneDim, [&](ArrayRef<Coord> coords) {
      writeMembers(evaluateMembers(cluster.members, coords), coords);
    });
  }
  for (Operation *member : cluster.members)
    if (tileType(member->getResult(0)))
      emitFurtherLayouts(member->getResult(0));
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions and scans with a combiner
//===----------------------------------------------------------------------===//

void KernelEmitter::forEachLine(ArrayRef<int64_t> shape, unsigned axis,
                                unsigned laneDim, TileBody body) {
  SmallVector<int64_t> outer(shape);
  outer[axis] = 1;
  if (axis == laneDim)
    forEachElement(outer, body);
  else
    forEachVector(outer, laneDim, body);
}

SmallVector<Value> KernelEmitter::elementsOfLines(ValueRange tiles,
                                                  ArrayRef<Coord> coords,
                                                  bool isAlongLanes) {
  SmallVector<Value> values;
  for (Value tile : tiles)
    values.push_back(isAlongLanes ? evaluate(tile, coords)
                                  : evaluateVector(tile, coords));
  return values;
}

void KernelEmitter::emitReduction(ReduceOp op) {
  b.setLoc(op.getLoc());
  auto type = tileType(op.getOperands().front());
  unsigned axis = op.getAxis(),
           laneDim = plan.laneDim(op.getOperands().front());
  int64_t extent = type.getDimSize(axis);
  auto line = [&](ArrayRef<Coord> at) {
    Coords coords(at.begin(), at.end());
    auto elements = [&](Value position) {
      coords[axis] = {Coord::Scalar, position};
      return elementsOfLines(op.getOperands(), coords, axis == laneDim);
    };
    SmallVector<Value> first = elements(index(0));
    SmallVector<Value> results =
        loop(1, extent, 1, first, [&](Value position, ValueRange carried) {
          NewScope fresh(*this);
          return emitCombiner(op.getCombiner(), carried, elements(position));
        });
    Coords outer(at.begin(), at.end());
    outer.erase(outer.begin() + axis);
    for (auto [result, value] : llvm::zip(op.getResults(), results)) {
      if (tileType(result))
        writeBuffer(plan.buffersOf(result).front(), outer, value);
      else
        scalars.map(result, value);
    }
  };
  forEachLine(type.getShape(), axis, laneDim, line);
  for (Value result : op.getResults())
    if (tileType(result))
      emitFurtherLayouts(result);
}

void KernelEmitter::emitScan(ScanOp op) {
  b.setLoc(op.getLoc());
  auto type = tileType(op.getOperands().front());
  unsigned axis = op.getAxis(),
           laneDim = plan.laneDim(op.getOperands().front());
  int64_t extent = type.getDimSize(axis);
  auto line = [&](ArrayRef<Coord> at) {
    Coords coords(at.begin(), at.end());
    auto moveTo = [&](Value step) {
      Value position = step;
      if (op.getReverse())
        position = arith::SubIOp::create(b, index(extent - 1), step);
      coords[axis] = {Coord::Scalar, position};
    };
    auto elements = [&] {
      return elementsOfLines(op.getOperands(), coords, axis == laneDim);
    };
    auto write = [&](ValueRange values) {
      for (auto [result, value] : llvm::zip(op.getResults(), values))
        writeBuffer(plan.buffersOf(result).front(), coords, value);
    };
    moveTo(index(0));
    SmallVector<Value> first = elements();
    write(first);
    loop(1, extent, 1, first, [&](Value step, ValueRange carried) {
      NewScope fresh(*this);
      moveTo(step);
      SmallVector<Value> prefix =
          emitCombiner(op.getCombiner(), carried, elements());
      write(prefix);
      return prefix;
    });
  };
  forEachLine(type.getShape(), axis, laneDim, line);
  for (Value result : op.getResults())
    emitFurtherLayouts(result);
}
