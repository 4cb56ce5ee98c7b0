//===- EmitLoops.cpp - Loop nests over tiles
//-----------------------------------===//
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
// Nests
//===----------------------------------------------------------------------===//

SmallVector<Value>
KernelEmitter::loop(int64_t begin, int64_t end, int64_t step, ValueRange inits,
                    function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  if (end - begin <= step)
    return end > begin ? body(index(begin), inits) : llvm::to_vector(inits);
  auto forOp =
      scf::ForOp::create(b, index(begin), index(end), index(step), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  SmallVector<Value> results =
      body(forOp.getInductionVar(), forOp.getRegionIterArgs());
  if (!inits.empty()) {
    b.setInsertionPointToEnd(forOp.getBody());
    scf::YieldOp::create(b, results);
  }
  return llvm::to_vector_of<Value>(forOp.getResults());
}

int64_t KernelEmitter::vectorsAtATime(int64_t extent) const {
  int64_t vectors = plan.paddedExtent(extent) / plan.vectors.lanes;
  for (int64_t count : {4, 3, 2})
    if (vectors % count == 0)
      return count;
  return 1;
}

void KernelEmitter::forEachVector(ArrayRef<int64_t> shape, unsigned laneDim,
                                  TileBody body) {
  Coords coords(shape.size());
  int64_t lanes = plan.vectors.lanes;
  int64_t count = vectorsAtATime(shape[laneDim]);
  std::function<void(unsigned)> nest = [&](unsigned dim) {
    if (dim == shape.size()) {
      loop(0, plan.paddedExtent(shape[laneDim]), lanes * count, {},
           [&](Value first, ValueRange) -> SmallVector<Value> {
             NewScope fresh(*this);
             for (int64_t vector = 0; vector < count; ++vector) {
               coords[laneDim] =
                   offsetCoord({Coord::Lanes, first}, vector * lanes);
               body(coords);
             }
             return {};
           });
      return;
    }
    if (dim == laneDim)
      return nest(dim + 1);
    loop(0, shape[dim], 1, {},
         [&](Value position, ValueRange) -> SmallVector<Value> {
           coords[dim] = {Coord::Scalar, position};
           nest(dim + 1);
           return {};
         });
  };
  nest(0);
}

void KernelEmitter::forEachElement(ArrayRef<int64_t> shape, TileBody body) {
  Coords coords(shape.size());
  std::function<void(unsigned)> nest = [&](unsigned dim) {
    if (dim == shape.size()) {
      NewScope fresh(*this);
      body(coords);
      return;
    }
    loop(0, shape[dim], 1, {},
         [&](Value position, ValueRange) -> SmallVector<Value> {
           coords[dim] = {Coord::Scalar, position};
           nest(dim + 1);
           return {};
         });
  };
  nest(0);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void KernelEmitter::emitCopy(Value value, unsigned bufferId) {
  const Buffer &buffer = plan.buffers()[bufferId];
  forEachVector(buffer.type.getShape(), buffer.laneDim,
                [&](ArrayRef<Coord> coords) {
                  writeBuffer(bufferId, coords, evaluateVector(value, coords));
                });
}

void KernelEmitter::emitBufferCopy(Value from, unsigned toBuffer) {
  unsigned fromBuffer = plan.buffersOf(from).front();
  const Buffer &buffer = plan.buffers()[toBuffer];
  forEachVector(buffer.type.getShape(), buffer.laneDim,
                [&](ArrayRef<Coord> coords) {
                  writeBuffer(toBuffer, coords, readBuffer(fromBuffer, coords));
                });
}

void KernelEmitter::emitFurtherLayouts(Value value) {
  for (unsigned id : plan.buffersOf(value).drop_front())
    emitBufferCopy(value, id);
}

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

LogicalResult KernelEmitter::emitCluster(const Cluster &cluster) {
  b.setLoc(cluster.members.front()->getLoc());
  if (cluster.reducedAxis >= 0) {
    emitReducingCluster(cluster);
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

void KernelEmitter::emitReducingCluster(const Cluster &cluster) {
  unsigned axis = cluster.reducedAxis, laneDim = cluster.laneDim;
  bool horizontal = axis == laneDim;
  int64_t lanes = plan.vectors.lanes;
  int64_t extent = cluster.shape[laneDim];
  int64_t count = vectorsAtATime(extent);
  SmallVector<Operation *> reduces, elementwise;
  for (Operation *member : cluster.members)
    (isAxisReduce(member) ? reduces : elementwise).push_back(member);

  Coords coords(cluster.shape.size());
  // One step of all members at `coords`; accumulators of one vector.
  auto step = [&](SmallVectorImpl<Value> &accumulators, unsigned vector) {
    auto elements = evaluateMembers(elementwise, coords);
    for (auto [position, reduce] : llvm::enumerate(reduces)) {
      b.setLoc(reduce->getLoc());
      Value operand = evaluateVector(reduce->getOperand(0), coords);
      if (horizontal && extent % lanes != 0) {
        Value valid = validLanes(coords[laneDim], extent);
        operand = arith::SelectOp::create(
            b, valid, operand, reductionIdentity(reduce, operand.getType()));
      }
      Value &accumulator = accumulators[vector * reduces.size() + position];
      accumulator = combine(reduce, accumulator, operand);
    }
    writeMembers(elements, coords);
  };
  SmallVector<Value> inits;
  auto makeInits = [&] {
    inits.clear();
    for (int64_t vector = 0; vector < count; ++vector)
      for (Operation *reduce : reduces)
        inits.push_back(
            reductionIdentity(reduce, vectorOf(getComputeType(getElementType(
                                          reduce->getOperand(0).getType())))));
  };
  auto resultCoords = [&] {
    Coords inner(coords);
    inner.erase(inner.begin() + axis);
    return inner;
  };
  auto finish = [&](Operation *reduce, Value value) {
    Value result = reduce->getResult(0);
    value = roundTo(b, value, getElementType(result.getType()));
    if (tileType(result))
      writeBuffer(plan.buffersOf(result).front(), resultCoords(), value);
    else
      scalars.map(result, value);
  };
  auto setLanes = [&](Value first, int64_t vector) {
    coords[laneDim] = offsetCoord({Coord::Lanes, first}, vector * lanes);
  };

  auto acrossLanes = [&] {
    makeInits();
    SmallVector<Value> sums =
        loop(0, plan.paddedExtent(extent), lanes * count, inits,
             [&](Value first, ValueRange carried) {
               NewScope fresh(*this);
               SmallVector<Value> accumulators(carried);
               for (int64_t vector = 0; vector < count; ++vector) {
                 setLanes(first, vector);
                 step(accumulators, vector);
               }
               return accumulators;
             });
    for (auto [position, reduce] : llvm::enumerate(reduces)) {
      Value total = sums[position];
      for (int64_t vector = 1; vector < count; ++vector)
        total =
            combine(reduce, total, sums[vector * reduces.size() + position]);
      Type element = getElementTypeOrSelf(total.getType());
      auto flags = isa<SumOp>(reduce) ? arith::FastMathFlags::reassoc
                                      : arith::FastMathFlags::none;
      finish(reduce, vector::ReductionOp::create(
                         b, horizontalKind(reduce, element), total, flags));
    }
  };
  auto alongAxis = [&] {
    loop(0, plan.paddedExtent(extent), lanes * count, {},
         [&](Value first, ValueRange) -> SmallVector<Value> {
           makeInits();
           SmallVector<Value> sums =
               loop(0, cluster.shape[axis], 1, inits,
                    [&](Value position, ValueRange carried) {
                      NewScope fresh(*this);
                      SmallVector<Value> accumulators(carried);
                      coords[axis] = {Coord::Scalar, position};
                      for (int64_t vector = 0; vector < count; ++vector) {
                        setLanes(first, vector);
                        step(accumulators, vector);
                      }
                      return accumulators;
                    });
           for (int64_t vector = 0; vector < count; ++vector) {
             setLanes(first, vector);
             for (auto [position, reduce] : llvm::enumerate(reduces))
               finish(reduce, sums[vector * reduces.size() + position]);
           }
           return {};
         });
  };
  std::function<void(unsigned)> nest = [&](unsigned dim) {
    if (dim == cluster.shape.size())
      return horizontal ? acrossLanes() : alongAxis();
    if (dim == laneDim || dim == axis)
      return nest(dim + 1);
    loop(0, cluster.shape[dim], 1, {},
         [&](Value position, ValueRange) -> SmallVector<Value> {
           coords[dim] = {Coord::Scalar, position};
           nest(dim + 1);
           return {};
         });
  };
  nest(0);
}

//===----------------------------------------------------------------------===//
// Reductions and scans with a combiner
//===----------------------------------------------------------------------===//

/// Loops over everything but `axis`, with vectors along the lane dimension
/// unless that is the axis, and gives the body the coordinates without it.
static void forEachLine(ArrayRef<int64_t> shape, unsigned axis,
                        function_ref<void(ArrayRef<int64_t>)> nest) {
  SmallVector<int64_t> outer(shape);
  outer[axis] = 1;
  nest(outer);
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
      SmallVector<Value> values;
      for (Value operand : op.getOperands())
        values.push_back(axis == laneDim ? evaluate(operand, coords)
                                         : evaluateVector(operand, coords));
      return values;
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
  forEachLine(type.getShape(), axis, [&](ArrayRef<int64_t> outer) {
    if (axis == laneDim)
      forEachElement(outer, line);
    else
      forEachVector(outer, laneDim, line);
  });
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
      SmallVector<Value> values;
      for (Value operand : op.getOperands())
        values.push_back(axis == laneDim ? evaluate(operand, coords)
                                         : evaluateVector(operand, coords));
      return values;
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
  forEachLine(type.getShape(), axis, [&](ArrayRef<int64_t> outer) {
    if (axis == laneDim)
      forEachElement(outer, line);
    else
      forEachVector(outer, laneDim, line);
  });
  for (Value result : op.getResults())
    emitFurtherLayouts(result);
}
