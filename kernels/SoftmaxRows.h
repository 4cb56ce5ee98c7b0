//===- SoftmaxRows.h - What a softmax and its gradient share --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_SOFTMAXROWS_H
#define FLASHTILE_KERNELS_SOFTMAXROWS_H

#include "compiler/Frontend/Dsl.h"
#include "kernels/CausalAlignment.h"

#include <cmath>
#include <cstdint>

namespace flashtile::kernels {

/// The rows of a program: `blockRows` of them from `start` on.
class SoftmaxRows {
public:
  SoftmaxRows() = default;
  /// Of a matrix of `rows` and `columns`, for tiles that the configuration of
  /// a kernel has.
  template <typename Config>
  SoftmaxRows(const Config &config, const dsl::Value &start,
              const dsl::Value &rows, const dsl::Value &columns)
      : columns(columns), blockColumns(config.blockColumns),
        isCausal(config.causal) {
    if (!isCausal)
      return;
    dsl::Value last = start + dsl::arange(0, config.blockRows);
    if (config.alignment == CausalAlignment::BottomRight)
      last = last + (columns - rows);
    lastVisible = dsl::expandDims(last, 1);
  }

  /// Which of the columns from `column` on the rows see: [1, blockColumns], if
  /// causal [blockRows, blockColumns].
  dsl::Value see(const dsl::Operand &column) const {
    dsl::Value at = dsl::expandDims(column + dsl::arange(0, blockColumns), 0);
    dsl::Value visible = at < columns;
    return isCausal ? visible & (at <= lastVisible) : visible;
  }

private:
  dsl::Value columns;
  dsl::Value lastVisible; ///< causal: the last column of each, [blockRows, 1]
  int64_t blockColumns = 0;
  bool isCausal = false;
};

/// What exponents subtract, from the maximum of each row: while a row has seen
/// nothing, -inf - -inf must not arise.
inline dsl::Value softmaxShift(const dsl::Value &maximum) {
  return dsl::where(maximum == -INFINITY, 0.0, maximum);
}

/// Exponentials over their sums, [rows, 1]; 0 for a row that sees nothing.
inline dsl::Value softmaxWeights(const dsl::Value &exponentials,
                                 const dsl::Value &sums) {
  return dsl::where(sums == 0.0, 0.0, exponentials / sums);
}

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_SOFTMAXROWS_H
