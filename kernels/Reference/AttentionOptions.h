//===- AttentionOptions.h - What attention to compute ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The problem that every attention reference solves, and its numeric contract:
//
//   S_ij = scale * q_i . k_j + bias_ij        for the keys j that row i sees
//   o_i  = sum_j exp(S_ij - lse_i) v_j        lse_i = log sum_j exp(S_ij)
//
// for q [..., hq, n, d], k [..., hkv, m, d] and v [..., hkv, m, dv], with any
// number of leading dimensions (none at all: one head). Query heads share keys
// in groups of hq / hkv; the leading dimensions before the heads are equal.
//
// A row that sees no key has o = 0, lse = -inf and gradient 0, and adds nothing
// to the gradients of others. A position that a row does not see contributes
// nothing to it even where K, V or dO hold NaN or infinity there. A NaN that a
// row sees gives NaN in that row and in no other.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_REFERENCE_ATTENTIONOPTIONS_H
#define FLASHTILE_KERNELS_REFERENCE_ATTENTIONOPTIONS_H

#include "kernels/CausalAlignment.h"
#include "runtime/Tensor.h"

#include <optional>

namespace flashtile::reference {

struct AttentionOptions {
  /// Factor of the scores; 1 / sqrt(d) by default. May be 0 or negative.
  std::optional<double> scale;
  bool causal = false;
  CausalAlignment alignment = CausalAlignment::BottomRight;
  /// i1, true where a row sees a key; broadcasts to [..., hq, n, m].
  Tensor mask;
  /// A float tensor added to the scaled scores; broadcasts to [..., hq, n, m].
  /// A bias of -inf masks its position.
  Tensor bias;
  /// The type that everything is computed and returned in: f64 or f32. The
  /// plain implementation takes it no further than its own f32.
  DType arithmetic = DType::F64;
};

struct AttentionResult {
  Tensor o;   ///< [..., hq, n, dv]
  Tensor lse; ///< [..., hq, n], natural logarithm, scale included
};

/// Of the shapes of q, k and v; dk and dv are summed over the query heads of a
/// group.
struct AttentionGradients {
  Tensor dq;
  Tensor dk;
  Tensor dv;
};

} // namespace flashtile::reference

#endif // FLASHTILE_KERNELS_REFERENCE_ATTENTIONOPTIONS_H
