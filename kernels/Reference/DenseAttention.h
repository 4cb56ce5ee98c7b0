//===- DenseAttention.h - Attention with all scores in memory -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The definition of attention, as directly as it can be computed: the whole
// matrix of scores, a softmax, a product. In f64 it is the truth that every
// kernel is judged by. Memory: seq_q * seq_k numbers, three times over.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_REFERENCE_DENSEATTENTION_H
#define FLASHTILE_KERNELS_REFERENCE_DENSEATTENTION_H

#include "kernels/Reference/AttentionOptions.h"

namespace flashtile::reference {

/// The operands may be of any float type; the results are of
/// `options.arithmetic`. Throws InvalidArgument for operands that do not fit.
AttentionResult denseAttention(const Tensor &q, const Tensor &k,
                               const Tensor &v,
                               const AttentionOptions &options = {});

/// Gradients of sum(o * dO) + sum(lse * dLse) by q, k and v. `dLse` may be left
/// undefined, which means 0.
AttentionGradients denseAttentionBackward(const Tensor &q, const Tensor &k,
                                          const Tensor &v, const Tensor &dO,
                                          const AttentionOptions &options = {},
                                          const Tensor &dLse = {});

} // namespace flashtile::reference

#endif // FLASHTILE_KERNELS_REFERENCE_DENSEATTENTION_H
