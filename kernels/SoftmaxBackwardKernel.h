//===- SoftmaxBackwardKernel.h - Gradients of softmax, as a kernel --------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradient of the kernel in SoftmaxKernel.h by x. The weights p, before
// they are rounded to y, come again from x, so that nothing of the forward has
// to be kept or to be exact:
//
//   dx_ij = scale p_ij (dy_ij - sum_k p_ik dy_ik + dlse_i)
//
// What a row does not see gets 0, whatever x and dy hold there; a row that sees
// nothing gets 0.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_SOFTMAXBACKWARDKERNEL_H
#define FLASHTILE_KERNELS_SOFTMAXBACKWARDKERNEL_H

#include "kernels/SoftmaxKernel.h"

namespace flashtile::kernels {

/// What is fixed when the kernel is compiled.
struct SoftmaxBackwardConfig {
  /// Of x and dx, and of dy: any float type.
  ElementType dtype = ElementType::F32;
  ElementType gradType = ElementType::F32;
  bool causal = false;
  CausalAlignment alignment = CausalAlignment::BottomRight;
  bool hasGradLse = false;
  /// Promises that the columns of x and dy are contiguous.
  bool unitColumns = false;
  /// Promises that no row is longer than blockColumns.
  bool singleTile = false;
  int64_t blockRows = 4;
  int64_t blockColumns = 256;
};

/// @softmax_backward in a module of its own. Arguments, in order:
///   x, dy, dx                   pointers; dx is contiguous
///   dlse                        pointer to f32 (f64 where x is), contiguous
///                               [batch, rows]; only with `hasGradLse`
///   rows, columns, batch        i32
///   x_stride_batch, x_stride_row, x_stride_column, dy_...
///                               i64, elements; without the columns where they
///                               are contiguous
///   scale                       f32 (f64 where x is)
/// Throws Error (InvalidArgument) for a configuration that has no kernel.
dsl::KernelModule buildSoftmaxBackward(const SoftmaxBackwardConfig &config);

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_SOFTMAXBACKWARDKERNEL_H
