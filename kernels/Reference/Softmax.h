//===- Softmax.h - Softmax of rows, as a reference ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_REFERENCE_SOFTMAX_H
#define FLASHTILE_KERNELS_REFERENCE_SOFTMAX_H

#include "kernels/CausalAlignment.h"
#include "runtime/Tensor.h"

#include <optional>

namespace flashtile::reference {

struct SoftmaxResult {
  Tensor y;   ///< shape of x
  Tensor lse; ///< shape of x without its last dimension
};

/// exp(scale x - lse) for each row of [..., rows, columns], in f64, on the
/// positions that the row sees: all of them without `causal`. 0 elsewhere; a
/// row that sees nothing has lse = -inf.
SoftmaxResult softmax(const Tensor &x, double scale = 1,
                      std::optional<CausalAlignment> causal = std::nullopt);

} // namespace flashtile::reference

#endif // FLASHTILE_KERNELS_REFERENCE_SOFTMAX_H
