//===- ReferenceTestBackward.cpp - Gradients of the references ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradients against finite differences of the forward, against each other,
// and at the edges that backward kernels get wrong.
//
//===----------------------------------------------------------------------===//

#include "ReferenceTestSupport.h"

#include "kernels/Reference/BlockwiseAttention.h"
#include "kernels/Reference/DenseAttention.h"

#include <cmath>

namespace flashtile::reference {

using ::testing::HasSubstr;

static AttentionGradients blockwise(const Operands &x,
                                    const AttentionOptions &options,
                                    BlockSizes blocks,
                                    const Tensor &dLse = {}) {
  return blockwiseAttentionBackward(
      x.q, x.k, x.v, blockwiseAttention(x.q, x.k, x.v, options, blocks), x.dO,
      options, blocks, dLse);
}

static AttentionGradients dense(const Operands &x,
                                const AttentionOptions &options,
                                const Tensor &dLse = {}) {
  return denseAttentionBackward(x.q, x.k, x.v, x.dO, options, dLse);
}

static double dotProduct(const Tensor &a, const Tensor &b) {
  const std::vector<double> x = a.toVector<double>(), y = b.toVector<double>();
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (y[i] != 0 && std::isfinite(x[i]))
      sum += x[i] * y[i];
  return sum;
}

/// Central differences of sum(o * dO) + sum(lse * dLse) by `operand`, which is
/// one of the operands of `x`.
static Tensor finiteDifferences(const Operands &x, const Tensor &operand,
                                const AttentionOptions &options,
                                const Tensor &dLse) {
  constexpr double step = 1e-5;
  auto loss = [&] {
    const AttentionResult result = denseAttention(x.q, x.k, x.v, options);
    return dotProduct(result.o, x.dO) + dotProduct(result.lse, dLse);
  };
  const Tensor gradient = Tensor::zeros(operand.shape(), DType::F64);
  double *values = operand.data<double>();
  for (int64_t i = 0; i < operand.numel(); ++i) {
    const double value = values[i];
    values[i] = value + step;
    const double above = loss();
    values[i] = value - step;
    const double below = loss();
    values[i] = value;
    gradient.data<double>()[i] = (above - below) / (2 * step);
  }
  return gradient;
}

static void checkFiniteDifferences(const Operands &x,
                                   const AttentionOptions &options) {
  Shape rows = x.q.shape();
  rows.pop_back();
  const Tensor dLse = Tensor::randn(rows, DType::F64, 99);
  const AttentionGradients gradients = dense(x, options, dLse);
  EXPECT_TRUE(
      isClose(gradients.dq, finiteDifferences(x, x.q, options, dLse), 1e-8));
  EXPECT_TRUE(
      isClose(gradients.dk, finiteDifferences(x, x.k, options, dLse), 1e-8));
  EXPECT_TRUE(
      isClose(gradients.dv, finiteDifferences(x, x.v, options, dLse), 1e-8));
  expectClose(blockwise(x, options, {3, 2}, dLse), gradients, 1e-12);
}

namespace {

TEST(ReferenceBackward, MatchesFiniteDifferences) {
  AttentionOptions options;
  checkFiniteDifferences(randomOperands({1, 2, 5, 4}, {1, 2, 7, 4}), options);
  options.causal = true;
  checkFiniteDifferences(randomOperands({2, 5, 4}, {2, 7, 4}), options);
  // Rows without keys, groups of three heads, a negative scale.
  options.scale = -0.7;
  checkFiniteDifferences(randomOperands({6, 7, 3}, {2, 4, 3}), options);
  options.alignment = CausalAlignment::TopLeft;
  checkFiniteDifferences(randomOperands({4, 6, 3}, {1, 4, 3}), options);
}

TEST(ReferenceBackward, MatchesFiniteDifferencesWithMaskAndBias) {
  AttentionOptions options;
  options.mask = Tensor::full({2, 5, 6}, true, DType::I1);
  options.mask.select(0, 1).select(0, 2).fill(false);
  options.mask.set({0, 1, 3}, false);
  options.bias = Tensor::randn({5, 6}, DType::F64, 4);
  options.bias.set({4, 2}, -infinity);
  checkFiniteDifferences(randomOperands({2, 5, 4}, {2, 6, 4}), options);
}

TEST(ReferenceBackward, DenseAndBlockwiseAgreeOverSizes) {
  for (int64_t n : {1, 2, 7, 15, 16, 17, 31, 33, 64, 65, 130})
    for (bool causal : {false, true})
      for (BlockSizes blocks : {BlockSizes{16, 16}, {13, 7}, {64, 200}}) {
        SCOPED_TRACE(testing::Message()
                     << "n=" << n << " causal=" << causal
                     << " rows=" << blocks.rows << " keys=" << blocks.keys);
        const Operands x = randomOperands(n, n, 24, n);
        AttentionOptions options;
        options.causal = causal;
        // With one key, dq and dk are 0 up to rounding: an absolute error.
        expectClose(blockwise(x, options, blocks), dense(x, options),
                    n == 1 ? 1e-10 : 1e-12);
      }
}

TEST(ReferenceBackward, DenseAndBlockwiseAgreeOverCrossLengths) {
  const std::pair<int64_t, int64_t> lengths[] = {
      {113, 203}, {203, 113}, {64, 256}, {1, 20}, {20, 3}, {2, 5}, {5, 2}};
  for (auto [n, m] : lengths) {
    SCOPED_TRACE(testing::Message() << n << " x " << m);
    const Operands x = randomOperands(n, m, 16, n + m);
    AttentionOptions options;
    options.causal = true;
    expectClose(blockwise(x, options, {17, 23}), dense(x, options), 1e-12);
  }
}

// A25: a group's gradients are the sum over its heads.
TEST(ReferenceBackward, GroupedHeadsEqualRepeatedHeads) {
  const std::pair<int64_t, int64_t> heads[] = {
      {6, 2}, {9, 3}, {12, 2}, {7, 1}, {8, 8}};
  for (const auto &pair : heads) {
    const int64_t hq = pair.first, hkv = pair.second;
    SCOPED_TRACE(testing::Message() << hq << " on " << hkv);
    const int64_t group = hq / hkv, n = 50, d = 64, b = 2;
    const Operands x = randomOperands({b, hq, n, d}, {b, hkv, n, d}, hq);
    auto repeat = [&](const Tensor &t) {
      return t.unsqueeze(2)
          .expand({b, hkv, group, n, d})
          .reshape({b, hq, n, d});
    };
    auto sumGroups = [&](const Tensor &t) {
      const Tensor sum = Tensor::zeros({b, hkv, n, d}, DType::F64);
      for (int64_t h = 0; h < hq; ++h) {
        for (int64_t i = 0; i < b; ++i) {
          const double *from = t.select(0, i).select(0, h).data<double>();
          double *to = sum.select(0, i).select(0, h / group).data<double>();
          for (int64_t e = 0; e < n * d; ++e)
            to[e] += from[e];
        }
      }
      return sum;
    };
    AttentionOptions options;
    options.causal = true;
    const Operands repeated = {x.q, repeat(x.k), repeat(x.v), x.dO};
    const AttentionGradients wide = dense(repeated, options);
    const AttentionGradients expected = {wide.dq, sumGroups(wide.dk),
                                         sumGroups(wide.dv)};
    expectClose(dense(x, options), expected, 1e-13);
    expectClose(blockwise(x, options, {16, 24}), expected, 1e-12);
    expectClose(denseAttention(x.q, x.k, x.v, options),
                denseAttention(x.q, repeated.k, repeated.v, options), 0);
  }
}

// A01: what a row without keys does to gradients, its own and others'.
TEST(ReferenceBackward, RowsWithoutKeysAddNothing) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    Operands x = randomOperands({1, 1, 8, 8}, {1, 1, 8, 8}, 13, dtype);
    x.dO = ones({1, 1, 8, 8});
    AttentionOptions options;
    options.mask = Tensor::zeros({8, 8}, DType::I1);
    options.mask.narrow(0, 0, 4).narrow(1, 0, 4).fill(true);
    const Operands sub = {x.q.narrow(2, 0, 4), x.k.narrow(2, 0, 4),
                          x.v.narrow(2, 0, 4), x.dO.narrow(2, 0, 4)};
    const AttentionGradients expected = dense(sub, {});
    for (const AttentionGradients &gradients :
         {dense(x, options), blockwise(x, options, {3, 3})}) {
      for (const Tensor &t : {gradients.dq, gradients.dk, gradients.dv})
        EXPECT_TRUE(isAllZero(t.narrow(2, 4, 4)));
      expectClose({gradients.dq.narrow(2, 0, 4), gradients.dk.narrow(2, 0, 4),
                   gradients.dv.narrow(2, 0, 4)},
                  expected, 1e-12);
    }
  }
}

