//===- ReferenceTestJudge.cpp - What the judge lets pass ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A judge is tested by the wrong results that it must catch.
//
//===----------------------------------------------------------------------===//

#include "ReferenceTestSupport.h"

#include "kernels/Reference/DenseAttention.h"
#include "kernels/Reference/PlainAttention.h"

#include <cmath>

namespace flashtile::reference {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

static Tensor vector(const std::vector<double> &values) {
  return Tensor::fromData(values, {static_cast<int64_t>(values.size())});
}

namespace {

/// An attention result, the truth, and the yardstick for it.
class JudgeAttention : public ::testing::Test {
protected:
  JudgeAttention() {
    const Operands x =
        randomOperands({2, 16, 64, 64}, {2, 16, 64, 64}, 5, DType::BF16);
    AttentionOptions options;
    options.causal = true;
    expected = denseAttention(x.q, x.k, x.v, options).o;
    plain = plainAttention(x.q, x.k, x.v, DType::BF16, options).o;
    actual = expected.to(DType::BF16);
  }

  Tensor actual, expected, plain;
};

TEST(JudgeErrors, AreRelativeToTheNormOfTheExpectation) {
  EXPECT_DOUBLE_EQ(relativeError(vector({3, 4.5}), vector({3, 4})), 0.1);
  EXPECT_EQ(relativeError(vector({3, 4}), vector({3, 4})), 0);
  // Squares beyond the range of double.
  EXPECT_DOUBLE_EQ(
      relativeError(vector({3e200, 4.5e200}), vector({3e200, 4e200})), 0.1);
  EXPECT_NEAR(
      relativeError(vector({3e-200, 4.5e-200}), vector({3e-200, 4e-200})), 0.1,
      1e-12);
  EXPECT_EQ(relativeError(Tensor::zeros({0, 3}, DType::F32),
                          Tensor::zeros({0, 3}, DType::F64)),
            0);
}

TEST(JudgeErrors, AreAbsoluteWhereZeroIsExpected) {
  EXPECT_DOUBLE_EQ(relativeError(vector({3e-3, 4e-3}), vector({0, 0})), 5e-3);
  EXPECT_EQ(relativeError(vector({0, -0.0}), vector({0, 0})), 0);
}

TEST(JudgeErrors, AreInfiniteWhereNaNOrInfinityIsOutOfPlace) {
  EXPECT_EQ(relativeError(vector({notANumber, 1}), vector({2, 1})), infinity);
  EXPECT_EQ(relativeError(vector({2, 1}), vector({notANumber, 1})), infinity);
  EXPECT_EQ(relativeError(vector({infinity, 1}), vector({-infinity, 1})),
            infinity);
  EXPECT_EQ(relativeError(vector({infinity, 1}), vector({5, 1})), infinity);
  EXPECT_EQ(relativeError(vector({5, 1}), vector({-infinity, 1})), infinity);
  EXPECT_EQ(relativeError(vector({notANumber, 1}), vector({infinity, 1})),
            infinity);
  EXPECT_EQ(relativeError(vector({-infinity, 1}), vector({-infinity, 1})), 0);
  EXPECT_EQ(relativeError(vector({notANumber, 1}), vector({notANumber, 1})), 0);
}

TEST(JudgeErrors, PerHead) {
  const Tensor expected = ones({2, 2, 2, 2});
  const Tensor actual = expected.clone();
  actual.set({1, 0, 1, 1}, 3.0);
  EXPECT_THAT(headErrors(actual, expected), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(headErrors(actual, expected, 3),
              ElementsAre(0, ::testing::DoubleEq(std::sqrt(0.5))));
  EXPECT_THAT(messageOf(ErrorCode::InvalidArgument,
                        [&] { headErrors(actual, expected, 5); }),
              HasSubstr("a head of 5 dimensions"));
  EXPECT_THAT(messageOf(ErrorCode::InvalidArgument,
                        [&] { relativeError(ones({2}), ones({3})); }),
              HasSubstr("'actual' of shape [3], but got [2]"));
}

TEST_F(JudgeAttention, PassesAGoodResult) {
  const Verdict verdict = judge(actual, expected, plain);
  EXPECT_TRUE(verdict) << verdict.reason;
  EXPECT_GT(verdict.error, 0);
  EXPECT_LT(verdict.error, verdict.limit);
  EXPECT_EQ(verdict.reason, "");
  EXPECT_DOUBLE_EQ(verdict.limit, 2 * relativeError(plain, expected));
  EXPECT_TRUE(judge(plain, expected, plain));
}

TEST_F(JudgeAttention, CatchesNaNOnEitherSide) {
  const Tensor holed = expected.clone();
  holed.set({1, 3, 5, 7}, notANumber);
  Verdict verdict = judge(holed, expected, plain);
  EXPECT_FALSE(verdict);
  EXPECT_THAT(verdict.reason, HasSubstr("element [1, 3, 5, 7] is nan where"));
  EXPECT_EQ(verdict.error, infinity);
  verdict = judge(actual, holed, plain);
  EXPECT_FALSE(verdict);
  EXPECT_THAT(verdict.reason, HasSubstr("where nan is expected"));
}

TEST_F(JudgeAttention, CatchesAYardstickWithNaN) {
  plain.set({0, 0, 0, 1}, notANumber);
  const Verdict verdict = judge(actual, expected, plain);
  EXPECT_FALSE(verdict);
  EXPECT_THAT(verdict.reason, HasSubstr("the plain implementation sets no "
                                        "limit: its element [0, 0, 0, 1]"));
}

TEST_F(JudgeAttention, CatchesSwappedHeads) {
  const Tensor swapped = actual.clone();
  swapped.select(0, 1).select(0, 2).copyFrom(actual.select(0, 1).select(0, 3));
  swapped.select(0, 1).select(0, 3).copyFrom(actual.select(0, 1).select(0, 2));
  EXPECT_FALSE(judge(swapped, expected, plain));
}

TEST_F(JudgeAttention, CatchesOneWrongElementByItsHead) {
  // Too small for the error of the whole tensor, too large for its head's.
  const double value = actual.to(DType::F64).at<double>({1, 9, 33, 17});
  actual.set({1, 9, 33, 17}, value + 0.25);
  JudgeRule wholeOnly;
  wholeOnly.slack = 1;
  EXPECT_TRUE(judge(actual, expected, plain, wholeOnly));
  const Verdict verdict = judge(actual, expected, plain);
  EXPECT_FALSE(verdict);
  EXPECT_THAT(verdict.reason, HasSubstr("head [1, 9]: relative error"));
  EXPECT_THAT(verdict.reason, HasSubstr("element [1, 9, 33, 17] is "));
}

TEST_F(JudgeAttention, CatchesOneWrongElementByItself) {
  const double value = actual.to(DType::F64).at<double>({1, 9, 33, 17});
  JudgeRule rule;
  rule.elementFactor = 8;
  EXPECT_TRUE(judge(actual, expected, plain, rule));
  actual.set({1, 9, 33, 17}, value + 0.08);
  EXPECT_TRUE(judge(actual, expected, plain)); // hides in its head
  const Verdict verdict = judge(actual, expected, plain, rule);
  EXPECT_FALSE(verdict);
  EXPECT_THAT(verdict.reason, HasSubstr("head [1, 9]: element [1, 9, 33, 17]"));
  EXPECT_THAT(verdict.reason, HasSubstr("further off than"));
}

TEST_F(JudgeAttention, CatchesAnotherShape) {
  const Verdict verdict =
      judge(actual.reshape({2, 16, 64 * 64}), expected, plain);
  EXPECT_FALSE(verdict);
  EXPECT_THAT(verdict.reason, HasSubstr("[2, 16, 4096] where [2, 16, 64, 64]"));
  EXPECT_THAT(messageOf(ErrorCode::InvalidArgument,
                        [&] { judge(actual, expected, ones({3})); }),
              HasSubstr("'plain' of shape [2, 16, 64, 64], but got [3]"));
  EXPECT_THAT(messageOf(ErrorCode::InvalidArgument,
                        [&] { judge({}, expected, plain); }),
              HasSubstr("'actual' is not defined"));
}

TEST(Judge, MatchesInfinitiesOfLse) {
  const Tensor expected = vector({-infinity, -infinity, 1.5});
  JudgeRule rule;
  rule.headRank = 1;
  EXPECT_TRUE(judge(expected, expected, expected, rule));
  const Verdict verdict =
      judge(vector({-infinity, -3e38, 1.5}), expected, expected, rule);
  EXPECT_FALSE(verdict);
  EXPECT_THAT(verdict.reason,
              HasSubstr("element [1] is -3.0000000000000001e+38 where -inf"));
}

TEST(Judge, ExactYardsticksLeaveARest) {
  JudgeRule rule;
  rule.headRank = 0;
  // Relative: two units in the last place of f32.
  const Tensor one = vector({1});
  EXPECT_TRUE(judge(vector({1 + 0x1p-22}), one, one, rule));
  EXPECT_FALSE(judge(vector({1 + 0x1p-21}), one, one, rule));
  // Absolute: the slack.
  const Tensor zero = vector({0});
  EXPECT_TRUE(judge(vector({1e-5}), zero, zero, rule));
  const Verdict verdict = judge(vector({2e-5}), zero, zero, rule);
  EXPECT_FALSE(verdict);
  EXPECT_THAT(verdict.reason, HasSubstr("absolute error 2e-05"));
}

TEST(Judge, Exactly) {
  EXPECT_TRUE(judgeExact(vector({1, notANumber}), vector({1, notANumber})));
  const Verdict verdict = judgeExact(vector({1, 2}), vector({1, 2.5}));
  EXPECT_FALSE(verdict);
  EXPECT_EQ(verdict.reason, "element [1] is 2 where 2.5 is expected");
  EXPECT_FALSE(judgeExact(vector({1}), vector({notANumber})));
  EXPECT_FALSE(judgeExact(vector({notANumber}), vector({1})));
  EXPECT_FALSE(judgeExact(vector({1}), vector({1, 1})));
}

} // namespace
} // namespace flashtile::reference
