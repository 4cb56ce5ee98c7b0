//===- Mlp.h - Two layers on tensors ----------------------------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The call that applications make: two layers without the hidden one in memory.
//
// Thread safety: any number of threads may call at once.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_MLP_H
#define FLASHTILE_KERNELS_MLP_H

#include "kernels/Activation.h"
#include "kernels/ProblemClass.h"
#include "runtime/Autotuner.h"
#include "runtime/Kernel.h"
#include "runtime/Tensor.h"

namespace flashtile {

/// What is open once the problem is known. On the cpu, only the tile counts.
struct MlpTiles {
  int64_t blockM = 64; ///< rows of x
  int64_t blockH = 64; ///< columns of the hidden layer
  int64_t numWarps = 4;
  int64_t numStages = 2;
};

struct MlpOptions {
  Activation activation = Activation::Relu;
  /// Contiguous, [hidden] and [outputs]; both or none.
  Tensor b1, b2;
  /// 0 lets the library choose.
  MlpTiles tiles = {0, 0, 0, 0};
  /// As in FlashAttentionOptions.
  bool tune = false;
};

/// y = f(x w1 + b1) w2 + b2 for x [..., inputs], w1 [inputs, hidden] and w2
/// [hidden, outputs], all of f32, f16 or bf16, with contiguous rows; sums are
/// of f32, and the hidden layer is rounded to the type. Inputs and outputs are
/// 8 to 256 in steps of 8. Throws InvalidArgument for what is neither.
/// Differentiable: where an operand is recorded, it runs as two products.
Tensor mlp(const Tensor &x, const Tensor &w1, const Tensor &w2,
           const MlpOptions &options = {});

/// The same into a contiguous tensor of the caller. Not differentiable.
void mlp(const Tensor &x, const Tensor &w1, const Tensor &w2,
         const MlpOptions &options, Tensor &y);

/// The compiled kernel that mlp runs for these tensors.
Kernel mlpKernel(const Tensor &x, const Tensor &w1, const Tensor &w2,
                 const MlpOptions &options = {});

/// What tuning finds for these tensors, as flashAttentionTuning().
TuningResult mlpTuning(const Tensor &x, const Tensor &w1, const Tensor &w2,
                       const MlpOptions &options = {});

/// The tiles that mlp takes for these tensors.
MlpTiles mlpTiles(const Tensor &x, const Tensor &w1, const Tensor &w2,
                  const MlpOptions &options = {});

/// From the table; `width` is the larger of inputs and outputs.
MlpTiles defaultMlpTiles(DeviceClass device, DType dtype, int64_t width,
                         Activation activation = Activation::Relu);

} // namespace flashtile

#endif // FLASHTILE_KERNELS_MLP_H
