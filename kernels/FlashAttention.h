//===- FlashAttention.h - Attention on tensors ----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The call that applications make: attention of tensors, with the kernel for
// their types and shapes chosen, compiled and kept for the next call.
//
// Thread safety: any number of threads may call at once.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_FLASHATTENTION_H
#define FLASHTILE_KERNELS_FLASHATTENTION_H

#include "kernels/CausalAlignment.h"
#include "kernels/FlashAttentionConfigs.h"
#include "kernels/FlashAttentionForward.h"
#include "runtime/Autotuner.h"
#include "runtime/Kernel.h"
#include "runtime/Tensor.h"

#include <optional>

namespace flashtile {

struct FlashAttentionOptions {
  bool causal = false;
  CausalAlignment alignment = CausalAlignment::BottomRight;
  /// Factor of the scores, at most 1e38 in magnitude; 1 / sqrt(head dimension)
  /// by default.
  std::optional<double> scale = std::nullopt;
  /// Element type of o: that of q by default, bf16 where q is fp8.
  std::optional<DType> outputType = std::nullopt;
  /// Rows of a query tile and of a key tile, and on GPUs warps of a program and
  /// buffers of its loads; 0 lets the library choose.
  int64_t blockM = 0, blockN = 0, numWarps = 0, numStages = 0;
  /// Measures what is left to choose, once for each class of problems, instead
  /// of taking it from a table (FlashAttentionConfigs.h). The result is kept on
  /// disk; see runtime/Autotuner.h.
  bool tune = false;
};

struct FlashAttentionResult {
  Tensor o;   ///< shape of q, with the head dimension of v
  Tensor lse; ///< f32 (f64 where q is), shape of q without its last dimension

  /// o.backward(gradient).
  void backward(const Tensor &gradient = {}, bool retainGraph = false) const {
    o.backward(gradient, retainGraph);
  }
};

/// o = softmax(scale * q k^T) v, and the log-sum-exp of each row.
///
/// q is [n, d], [batch, n, d] or [batch, heads, n, d] (more leading dimensions
/// count as batch); k and v are the same with m rows. With four dimensions or
/// more, k and v may have fewer heads, as long as they divide those of q. Any
/// strides. q, k and v have one element type: f64, f32, f16, bf16, f8E4M3FN or
/// f8E5M2; d is 8 to 256 in steps of 8.
///
/// A row that sees no key has o = 0 and lse = -inf. NaN in q, and in what a row
/// sees of k and v, reaches that row and no other. Scores may have magnitudes
/// up to 1e9, scale included; a row with larger ones may become NaN. Throws
/// InvalidArgument for shapes and types other than these.
/// Differentiable; see FlashAttentionFunction.h.
FlashAttentionResult flashAttention(const Tensor &q, const Tensor &k,
                                    const Tensor &v,
                                    const FlashAttentionOptions &options = {});

/// The same into tensors of the caller: o of any strides, lse contiguous. Not
/// differentiable.
void flashAttention(const Tensor &q, const Tensor &k, const Tensor &v,
                    const FlashAttentionOptions &options, Tensor &o,
                    Tensor &lse);

/// The compiled kernel that flashAttention runs for these tensors.
Kernel flashAttentionKernel(const Tensor &q, const Tensor &k, const Tensor &v,
                            const FlashAttentionOptions &options = {});

/// What tuning finds for these tensors, measured now unless it is known: every
/// candidate with its time or the reason why it is none. Throws InvalidArgument
/// where there is nothing to compute, and as autotune() does.
TuningResult flashAttentionTuning(const Tensor &q, const Tensor &k,
                                  const Tensor &v,
                                  const FlashAttentionOptions &options = {});

/// The tiles that flashAttention takes for these tensors; with `options.tune`,
/// measures first.
FlashAttentionTiles
flashAttentionTiles(const Tensor &q, const Tensor &k, const Tensor &v,
                    const FlashAttentionOptions &options = {});

} // namespace flashtile

#endif // FLASHTILE_KERNELS_FLASHATTENTION_H
