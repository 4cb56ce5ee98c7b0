//===- FlashAttentionBackwardSteps.h - Parts of a backward, alone ---------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to FlashAttentionBackward and its tuning, which measures the kernels
// that have tiles to choose one by one.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_FLASHATTENTIONBACKWARDSTEPS_H
#define FLASHTILE_KERNELS_FLASHATTENTIONBACKWARDSTEPS_H

#include "kernels/FlashAttentionBackward.h"
#include "kernels/FlashAttentionOperands.h"

#include <functional>
#include <string>

namespace flashtile::kernels {

/// The arguments of a call, checked. They outlive the steps.
struct BackwardCall {
  const AttentionOperands &operands;
  const FlashAttentionSaved &saved;
  const Tensor &gradO, &gradLse;
  const FlashAttentionBackwardOptions &options;
};

enum class BackwardStep {
  Keys,    ///< and what goes over hidden values behind it
  Queries, ///< dq alone
  All,
};

/// The text of the kernels with tiles to choose, in some tiles.
std::string backwardProgram(const BackwardCall &call,
                            FlashAttentionBackwardForm form);

/// Compiles a step, and returns what launches it, as often as it is called.
/// What comes before it, and memory for its results, is there from the first
/// launch on. `form` is one of the fused ones.
std::function<void()> backwardStep(const BackwardCall &call,
                                   FlashAttentionBackwardForm form,
                                   const FlashAttentionBackwardTiles &tiles,
                                   BackwardStep step);

/// Measures. For calls with queries and keys.
FlashAttentionBackwardChoice tuneBackward(const BackwardCall &call);
/// The same, once in a process for calls of one class: without building the
/// programs again, which the autotuner would need to see.
FlashAttentionBackwardChoice knownOrTunedBackward(const BackwardCall &call);

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_FLASHATTENTIONBACKWARDSTEPS_H
