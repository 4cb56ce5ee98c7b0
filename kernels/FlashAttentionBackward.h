//===- FlashAttentionBackward.h - Gradients of attention ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradients of flashAttention on tensors: what the autograd node of
// attention calls. The kernels are in FlashAttentionBackwardKernels.h.
//
//   const FlashAttentionSaved saved = flashAttentionSaved(q, k, v, options);
//   auto [dq, dk, dv] = flashAttentionBackward(q, k, v, saved, gradO);
//
// Thread safety: any number of threads may call at once.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_FLASHATTENTIONBACKWARD_H
#define FLASHTILE_KERNELS_FLASHATTENTIONBACKWARD_H

#include "kernels/FlashAttention.h"
#include "kernels/FlashAttentionBackwardConfigs.h"

#include <vector>

namespace flashtile {

/// A forward result with what it lost when it was rounded. The backward takes
/// its row sums from `o + oRest`: from a bf16 `o` alone, keys with a mean cost
/// dq four digits (kernels/README.md). `exp(s - lse)` has the same need where
/// logits are large and everything is f32.
struct FlashAttentionSaved {
  Tensor o;   ///< shape and type of q
  Tensor lse; ///< f32 (f64 where q is), shape of q without its last dimension
  /// Of the type and shape of `o`, or undefined: then `o` is taken as exact.
  /// Undefined where q is f32 or f64.
  Tensor oRest;
  /// As `lse`, or undefined: then `lse` is taken as exact. Undefined where q
  /// has 16 bits or is f64.
  Tensor lseRest;
};

/// flashAttention, which also writes what the backward needs. `o` and `lse` are
/// bit for bit those of flashAttention with the same tiles, but in f32, which
/// takes precise exponentials here.
FlashAttentionSaved
flashAttentionSaved(const Tensor &q, const Tensor &k, const Tensor &v,
                    const FlashAttentionOptions &options = {});

struct FlashAttentionBackwardOptions {
  /// Those of the forward call.
  bool causal = false;
  CausalAlignment alignment = CausalAlignment::BottomRight;
  std::optional<double> scale;

  FlashAttentionBackwardForm form = FlashAttentionBackwardForm::Default;
  /// What is not wanted is not computed, and undefined in the result.
  bool wantsQ = true, wantsK = true, wantsV = true;
  /// Tiles of the kernels; 0 lets the library choose. See
  /// FlashAttentionBackwardConfigs.h; the dense form takes no notice.
  FlashAttentionBackwardTiles tiles = FlashAttentionBackwardTiles::open();
  /// Measures what is left to choose, the form included, once for each class of
  /// problems, instead of taking it from the tables. The result is kept on
  /// disk; see runtime/Autotuner.h.
  bool tune = false;

  FlashAttentionBackwardOptions() = default;
  /// The problem of a forward call, with everything else left to the library.
  explicit FlashAttentionBackwardOptions(const FlashAttentionOptions &forward)
      : causal(forward.causal), alignment(forward.alignment),
        scale(forward.scale), tune(forward.tune) {}
};

struct FlashAttentionGradients {
  Tensor q, k, v; ///< contiguous, of the shapes and the type of the operands
};

/// Gradients of sum(o * gradO) + sum(lse * gradLse) by q, k and v.
///
/// q, k and v as flashAttention takes them, but not fp8; `saved` is what the
/// forward gave for them. `gradO` has the shape and the type of o, `gradLse`
/// those of lse; either may have any strides, 0 included, or be undefined,
/// which means 0. Where query heads share keys, dk and dv are summed over them.
///
/// A row that sees no key has gradient 0 and adds nothing to others. NaN and
/// infinity reach the gradients of what sees them, and of themselves, and no
/// others. Memory: O(rows * head dimension), but for the dense form. Nothing is
/// recorded. Throws InvalidArgument for shapes and types other than these.
FlashAttentionGradients
flashAttentionBackward(const Tensor &q, const Tensor &k, const Tensor &v,
                       const FlashAttentionSaved &saved, const Tensor &gradO,
                       const Tensor &gradLse = {},
                       const FlashAttentionBackwardOptions &options = {});

/// The form that the call above runs: `options.form` where it names one, and
/// otherwise that of the table.
FlashAttentionBackwardForm
flashAttentionBackwardForm(const Tensor &q, const Tensor &k, const Tensor &v,
                           const FlashAttentionBackwardOptions &options = {});

/// What tuning found.
struct FlashAttentionBackwardChoice {
  FlashAttentionBackwardForm form = FlashAttentionBackwardForm::Default;
  FlashAttentionBackwardTiles tiles;
  /// All that was measured: kernels one by one, then forms. Names of entries
  /// begin with the kernel's: `keys_and_dq_block_m`.
  std::vector<TuningTrial> trials;
};

/// Measures, unless it is known, which form and which tiles are fastest for
/// these tensors: those of a call that has gradients to compute. Throws
/// InvalidArgument where there is nothing to compute, and as autotune() does.
FlashAttentionBackwardChoice
flashAttentionBackwardTuning(const Tensor &q, const Tensor &k, const Tensor &v,
                             const FlashAttentionSaved &saved,
                             const Tensor &gradO, const Tensor &gradLse = {},
                             const FlashAttentionBackwardOptions &options = {});

/// The compiled kernels that flashAttentionBackward runs for these tensors, in
/// order, with what flashAttentionSaved gives and contiguous gradients. None
/// for the dense form, whose kernels are those of products and softmax. Without
/// a look at `options.tune`: what tuning found goes into the options.
std::vector<Kernel> flashAttentionBackwardKernels(
    const Tensor &q, const Tensor &k, const Tensor &v,
    const FlashAttentionBackwardOptions &options = {});

} // namespace flashtile

#endif // FLASHTILE_KERNELS_FLASHATTENTIONBACKWARD_H
