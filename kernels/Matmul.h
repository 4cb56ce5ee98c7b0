//===- Matmul.h - Products of matrices on tensors -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The call that applications make: c = a b, with the kernel for their types,
// strides and sizes chosen, compiled and kept for the next call.
//
// Thread safety: any number of threads may call at once.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_MATMUL_H
#define FLASHTILE_KERNELS_MATMUL_H

#include "kernels/Activation.h"
#include "kernels/MatmulConfigs.h"
#include "runtime/Autotuner.h"
#include "runtime/Kernel.h"
#include "runtime/Tensor.h"

#include <optional>

namespace flashtile {

struct MatmulOptions {
  /// Element type of c: that of a by default, bf16 where a is fp8, and i32
  /// where it is i8.
  std::optional<DType> outputType;
  /// That many neighbouring matrices of a share one of b, counted along the
  /// last of the leading dimensions, of which b has that many fewer: grouped
  /// heads of attention.
  int64_t group = 1;
  /// Added to each row of c, then `activation` of the sum, both before c is
  /// rounded. Of the type of a, contiguous, [n]; or undefined. Not for i8.
  Tensor bias;
  Activation activation = Activation::None;
  /// Extents of a tile, and on GPUs warps of a program and buffers of its
  /// loads; 0 lets the library choose.
  MatmulTiles tiles = {0, 0, 0, 0, 0};
  /// Measures what is left to choose, once for each class of problems, instead
  /// of taking it from a table. The result is kept on disk; see
  /// runtime/Autotuner.h.
  bool tune = false;
};

/// c[..., i, j] = f(sum_k a[..., i, k] b[..., k, j] + bias[j]), accumulated in
/// f32 (f64 for f64, i32 for i8); without options.bias and options.activation
/// the sum alone.
///
/// a is [..., m, k] and b is [..., k, n], of one element type: any float, or
/// i8. The leading dimensions broadcast. Any strides; a transposed view costs
/// no copy. Throws InvalidArgument for shapes and types other than these.
/// Differentiable; see MatmulFunction.h.
Tensor matmul(const Tensor &a, const Tensor &b,
              const MatmulOptions &options = {});

/// The same into a tensor of the caller, of any strides. It must not overlap
/// with a or b. Not differentiable.
void matmul(const Tensor &a, const Tensor &b, const MatmulOptions &options,
            Tensor &c);

/// The compiled kernel that matmul runs for these tensors.
Kernel matmulKernel(const Tensor &a, const Tensor &b,
                    const MatmulOptions &options = {});

/// What tuning finds for these tensors, measured now unless it is known: every
/// candidate with its time or the reason why it is none. Throws InvalidArgument
/// where there is nothing to compute, and as autotune() does.
TuningResult matmulTuning(const Tensor &a, const Tensor &b,
                          const MatmulOptions &options = {});

/// The tiles that matmul takes for these tensors; with `options.tune`, measures
/// first.
MatmulTiles matmulTiles(const Tensor &a, const Tensor &b,
                        const MatmulOptions &options = {});

} // namespace flashtile

#endif // FLASHTILE_KERNELS_MATMUL_H
