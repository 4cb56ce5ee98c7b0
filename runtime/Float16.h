//===- Float16.h - The 16- and 8-bit floating-point types -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f16, bf16, f8E4M3FN and f8E5M2 as C++ types: storage and exact conversion,
// no arithmetic. One piece of integer code serves the four, so from and to
// float it depends neither on the rounding mode nor on the CPU.
//
// A conversion rounds once, to nearest even, from whatever type it starts at.
// f16 and bf16 overflow to infinity. The fp8 types saturate as the dialect's
// `tile.cast` does: overflow and infinity both become the largest finite value
// (f8E4M3FN has no infinity; f8E5M2 could hold one, but never gets it from
// here). NaN stays NaN in all of them.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_FLOAT16_H
#define FLASHTILE_RUNTIME_FLOAT16_H

#include "compiler/Support/ElementType.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace flashtile {
namespace detail {

/// The encoding of a narrow float: `1 + exponentBits + mantissaBits` bits.
template <ElementType type>
struct NarrowFormat;
template <>
struct NarrowFormat<ElementType::F16> {
  static constexpr int mantissaBits = 10, bias = 15;
  static constexpr uint32_t maxFinite = 0x7BFF, overflow = 0x7C00, nan = 0x7E00;
};
template <>
struct NarrowFormat<ElementType::BF16> {
  static constexpr int mantissaBits = 7, bias = 127;
  static constexpr uint32_t maxFinite = 0x7F7F, overflow = 0x7F80, nan = 0x7FC0;
};
template <>
struct NarrowFormat<ElementType::F8E4M3FN> {
  static constexpr int mantissaBits = 3, bias = 7;
  static constexpr uint32_t maxFinite = 0x7E, overflow = 0x7E, nan = 0x7F;
};
template <>
struct NarrowFormat<ElementType::F8E5M2> {
  static constexpr int mantissaBits = 2, bias = 15;
  static constexpr uint32_t maxFinite = 0x7B, overflow = 0x7B, nan = 0x7E;
};

/// `value` rounded to odd: where it is not exact, the neighbour with an odd
/// last bit. A later rounding to a type that is at least two bits narrower
/// still gives what one rounding would have given.
float roundToOdd(double value);
float roundToOdd(int64_t value);

template <typename Format>
uint32_t encodeNarrow(float value) {
  constexpr int m = Format::mantissaBits;
  constexpr int shift = 23 - m;
  constexpr uint32_t exponentOffset = 127 - Format::bias;
  constexpr uint32_t signShift = sizeof(float) * 8 - 1;
  constexpr uint32_t narrowSign = Format::nan > 0xFF ? 15 : 7;

  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const uint32_t sign = (bits >> signShift) << narrowSign;
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000)
    return sign | Format::nan;

  uint32_t result;
  if (magnitude >= (exponentOffset + 1) << 23) {
    // A carry out of the mantissa moves into the exponent, as it should.
    uint32_t rounded =
        magnitude + (1u << (shift - 1)) - 1 + ((magnitude >> shift) & 1);
    result = (rounded >> shift) - (exponentOffset << m);
    if (result > Format::maxFinite)
      result = Format::overflow;
  } else {
    // Subnormal in the narrow format: count units of its smallest value.
    const uint32_t exponent = magnitude >> 23;
    const uint32_t significand =
        (magnitude & 0x7FFFFF) | (exponent ? 0x800000 : 0);
    const int drop = 151 - Format::bias - m - int(exponent ? exponent : 1);
    if (drop >= 25)
      return sign; // less than half of the smallest value
    result =
        (significand + (1u << (drop - 1)) - 1 + ((significand >> drop) & 1)) >>
        drop;
  }
  return sign | result;
}

template <typename Format>
float decodeNarrow(uint32_t bits) {
  constexpr int m = Format::mantissaBits;
  constexpr uint32_t narrowSign = Format::nan > 0xFF ? 15 : 7;
  constexpr uint32_t exponentOffset = 127 - Format::bias;

  const uint32_t sign = (bits >> narrowSign) << 31;
  const uint32_t magnitude = bits & ((1u << narrowSign) - 1);
  uint32_t wide;
  if (magnitude > Format::maxFinite) {
    // Only f8E4M3FN has no pattern for infinity beyond its finite values.
    const bool isInfinity = Format::nan - Format::maxFinite > 1 &&
                            magnitude == Format::maxFinite + 1;
    wide = isInfinity ? 0x7F800000
                      : 0x7FC00000 | ((magnitude << (23 - m)) & 0x7FFFFF);
  } else if (exponentOffset == 0 || magnitude >> m) {
    wide = (magnitude << (23 - m)) + (exponentOffset << 23);
  } else {
    // Exact: the smallest value of these formats is a normal float.
    constexpr uint32_t unitBits = uint32_t(128 - Format::bias - m) << 23;
    float unit;
    std::memcpy(&unit, &unitBits, sizeof(unit));
    const float scaled = static_cast<float>(magnitude) * unit;
    std::memcpy(&wide, &scaled, sizeof(wide));
  }
  wide |= sign;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

} // namespace detail

/// One stored element of a narrow float type. Converts explicitly from, and
/// implicitly to, the wider types.
template <ElementType type>
class NarrowFloat {
  using Format = detail::NarrowFormat<type>;

public:
  using Bits = std::conditional_t<elementSize(type) == 2, uint16_t, uint8_t>;

  NarrowFloat() = default; // uninitialised, as a float is
  explicit NarrowFloat(float value)
      : rawBits(static_cast<Bits>(detail::encodeNarrow<Format>(value))) {}
  explicit NarrowFloat(double value) : NarrowFloat(detail::roundToOdd(value)) {}
  explicit NarrowFloat(int64_t value)
      : NarrowFloat(detail::roundToOdd(value)) {}
  explicit NarrowFloat(int value) : NarrowFloat(static_cast<double>(value)) {}

  static NarrowFloat fromBits(Bits bits) {
    NarrowFloat result;
    result.rawBits = bits;
    return result;
  }
  Bits bits() const { return rawBits; }

  operator float() const { return detail::decodeNarrow<Format>(rawBits); }

private:
  Bits rawBits;
};

using Float16 = NarrowFloat<ElementType::F16>;
using BFloat16 = NarrowFloat<ElementType::BF16>;
using Float8E4M3FN = NarrowFloat<ElementType::F8E4M3FN>;
using Float8E5M2 = NarrowFloat<ElementType::F8E5M2>;

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_FLOAT16_H
