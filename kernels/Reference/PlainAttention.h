//===- PlainAttention.h - The yardstick of same-precision work ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention as one would write it without any trick in a narrow type T: q, k, v
// and dO in T; S = scale q k^T and the softmax in f32; P rounded to T; O = P V
// accumulated in f32 and rounded to T. In the backward, P and dS are rounded to
// T, products accumulate in f32, and the gradients are rounded once.
//
// Its error against the f64 reference is the unit in which the error of a
// kernel of the same type is measured (see Judge.h).
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_REFERENCE_PLAINATTENTION_H
#define FLASHTILE_KERNELS_REFERENCE_PLAINATTENTION_H

#include "kernels/Reference/AttentionOptions.h"

namespace flashtile::reference {

/// `type` is f32, f16, bf16 or an fp8 type. Operands are rounded to it, `o` is
/// of it, and `lse` is f32. `options.arithmetic` has no effect.
AttentionResult plainAttention(const Tensor &q, const Tensor &k,
                               const Tensor &v, DType type,
                               const AttentionOptions &options = {});

/// The gradients, in `type`.
AttentionGradients plainAttentionBackward(const Tensor &q, const Tensor &k,
                                          const Tensor &v, const Tensor &dO,
                                          DType type,
                                          const AttentionOptions &options = {},
                                          const Tensor &dLse = {});

} // namespace flashtile::reference

#endif // FLASHTILE_KERNELS_REFERENCE_PLAINATTENTION_H