// A07, backward: poison in places that nobody sees changes no bit.
TEST(ReferenceBackward, HiddenNaNLeavesGradientsAlone) {
  AttentionOptions options;
  options.mask = Tensor::full({10, 12}, true, DType::I1);
  options.mask.select(1, 7).fill(false); // key 7 is seen by no row
  options.mask.select(0, 3).fill(false); // row 3 sees no key
  const Operands x = randomOperands({10, 8}, {12, 8}, 21);
  auto poison = [&](double value) {
    x.k.select(0, 7).fill(value);
    x.v.select(0, 7).fill(value);
    x.q.select(0, 3).fill(value);
    x.dO.select(0, 3).fill(value);
  };
  for (bool isDense : {true, false}) {
    auto run = [&] {
      return isDense ? dense(x, options) : blockwise(x, options, {4, 5});
    };
    poison(0);
    const AttentionGradients clean = run();
    for (double value : {notANumber, infinity}) {
      poison(value);
      const AttentionGradients gradients = run();
      EXPECT_TRUE(isExactly(gradients.dq, clean.dq));
      EXPECT_TRUE(isExactly(gradients.dk, clean.dk));
      EXPECT_TRUE(isExactly(gradients.dv, clean.dv));
      EXPECT_TRUE(isAllZero(gradients.dq.select(0, 3)));
      EXPECT_TRUE(isAllZero(gradients.dk.select(0, 7)));
      EXPECT_TRUE(isAllZero(gradients.dv.select(0, 7)));
    }
  }
}

