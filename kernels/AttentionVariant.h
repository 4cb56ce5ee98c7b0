//===- AttentionVariant.h - Kinds of attention ------------------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernels, the references that judge them and the tools mean by these
// names. With x_ij = scale q_i k_j and the diagonal at d_i = i + seq_k - seq_q:
//
//   Softcap        s_ij = cap tanh(x_ij / cap)
//   Alibi          s_ij = x_ij - slope_head |d_i - j|
//   SlidingWindow  s_ij = x_ij; row i sees the keys d_i - left ... d_i + right
//   Sigmoid        o_i = sum_j v_j / (1 + exp(-x_ij - bias)): no softmax
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_ATTENTIONVARIANT_H
#define FLASHTILE_KERNELS_ATTENTIONVARIANT_H

#include "runtime/Tensor.h"

#include <cmath>
#include <optional>
#include <vector>

namespace flashtile {

enum class AttentionVariant { Softcap, Alibi, SlidingWindow, Sigmoid };

/// "softcap", "alibi", "sliding_window", "sigmoid".
inline const char *attentionVariantName(AttentionVariant variant) {
  constexpr const char *names[] = {"softcap", "alibi", "sliding_window",
                                   "sigmoid"};
  return names[static_cast<int>(variant)];
}

/// Which attention to compute; members of other variants have no effect.
struct AttentionVariantProblem {
  AttentionVariant variant = AttentionVariant::Softcap;
  /// Row i sees no key beyond the diagonal.
  bool causal = false;
  /// 1 / sqrt(head dimension) by default.
  std::optional<double> scale;
  double cap = 50; ///< Softcap: above 0
  /// Alibi: f32, contiguous, one for each head of q; alibiSlopes() by default.
  Tensor slopes;
  /// SlidingWindow: keys before and behind the diagonal; if causal, none is
  /// behind it.
  int64_t left = 0, right = 0;
  std::optional<double> bias; ///< Sigmoid: -log(rows of k) by default
};

/// 2^(-8 (h + 1) / heads) for each head h, as ALiBi has it.
inline Tensor alibiSlopes(int64_t heads, Device device = Device::cpu()) {
  std::vector<float> slopes;
  for (int64_t head = 0; head < heads; ++head)
    slopes.push_back(static_cast<float>(std::exp2(
        -8.0 * static_cast<double>(head + 1) / static_cast<double>(heads))));
  return Tensor::fromData(slopes, {heads}).to(device);
}

} // namespace flashtile

#endif // FLASHTILE_KERNELS_ATTENTIONVARIANT_H
