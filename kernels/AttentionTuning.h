//===- AttentionTuning.h - The fastest tiles of a forward -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to the calls of attention: what they share where they are asked to
// tune.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_ATTENTIONTUNING_H
#define FLASHTILE_KERNELS_ATTENTIONTUNING_H

#include "kernels/FlashAttentionConfigs.h"
#include "kernels/FlashAttentionOperands.h"
#include "runtime/Autotuner.h"
#include "runtime/Kernel.h"

#include <functional>
#include <string>
#include <vector>

namespace flashtile::kernels {

/// A call of some kind of attention, as tuning sees it.
struct AttentionForward {
  const AttentionOperands &operands;
  FlashAttentionClass kind;
  /// What the caller asks for; 0: to be chosen.
  FlashAttentionTiles asked;
  std::string key = {}; ///< of the class of problems
  DType outputType = DType::BF16;
  bool hasLse = true;
  /// With what the caller asks for; the first is taken without tuning.
  std::function<std::vector<FlashAttentionTiles>()> candidates = {};
  std::function<std::string()> program = {}; ///< a text of it
  std::function<Kernel(const FlashAttentionTiles &tiles)> compile = {};
  std::function<void(const Kernel &kernel, const AttentionOperand &o,
                     const Tensor &lse)>
      launch = {};
};

/// Measures the candidates that are feasible, and the first in any case, on the
/// caller's operands, into tensors of its own: the caller's may overlap with
/// what a launch reads.
TuningResult tuneAttention(const AttentionForward &forward);

/// The best of them; measured once in a process for a class of problems.
FlashAttentionTiles tunedAttentionTiles(const AttentionForward &forward);

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_ATTENTIONTUNING_H