TEST(ReferenceBackward, VisibleNaNReachesItsRowAndTheKeysItSees) {
  AttentionOptions options;
  options.causal = true;
  const Operands x = randomOperands({1, 10, 8}, {1, 10, 8}, 22);
  const AttentionGradients clean = dense(x, options);
  x.q.select(1, 4).fill(notANumber); // row 4 sees keys 0..4
  for (const AttentionGradients &gradients :
       {dense(x, options), blockwise(x, options, {4, 3})}) {
    EXPECT_TRUE(
        isClose(gradients.dq.narrow(1, 0, 4), clean.dq.narrow(1, 0, 4), 1e-12));
    EXPECT_TRUE(
        isClose(gradients.dq.narrow(1, 5, 5), clean.dq.narrow(1, 5, 5), 1e-12));
    EXPECT_TRUE(
        isClose(gradients.dk.narrow(1, 5, 5), clean.dk.narrow(1, 5, 5), 1e-12));
    EXPECT_TRUE(
        isClose(gradients.dv.narrow(1, 5, 5), clean.dv.narrow(1, 5, 5), 1e-12));
    for (const Tensor &t :
         {gradients.dq.narrow(1, 4, 1), gradients.dk.narrow(1, 0, 5),
          gradients.dv.narrow(1, 0, 5)})
      for (double value : t.toVector<double>())
        EXPECT_TRUE(std::isnan(value));
  }
}

// A12: with one key the probability is constant.
TEST(ReferenceBackward, OneKeyHasNoGradientByQueryAndKey) {
  const Shape shape = {1, 1, 1, 16};
  Operands x = randomOperands(shape, shape, 12);
  for (const Tensor &t : {x.q, x.k, x.v})
    for (int64_t c = 0; c < 16; ++c)
      t.set({0, 0, 0, c}, 3 * t.at<double>({0, 0, 0, c}));
  x = {x.q.to(DType::F16), x.k.to(DType::F16), x.v.to(DType::F16), ones(shape)};
  EXPECT_TRUE(isExactly(denseAttention(x.q, x.k, x.v).o, x.v));
  EXPECT_TRUE(isExactly(blockwiseAttention(x.q, x.k, x.v).o, x.v));
  for (const AttentionGradients &gradients :
       {dense(x, {}), blockwise(x, {}, {})}) {
    EXPECT_TRUE(isAllZero(gradients.dq));
    EXPECT_TRUE(isAllZero(gradients.dk));
    EXPECT_TRUE(isExactly(gradients.dv, ones(shape)));
  }
}

// A23: an upstream gradient whose strides are all 0.
TEST(ReferenceBackward, ReadsExpandedUpstreamGradient) {
  Operands x = randomOperands({1, 8, 70, 64}, {1, 1, 70, 64}, 23);
  x.dO = Tensor::full({1, 1, 1, 1}, 1.0, DType::F64).expand({1, 8, 70, 64});
  Operands copied = x;
  copied.dO = x.dO.clone();
  expectClose(dense(x, {}), dense(copied, {}), 0);
  expectClose(blockwise(x, {}, {}), blockwise(copied, {}, {}), 0);
}

TEST(ReferenceBackward, RefusesGradientsThatDoNotFit) {
  const Operands x = randomOperands({2, 5, 4}, {2, 7, 4});
  EXPECT_THAT(messageOf(ErrorCode::InvalidArgument,
                        [&] {
                          denseAttentionBackward(x.q, x.k, x.v,
                                                 ones({2, 7, 4}));
                        }),
              HasSubstr("'dO' of shape [2, 5, 4], but got [2, 7, 4]"));
  EXPECT_THAT(messageOf(ErrorCode::InvalidArgument,
                        [&] { dense(x, {}, ones({2, 5, 1})); }),
              HasSubstr("'dLse' of shape [2, 5], but got [2, 5, 1]"));
  EXPECT_THAT(
      messageOf(ErrorCode::InvalidArgument,
                [&] { blockwiseAttentionBackward(x.q, x.k, x.v, {}, x.dO); }),
      HasSubstr("'o' is not defined"));
}

} // namespace
} // namespace flashtile::reference
