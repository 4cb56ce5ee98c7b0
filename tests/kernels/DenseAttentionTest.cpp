//===- DenseAttentionTest.cpp - The baseline on the cpu -------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/DenseAttention.h"

#include "tests/kernels/FlashAttentionTestSupport.h"

using namespace flashtile;
using testing::HasSubstr;

static DenseAttentionResult attendDensely(const Problem &problem,
                                          DenseAttentionOptions options = {}) {
  options.causal = problem.options.causal;
  options.alignment = problem.options.alignment;
  options.scale = problem.options.scale;
  return denseAttention(problem.q, problem.k, problem.v, options);
}

static void expectDense(const Problem &problem,
                        const DenseAttentionOptions &options = {}) {
  const DenseAttentionResult result = attendDensely(problem, options);
  SCOPED_TRACE(caseName(problem));
  Judgement(problem).expectAccurate({result.o, result.lse});
}

TEST(DenseAttentionTest, AgreesWithTheReference) {
  for (DType type : {DType::F32, DType::F16, DType::BF16, DType::F8E4M3FN})
    for (bool causal : {false, true})
      expectDense(randomProblem({2, 3, 70, 40}, {2, 3, 90, 40}, type, causal));
}

TEST(DenseAttentionTest, RanksHeadsAndAlignment) {
  expectDense(randomProblem({50, 16}, {70, 16}, DType::F32, true));
  expectDense(randomProblem({3, 50, 16}, {3, 70, 16}, DType::F32));
  expectDense(randomProblem({2, 6, 50, 16}, {2, 2, 70, 16}, DType::F32, true));
  expectDense(randomProblem({2, 2, 4, 9, 16}, {2, 2, 1, 9, 16}, DType::F32));
  Problem topLeft = randomProblem({70, 16}, {50, 16}, DType::F32, true);
  topLeft.options.alignment = CausalAlignment::TopLeft;
  topLeft.options.scale = -0.5;
  expectDense(topLeft);
}

TEST(DenseAttentionTest, RowsThatSeeNoKey) {
  const Problem problem = randomProblem({70, 16}, {30, 16}, DType::F32, true);
  expectDense(problem);
  const DenseAttentionResult result = attendDensely(problem);
  EXPECT_TRUE(isAll(rowsOf(result.o, 0, 40), 0));
  EXPECT_TRUE(isAll(lseOf(result.lse, 0, 40), -infinity));
  const Problem noKeys = randomProblem({5, 16}, {0, 16}, DType::F32);
  EXPECT_TRUE(isAll(attendDensely(noKeys).o, 0));
  EXPECT_TRUE(isAll(attendDensely(noKeys).lse, -infinity));
}

// What finite differences are compared with; rows of more than one tile, too.
TEST(DenseAttentionTest, DoublePrecision) {
  for (const int64_t keys : {70, 1500}) {
    const Problem problem =
        randomProblem({2, 4, 9, 24}, {2, 2, keys, 24}, DType::F64, true);
    const DenseAttentionResult result = attendDensely(problem);
    EXPECT_EQ(result.lse.dtype(), DType::F64);
    reference::AttentionOptions options;
    options.causal = true;
    const auto truth =
        reference::denseAttention(problem.q, problem.k, problem.v, options);
    EXPECT_LT(reference::relativeError(result.o, truth.o), 1e-13);
    EXPECT_LT(reference::relativeError(result.lse, truth.lse), 1e-13);
    EXPECT_EQ(denseAttentionScratchBytes(problem.q, problem.k, {}),
              2 * 4 * 9 * keys * 8);
  }
}

TEST(DenseAttentionTest, ScoresInTheTypeOfQ) {
  const Problem problem =
      randomProblem({2, 4, 64, 32}, {2, 4, 64, 32}, DType::BF16, true);
  DenseAttentionOptions options;
  options.scoreType = DType::BF16;
  const DenseAttentionResult result = attendDensely(problem, options);
  const Judgement judgement(problem);
  EXPECT_TRUE(accepted(
      reference::judge(result.o, judgement.truth.o, judgement.plain.o)));
  // Half a unit in the last place of a score.
  EXPECT_LT(reference::relativeError(result.lse, judgement.truth.lse), 2e-3);
  EXPECT_EQ(denseAttentionScratchBytes(problem.q, problem.k, options),
            2 * 4 * 64 * 64 * 2);
  EXPECT_EQ(denseAttentionScratchBytes(problem.q, problem.k, {}),
            2 * 4 * 64 * 64 * (4 + 2));
}

TEST(DenseAttentionTest, RefusesWhatDoesNotFit) {
  auto refusal = [](const Tensor &q, const Tensor &k, const Tensor &v) {
    return refusalOf([&] { denseAttention(q, k, v); });
  };
  const Tensor q = Tensor::zeros({2, 4, 8, 16}, DType::F32);
  EXPECT_THAT(refusal(q, q, Tensor()), HasSubstr("'v' is undefined"));
  EXPECT_THAT(refusal(q, q.select(0, 0), q),
              HasSubstr("expected 'k' with 4 dimensions, as 'q'"));
  EXPECT_THAT(refusal(q, q.to(DType::F16), q),
              HasSubstr("expected 'k' of type f32, as 'q'"));
  EXPECT_THAT(refusal(q, Tensor::zeros({2, 3, 8, 16}, DType::F32), q),
              HasSubstr("expected the heads of 'q' to be a multiple of those "
                        "of 'k', but got 4 and 3"));
  EXPECT_THAT(refusal(q, Tensor::zeros({2, 4, 8, 8}, DType::F32), q),
              HasSubstr("expected 'k' with head dimension 16, as 'q', but got "
                        "8"));
  EXPECT_THAT(refusal(q, q, Tensor::zeros({2, 4, 9, 16}, DType::F32)),
              HasSubstr("expected 'v' with the heads and rows of 'k'"));
  DenseAttentionOptions options;
  options.scoreType = DType::F8E5M2;
  EXPECT_THAT(refusalOf([&] { denseAttention(q, q, q, options); }),
              HasSubstr("scores of type f32, f16 or bf16, but got f8E5M2"));
  options.scoreType = DType::F32;
  const Tensor wide = q.to(DType::F64), whole = q.to(DType::I32);
  EXPECT_THAT(refusalOf([&] { denseAttention(wide, wide, wide, options); }),
              HasSubstr("scores of type f64, as 'q', but got f32"));
  EXPECT_THAT(refusal(whole, whole, whole),
              HasSubstr("expected 'q' of type f64, f32, f16, bf16, f8E4M3FN or "
                        "f8E5M2, but got i32"));
}
