//===- Float16Test.cpp - Every pattern and every tie of the narrow floats -===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/DType.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

using namespace flashtile;

namespace {

/// The definition of each format, written down apart from the code under test.
struct Facts {
  int exponentBits, mantissaBits;
  bool hasInfinity; ///< has the IEEE patterns of infinity and NaN
  bool saturates;
  double maxFinite, minPositive;
};

template <typename T>
Facts factsOf();
template <>
Facts factsOf<Float16>() {
  return {5, 10, true, false, 65504, 0x1p-24};
}
template <>
Facts factsOf<BFloat16>() {
  return {8, 7, true, false, 0x1.FEp127, 0x1p-133};
}
template <>
Facts factsOf<Float8E4M3FN>() {
  return {4, 3, false, true, 448, 0x1p-9};
}
template <>
Facts factsOf<Float8E5M2>() {
  return {5, 2, true, true, 57344, 0x1p-16};
}

template <typename T>
class NarrowFloatTest : public testing::Test {
protected:
  using Bits = typename T::Bits;
  static constexpr int width = sizeof(Bits) * 8;
  static constexpr unsigned signBit = 1u << (width - 1);
  const Facts facts = factsOf<T>();

  /// The value of a pattern by the formula of the format.
  double valueOf(unsigned bits) const {
    const unsigned magnitude = bits & (signBit - 1);
    const int exponent = static_cast<int>(magnitude >> facts.mantissaBits);
    const int mantissa =
        static_cast<int>(magnitude & ((1u << facts.mantissaBits) - 1));
    const int bias = (1 << (facts.exponentBits - 1)) - 1;
    const int top = (1 << facts.exponentBits) - 1;
    double value;
    if (facts.hasInfinity && exponent == top)
      value = mantissa ? std::nan("") : std::numeric_limits<double>::infinity();
    else if (!facts.hasInfinity && magnitude == signBit - 1)
      value = std::nan("");
    else if (exponent == 0)
      value = std::ldexp(mantissa, 1 - bias - facts.mantissaBits);
    else
      value = std::ldexp(mantissa + (1 << facts.mantissaBits),
                         exponent - bias - facts.mantissaBits);
    return bits & signBit ? -value : value;
  }

  /// Every finite pattern whose successor is finite too.
  template <typename Body>
  void forEachNeighbours(Body body) {
    for (unsigned bits = 0; valueOf(bits) < facts.maxFinite; ++bits)
      body(bits, valueOf(bits), valueOf(bits + 1));
  }
};

using NarrowTypes = testing::Types<Float16, BFloat16, Float8E4M3FN, Float8E5M2>;
TYPED_TEST_SUITE(NarrowFloatTest, NarrowTypes);

} // namespace

TYPED_TEST(NarrowFloatTest, EveryPatternHasItsValueAndComesBack) {
  for (unsigned bits = 0; bits < 2 * this->signBit; ++bits) {
    const TypeParam narrow = TypeParam::fromBits(bits);
    const float value = narrow;
    const double expected = this->valueOf(bits);
    ASSERT_EQ(std::isnan(value), std::isnan(expected)) << bits;
    ASSERT_EQ(std::signbit(value), (bits & this->signBit) != 0) << bits;
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(float(TypeParam(value)))) << bits;
      EXPECT_TRUE(std::isnan(float(TypeParam(double(value))))) << bits;
      continue;
    }
    ASSERT_EQ(value, expected) << bits;
    if (std::isinf(value) && this->facts.saturates)
      continue;
    ASSERT_EQ(TypeParam(value).bits(), bits);
    ASSERT_EQ(TypeParam(double(value)).bits(), bits);
  }
}

TYPED_TEST(NarrowFloatTest, FloatsBetweenNeighboursRoundToNearestEven) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  this->forEachNeighbours([&](unsigned bits, double low, double high) {
    const float tie = static_cast<float>((low + high) / 2);
    ASSERT_EQ(tie, (low + high) / 2) << "a float can hold the tie";
    for (unsigned sign : {0u, this->signBit}) {
      const auto round = [&](float x) {
        return TypeParam(sign ? -x : x).bits() ^ sign;
      };
      ASSERT_EQ(round(tie), bits % 2 ? bits + 1 : bits) << tie;
      ASSERT_EQ(round(std::nextafter(tie, 0.0f)), bits) << tie;
      ASSERT_EQ(round(std::nextafter(tie, inf)), bits + 1) << tie;
    }
  });
}

