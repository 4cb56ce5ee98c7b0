//===- Examples.h - Small kernels in the DSL ------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Complete kernels of a few lines each, to learn from and to test with. Sizes
// at launch need not be multiples of the tiles.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_EXAMPLES_H
#define FLASHTILE_KERNELS_EXAMPLES_H

#include "compiler/Frontend/KernelBuilder.h"

namespace flashtile::kernels {

/// @vector_add(x, y, z, n: i32): z = x + y for n elements of `type`.
dsl::KernelModule buildVectorAdd(ElementType type, int64_t block = 1024);

/// @row_softmax(x, y, rows, columns: i32, x_stride_row, y_stride_row: i64): the
/// softmax of each row, of any length. `type` is f32, f16 or bf16.
dsl::KernelModule buildRowSoftmax(ElementType type, int64_t blockRows = 4,
                                  int64_t blockColumns = 256);

/// @transpose(x, y, rows, columns: i32, x_stride_row, y_stride_row: i64):
/// y[j, i] = x[i, j].
dsl::KernelModule buildTranspose(ElementType type, int64_t blockRows = 32,
                                 int64_t blockColumns = 32);

enum class Epilogue {
  None,     ///< c = alpha * a b
  Bias,     ///< c = alpha * a b + bias
  BiasRelu, ///< c = max(alpha * a b + bias, 0)
  BiasGelu, ///< c = gelu(alpha * a b + bias), exact
};

struct MatmulConfig {
  /// Of a, b and c; products are accumulated in f32.
  ElementType dtype = ElementType::BF16;
  int64_t blockM = 64;
  int64_t blockN = 64;
  int64_t blockK = 32;
  Epilogue epilogue = Epilogue::None;
};

/// @matmul(a, b, c, (bias: f32), m, n, k: i32, a_stride_row, b_stride_row,
/// c_stride_row: i64, alpha: f32): a is m x k, b is k x n, bias has n elements
/// and is an argument where the epilogue uses it.
dsl::KernelModule buildMatmul(const MatmulConfig &config = {});

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_EXAMPLES_H
