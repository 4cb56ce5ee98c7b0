//===- FlashAttentionBackwardTestShape.cpp - Shapes and strides -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of every length around the edges of tiles, every head dimension,
// grouped heads, and operands of any strides.
//
//===----------------------------------------------------------------------===//

#include "FlashAttentionBackwardTestSupport.h"

using namespace flashtile;

namespace {
/// Both fused forms; the dense one where a test says so.
class BackwardShape : public ::testing::TestWithParam<Form> {};
} // namespace

INSTANTIATE_TEST_SUITE_P(, BackwardShape,
                         ::testing::Values(Form::Fused,
                                           Form::FusedDeterministic),
                         [](const auto &info) { return nameOf(info.param); });

TEST_P(BackwardShape, LengthsAroundTheEdgesOfTiles) {
  for (const int64_t n : {1, 2, 7, 15, 16, 17, 31, 33, 63, 64, 65, 97, 127, 128,
                          129, 193, 257, 441, 1025})
    for (const bool causal : {false, true}) {
      SCOPED_TRACE(std::to_string(n) + (causal ? " causal" : ""));
      expectAccurate(randomBackward({1, 3, n, 64}, {1, 3, n, 64}, DType::F16,
                                    causal, static_cast<uint64_t>(n)),
                     GetParam());
    }
}

TEST_P(BackwardShape, DifferentLengths) {
  const std::pair<int64_t, int64_t> lengths[] = {
      {2, 5},    {5, 2},    {113, 203}, {203, 113}, {64, 256},
      {256, 64}, {1, 20},   {20, 1},    {130, 65},  {65, 130},
      {200, 1},  {128, 64}, {64, 128},  {100, 300}};
  for (const auto &[queries, keys] : lengths)
    for (const CausalAlignment alignment :
         {CausalAlignment::BottomRight, CausalAlignment::TopLeft}) {
      SCOPED_TRACE(std::to_string(queries) + " x " + std::to_string(keys));
      BackwardProblem problem = randomBackward({2, queries, 32}, {2, keys, 32},
                                               DType::BF16, /*causal=*/true);
      problem.forward.options.alignment = alignment;
      expectAccurate(problem, GetParam());
      problem.forward.options.causal = false;
      if (alignment == CausalAlignment::BottomRight)
        expectAccurate(problem, GetParam());
    }
}

TEST_P(BackwardShape, EveryHeadDimension) {
  for (int64_t d = 8; d <= 256; d += 8) {
    SCOPED_TRACE(d);
    const BackwardProblem problem =
        randomBackward({1, 2, 70, d}, {1, 2, 70, d}, DType::F16,
                       /*causal=*/d % 16 == 0, static_cast<uint64_t>(d));
    const FlashAttentionGradients first = gradientsOf(problem, GetParam());
    BackwardJudgement(problem).expectAccurate(first);
    if (GetParam() == Form::FusedDeterministic)
      expectSameBits(gradientsOf(problem, GetParam()), first);
  }
}

TEST_P(BackwardShape, OtherTiles) {
  for (const int64_t m : {16, 48, 128})
    for (const int64_t n : {16, 80, 128}) {
      SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
      FlashAttentionBackwardOptions options;
      options.tiles.keys = {m, n, 0, 0};
      options.tiles.queries = {m, n, 0, 0};
      const BackwardProblem problem = randomBackward(
          {2, 150, 40}, {2, 170, 40}, DType::BF16, /*causal=*/m != 48);
      BackwardJudgement(problem).expectAccurate(
          gradientsOf(problem, GetParam(), options));
    }
}

TEST_P(BackwardShape, GroupedHeadsAddUp) {
  const std::pair<int64_t, int64_t> heads[] = {
      {6, 2}, {9, 3}, {12, 2}, {7, 1}, {8, 8}};
  for (const auto &[headsQ, headsKV] : heads)
    for (const bool causal : {false, true}) {
      SCOPED_TRACE(std::to_string(headsQ) + " on " + std::to_string(headsKV));
      const BackwardProblem problem = randomBackward(
          {2, headsQ, 50, 64}, {2, headsKV, 50, 64}, DType::F16, causal);
      expectAccurate(problem, GetParam());
    }
  expectAccurate(
      randomBackward({1, 6, 130, 64}, {1, 2, 130, 64}, DType::F32, true),
      GetParam());
}

TEST_P(BackwardShape, AnyNumberOfDimensions) {
  const Shape shapes[] = {
      {33, 16}, {2, 33, 16}, {2, 3, 33, 16}, {2, 1, 3, 33, 16}};
  for (const Shape &shape : shapes) {
    SCOPED_TRACE(toString(shape));
    const BackwardProblem problem =
        randomBackward(shape, shape, DType::F32, true);
    const FlashAttentionGradients result = gradientsOf(problem, GetParam());
    EXPECT_EQ(result.q.shape(), shape);
    EXPECT_EQ(result.k.shape(), shape);
    EXPECT_EQ(result.v.shape(), shape);
    BackwardJudgement(problem).expectAccurate(result);
  }
}

