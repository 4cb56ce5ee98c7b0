//===- FloatClasses.h - Sets of kinds of floats ---------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A float falls in one of seven classes; a set of them is a byte. Each function
// gives a set that holds the class of the result for all operands with classes
// in the given sets, in any rounding, and where subnormal results become zero.
// The sign of zero is not tracked.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILE_TRANSFORMS_FLOATCLASSES_H
#define FLASHTILE_DIALECTS_TILE_TRANSFORMS_FLOATCLASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/APFloat.h"

#include <cstdint>

namespace flashtile::tile {

using FloatClasses = uint8_t;

constexpr FloatClasses kNegInf = 1 << 0;
constexpr FloatClasses kNegative = 1 << 1;
constexpr FloatClasses kZero = 1 << 2;
constexpr FloatClasses kOne = 1 << 3;
/// Finite, positive and not one.
constexpr FloatClasses kPositive = 1 << 4;
constexpr FloatClasses kPosInf = 1 << 5;
constexpr FloatClasses kNaN = 1 << 6;
constexpr FloatClasses kFinite = kNegative | kZero | kOne | kPositive;
constexpr FloatClasses kAnyFloat = kFinite | kNegInf | kPosInf | kNaN;

/// Sets of the values of an i1 use the same byte.
constexpr FloatClasses kFalse = 1 << 0;
constexpr FloatClasses kTrue = 1 << 1;

/// Whether all floats of the set are equal to each other, or all NaN.
constexpr bool isOneValue(FloatClasses set) {
  return set == kNegInf || set == kZero || set == kOne || set == kPosInf ||
         set == kNaN;
}

FloatClasses classify(const llvm::APFloat &value);

FloatClasses negated(FloatClasses set);
FloatClasses added(FloatClasses a, FloatClasses b);
FloatClasses multiplied(FloatClasses a, FloatClasses b);
FloatClasses divided(FloatClasses a, FloatClasses b);
/// Maximum that propagates NaN.
FloatClasses maximum(FloatClasses a, FloatClasses b);
/// exp, or exp2 with `two`.
FloatClasses exponential(FloatClasses set, bool two);
/// Rounded to a narrower type; `saturates` where it has no infinities.
FloatClasses narrowed(FloatClasses set, bool saturates);
/// The sum of one or more elements of the set.
FloatClasses summed(FloatClasses set);

/// Results (kTrue, kFalse) of comparing a with b; `same` where both are the
/// same number.
FloatClasses compared(mlir::arith::CmpFPredicate predicate, FloatClasses a,
                      FloatClasses b, bool same);

} // namespace flashtile::tile

#endif // FLASHTILE_DIALECTS_TILE_TRANSFORMS_FLOATCLASSES_H
