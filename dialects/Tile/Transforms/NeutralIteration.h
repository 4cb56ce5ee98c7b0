//===- NeutralIteration.h - Iterations that change nothing ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Proves that an iteration in which certain conditions are false in every lane
// has no effect and leaves every carried value as it was, so that it need not
// run. The model case is online softmax with every score masked to -inf.
//
// Values are interpreted as sets of classes (-inf, negative, 0, 1, positive,
// +inf, NaN), row by row: the proof splits on the class of a row's carried
// running maximum m (the value yielded as maximumf(m, ...)).
//
// - m finite: exp(m - m) is 1, exp(-inf - m) is 0, sums of zeros are 0 and
//   `dot` with zeros gives its accumulator, even where the other factor holds
//   NaN or infinities (the contract of masking).
// - m = -inf: nothing was seen yet. The other carried values are known to be
//   zero, by induction: initially, and because an iteration that leaves m at
//   -inf has seen only scores of -inf. Or they are zero or NaN, where weights
//   of zero are multiplied by elements that may not be finite; both stay what
//   they are when they are multiplied by the zero of exp(-inf).
// - m = +inf or NaN: the other carried values are known to be NaN in that row,
//   by induction likewise.
//
// A branch gives what either side gives. Of an inner loop, what holds at the
// start of each iteration is found by induction. One that picks the elements of
// a row one by one, comparing their positions with its counter, picks the one
// of which more is known, too.
//
// Two values count as equal where they differ in the sign of zero only.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILE_TRANSFORMS_NEUTRALITERATION_H
#define FLASHTILE_DIALECTS_TILE_TRANSFORMS_NEUTRALITERATION_H

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/DenseSet.h"

#include <optional>
#include <string>

namespace flashtile::tile {

/// Nothing where an iteration of `loop` in which every i1 value of
/// `falseEverywhere` is false in every lane provably has no effect; else the
/// reason why that could not be shown.
std::optional<std::string>
findEffectOfIteration(mlir::scf::ForOp loop,
                      const llvm::DenseSet<mlir::Value> &falseEverywhere);

} // namespace flashtile::tile

#endif // FLASHTILE_DIALECTS_TILE_TRANSFORMS_NEUTRALITERATION_H
