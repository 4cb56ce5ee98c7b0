//===- SoftmaxKernel.h - Softmax of rows, as a kernel ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The softmax of each row of a batch of matrices, on the positions that the row
// sees:
//
//   y_ij = exp(scale x_ij - lse_i)      lse_i = log sum_j exp(scale x_ij)
//
// What a row does not see is 0 in y, whatever x holds there. A row that sees
// nothing has y = 0 and lse = -inf.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_SOFTMAXKERNEL_H
#define FLASHTILE_KERNELS_SOFTMAXKERNEL_H

#include "compiler/Frontend/KernelBuilder.h"
#include "kernels/CausalAlignment.h"

#include <optional>

namespace flashtile::kernels {

/// What is fixed when the kernel is compiled.
struct SoftmaxKernelConfig {
  /// Of x and y: any float type. By default, y has the type of x.
  ElementType dtype = ElementType::F32;
  std::optional<ElementType> outputType;
  /// Row i sees column j iff j <= i, or j <= i + columns - rows.
  bool causal = false;
  CausalAlignment alignment = CausalAlignment::BottomRight;
  /// Whether lse is an argument.
  bool withLse = false;
  /// Promises that no row is longer than blockColumns: each is read once. In
  /// the general kernel there are two loops over the tiles of a row.
  bool singleTile = false;
  int64_t blockRows = 4;
  int64_t blockColumns = 256;
};

/// @softmax in a module of its own. Arguments, in order:
///   x, y                        pointers; may be the same
///   lse                         pointer to f32 (f64 where x is), contiguous
///                               [batch, rows]; only with `withLse`
///   rows, columns, batch        i32
///   x_stride_batch, x_stride_row, y_stride_batch, y_stride_row
///                               i64, elements; columns are contiguous
///   scale                       f32 (f64 where x is)
/// Throws Error (InvalidArgument) for a configuration out of the limits above.
dsl::KernelModule buildSoftmaxKernel(const SoftmaxKernelConfig &config);

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_SOFTMAXKERNEL_H
