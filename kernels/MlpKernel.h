//===- MlpKernel.h - Two layers in one kernel -------------------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = f(x w1 + b1) w2 + b2, with all rows of the hidden layer in registers: one
// program takes a tile of rows of x through the whole hidden layer.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_MLPKERNEL_H
#define FLASHTILE_KERNELS_MLPKERNEL_H

#include "compiler/Frontend/KernelBuilder.h"
#include "kernels/Activation.h"

namespace flashtile::kernels {

/// What is fixed when the kernel is compiled.
struct MlpKernelConfig {
  /// Of all tensors: f32, f16 or bf16. Sums are of f32.
  ElementType dtype = ElementType::BF16;
  /// Columns of x and of y: 8 to 256 in steps of 8.
  int64_t inputs = 64, outputs = 64;
  Activation activation = Activation::Relu;
  bool hasBias = false;
  /// Rows of x and columns of the hidden layer in a tile.
  int64_t blockM = 64;
  int64_t blockH = 64;
};

/// @mlp in a module of its own. Arguments, in order:
///   x, w1, w2, y                pointers: [rows, inputs], [inputs, hidden],
///                               [hidden, outputs], [rows, outputs]
///   b1, b2                      pointers, if hasBias: [hidden], [outputs]
///   rows, hidden                i32
///   x_stride_row, w1_stride_row, w2_stride_row, y_stride_row
///                               i64, elements; rows are contiguous
/// Throws Error (InvalidArgument) for a configuration out of the limits above.
dsl::KernelModule buildMlpKernel(const MlpKernelConfig &config);

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_MLPKERNEL_H
