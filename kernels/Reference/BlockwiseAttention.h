//===- BlockwiseAttention.h - The flash recurrence ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention tile by tile with an online softmax, step by step as in Tri Dao,
// "FlashAttention-2: Faster Attention with Better Parallelism and Work
// Partitioning" (arXiv:2307.08691), Algorithm 1 (forward) and Algorithm 2
// (backward). It is what the kernels compute, written to be read; for the
// truth to judge by, see DenseAttention.h. Memory: one tile of scores.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_REFERENCE_BLOCKWISEATTENTION_H
#define FLASHTILE_KERNELS_REFERENCE_BLOCKWISEATTENTION_H

#include "kernels/Reference/AttentionOptions.h"

namespace flashtile::reference {

/// Tile sizes: rows of q (B_r in the paper) and keys (B_c). Positive; they need
/// not divide the sequence lengths, nor be below them.
struct BlockSizes {
  int64_t rows = 64;
  int64_t keys = 64;
};

/// As denseAttention.
AttentionResult blockwiseAttention(const Tensor &q, const Tensor &k,
                                   const Tensor &v,
                                   const AttentionOptions &options = {},
                                   BlockSizes blocks = {});

/// As denseAttentionBackward. Recomputes the scores from the `forward` result,
/// which must be that of the same operands and options.
AttentionGradients
blockwiseAttentionBackward(const Tensor &q, const Tensor &k, const Tensor &v,
                           const AttentionResult &forward, const Tensor &dO,
                           const AttentionOptions &options = {},
                           BlockSizes blocks = {}, const Tensor &dLse = {});

} // namespace flashtile::reference

#endif // FLASHTILE_KERNELS_REFERENCE_BLOCKWISEATTENTION_H