TEST_P(BackwardShape, NothingToCompute) {
  for (const auto &[queries, keys] :
       {std::pair<int64_t, int64_t>{0, 5}, {5, 0}, {0, 0}}) {
    SCOPED_TRACE(std::to_string(queries) + " x " + std::to_string(keys));
    const FlashAttentionGradients result =
        gradientsOf(randomBackward({2, queries, 16}, {2, keys, 16}, DType::F32),
                    GetParam());
    EXPECT_EQ(result.q.shape(), Shape({2, queries, 16}));
    EXPECT_EQ(result.k.shape(), Shape({2, keys, 16}));
    EXPECT_TRUE(isAll(result.q, 0));
    EXPECT_TRUE(isAll(result.k, 0));
    EXPECT_TRUE(isAll(result.v, 0));
  }
  const FlashAttentionGradients none = gradientsOf(
      randomBackward({0, 2, 5, 16}, {0, 2, 5, 16}, DType::F32), GetParam());
  EXPECT_EQ(none.k.shape(), Shape({0, 2, 5, 16}));
}

//===----------------------------------------------------------------------===//
// Strides
//===----------------------------------------------------------------------===//

/// The same elements in memory that is laid out as [batch, rows, heads, d].
static Tensor headsInside(const Tensor &tensor) {
  return tensor.transpose(1, 2).contiguous().transpose(1, 2);
}
/// The same elements with rows as the fastest dimension.
static Tensor columnsFirst(const Tensor &tensor) {
  return tensor.transpose(-1, -2).contiguous().transpose(-1, -2);
}

TEST_P(BackwardShape, StridesChangeNoBit) {
  const BackwardProblem problem =
      randomBackward({2, 4, 70, 64}, {2, 2, 70, 64}, DType::BF16, true);
  const FlashAttentionGradients expected =
      gradientsOf(problem, Form::FusedDeterministic);
  for (auto view : {headsInside, columnsFirst}) {
    BackwardProblem other = problem;
    other.forward.q = view(problem.forward.q);
    other.forward.k = view(problem.forward.k);
    other.forward.v = surrounded(problem.forward.v);
    other.dO = view(problem.dO);
    expectSameBits(gradientsOf(other, Form::FusedDeterministic), expected);
    expectAccurate(other, GetParam());
    other = problem;
    other.dO = view(problem.dO);
    expectSameBits(gradientsOf(other, Form::FusedDeterministic), expected);
  }
}

// out.sum().backward() gives an upstream gradient without any strides.
TEST_P(BackwardShape, UpstreamGradientThatRepeats) {
  for (const bool causal : {false, true}) {
    BackwardProblem problem =
        randomBackward({2, 4, 70, 64}, {2, 4, 70, 64}, DType::F16, causal);
    problem.dO = Tensor::full({}, 1, DType::F16).expand({2, 4, 70, 64});
    expectAccurate(problem, GetParam());
    const FlashAttentionGradients repeated =
        gradientsOf(problem, Form::FusedDeterministic);
    problem.dO = problem.dO.contiguous();
    expectSameBits(repeated, gradientsOf(problem, Form::FusedDeterministic));
    // The same for each row, and contiguous along it.
    problem.dO = Tensor::randn({64}, DType::F16, 9).expand({2, 4, 70, 64});
    expectAccurate(problem, GetParam());
  }
}

// Keys that are one head repeated have a gradient for each head.
TEST_P(BackwardShape, KeysThatRepeatAlongHeads) {
  BackwardProblem problem =
      randomBackward({2, 8, 70, 64}, {2, 1, 70, 64}, DType::BF16);
  problem.forward.k = problem.forward.k.expand({2, 8, 70, 64});
  problem.forward.v = problem.forward.v.expand({2, 8, 70, 64});
  const FlashAttentionGradients result = gradientsOf(problem, GetParam());
  EXPECT_EQ(result.k.shape(), Shape({2, 8, 70, 64}));
  BackwardJudgement(problem).expectAccurate(result);
}

// More heads than a grid of a GPU has in its second and third dimension.
TEST_P(BackwardShape, MoreHeadsThanAGridHas) {
  const int64_t batch = 32800, heads = 2, n = 8, d = 8;
  const BackwardProblem problem =
      randomBackward({batch, heads, n, d}, {batch, heads, n, d}, DType::F16);
  const FlashAttentionGradients all =
      gradientsOf(problem, Form::FusedDeterministic);
  auto part = [&](const Tensor &tensor, int64_t begin, int64_t count) {
    return tensor.narrow(0, begin, count);
  };
  for (const int64_t begin : {int64_t(0), batch - 3}) {
    BackwardProblem few = problem;
    few.forward.q = part(problem.forward.q, begin, 3);
    few.forward.k = part(problem.forward.k, begin, 3);
    few.forward.v = part(problem.forward.v, begin, 3);
    few.dO = part(problem.dO, begin, 3);
    expectSameBits(
        {part(all.q, begin, 3), part(all.k, begin, 3), part(all.v, begin, 3)},
        gradientsOf(few, Form::FusedDeterministic));
    expectAccurate(few, GetParam());
  }
}
