//===- SoftmaxBackwardKernel.cpp - Gradients of softmax, as a kernel ------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/SoftmaxBackwardKernel.h"

#include "kernels/EnumChecks.h"
#include "kernels/SoftmaxRows.h"

#include <tuple>

namespace flashtile::kernels {

using namespace dsl;

namespace {
/// A matrix of a batch as an argument.
struct Matrix {
  Value base, strideRow;
  Operand strideColumn = 1;
};

/// Part of some rows.
struct Tile {
  Value s;  ///< scaled logits, -inf where a row does not see them
  Value dy; ///< 0 there
  Value visible;
};

/// What is summed over the columns of a row, relative to its maximum.
struct Sums {
  Value m;  ///< maximum of the scaled logits
  Value l;  ///< sum of e = exp(s - m)
  Value dp; ///< sum of e * dy
};

class SoftmaxBackward {
public:
  explicit SoftmaxBackward(const SoftmaxBackwardConfig &config)
      : config(config), kernel("softmax_backward"),
        wide(config.dtype == ElementType::F64 ? f64 : f32) {}

  KernelModule build() {
    declareArguments();
    locate();
    if (config.singleTile)
      wholeRows();
    else
      tiledRows();
    return kernel.build();
  }

private:
  void declareArguments() {
    x.base = kernel.pointer("x", config.dtype);
    dy.base = kernel.pointer("dy", config.gradType);
    dx.base = kernel.pointer("dx", config.dtype);
    if (config.hasGradLse)
      dLse = kernel.pointer("dlse", wide);
    rows = kernel.i32("rows");
    columns = kernel.i32("columns");
    Value batch = kernel.i32("batch");
    kernel.grid({ceilDiv(rows, config.blockRows), batch});
    for (auto [name, matrix] : {std::pair("x", &x), std::pair("dy", &dy)}) {
      const std::string prefix = std::string(name) + "_stride_";
      Value strideBatch = kernel.i64(prefix + "batch");
      matrix->strideRow = kernel.i64(prefix + "row");
      if (!config.unitColumns)
        matrix->strideColumn = kernel.i64(prefix + "column");
      matrix->base = matrix->base + cast(programId(1), i64) * strideBatch;
    }
    scale = kernel.scalar("scale", wide);
  }

  void locate() {
    rowStart = programId(0) * config.blockRows;
    Value matrix = cast(programId(1), i64);
    Value rowCount = cast(rows, i64), columnCount = cast(columns, i64);
    dx.strideRow = columnCount;
    dx.base = dx.base + matrix * rowCount * columnCount;
    gradLse = zeros({config.blockRows}, wide);
    if (config.hasGradLse)
      gradLse = load(makeBlockPtr(dLse + matrix * rowCount, {rowCount}, {1},
                                  {rowStart}, {config.blockRows}));
    ownRows = SoftmaxRows(config, rowStart, rows, columns);
  }

  Value window(const Matrix &matrix, const Operand &column) {
    return makeBlockPtr(
        matrix.base, {rows, columns}, {matrix.strideRow, matrix.strideColumn},
        {rowStart, column}, {config.blockRows, config.blockColumns});
  }

  Tile tile(const Operand &column) {
    Value s = cast(load(window(x, column)), wide) * scale;
    Value g = cast(load(window(dy, column)), wide);
    Value visible = ownRows.see(column);
    return {where(visible, s, -INFINITY), where(visible, g, 0.0), visible};
  }

  static Value shiftOfRows(const Value &m) {
    return expandDims(softmaxShift(m), 1);
  }

  void storeGradients(const Operand &column, const Tile &tile, const Value &e,
                      const Sums &sums) {
    Value norm = expandDims(sums.l, 1);
    Value p = softmaxWeights(e, norm);
    Value mean = expandDims(gradLse, 1) - expandDims(sums.dp, 1) / norm;
    // A weight of 0 takes nothing from a gradient that is not finite.
    Value counts = tile.visible & (p != 0.0);
    Value gradient = where(counts, p * (tile.dy + mean) * scale, 0.0);
    store(window(dx, column), cast(gradient, config.dtype));
  }

  void wholeRows() {
    const Tile row = tile(0);
    Sums sums;
    sums.m = max(row.s, 1);
    Value e = exp(row.s - shiftOfRows(sums.m), Accuracy::Fast);
    sums.l = sum(e, 1);
    sums.dp = sum(e * row.dy, 1);
    storeGradients(0, row, e, sums);
  }

  void tiledRows() {
    Value none = zeros({config.blockRows}, wide);
    Value least = full({config.blockRows}, -INFINITY, wide);
    Sums sums;
    std::tie(sums.m, sums.l, sums.dp) =
        forRange(0, columns, config.blockColumns, {least, none, none},
                 [&](Value column, Value m, Value l, Value dp) {
                   const Tile part = tile(column);
                   Value mNew = maximum(m, max(part.s, 1));
                   Value e = exp(part.s - shiftOfRows(mNew), Accuracy::Fast);
                   Value alpha = exp(m - softmaxShift(mNew), Accuracy::Fast);
                   return std::tuple(mNew, l * alpha + sum(e, 1),
                                     dp * alpha + sum(e * part.dy, 1));
                 });
    Value top = shiftOfRows(sums.m);
    forRange(0, columns, config.blockColumns, [&](Value column) {
      const Tile part = tile(column);
      storeGradients(column, part, exp(part.s - top, Accuracy::Fast), sums);
    });
  }

  const SoftmaxBackwardConfig &config;
  KernelBuilder kernel;
  const ElementType wide;
  Matrix x, dy, dx;
  Value dLse, gradLse, rows, columns, scale, rowStart;
  SoftmaxRows ownRows;
};
} // namespace

KernelModule buildSoftmaxBackward(const SoftmaxBackwardConfig &config) {
  checkOption(config.alignment);
  for (ElementType type : {config.dtype, config.gradType})
    if (!isFloat(type))
      throw Error(ErrorCode::InvalidArgument,
                  "expected elements of a float type, but got " +
                      std::string(elementTypeName(type)));
  return SoftmaxBackward(config).build();
}

} // namespace flashtile::kernels
