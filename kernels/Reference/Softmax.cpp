//===- Softmax.cpp - Softmax of rows, as a reference ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/Reference/Softmax.h"

#include "kernels/EnumChecks.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flashtile::reference {

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// One row of `count` visible positions; returns its lse.
static double softmaxRow(const double *x, double *y, int64_t count,
                         double scale) {
  double top = -infinity;
  bool hasNaN = false;
  for (int64_t i = 0; i < count; ++i) {
    y[i] = scale * x[i];
    hasNaN |= std::isnan(y[i]);
    top = std::max(top, y[i]);
  }
  if (hasNaN)
    top = std::numeric_limits<double>::quiet_NaN();
  if (top == -infinity) {
    std::fill(y, y + count, 0.0);
    return -infinity;
  }
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += y[i] = std::exp(y[i] - top);
  for (int64_t i = 0; i < count; ++i)
    y[i] /= sum;
  return top + std::log(sum);
}

SoftmaxResult softmax(const Tensor &x, double scale,
                      std::optional<CausalAlignment> causal) {
  if (causal)
    kernels::checkOption(*causal);
  const Tensor values = x.to(DType::F64).contiguous();
  Shape rowShape = x.shape();
  rowShape.pop_back();
  SoftmaxResult result = {Tensor::zeros(x.shape(), DType::F64),
                          Tensor::full(rowShape, -infinity, DType::F64)};
  const int64_t rows = x.size(-2), columns = x.size(-1);
  const int64_t shift =
      causal == CausalAlignment::BottomRight ? columns - rows : 0;
  for (int64_t row = 0; row < result.lse.numel(); ++row) {
    int64_t visible = columns;
    if (causal)
      visible = std::clamp<int64_t>(row % rows + shift + 1, 0, columns);
    result.lse.data<double>()[row] =
        softmaxRow(values.data<double>() + row * columns,
                   result.y.data<double>() + row * columns, visible, scale);
  }
  return result;
}

} // namespace flashtile::reference
