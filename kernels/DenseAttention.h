//===- DenseAttention.h - Attention with its scores in memory -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention as its definition reads: a product, a softmax, a product, each a
// kernel of its own, with a matrix of n * m scores for each head in memory
// between them. The baseline that flash attention is compared with; nothing
// else speaks for it.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_DENSEATTENTION_H
#define FLASHTILE_KERNELS_DENSEATTENTION_H

#include "kernels/CausalAlignment.h"
#include "kernels/Matmul.h"
#include "runtime/Tensor.h"

#include <optional>
#include <vector>

namespace flashtile {

struct DenseAttentionOptions {
  bool causal = false;
  CausalAlignment alignment = CausalAlignment::BottomRight;
  /// Factor of the scores; 1 / sqrt(head dimension) by default.
  std::optional<double> scale;
  /// Element type of the scores in memory: f32 by default, f64 where q is. In
  /// the type of q, as frameworks have them, they take half the memory and
  /// round the scores.
  std::optional<DType> scoreType;
  /// Of the two products.
  MatmulTiles tiles = {0, 0, 0, 0, 0};
  bool tune = false;
};

struct DenseAttentionResult {
  Tensor o;   ///< shape of q, with the head dimension of v
  Tensor lse; ///< f32 (f64 where q is), shape of q without its last dimension
};

/// o = softmax(scale * q k^T) v, and the log-sum-exp of each row.
///
/// q is [..., n, d], k is [..., m, d] and v [..., m, e] of one element type:
/// f64, f32, f16, bf16, f8E4M3FN or f8E5M2. Leading dimensions are the same;
/// with four dimensions or more, k and v may have fewer heads, as long as they
/// divide those of q. o has the type of q, bf16 for the fp8 types.
///
/// A row that sees no key has o = 0 and lse = -inf. Unlike flashAttention, a
/// value that the causal mask hides reaches every row of its head where it is
/// NaN or infinite: its weight is 0, and 0 * NaN is NaN. Throws InvalidArgument
/// for shapes and types other than these. Any number of threads may call at
/// once. Differentiable; see FlashAttentionFunction.h.
DenseAttentionResult denseAttention(const Tensor &q, const Tensor &k,
                                    const Tensor &v,
                                    const DenseAttentionOptions &options = {});

/// What denseAttention runs for these tensors, in order; with `options.tune`,
/// measures first.
struct DenseAttentionPlan {
  std::vector<Kernel> kernels;
  MatmulTiles scoreTiles; ///< of q k^T
  MatmulTiles valueTiles; ///< of the product with v
};
DenseAttentionPlan
denseAttentionPlan(const Tensor &q, const Tensor &k, const Tensor &v,
                   const DenseAttentionOptions &options = {});

/// Bytes of scores and weights that denseAttention takes between the products.
int64_t denseAttentionScratchBytes(const Tensor &q, const Tensor &k,
                                   const DenseAttentionOptions &options = {});

} // namespace flashtile

#endif // FLASHTILE_KERNELS_DENSEATTENTION_H
