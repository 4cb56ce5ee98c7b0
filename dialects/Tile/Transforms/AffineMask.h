//===- AffineMask.h - Masks as linear inequalities ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the condition of a mask inside a loop as a conjunction of inequalities
//
//   induction * iv + sum(coefficient * scalar) + c(lanes) <= 0
//
// with invariant scalars, and knows the extremes of c over the lanes of the
// tile. All lanes are true where the inequality holds for the largest c, and
// all are false where it fails for the smallest. The counter of an inner loop
// with constant bounds counts as one more lane.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILE_TRANSFORMS_AFFINEMASK_H
#define FLASHTILE_DIALECTS_TILE_TRANSFORMS_AFFINEMASK_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace flashtile::tile {

/// An integer, scalar or tile, as a linear function. Values are thought of as
/// 64-bit: arithmetic of indices is taken not to overflow its type.
struct AffineForm {
  int64_t constant = 0;
  /// Coefficient of the induction variable.
  int64_t induction = 0;
  /// Coefficients of scalars that the loop does not change; none is zero.
  llvm::MapVector<mlir::Value, int64_t> symbols;
  /// Coefficients of the counters of inner loops with constant bounds.
  llvm::MapVector<mlir::Value, int64_t> counters;
  /// For each dimension of a tile, the coefficient of the position along it.
  llvm::SmallVector<int64_t> lanes;

  /// `this += factor * other`; false where a coefficient leaves 64 bits.
  [[nodiscard]] bool add(const AffineForm &other, int64_t factor);
};

/// One inequality, `induction * iv + symbols + c <= 0` for c between
/// `smallest` and `largest`.
struct MaskAtom {
  int64_t induction = 0;
  llvm::MapVector<mlir::Value, int64_t> symbols;
  int64_t smallest = 0;
  int64_t largest = 0;

  bool operator==(const MaskAtom &other) const;

  /// Whether this is false in every lane wherever `other` is.
  bool isFalseWith(const MaskAtom &other) const;

  /// Whether this is true in every lane wherever `other` is in every one.
  bool isTrueWith(const MaskAtom &other) const;

  /// Whether no lane can be false, whatever the iteration.
  bool isAlwaysTrue(mlir::scf::ForOp loop) const;
  /// Whether no iteration has every lane false.
  bool isNeverAllFalse(mlir::scf::ForOp loop) const;
};

/// A condition that has to hold for a mask to be true.
struct MaskCondition {
  /// Inequalities, with the i1 value that each was read from (null for the
  /// bounds of a block pointer).
  llvm::SmallVector<std::pair<MaskAtom, mlir::Value>> atoms;
  /// Why some part of the condition is not among the atoms; empty if all is.
  std::string unread;

  /// Whether nothing is left that could be false.
  bool isTrue() const { return atoms.empty() && unread.empty(); }
  /// Whether the truth of some atom depends on the iteration.
  bool variesWithLoop() const;
};

/// `value`, scalar or tile, as a linear function in `loop`. Where it is none,
/// nothing, and `reason` says why.
std::optional<AffineForm> readAffine(mlir::Value value, mlir::scf::ForOp loop,
                                     std::string &reason);

/// The i1 scalar or tile `condition` as a conjunction.
MaskCondition readMask(mlir::Value condition, mlir::scf::ForOp loop);

/// The same for `compare` or, if `negated`, for its negation.
MaskCondition readComparison(mlir::arith::CmpIOp compare, bool negated,
                             mlir::scf::ForOp loop);

/// `form <= 0` for a scalar or tile of `shape`; nothing where an extreme leaves
/// 64 bits.
std::optional<MaskAtom> makeAtom(const AffineForm &form,
                                 llvm::ArrayRef<int64_t> shape);

} // namespace flashtile::tile

#endif // FLASHTILE_DIALECTS_TILE_TRANSFORMS_AFFINEMASK_H
