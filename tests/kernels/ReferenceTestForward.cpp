//===- ReferenceTestForward.cpp - o and lse of the references -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two references against each other, and both against values that follow
// from the definition by hand.
//
//===----------------------------------------------------------------------===//

#include "ReferenceTestSupport.h"

#include "kernels/Reference/BlockwiseAttention.h"
#include "kernels/Reference/DenseAttention.h"

#include <cmath>

namespace flashtile::reference {

using ::testing::HasSubstr;

static AttentionOptions causal(bool value = true) {
  AttentionOptions options;
  options.causal = value;
  return options;
}

namespace {

/// Both references, by name, for what must hold of either.
struct Implementation {
  const char *name;
  AttentionResult (*forward)(const Tensor &q, const Tensor &k, const Tensor &v,
                             const AttentionOptions &options);
};

class AttentionForward : public ::testing::TestWithParam<Implementation> {
protected:
  AttentionResult forward(const Tensor &q, const Tensor &k, const Tensor &v,
                          const AttentionOptions &options = {}) {
    return GetParam().forward(q, k, v, options);
  }
};

INSTANTIATE_TEST_SUITE_P(
    , AttentionForward,
    ::testing::Values(Implementation{"Dense", denseAttention},
                      Implementation{
                          "Blockwise",
                          [](const Tensor &q, const Tensor &k, const Tensor &v,
                             const AttentionOptions &options) {
                            return blockwiseAttention(q, k, v, options, {3, 5});
                          }}),
    [](const auto &info) { return info.param.name; });

TEST(ReferenceForward, DenseAndBlockwiseAgreeOverSizes) {
  for (int64_t n : {1, 2, 7, 15, 16, 17, 31, 33, 63, 64, 65, 97, 130})
    for (bool isCausal : {false, true})
      for (BlockSizes blocks : {BlockSizes{16, 16}, {13, 7}, {64, 200}}) {
        SCOPED_TRACE(testing::Message()
                     << "n=" << n << " causal=" << isCausal
                     << " rows=" << blocks.rows << " keys=" << blocks.keys);
        const Operands x = randomOperands(n, n, 24, n);
        expectClose(blockwiseAttention(x.q, x.k, x.v, causal(isCausal), blocks),
                    denseAttention(x.q, x.k, x.v, causal(isCausal)), 1e-12);
      }
}

TEST(ReferenceForward, DenseAndBlockwiseAgreeOverCrossLengths) {
  const std::pair<int64_t, int64_t> lengths[] = {
      {113, 203}, {203, 113}, {64, 256}, {1, 20}, {20, 1}, {2, 5}, {5, 2}};
  for (auto [n, m] : lengths)
    for (auto alignment :
         {CausalAlignment::BottomRight, CausalAlignment::TopLeft}) {
      SCOPED_TRACE(testing::Message() << n << " x " << m);
      const Operands x = randomOperands(n, m, 16, n + m);
      AttentionOptions options = causal();
      options.alignment = alignment;
      expectClose(blockwiseAttention(x.q, x.k, x.v, options, {17, 23}),
                  denseAttention(x.q, x.k, x.v, options), 1e-12);
    }
}

TEST(ReferenceForward, ArithmeticInF32StaysNearF64) {
  const Operands x = randomOperands(97, 130, 64);
  AttentionOptions single = causal();
  single.arithmetic = DType::F32;
  const AttentionResult truth = denseAttention(x.q, x.k, x.v, causal());
  const AttentionResult dense = denseAttention(x.q, x.k, x.v, single);
  EXPECT_EQ(dense.o.dtype(), DType::F32);
  EXPECT_EQ(truth.o.dtype(), DType::F64);
  expectClose(dense, truth, 1e-6);
  expectClose(blockwiseAttention(x.q, x.k, x.v, single, {32, 48}), truth, 1e-6);
}

TEST_P(AttentionForward, TakesAnyLeadingDimensions) {
  const Operands x = randomOperands({2, 3, 4, 9, 8}, {2, 3, 2, 11, 8});
  const AttentionResult whole = forward(x.q, x.k, x.v);
  EXPECT_EQ(whole.o.shape(), (Shape{2, 3, 4, 9, 8}));
  EXPECT_EQ(whole.lse.shape(), (Shape{2, 3, 4, 9}));
  auto head = [](const Tensor &t, int64_t a, int64_t b, int64_t h) {
    return t.select(0, a).select(0, b).select(0, h);
  };
  for (int64_t a : {0, 1})
    for (int64_t h : {0, 1, 2, 3}) {
      const AttentionResult one = forward(
          head(x.q, a, 2, h), head(x.k, a, 2, h / 2), head(x.v, a, 2, h / 2));
      EXPECT_TRUE(isExactly(head(whole.o, a, 2, h), one.o));
      EXPECT_TRUE(isExactly(head(whole.lse, a, 2, h), one.lse));
    }
}

TEST_P(AttentionForward, ReadsStridedAndExpandedOperands) {
  const Operands x = randomOperands({1, 12, 4, 8}, {1, 12, 1, 8});
  const Tensor q = x.q.transpose(1, 2), k = x.k.transpose(1, 2),
               v = x.v.transpose(1, 2).expand({1, 4, 12, 8});
  expectClose(forward(q, k.expand({1, 4, 12, 8}), v),
              forward(q.contiguous(), k, v.narrow(1, 0, 1).clone()), 0);
}

TEST_P(AttentionForward, ValuesMayHaveTheirOwnHeadDim) {
  const Operands x = randomOperands(9, 11, 8);
  const Tensor v = Tensor::randn({1, 2, 11, 5}, DType::F64, 77);
  const AttentionResult result = forward(x.q, x.k, v);
  EXPECT_EQ(result.o.shape(), (Shape{1, 2, 9, 5}));
  EXPECT_TRUE(isClose(result.o.narrow(-1, 0, 3),
                      forward(x.q, x.k, v.narrow(-1, 0, 3)).o, 1e-14));
}

TEST_P(AttentionForward, EmptyExtents) {
  const Operands x = randomOperands(4, 0, 8);
  const AttentionResult noKeys = forward(x.q, x.k, x.v);
  EXPECT_TRUE(isAllZero(noKeys.o));
  EXPECT_TRUE(
      isExactly(noKeys.lse, Tensor::full({1, 2, 4}, -infinity, DType::F64)));
  const Operands y = randomOperands(0, 4, 8);
  EXPECT_EQ(forward(y.q, y.k, y.v).o.numel(), 0);
  const Operands z = randomOperands({0, 2, 4, 8}, {0, 2, 4, 8});
  EXPECT_EQ(forward(z.q, z.k, z.v).lse.shape(), (Shape{0, 2, 4}));
}

// A01: rows without a key, through a mask.
TEST_P(AttentionForward, RowsWithoutKeysGiveZeroAndMinusInfinity) {
  const Operands x = randomOperands({1, 1, 8, 8}, {1, 1, 8, 8}, 13);
  AttentionOptions options;
  options.mask = Tensor::zeros({8, 8}, DType::I1);
  options.mask.narrow(0, 0, 4).narrow(1, 0, 4).fill(true);
  const AttentionResult result = forward(x.q, x.k, x.v, options);
  EXPECT_TRUE(isAllZero(result.o.narrow(2, 4, 4)));
  EXPECT_TRUE(isExactly(result.lse.narrow(2, 4, 4),
                        Tensor::full({1, 1, 4}, -infinity, DType::F64)));
  const AttentionResult sub =
      forward(x.q.narrow(2, 0, 4), x.k.narrow(2, 0, 4), x.v.narrow(2, 0, 4));
  EXPECT_TRUE(isClose(result.o.narrow(2, 0, 4), sub.o, 1e-14));
  EXPECT_TRUE(isClose(result.lse.narrow(2, 0, 4), sub.lse, 1e-14));
}

// A03: logits below any finite stand-in for minus infinity.
TEST_P(AttentionForward, VeryNegativeLogitsAreProperLogits) {
  const std::pair<double, double> cases[] = {{-128, -57340.534264},
                                             {-2048, -917500.534264}};
  for (auto [key, lse] : cases) {
    const Tensor q = Tensor::zeros({1, 1, 1, 64}, DType::BF16);
    const Tensor k = Tensor::zeros({1, 1, 32, 64}, DType::BF16);
    const Tensor v = Tensor::zeros({1, 1, 32, 64}, DType::BF16);
    q.set({0, 0, 0, 0}, 448);
    for (int64_t j = 0; j < 32; ++j) {
      k.set({0, 0, j, 0}, key);
      v.set({0, 0, j, 0}, j % 4);
    }
    AttentionOptions options;
    options.scale = 1;
    const AttentionResult result = forward(q, k, v, options);
    EXPECT_EQ(result.o.at<double>({0, 0, 0, 0}), 1.5);
    EXPECT_NEAR(result.lse.at<double>({0, 0, 0}), lse, 1e-5);
  }
}

// A05: a mask made of the most negative finite number.
TEST_P(AttentionForward, BiasOfTheLowestFloatMasks) {
  const Operands x = randomOperands({1, 2, 41, 16}, {1, 2, 41, 16}, 3);
  for (double lowest : {-3.4028234663852886e38, -infinity}) {
    AttentionOptions options;
    options.bias = Tensor::zeros({41, 41}, DType::F32);
    options.bias.narrow(1, 0, 12).fill(lowest);
    const AttentionResult sub =
        forward(x.q, x.k.narrow(2, 12, 29), x.v.narrow(2, 12, 29));
    for (DType arithmetic : {DType::F64, DType::F32}) {
      options.arithmetic = arithmetic;
      expectClose(forward(x.q, x.k, x.v, options), sub,
                  arithmetic == DType::F64 ? 1e-13 : 1e-6);
    }
  }
}

TEST_P(AttentionForward, BiasIsAddedToTheScaledScores) {
  const Operands x = randomOperands(9, 9, 16, 5);
  AttentionOptions options = causal();
  options.bias = Tensor::zeros({2, 1, 9}, DType::F64);
  options.bias.select(0, 1).fill(0.75);
  const AttentionResult plain = forward(x.q, x.k, x.v, causal());
  const AttentionResult biased = forward(x.q, x.k, x.v, options);
  EXPECT_TRUE(isClose(biased.o, plain.o, 1e-14)); // constant along a row
  EXPECT_NEAR(biased.lse.at<double>({0, 0, 3}), plain.lse.at<double>({0, 0, 3}),
              1e-14);
  EXPECT_NEAR(biased.lse.at<double>({0, 1, 3}),
              plain.lse.at<double>({0, 1, 3}) + 0.75, 1e-14);
}

// A07: NaN that the causal mask hides, and NaN that it does not.
TEST_P(AttentionForward, NaNReachesOnlyTheRowsThatSeeIt) {
  for (double poison : {notANumber, infinity}) {
    const Operands x = randomOperands({1, 1, 130, 64}, {1, 1, 130, 64}, 7);
    x.k.select(2, 129).fill(0.0);
    x.v.select(2, 129).fill(0.0);
    const AttentionResult clean = forward(x.q, x.k, x.v, causal());
    x.k.select(2, 129).fill(poison);
    x.v.select(2, 129).fill(poison);
    const AttentionResult result = forward(x.q, x.k, x.v, causal());
    EXPECT_TRUE(
        isExactly(result.o.narrow(2, 0, 129), clean.o.narrow(2, 0, 129)));
    EXPECT_TRUE(
        isExactly(result.lse.narrow(2, 0, 129), clean.lse.narrow(2, 0, 129)));
    for (int64_t c = 0; c < 64; ++c)
      EXPECT_TRUE(std::isnan(result.o.at<double>({0, 0, 129, c})));
  }
}

TEST_P(AttentionForward, NaNInAQueryReachesOnlyItsRow) {
  const Operands x = randomOperands({1, 1, 30, 16}, {1, 1, 30, 16}, 8);
  const AttentionResult clean = forward(x.q, x.k, x.v, causal());
  x.q.select(2, 5).fill(notANumber);
  const AttentionResult result = forward(x.q, x.k, x.v, causal());
  clean.o.select(2, 5).fill(notANumber);
  clean.lse.select(2, 5).fill(notANumber);
  EXPECT_TRUE(isExactly(result.o, clean.o));
  EXPECT_TRUE(isExactly(result.lse, clean.lse));
}

// A08: scale 0 and a negative scale.
TEST_P(AttentionForward, ScaleZeroAveragesVisibleValues) {
  const Operands x = randomOperands({1, 1, 33, 16}, {1, 1, 33, 16}, 9);
  AttentionOptions options = causal();
  options.scale = 0;
  const AttentionResult result = forward(x.q, x.k, x.v, options);
  for (int64_t i = 0; i < 33; ++i) {
    double sum = 0;
    for (int64_t j = 0; j <= i; ++j)
      sum += x.v.at<double>({0, 0, j, 2});
    EXPECT_NEAR(result.o.at<double>({0, 0, i, 2}), sum / (i + 1), 1e-14);
    EXPECT_NEAR(result.lse.at<double>({0, 0, i}), std::log(i + 1.0), 1e-14);
  }
}

TEST_P(AttentionForward, NegativeScaleIsTheSoftmaxOfNegatedLogits) {
  const Operands x = randomOperands({1, 1, 33, 16}, {1, 1, 33, 16}, 10);
  AttentionOptions negative = causal(), positive = causal();
  negative.scale = -0.25;
  positive.scale = 0.25;
  const Tensor negated = x.q.clone();
  for (int64_t i = 0; i < 33; ++i)
    for (int64_t c = 0; c < 16; ++c)
      negated.set({0, 0, i, c}, -x.q.at<double>({0, 0, i, c}));
  expectClose(forward(x.q, x.k, x.v, negative),
              forward(negated, x.k, x.v, positive), 1e-14);
}

// A10: exact values of the two alignments.
TEST_P(AttentionForward, CausalAlignment) {
  auto run = [&](int64_t n, int64_t m, CausalAlignment alignment) {
    const Tensor q = Tensor::zeros({1, 1, n, 16}, DType::F64);
    const Tensor k = Tensor::zeros({1, 1, m, 16}, DType::F64);
    const Tensor v = Tensor::zeros({1, 1, m, 16}, DType::F64);
    for (int64_t j = 0; j < m; ++j)
      v.set({0, 0, j, 0}, std::ldexp(1.0, static_cast<int>(j)));
    AttentionOptions options = causal();
    options.alignment = alignment;
    const AttentionResult result = forward(q, k, v, options);
    return std::make_pair(result.o.select(3, 0).toVector<double>(),
                          result.lse.toVector<double>());
  };
  using ::testing::DoubleEq;
  using ::testing::ElementsAre;

  auto [wideO, wideLse] = run(2, 5, CausalAlignment::BottomRight);
  EXPECT_THAT(wideO, ElementsAre(DoubleEq(3.75), DoubleEq(6.2)));
  EXPECT_THAT(wideLse,
              ElementsAre(DoubleEq(std::log(4.0)), DoubleEq(std::log(5.0))));
  auto [tallO, tallLse] = run(5, 2, CausalAlignment::BottomRight);
  EXPECT_THAT(tallO, ElementsAre(0, 0, 0, 1, 1.5));
  EXPECT_THAT(tallLse, ElementsAre(-infinity, -infinity, -infinity, 0,
                                   DoubleEq(std::log(2.0))));
  auto [leftO, leftLse] = run(2, 5, CausalAlignment::TopLeft);
  EXPECT_THAT(leftO, ElementsAre(1, 1.5));
}

TEST_P(AttentionForward, RefusesOperandsThatDoNotFit) {
  auto message = [&](const Shape &q, const Shape &k, const Shape &v,
                     const AttentionOptions &options = {}) {
    return messageOf(ErrorCode::InvalidArgument,
                     [&] { forward(ones(q), ones(k), ones(v), options); });
  };
  EXPECT_THAT(message({1, 3, 4, 8}, {1, 2, 4, 8}, {1, 2, 4, 8}),
              HasSubstr("query heads (3) must be a multiple of the number of "
                        "key and value heads (2)"));
  EXPECT_THAT(message({1, 33, 4, 8}, {1, 2, 4, 8}, {1, 2, 4, 8}),
              HasSubstr("(33)"));
  EXPECT_THAT(message({1, 1, 4, 8}, {1, 2, 4, 8}, {1, 2, 4, 8}),
              HasSubstr("(1) must be a multiple"));
  EXPECT_THAT(message({2, 2, 4, 8}, {1, 2, 4, 8}, {1, 2, 4, 8}),
              HasSubstr("[2, 2, 4, 8] and [1, 2, 4, 8]"));
  EXPECT_THAT(message({2, 4, 8}, {1, 2, 4, 8}, {1, 2, 4, 8}),
              HasSubstr("as many dimensions"));
  EXPECT_THAT(message({4, 8}, {4, 9}, {4, 9}),
              HasSubstr("'k' has head dim 9, but 'q' has 8"));
  EXPECT_THAT(message({4, 8}, {4, 8}, {5, 8}),
              HasSubstr("'v' has sequence length 5, but 'k' has 4"));
  EXPECT_THAT(message({2, 4, 8}, {2, 4, 8}, {1, 4, 8}),
              HasSubstr("'k' and 'v' must agree"));
  EXPECT_THAT(message({8}, {4, 8}, {4, 8}), HasSubstr("'q' to be [..., "));
  EXPECT_THAT(message({4, 0}, {4, 0}, {4, 8}), HasSubstr("positive head dim"));

  AttentionOptions options;
  options.mask = Tensor::zeros({4, 3}, DType::I1);
  EXPECT_THAT(message({4, 8}, {4, 8}, {4, 8}, options),
              HasSubstr("'mask' to broadcast to [4, 4]"));
  options.mask = Tensor::zeros({4, 4}, DType::I8);
  EXPECT_THAT(message({4, 8}, {4, 8}, {4, 8}, options),
              HasSubstr("'mask' to hold i1, but it holds i8"));
  options = {};
  options.bias = Tensor::zeros({2, 4, 4}, DType::F32);
  EXPECT_THAT(message({4, 8}, {4, 8}, {4, 8}, options), HasSubstr("'bias'"));
  options = {};
  options.arithmetic = DType::BF16;
  EXPECT_THAT(message({4, 8}, {4, 8}, {4, 8}, options),
              HasSubstr("f64 or f32, but its arithmetic is bf16"));
  EXPECT_THAT(messageOf(ErrorCode::InvalidArgument,
                        [&] { forward(Tensor(), ones({4, 8}), ones({4, 8})); }),
              HasSubstr("'q' is not defined"));
}

TEST(ReferenceForward, RefusesTileSizesThatAreNotPositive) {
  const Operands x = randomOperands(4, 4, 8);
  EXPECT_THAT(
      messageOf(ErrorCode::InvalidArgument,
                [&] { blockwiseAttention(x.q, x.k, x.v, {}, {0, 16}); }),
      HasSubstr("0 rows and 16 keys"));
}

} // namespace
} // namespace flashtile::reference
