//===- SoftmaxKernel.cpp - Softmax of rows, as a kernel -------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/SoftmaxKernel.h"

#include "kernels/EnumChecks.h"
#include "kernels/SoftmaxRows.h"

#include <tuple>

namespace flashtile::kernels {

using namespace dsl;

/// Elements of a tile: the dialect's limit.
static constexpr int64_t kMaxTile = int64_t(1) << 20;

static void checkType(ElementType type, const char *name) {
  flashtile::checkElementType(name, type);
  if (!isFloat(type))
    throw Error(ErrorCode::InvalidArgument,
                std::string("expected ") + name +
                    " to be a float type, but got " +
                    std::string(elementTypeName(type)));
}

static void checkConfig(const SoftmaxKernelConfig &config) {
  checkOption(config.alignment);
  checkType(config.dtype, "dtype");
  checkType(config.outputType.value_or(config.dtype), "outputType");
  auto checkBlock = [](const char *name, int64_t extent, int64_t other) {
    if (extent <= 0 || extent > kMaxTile / other)
      throw Error(ErrorCode::InvalidArgument,
                  std::string("expected ") + name + " between 1 and " +
                      std::to_string(kMaxTile / other) + ", but got " +
                      std::to_string(extent));
  };
  checkBlock("blockRows", config.blockRows, 1);
  checkBlock("blockColumns", config.blockColumns, config.blockRows);
}

namespace {
class SoftmaxKernel {
public:
  explicit SoftmaxKernel(const SoftmaxKernelConfig &config)
      : config(config), kernel("softmax"),
        outputType(config.outputType.value_or(config.dtype)),
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
    x = kernel.pointer("x", config.dtype);
    y = kernel.pointer("y", outputType);
    if (config.withLse)
      lse = kernel.pointer("lse", wide);
    rows = kernel.i32("rows");
    columns = kernel.i32("columns");
    Value batch = kernel.i32("batch");
    xStrideBatch = kernel.i64("x_stride_batch");
    xStrideRow = kernel.i64("x_stride_row");
    yStrideBatch = kernel.i64("y_stride_batch");
    yStrideRow = kernel.i64("y_stride_row");
    scale = kernel.scalar("scale", wide);
    kernel.grid({ceilDiv(rows, config.blockRows), batch});
  }

  void locate() {
    rowStart = programId(0) * config.blockRows;
    Value matrix = cast(programId(1), i64);
    x = x + matrix * xStrideBatch;
    y = y + matrix * yStrideBatch;
    rowCount = cast(rows, i64);
    if (config.withLse)
      lse = lse + matrix * rowCount;
    ownRows = SoftmaxRows(config, rowStart, rows, columns);
  }

  Value window(const Value &base, const Value &strideRow,
               const Operand &column) {
    return makeBlockPtr(base, {rows, columns}, {strideRow, 1},
                        {rowStart, column},
                        {config.blockRows, config.blockColumns});
  }

  /// The scaled logits at `column`, -inf where a row does not see them.
  Value logits(const Operand &column) {
    Value s = cast(load(window(x, xStrideRow, column)), wide) * scale;
    return where(ownRows.see(column), s, -INFINITY);
  }

  void wholeRows() {
    Value s = logits(0);
    Value m = max(s, 1);
    Value e = exp(s - expandDims(softmaxShift(m), 1), Accuracy::Fast);
    Value l = sum(e, 1);
    storeProbabilities(0, e, l);
    storeLse(m, l);
  }

  void tiledRows() {
    Value mInit = full({config.blockRows}, -INFINITY, wide);
    Value lInit = zeros({config.blockRows}, wide);
    Value m, l;
    std::tie(m, l) = forRange(0, columns, config.blockColumns, {mInit, lInit},
                              [&](Value column, Value m, Value l) {
                                Value s = logits(column);
                                Value mNew = maximum(m, max(s, 1));
                                Value top = softmaxShift(mNew);
                                Value e =
                                    exp(s - expandDims(top, 1), Accuracy::Fast);
                                l = l * exp(m - top, Accuracy::Fast);
                                l = l + sum(e, 1);
                                return std::tuple(mNew, l);
                              });
    Value top = expandDims(softmaxShift(m), 1);
    forRange(0, columns, config.blockColumns, [&](Value column) {
      Value e = exp(logits(column) - top, Accuracy::Fast);
      storeProbabilities(column, e, l);
    });
    storeLse(m, l);
  }

  void storeProbabilities(const Operand &column, const Value &e,
                          const Value &l) {
    Value p = softmaxWeights(e, expandDims(l, 1));
    store(window(y, yStrideRow, column), cast(p, outputType));
  }

  void storeLse(const Value &m, const Value &l) {
    if (!config.withLse)
      return;
    // -inf + log(0) = -inf for a row that sees nothing.
    Value target =
        makeBlockPtr(lse, {rowCount}, {1}, {rowStart}, {config.blockRows});
    store(target, m + log(l));
  }

  const SoftmaxKernelConfig &config;
  KernelBuilder kernel;
  ElementType outputType;
  ElementType wide; ///< of sums and of lse
  Value x, y, lse, rows, columns, scale;
  Value xStrideBatch, xStrideRow, yStrideBatch, yStrideRow;
  Value rowStart, rowCount;
  SoftmaxRows ownRows;
};
} // namespace

KernelModule buildSoftmaxKernel(const SoftmaxKernelConfig &config) {
  checkConfig(config);
  return SoftmaxKernel(config).build();
}

} // namespace flashtile::kernels
