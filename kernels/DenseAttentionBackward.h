//===- DenseAttentionBackward.h - Gradients by matrices of scores ---------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradients of attention as their definition reads: scores and weights
// again, then dv, dp, ds, dq and dk, each a kernel of its own with matrices of
// n * m numbers for each head between them. It shares nothing with the fused
// kernels but products and softmax, and is what they are judged by on a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_DENSEATTENTIONBACKWARD_H
#define FLASHTILE_KERNELS_DENSEATTENTIONBACKWARD_H

#include "kernels/DenseAttention.h"
#include "kernels/FlashAttentionBackward.h"

namespace flashtile {

/// Gradients of sum(o * gradO) + sum(lse * gradLse) by q, k and v, which are
/// f64, f32, f16 or bf16 and as denseAttention takes them. `gradO` has the
/// shape of o and the type of q, `gradLse` that of lse; either may have any
/// strides, or be undefined, which means 0. Of `options`, the type of scores
/// has no effect: they have that of lse. Where query heads share keys, dk and
/// dv are summed over them. Nothing is recorded.
///
/// A row that sees no key has gradient 0. NaN or infinity in a position that
/// the causal mask hides reaches every row of its head, as in denseAttention.
/// Throws InvalidArgument for shapes and types other than these. Any number of
/// threads may call at once.
FlashAttentionGradients
denseAttentionBackward(const Tensor &q, const Tensor &k, const Tensor &v,
                       const Tensor &gradO, const Tensor &gradLse = {},
                       const DenseAttentionOptions &options = {});

} // namespace flashtile

#endif // FLASHTILE_KERNELS_DENSEATTENTIONBACKWARD_H
