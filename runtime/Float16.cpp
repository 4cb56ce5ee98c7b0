//===- Float16.cpp - Rounding on the way to a narrow float ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A double or a 64-bit integer that is rounded to float, and then again to
// f16, can miss the nearest value when the first step lands on a tie. Rounding
// to odd in the first step keeps the trace of what was cut off.
//
//===----------------------------------------------------------------------===//

#include "runtime/Float16.h"

#include <cmath>

using namespace flashtile;

/// Moves `nearest`, the result of an inexact rounding, to the neighbour of the
/// exact value with an odd last bit.
template <typename Float, typename Bits>
static Float makeOdd(Float nearest, bool isTooLarge) {
  static_assert(sizeof(Float) == sizeof(Bits), "the bits of a float");
  Bits bits;
  std::memcpy(&bits, &nearest, sizeof(bits));
  if (!(bits & 1))
    bits = isTooLarge ? bits - 1 : bits + 1;
  std::memcpy(&nearest, &bits, sizeof(bits));
  return nearest;
}

float detail::roundToOdd(double value) {
  const float nearest = static_cast<float>(value);
  const double widened = nearest;
  if (widened == value || std::isnan(value))
    return nearest;
  return makeOdd<float, uint32_t>(nearest,
                                  std::fabs(widened) > std::fabs(value));
}

float detail::roundToOdd(int64_t value) {
  const double nearest = static_cast<double>(value);
  // 2^63 is the one result that does not convert back.
  const bool isTooLarge = nearest >= 0x1p63;
  if (!isTooLarge && static_cast<int64_t>(nearest) == value)
    return roundToOdd(nearest);
  const bool isAway =
      isTooLarge || (value > 0 ? static_cast<int64_t>(nearest) > value
                               : static_cast<int64_t>(nearest) < value);
  return roundToOdd(makeOdd<double, uint64_t>(nearest, isAway));
}
