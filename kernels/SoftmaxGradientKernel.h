//===- SoftmaxGradientKernel.h - Gradients through a softmax --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With p = softmax(scale s), row by row, and gradients dp by p and dLse by the
// log-sum-exp:
//
//   ds_j = scale p_j (dp_j - sum_k p_k dp_k + dLse)
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_SOFTMAXGRADIENTKERNEL_H
#define FLASHTILE_KERNELS_SOFTMAXGRADIENTKERNEL_H

#include "compiler/Frontend/KernelBuilder.h"

namespace flashtile::kernels {

/// What is fixed when the kernel is compiled.
struct SoftmaxGradientConfig {
  /// Of ds and of the copy of p: f64, f32, f16 or bf16. p, dp and grad_lse are
  /// f64 where this is, and f32 otherwise.
  ElementType outputType = ElementType::F32;
  /// Also writes p rounded to `outputType`, for the product with it.
  bool copiesWeights = false;
  bool hasGradLse = false;
  int64_t blockRows = 4;
  int64_t blockColumns = 256;
};

/// @softmax_gradient in a module of its own. All tensors are contiguous
/// [batch, rows, columns]. Arguments, in order:
///   p, dp                pointers
///   (grad_lse)           pointer, [batch, rows]
///   ds                   pointer; may be dp
///   (weights)            pointer; may be p
///   rows, columns, batch i32
///   scale                f32, or f64 where ds is
dsl::KernelModule buildSoftmaxGradient(const SoftmaxGradientConfig &config);

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_SOFTMAXGRADIENTKERNEL_H
