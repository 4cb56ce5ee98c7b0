//===- ScalarTest.cpp - Conversion of single elements ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Scalar.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

using namespace flashtile;

TEST(ScalarTest, IntegersKeepAll64Bits) {
  const int64_t odd = (int64_t(1) << 62) + 1;
  EXPECT_EQ(Scalar(odd).to<int64_t>(), odd);
  EXPECT_EQ(Scalar(2.5).to<double>(), 2.5);
  EXPECT_EQ(Scalar(true).to<int8_t>(), 1);
  EXPECT_EQ(Scalar(Float16(0.5f)).to<float>(), 0.5f);
  EXPECT_EQ(Scalar(7).to<BFloat16>(), 7.0f);
}

TEST(ScalarTest, FloatToIntegerTruncatesAndSaturates) {
  EXPECT_EQ(convertElement<int8_t>(-1.9f), -1);
  EXPECT_EQ(convertElement<int8_t>(127.9f), 127);
  EXPECT_EQ(convertElement<int8_t>(128.0f), 127);
  EXPECT_EQ(convertElement<int8_t>(-128.9), -128);
  EXPECT_EQ(convertElement<int16_t>(-1e9), -32768);
  EXPECT_EQ(convertElement<int32_t>(2147483647.0), 2147483647);
  EXPECT_EQ(convertElement<int32_t>(2147483648.0f), 2147483647);
  EXPECT_EQ(convertElement<int64_t>(1e300),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(convertElement<int64_t>(-std::numeric_limits<float>::infinity()),
            std::numeric_limits<int64_t>::min());
  EXPECT_EQ(convertElement<int32_t>(std::nan("")), 0);
  EXPECT_EQ(convertElement<int32_t>(Float8E5M2(-3.5f)), -3);
}

TEST(ScalarTest, IntegerToIntegerKeepsLowBits) {
  EXPECT_EQ(convertElement<int8_t>(int32_t(300)), 44);
  EXPECT_EQ(convertElement<int8_t>(int32_t(200)), -56);
  EXPECT_EQ(convertElement<int64_t>(int8_t(-1)), -1);
}

TEST(ScalarTest, BoolIsWhetherNonZero) {
  EXPECT_TRUE(convertElement<bool>(int32_t(256)));
  EXPECT_TRUE(convertElement<bool>(std::nanf("")));
  EXPECT_TRUE(convertElement<bool>(0.25));
  EXPECT_FALSE(convertElement<bool>(-0.0f));
  EXPECT_FALSE(convertElement<bool>(BFloat16(-0.0f)));
  EXPECT_EQ(convertElement<Float16>(true), 1.0f);
}

TEST(ScalarTest, FloatToFloatRoundsOnce) {
  EXPECT_EQ(convertElement<Float16>(1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10f);
  EXPECT_EQ(convertElement<float>(1 + 0x1p-24), 1.0f);
  EXPECT_EQ(convertElement<Float8E4M3FN>(BFloat16(1e30f)), 448.0f);
  EXPECT_EQ(convertElement<BFloat16>(int64_t((1 << 9) + 2 + 1)), 516.0f);
}
