//===- MatmulKernel.h - Products of matrices, as a kernel -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = f(A B + bias) for a batch of matrices. One program computes one tile of
// one C and goes along K:
//
//   c[i, j] = f(sum_k a[i, k] b[k, j] + bias[j])
//
// Programs that run at about the same time take tiles from a few rows of tiles,
// and so share what they read of A and B in the L2 cache.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_MATMULKERNEL_H
#define FLASHTILE_KERNELS_MATMULKERNEL_H

#include "compiler/Frontend/KernelBuilder.h"
#include "kernels/Activation.h"

#include <optional>

namespace flashtile::kernels {

/// Which elements of a matrix follow each other in memory.
enum class MatrixOrder {
  Rows,    ///< those of a row: the column stride is 1
  Columns, ///< those of a column, as in a transposed view: the row stride is 1
  Strided, ///< none: both strides are arguments
};

/// What is fixed when the kernel is compiled.
struct MatmulKernelConfig {
  /// Of a and b: any float type, or i8.
  ElementType dtype = ElementType::BF16;
  /// Of c: any float type for floats, by default `dtype`, and bf16 for the fp8
  /// types; i32 for i8. Sums are of f32, f64 or i32.
  std::optional<ElementType> outputType;
  MatrixOrder orderA = MatrixOrder::Rows;
  MatrixOrder orderB = MatrixOrder::Rows;
  MatrixOrder orderC = MatrixOrder::Rows;
  /// Of f32 and f64 sums, before they are rounded to the type of c.
  bool hasBias = false;
  Activation activation = Activation::None;
  /// Rows of a, columns of b and the depth of a tile.
  int64_t blockM = 64;
  int64_t blockN = 64;
  int64_t blockK = 32;
  /// Rows of tiles that neighbouring programs go through together.
  int64_t groupM = 8;
};

/// The type of c where the configuration names none.
ElementType matmulOutputType(ElementType dtype);

/// @matmul in a module of its own. Arguments, in order:
///   a, b, c                     pointers
///   bias                        pointer to dtype, if hasBias: [n]
///   m, n, k                     i32
///   batch                       i32: matrices in all
///   heads                       i32: matrices of the inner of two batch
///                               dimensions; divides batch
///   group                       i32: that many neighbouring inner matrices of
///                               a share one of b
///   a_stride_outer, a_stride_inner, a_stride_row, a_stride_column,
///   b_..., c_...                i64, elements; without the stride that the
///                               order fixes at 1
/// Throws Error (InvalidArgument) for a configuration out of the limits above.
dsl::KernelModule buildMatmulKernel(const MatmulKernelConfig &config);

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_MATMULKERNEL_H
