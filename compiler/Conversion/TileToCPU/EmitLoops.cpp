//===- EmitLoops.cpp - Loop nests over tiles, and copies ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The innermost loop runs over the vectors of the lane dimension, a few at a
// time. A loop of one iteration is just its body.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToCPU/KernelEmitter.h"

using namespace mlir;
using namespace flashtile::cpu;

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
