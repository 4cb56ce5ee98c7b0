//===- FloatClasses.cpp - Sets of kinds of floats -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each operation is given for single classes and lifted to sets.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/FloatClasses.h"

#include "llvm/ADT/STLFunctionalExtras.h"

using namespace mlir;

namespace flashtile::tile {

/// Union of `evaluate` over the classes of a set.
static FloatClasses
lift(FloatClasses set,
     llvm::function_ref<FloatClasses(FloatClasses)> evaluate) {
  FloatClasses result = 0;
  for (FloatClasses one = 1; one <= kNaN; one <<= 1)
    if (set & one)
      result |= evaluate(one);
  return result;
}

/// Union of `evaluate` over pairs of classes.
static FloatClasses
lift(FloatClasses a, FloatClasses b,
     llvm::function_ref<FloatClasses(FloatClasses, FloatClasses)> evaluate) {
  return lift(a, [&](FloatClasses x) {
    return lift(b, [&](FloatClasses y) { return evaluate(x, y); });
  });
}

FloatClasses classify(const llvm::APFloat &value) {
  if (value.isNaN())
    return kNaN;
  if (value.isInfinity())
    return value.isNegative() ? kNegInf : kPosInf;
  if (value.isZero())
    return kZero;
  if (value.isNegative())
    return kNegative;
  return value.isExactlyValue(1.0) ? kOne : kPositive;
}

FloatClasses negated(FloatClasses set) {
  return lift(set, [](FloatClasses x) -> FloatClasses {
    switch (x) {
    case kNegInf:
      return kPosInf;
    case kPosInf:
      return kNegInf;
    case kNegative:
      return kOne | kPositive;
    case kOne:
    case kPositive:
      return kNegative;
    default:
      return x;
    }
  });
}

static bool isInfinite(FloatClasses x) { return x == kNegInf || x == kPosInf; }
static bool isPositiveSign(FloatClasses x) {
  return x == kOne || x == kPositive || x == kPosInf;
}

FloatClasses added(FloatClasses a, FloatClasses b) {
  return lift(a, b, [](FloatClasses x, FloatClasses y) -> FloatClasses {
    if (x == kNaN || y == kNaN)
      return kNaN;
    if (isInfinite(x) || isInfinite(y)) {
      if (isInfinite(x) && isInfinite(y))
        return x == y ? x : kNaN;
      return isInfinite(x) ? x : y;
    }
    if (x == kZero)
      return y;
    if (y == kZero)
      return x;
    if (isPositiveSign(x) != isPositiveSign(y))
      return kFinite;
    if (!isPositiveSign(x))
      return kNegative | kNegInf;
    // One and a tiny number may round to one.
    return kPositive | kOne | kPosInf;
  });
}

/// Result of a product or quotient with magnitude of any size and this sign.
static FloatClasses anyMagnitude(bool positive) {
  return positive ? kZero | kOne | kPositive | kPosInf
                  : kZero | kNegative | kNegInf;
}

FloatClasses multiplied(FloatClasses a, FloatClasses b) {
  return lift(a, b, [](FloatClasses x, FloatClasses y) -> FloatClasses {
    if (x == kNaN || y == kNaN)
      return kNaN;
    if (x == kOne)
      return y;
    if (y == kOne)
      return x;
    if (x == kZero || y == kZero)
      return isInfinite(x) || isInfinite(y) ? kNaN : kZero;
    bool positive = isPositiveSign(x) == isPositiveSign(y);
    if (isInfinite(x) || isInfinite(y))
      return positive ? kPosInf : kNegInf;
    return anyMagnitude(positive);
  });
}

FloatClasses divided(FloatClasses a, FloatClasses b) {
  return lift(a, b, [](FloatClasses x, FloatClasses y) -> FloatClasses {
    if (x == kNaN || y == kNaN)
      return kNaN;
    if (y == kOne)
      return x;
    if (y == kZero)
      return x == kZero ? kNaN : kNegInf | kPosInf;
    if (isInfinite(y))
      return isInfinite(x) ? kNaN : kZero;
    if (x == kZero)
      return kZero;
    bool positive = isPositiveSign(x) == isPositiveSign(y);
    if (isInfinite(x))
      return positive ? kPosInf : kNegInf;
    return anyMagnitude(positive);
  });
}

/// Position on the number line; one lies among the positive numbers.
static int rank(FloatClasses x) {
  switch (x) {
  case kNegInf:
    return 0;
  case kNegative:
    return 1;
  case kZero:
    return 2;
  case kOne:
  case kPositive:
    return 3;
  default:
    return 4;
  }
}

FloatClasses maximum(FloatClasses a, FloatClasses b) {
  return lift(a, b, [](FloatClasses x, FloatClasses y) -> FloatClasses {
    if (x == kNaN || y == kNaN)
      return kNaN;
    if (rank(x) == rank(y))
      return x | y;
    return rank(x) > rank(y) ? x : y;
  });
}

FloatClasses exponential(FloatClasses set, bool two) {
  return lift(set, [&](FloatClasses x) -> FloatClasses {
    switch (x) {
    case kNegInf:
      return kZero;
    case kNegative:
      return kZero | kOne | kPositive;
    case kZero:
      return kOne;
    case kOne:
      return kPositive;
    case kPositive:
      return kOne | kPositive | kPosInf;
    default:
      return x;
    }
  });
}

FloatClasses narrowed(FloatClasses set, bool saturates) {
  return lift(set, [&](FloatClasses x) -> FloatClasses {
    switch (x) {
    case kNegInf:
      return saturates ? kNegative : kNegInf;
    case kPosInf:
      return saturates ? kPositive : kPosInf;
    case kNegative:
      return kNegative | kZero | (saturates ? 0 : kNegInf);
    case kPositive:
      return kZero | kOne | kPositive | (saturates ? 0 : kPosInf);
    default:
      return x;
    }
  });
}

FloatClasses summed(FloatClasses set) {
  FloatClasses result = set;
  while (true) {
    FloatClasses next = result | added(result, set) | added(result, result);
    if (next == result)
      return result;
    result = next;
  }
}

FloatClasses compared(arith::CmpFPredicate predicate, FloatClasses a,
                      FloatClasses b, bool same) {
  // Relations as bits.
  constexpr unsigned less = 1, equal = 2, greater = 4, unordered = 8;
  unsigned possible = 0;
  lift(a, b, [&](FloatClasses x, FloatClasses y) -> FloatClasses {
    if (same && x != y)
      return 0;
    if (x == kNaN || y == kNaN)
      possible |= unordered;
    else if (rank(x) != rank(y))
      possible |= rank(x) < rank(y) ? less : greater;
    else if (same || (x == y && isOneValue(x)))
      possible |= equal;
    else
      possible |= less | greater | (x == y ? equal : 0);
    return 0;
  });
  // The predicates enumerate the sets of relations under which they hold, with
  // the bits in this order: equal, greater, less, unordered.
  auto accepted = static_cast<unsigned>(predicate);
  unsigned holds =
      ((accepted & 1) ? equal : 0) | ((accepted & 2) ? greater : 0) |
      ((accepted & 4) ? less : 0) | ((accepted & 8) ? unordered : 0);
  return ((possible & holds) ? kTrue : 0) | ((possible & ~holds) ? kFalse : 0);
}

} // namespace flashtile::tile