TYPED_TEST(NarrowFloatTest, DoublesRoundOnce) {
  // One double away from a tie, a rounding to float would land on the tie.
  this->forEachNeighbours([&](unsigned bits, double low, double high) {
    const double tie = (low + high) / 2;
    ASSERT_EQ(TypeParam(tie).bits(), bits % 2 ? bits + 1 : bits) << tie;
    ASSERT_EQ(TypeParam(std::nextafter(tie, 0.0)).bits(), bits) << tie;
    ASSERT_EQ(TypeParam(std::nextafter(tie, 1e300)).bits(), bits + 1) << tie;
  });
}

TYPED_TEST(NarrowFloatTest, OverflowSaturatesOnlyInFp8) {
  const double inf = std::numeric_limits<double>::infinity();
  const double max = this->facts.maxFinite;
  const double beyond = this->facts.saturates ? max : inf;
  const double ulp = max - this->valueOf(TypeParam(max).bits() - 1);
  EXPECT_EQ(TypeParam(max), max);
  // The largest value takes what is less than half a step above it.
  EXPECT_EQ(TypeParam(std::nextafter(max + ulp / 2, 0.0)), max);
  for (double x : {max + ulp / 2, max + ulp, 1e300, inf}) {
    EXPECT_EQ(TypeParam(x), beyond) << x;
    EXPECT_EQ(TypeParam(-x), -beyond) << x;
    EXPECT_EQ(TypeParam(float(x)), beyond) << x;
  }
}

TYPED_TEST(NarrowFloatTest, UnderflowKeepsTheSign) {
  const double min = this->facts.minPositive;
  EXPECT_EQ(TypeParam(min), min);
  EXPECT_EQ(TypeParam(min / 2).bits(), 0u);
  EXPECT_EQ(TypeParam(-min / 2).bits(), this->signBit);
  EXPECT_EQ(TypeParam(std::nextafter(min / 2, 1.0)), min);
  EXPECT_EQ(TypeParam(std::numeric_limits<float>::denorm_min() / 1).bits(), 0u);
  EXPECT_EQ(TypeParam(-std::numeric_limits<double>::denorm_min()).bits(),
            this->signBit);
}

TEST(Float16Test, IntegersRoundOnce) {
  const int64_t tie = (int64_t(1) << 62) + (int64_t(1) << 54);
  EXPECT_EQ(BFloat16(tie), 0x1p62f);
  EXPECT_EQ(BFloat16(tie + 1), 0x1.02p62f);
  EXPECT_EQ(BFloat16(tie - 1), 0x1p62f);
  EXPECT_EQ(BFloat16(-tie - 1), -0x1.02p62f);
  EXPECT_EQ(BFloat16(std::numeric_limits<int64_t>::max()), 0x1p63f);
  EXPECT_EQ(BFloat16(std::numeric_limits<int64_t>::min()), -0x1p63f);
  EXPECT_EQ(Float16(int64_t(2049)), 2048.0f);
  EXPECT_EQ(Float16(2051), 2052.0f);
  EXPECT_EQ(Float8E4M3FN(int64_t(1) << 40), 448.0f);
  EXPECT_EQ(Float16(0).bits(), 0u);
}

TEST(Float16Test, SignedNanStaysNan) {
  EXPECT_EQ(Float8E4M3FN(std::nanf("")).bits(), 0x7F);
  EXPECT_EQ(Float8E4M3FN(-std::nanf("")).bits(), 0xFF);
  EXPECT_TRUE(std::isnan(float(Float16(std::nan("1")))));
}

TEST(DTypeTest, TypesAndNamesAgree) {
  for (int i = 0; i <= static_cast<int>(DType::I64); ++i) {
    const DType dtype = static_cast<DType>(i);
    dispatchDType(dtype, [&](auto tag) {
      using T = typename decltype(tag)::Type;
      EXPECT_EQ(dtypeOf<T>, dtype);
      EXPECT_EQ(sizeof(T), elementSize(dtype));
    });
    EXPECT_EQ(parseElementType(toString(dtype)), dtype);
  }
}
