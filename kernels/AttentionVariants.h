//===- AttentionVariants.h - Kinds of attention on tensors ------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// flashAttention (FlashAttention.h) with other scores or weights: softcap,
// ALiBi, sliding windows, sigmoids. Forward only.
//
// Thread safety: any number of threads may call at once.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_ATTENTIONVARIANTS_H
#define FLASHTILE_KERNELS_ATTENTIONVARIANTS_H

#include "kernels/AttentionVariant.h"
#include "kernels/FlashAttention.h"

namespace flashtile {

struct AttentionVariantOptions : AttentionVariantProblem {
  /// Softcap: tanh of f16 numbers, one instruction of GPUs, whose relative
  /// error of 2^-10 shows in large scores: results may then be less exact than
  /// the judge of attention allows. Otherwise it is 2^-21.
  bool fastTanh = false;
  /// As those of FlashAttentionOptions.
  int64_t blockM = 0, blockN = 0, numWarps = 0, numStages = 0;
  bool tune = false;
};

/// q, k and v as flashAttention takes them, of f32, f16 or bf16 and with
/// contiguous rows. `lse` is undefined for Sigmoid. A row that sees no key has
/// o = 0 and lse = -inf. Throws InvalidArgument for what is neither.
FlashAttentionResult
attentionVariant(const Tensor &q, const Tensor &k, const Tensor &v,
                 const AttentionVariantOptions &options = {});

/// The same into tensors of the caller: o with contiguous rows, lse contiguous.
void attentionVariant(const Tensor &q, const Tensor &k, const Tensor &v,
                      const AttentionVariantOptions &options, Tensor &o,
                      Tensor &lse);

/// The compiled kernel that attentionVariant runs for these tensors.
Kernel attentionVariantKernel(const Tensor &q, const Tensor &k, const Tensor &v,
                              const AttentionVariantOptions &options = {});

/// What tuning finds for these tensors, as flashAttentionTuning().
TuningResult
attentionVariantTuning(const Tensor &q, const Tensor &k, const Tensor &v,
                       const AttentionVariantOptions &options = {});

/// The tiles that attentionVariant takes for these tensors.
FlashAttentionTiles
attentionVariantTiles(const Tensor &q, const Tensor &k, const Tensor &v,
                      const AttentionVariantOptions &options = {});

/// From the table, for tests.
FlashAttentionTiles
defaultAttentionVariantTiles(const FlashAttentionClass &kind,
                             AttentionVariant variant);

} // namespace flashtile

#endif // FLASHTILE_KERNELS_ATTENTIONVARIANTS_H
