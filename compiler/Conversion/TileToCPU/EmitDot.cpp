//===- EmitDot.cpp - Matrix products in registers -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The result is cut into blocks of a few rows by a few vectors along the lane
// dimension, whose accumulators stay in registers over the whole of K: one
// operand is read as vectors, the other as scalars that are broadcast. The
// accumulator's initial value is evaluated where the block is finished, so that
// `dot(p, v, acc * alpha)` costs no pass of its own. For floats it is added to
// a sum that started from 0: over a loop of such dots, rounding errors then
// grow with the root of the number of tiles and not with that of all terms.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToCPU/KernelEmitter.h"
#include "compiler/Conversion/TileToCPU/Numerics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace flashtile::tile;
using namespace flashtile::cpu;
using flashtile::tile::getElementType;

namespace {
/// Rows and vectors of one register block.
struct RegisterBlock {
  int64_t rows, vectors;
};
} // namespace

/// The block with the fewest loads for each multiply-add among those that
/// leave registers for the operands; leftover rows count against it.
static RegisterBlock chooseBlock(int64_t rows, int64_t vectors,
                                 int64_t registers) {
  RegisterBlock best = {1, 1};
  double bestCost = 1e9;
  for (int64_t nv = 1; nv <= std::min<int64_t>(vectors, 6); ++nv) {
    if (vectors % nv != 0)
      continue;
    for (int64_t mr = 1; mr <= std::min<int64_t>(rows, 12); ++mr) {
      // Accumulators, one row of vectors, and the broadcast scalar.
      if (mr * nv + nv + 1 > registers - 1)
        continue;
      int64_t blocks = (rows + mr - 1) / mr;
      double loads = double(mr + nv) / (mr * nv);
      double waste = double(blocks * mr) / rows;
      // Fewer than eight sums do not hide the latency of a multiply-add.
      double latency = mr * nv < 8 ? 8.0 / (mr * nv) : 1.0;
      // Leftover rows need code of their own, which costs compile time.
      double leftover = rows % mr != 0 ? 0.15 : 0.0;
      double cost = (1.0 + loads) * latency + 0.25 * (waste - 1.0) + leftover;
      if (cost < bestCost) {
        bestCost = cost;
        best = {mr, nv};
      }
    }
  }
  return best;
}

static bool isZero(Value value) {
  DenseElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) && constant.isSplat() &&
         matchPattern(value, m_AnyZeroFloat());
}

struct KernelEmitter::DotShape {
  unsigned laneDim; ///< of the result
  int64_t depth;    ///< K
  unsigned vectorBuffer, scalarBuffer;
  DotOperand vectorOperand, scalarOperand;

  /// Coordinates in the operands' roots of element (outer, k), where `outer`
  /// is the row or column of the result.
  Coords vectorCoords(Value k, Coord lanes) const {
    return place(vectorOperand, k, lanes, laneDim == 1);
  }
  Coords scalarCoords(Value k, Value outer) const {
    return place(scalarOperand, k, {Coord::Scalar, outer}, laneDim == 0);
  }

private:
  /// Operand b is K x N: k is its row. Operand a is M x K.
  static Coords place(const DotOperand &operand, Value k, Coord outer,
                      bool isB) {
    Coords coords(2);
    coords[isB ? operand.rowDim : operand.columnDim] = {Coord::Scalar, k};
    coords[isB ? operand.columnDim : operand.rowDim] = outer;
    return coords;
  }
};

