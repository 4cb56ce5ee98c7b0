//===- SoftmaxGradientKernel.cpp - Gradients through a softmax ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two loops over the tiles of a row: the sum, then the gradients.
//
//===----------------------------------------------------------------------===//

#include "kernels/SoftmaxGradientKernel.h"

#include "compiler/Frontend/Dsl.h"

using namespace flashtile;
using namespace flashtile::dsl;

KernelModule
kernels::buildSoftmaxGradient(const SoftmaxGradientConfig &config) {
  KernelBuilder kernel("softmax_gradient");
  const ElementType wide = config.outputType == ElementType::F64 ? f64 : f32;
  Value p = kernel.pointer("p", wide);
  Value dp = kernel.pointer("dp", wide);
  Value gradLse, weights;
  if (config.hasGradLse)
    gradLse = kernel.pointer("grad_lse", wide);
  Value ds = kernel.pointer("ds", config.outputType);
  if (config.copiesWeights)
    weights = kernel.pointer("weights", config.outputType);
  Value rows = kernel.i32("rows");
  Value columns = kernel.i32("columns");
  Value batch = kernel.i32("batch");
  Value scale = kernel.scalar("scale", wide);
  kernel.grid({ceilDiv(rows, config.blockRows), batch});

  Value rowStart = programId(0) * config.blockRows;
  Value rowCount = cast(rows, i64);
  Value columnCount = cast(columns, i64);
  Value firstRow = cast(programId(1), i64) * rowCount;
  auto window = [&](const Value &base, const Value &start) {
    return makeBlockPtr(base + firstRow * columnCount, {rowCount, columnCount},
                        {columnCount, 1}, {rowStart, start},
                        {config.blockRows, config.blockColumns});
  };

  Value none = zeros({config.blockRows}, wide);
  auto [total] = forRange(0, columns, config.blockColumns, {none},
                          [&](Value start, Value total) {
                            Value weight = load(window(p, start));
                            Value gradient = load(window(dp, start));
                            return total + sum(weight * gradient, 1);
                          });
  Value delta = total;
  if (config.hasGradLse)
    delta = delta - load(makeBlockPtr(gradLse + firstRow, {rowCount}, {1},
                                      {rowStart}, {config.blockRows}));
  forRange(0, columns, config.blockColumns, [&](Value start) {
    Value weight = load(window(p, start));
    Value gradient = load(window(dp, start));
    Value result = weight * (gradient - expandDims(delta, 1)) * scale;
    store(window(ds, start), cast(result, config.outputType));
    if (config.copiesWeights)
      store(window(weights, start), cast(weight, config.outputType));
  });
  return kernel.build();
}
