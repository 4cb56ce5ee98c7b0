//===- Softmax.h - Softmax of rows on tensors -----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_SOFTMAX_H
#define FLASHTILE_KERNELS_SOFTMAX_H

#include "kernels/CausalAlignment.h"
#include "runtime/Kernel.h"
#include "runtime/Tensor.h"

#include <optional>

namespace flashtile {

struct SoftmaxOptions {
  /// Factor of x, at most 1e38 in magnitude.
  double scale = 1;
  /// Row i of a matrix sees column j iff j <= i + columns - rows, or j <= i.
  bool causal = false;
  CausalAlignment alignment = CausalAlignment::BottomRight;
  /// Element type of y; that of x by default.
  std::optional<DType> outputType;
  /// Extents of a tile; 0 lets the library choose.
  int64_t blockRows = 0, blockColumns = 0;
};

/// y[..., i, j] = exp(scale x[..., i, j] - lse[..., i]) where row i sees column
/// j and 0 elsewhere, with lse the logarithm of the sum that makes a row of y
/// add up to 1. x is [..., rows, columns] of any float type.
///
/// A row that sees nothing has y = 0 and lse = -inf. NaN in what a row sees
/// makes that row NaN and no other. Throws InvalidArgument for shapes and types
/// other than these. Any number of threads may call at once. Differentiable by
/// x; see SoftmaxFunction.h.
Tensor softmax(const Tensor &x, const SoftmaxOptions &options = {});

/// The same into tensors of the caller. y may be x itself; its columns are
/// contiguous and its leading dimensions one block of memory. `lse` is a
/// contiguous f32 (f64 where x is) of the shape of x without its last
/// dimension, or undefined. Not differentiable.
void softmax(const Tensor &x, const SoftmaxOptions &options, Tensor &y,
             const Tensor &lse = {});

/// The compiled kernel that softmax runs for such an x.
Kernel softmaxKernel(const Tensor &x, const SoftmaxOptions &options = {},
                     bool withLse = false);

/// Throws InvalidArgument where softmax() would because of these.
void checkSoftmaxInput(const Tensor &x, const SoftmaxOptions &options);

} // namespace flashtile

#endif // FLASHTILE_KERNELS_SOFTMAX_H