void KernelEmitter::emitDotBlock(DotOp op, const DotShape &shape, Value row,
                                 int64_t rows, Value column, int64_t vectors) {
  int64_t lanes = plan.vectors.lanes;
  Type accumulator = getComputeType(getElementType(op.getType()));
  VectorType vectorType = vectorOf(accumulator);
  bool integer = isa<IntegerType>(accumulator);
  SmallVector<Coord> laneCoords;
  SmallVector<Value> rowIndices;
  for (int64_t v = 0; v < vectors; ++v)
    laneCoords.push_back(offsetCoord({Coord::Lanes, column}, v * lanes));
  for (int64_t r = 0; r < rows; ++r)
    rowIndices.push_back(offsetCoord({Coord::Scalar, row}, r).index);
  auto resultCoords = [&](int64_t r, int64_t v) {
    Coords coords(2);
    coords[shape.laneDim] = laneCoords[v];
    coords[1 - shape.laneDim] = {Coord::Scalar, rowIndices[r]};
    return coords;
  };

  auto initials = [&] {
    NewScope fresh(*this);
    SmallVector<Value> values;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t v = 0; v < vectors; ++v)
        values.push_back(evaluateVector(op.getC(), resultCoords(r, v)));
    return values;
  };
  bool addsLast = !integer && !isZero(op.getC());
  SmallVector<Value> inits =
      addsLast ? SmallVector<Value>(
                     rows * vectors,
                     arith::ConstantOp::create(b, b.getZeroAttr(vectorType)))
               : initials();
  auto widen = [&](Value value) -> Value {
    if (!integer)
      return value;
    return arith::ExtSIOp::create(b, likeShape(value.getType(), accumulator),
                                  value);
  };
  SmallVector<Value> sums =
      loop(0, shape.depth, 1, inits, [&](Value k, ValueRange carried) {
        SmallVector<Value> vectorValues, results;
        for (int64_t v = 0; v < vectors; ++v)
          vectorValues.push_back(widen(readBuffer(
              shape.vectorBuffer, shape.vectorCoords(k, laneCoords[v]))));
        for (int64_t r = 0; r < rows; ++r) {
          Value element = widen(readBuffer(
              shape.scalarBuffer, shape.scalarCoords(k, rowIndices[r])));
          Value splat = vector::BroadcastOp::create(b, vectorType, element);
          for (int64_t v = 0; v < vectors; ++v) {
            Value sum = carried[r * vectors + v];
            if (integer)
              results.push_back(arith::AddIOp::create(
                  b, sum, arith::MulIOp::create(b, splat, vectorValues[v])));
            else
              results.push_back(
                  vector::FMAOp::create(b, splat, vectorValues[v], sum));
          }
        }
        return results;
      });
  if (addsLast)
    for (auto [sum, initial] : llvm::zip_equal(sums, initials()))
      sum = arith::AddFOp::create(b, sum, initial);
  unsigned target = plan.buffersOf(op.getResult()).front();
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      writeBuffer(target, resultCoords(r, v), sums[r * vectors + v]);
}

void KernelEmitter::emitDot(DotOp op) {
  b.setLoc(op.getLoc());
  unsigned laneDim =
      plan.buffers()[plan.buffersOf(op.getResult()).front()].laneDim;
  DotShape shape;
  shape.laneDim = laneDim;
  shape.depth = op.getA().getType().getDimSize(1);
  DotOperand a = peelTranspose(op.getA()), bOperand = peelTranspose(op.getB());
  shape.vectorOperand = laneDim == 1 ? bOperand : a;
  shape.scalarOperand = laneDim == 1 ? a : bOperand;
  shape.scalarBuffer = plan.buffersOf(shape.scalarOperand.root).front();

  VectorOperand needed = vectorOperand(op, laneDim);
  if (std::optional<unsigned> repacked = plan.repackBuffer(op)) {
    emitBufferCopy(needed.root, *repacked);
    shape.vectorBuffer = *repacked;
  } else {
    for (unsigned id : plan.buffersOf(needed.root))
      if (plan.buffers()[id].laneDim == needed.laneDim)
        shape.vectorBuffer = id;
  }

  int64_t rows = op.getType().getDimSize(1 - laneDim);
  int64_t lanes = plan.vectors.lanes;
  int64_t width = plan.paddedExtent(op.getType().getDimSize(laneDim));
  RegisterBlock block =
      chooseBlock(rows, width / lanes, plan.vectors.registers);
  int64_t fullRows = rows / block.rows * block.rows;
  // A panel of the vector operand stays in the L1 cache while rows pass.
  loop(0, width, block.vectors * lanes, {},
       [&](Value column, ValueRange) -> SmallVector<Value> {
         loop(0, fullRows, block.rows, {},
              [&](Value row, ValueRange) -> SmallVector<Value> {
                emitDotBlock(op, shape, row, block.rows, column, block.vectors);
                return {};
              });
         if (fullRows < rows)
           emitDotBlock(op, shape, index(fullRows), rows - fullRows, column,
                        block.vectors);
         return {};
       });
  emitFurtherLayouts(op.getResult());
}
