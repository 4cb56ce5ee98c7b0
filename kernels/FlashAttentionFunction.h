//===- FlashAttentionFunction.h - Attention on the tape -------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   Tensor o = FlashAttention::apply(q, k, v, /*causal=*/true);
//   o.backward(dO);
//   q.grad()
//
// flashAttention() and denseAttention() call these where an operand is
// recorded.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_FLASHATTENTIONFUNCTION_H
#define FLASHTILE_KERNELS_FLASHATTENTIONFUNCTION_H

#include "kernels/DenseAttention.h"
#include "kernels/FlashAttention.h"
#include "kernels/FlashAttentionBackward.h"
#include "runtime/Autograd/Autograd.h"

#include <utility>

namespace flashtile {

/// flashAttention(), differentiable, on what it takes but fp8. Keeps q, k, v, o
/// and the log-sum-exp, and what o lost when it was rounded: O(n * d) memory.
struct FlashAttention : autograd::Function<FlashAttention> {
  /// o.
  static Tensor forward(autograd::Context &ctx, const Tensor &q,
                        const Tensor &k, const Tensor &v, bool causal = false);
  /// o and the log-sum-exp, whose gradient counts as well. `form` says how
  /// backward is computed.
  static std::pair<Tensor, Tensor> forward(
      autograd::Context &ctx, const Tensor &q, const Tensor &k, const Tensor &v,
      const FlashAttentionOptions &options,
      FlashAttentionBackwardForm form = FlashAttentionBackwardForm::Default);
  static TensorList backward(autograd::Context &ctx,
                             const TensorList &gradOutputs);
};

/// denseAttention(), differentiable, on what it takes but fp8: o and the
/// log-sum-exp. Keeps q, k and v; backward makes the scores again.
struct DenseAttention : autograd::Function<DenseAttention> {
  static std::pair<Tensor, Tensor>
  forward(autograd::Context &ctx, const Tensor &q, const Tensor &k,
          const Tensor &v, const DenseAttentionOptions &options = {});
  static TensorList backward(autograd::Context &ctx,
                             const TensorList &gradOutputs);
};

} // namespace flashtile

#endif // FLASHTILE_KERNELS_FLASHATTENTIONFUNCTION_H
