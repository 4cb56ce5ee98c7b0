//===- AttentionVariants.h - Kinds of attention, by definition --*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The truth and the yardstick (DenseAttention.h, PlainAttention.h) for the
// formulas of AttentionVariant.h.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_REFERENCE_ATTENTIONVARIANTS_H
#define FLASHTILE_KERNELS_REFERENCE_ATTENTIONVARIANTS_H

#include "kernels/AttentionVariant.h"
#include "kernels/Reference/AttentionOptions.h"

#include <optional>

namespace flashtile::reference {

/// In f64. `lse` is undefined for Sigmoid, and a row that sees no key has
/// o = 0. For some rows of a longer problem, `diagonal` is the key d_i of the
/// first one, and the default of the sigmoids' bias that of its keys. q, k and
/// v are on the cpu, [..., heads, n, d] with at least these three dimensions
/// for Alibi.
AttentionResult
attentionVariant(const Tensor &q, const Tensor &k, const Tensor &v,
                 const AttentionVariantProblem &problem,
                 std::optional<int64_t> diagonal = std::nullopt);

/// As plainAttention(): f32, weights and `o` rounded to `type`.
AttentionResult
plainAttentionVariant(const Tensor &q, const Tensor &k, const Tensor &v,
                      DType type, const AttentionVariantProblem &problem,
                      std::optional<int64_t> diagonal = std::nullopt);

} // namespace flashtile::reference

#endif // FLASHTILE_KERNELS_REFERENCE_ATTENTIONVARIANTS_H
