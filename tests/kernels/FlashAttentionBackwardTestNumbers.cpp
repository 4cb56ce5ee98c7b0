//===- FlashAttentionBackwardTestNumbers.cpp - Numbers and promises -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types, scales, rows without keys, what masks hide, gradients of the
// log-sum-exp, repeats, and what is refused.
//
//===----------------------------------------------------------------------===//

#include "FlashAttentionBackwardTestSupport.h"

#include "kernels/DenseAttentionBackward.h"

#include <atomic>
#include <thread>

using namespace flashtile;
using ::testing::HasSubstr;

namespace {
class BackwardNumbers : public ::testing::TestWithParam<Form> {};
/// What the dense form does not promise.
class FusedNumbers : public ::testing::TestWithParam<Form> {};
} // namespace

INSTANTIATE_TEST_SUITE_P(, FusedNumbers,
                         ::testing::Values(Form::Fused,
                                           Form::FusedDeterministic),
                         [](const auto &info) { return nameOf(info.param); });

INSTANTIATE_TEST_SUITE_P(, BackwardNumbers,
                         ::testing::Values(Form::Fused,
                                           Form::FusedDeterministic,
                                           Form::Dense),
                         [](const auto &info) { return nameOf(info.param); });

TEST_P(BackwardNumbers, Types) {
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16})
    for (const bool causal : {false, true}) {
      SCOPED_TRACE(toString(dtype) + (causal ? " causal" : ""));
      expectAccurate(
          randomBackward({2, 2, 130, 64}, {2, 2, 130, 64}, dtype, causal),
          GetParam());
    }
}

// What finite differences are compared with.
TEST_P(BackwardNumbers, DoublePrecision) {
  for (const bool causal : {false, true}) {
    BackwardProblem problem =
        randomBackward({2, 4, 70, 24}, {2, 2, 90, 24}, DType::F64, causal);
    problem.dLse = Tensor::randn({2, 4, 70}, DType::F64, 7);
    const FlashAttentionGradients result = gradientsOf(problem, GetParam());
    reference::AttentionOptions options;
    options.causal = causal;
    const auto truth = reference::denseAttentionBackward(
        problem.forward.q, problem.forward.k, problem.forward.v, problem.dO,
        options, problem.dLse);
    EXPECT_LT(reference::relativeError(result.q, truth.dq), 1e-13);
    EXPECT_LT(reference::relativeError(result.k, truth.dk), 1e-13);
    EXPECT_LT(reference::relativeError(result.v, truth.dv), 1e-13);
  }
}

TEST_P(BackwardNumbers, Scales) {
  for (const double scale : {0.0, -0.25, 1.0, 1e-3})
    for (const DType dtype : {DType::F32, DType::BF16}) {
      SCOPED_TRACE(scale);
      BackwardProblem problem = randomBackward({33, 16}, {33, 16}, dtype, true);
      problem.forward.options.scale = scale;
      expectAccurate(problem, GetParam());
    }
}

// Scores of some hundred, where exp(s - lse) costs the rounding of lse.
TEST_P(BackwardNumbers, LargeScores) {
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16})
    for (const uint64_t seed : {1, 2, 3}) {
      SCOPED_TRACE(toString(dtype) + " " + std::to_string(seed));
      BackwardProblem problem =
          randomBackward({2, 96, 64}, {2, 96, 64}, dtype, true, seed);
      problem.forward.options.scale = 8;
      expectAccurate(problem, GetParam());
    }
}

// Keys and values with a mean: from an o that was rounded, dq would have ten
// times the error that is allowed.
TEST_P(BackwardNumbers, ValuesWithAMean) {
  for (const DType dtype : {DType::F16, DType::BF16}) {
    BackwardProblem problem = randomBackward({2, 128, 64}, {2, 128, 64}, dtype);
    for (Tensor *tensor : {&problem.forward.k, &problem.forward.v}) {
      std::vector<double> values = tensor->toVector<double>();
      for (double &value : values)
        value += 5;
      *tensor = Tensor::fromData(values, tensor->shape()).to(dtype);
    }
    expectAccurate(problem, GetParam());
  }
}

TEST_P(BackwardNumbers, GradientOfTheLogSumExp) {
  for (const bool causal : {false, true})
    for (const DType dtype : {DType::F32, DType::F16}) {
      BackwardProblem problem =
          randomBackward({2, 4, 70, 32}, {2, 2, 90, 32}, dtype, causal);
      problem.dLse = Tensor::randn({2, 4, 70}, DType::F32, 77);
      expectAccurate(problem, GetParam());
      // Of any strides.
      const FlashAttentionGradients expected =
          gradientsOf(problem, Form::FusedDeterministic);
      BackwardProblem strided = problem;
      strided.dLse = problem.dLse.transpose(0, 2).contiguous().transpose(0, 2);
      if (GetParam() != Form::Dense)
        expectSameBits(gradientsOf(strided, Form::FusedDeterministic),
                       expected);
      strided.dLse = Tensor::full({}, 1, DType::F32).expand({2, 4, 70});
      expectAccurate(strided, GetParam());
      // Alone.
      problem.dO = Tensor();
      expectAccurate(problem, GetParam());
    }
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

TEST_P(BackwardNumbers, RowsWithoutKeysAreZero) {
  for (const DType dtype : {DType::F32, DType::BF16})
    for (const int64_t keys : {1, 9, 64, 65}) {
      SCOPED_TRACE(keys);
      const int64_t queries = 140;
      BackwardProblem problem = randomBackward({2, queries, 16}, {2, keys, 16},
                                               dtype, /*causal=*/true);
      problem.dLse = Tensor::randn({2, queries}, DType::F32, 3);
      const FlashAttentionGradients all = gradientsOf(problem, GetParam());
      const int64_t empty = queries - keys;
      EXPECT_TRUE(isAll(rowsOf(all.q, 0, empty), 0));
      BackwardJudgement(problem).expectAccurate(all);
      // They add nothing to others.
      BackwardProblem rest = problem;
      rest.forward.q = rowsOf(problem.forward.q, empty, queries);
      rest.dO = rowsOf(problem.dO, empty, queries);
      rest.dLse = lseOf(problem.dLse, empty, queries);
      BackwardJudgement(rest).expectAccurate(
          {rowsOf(all.q, empty, queries), all.k, all.v});
    }
}

// Where only the last rows exist for a key, and where no row sees a key.
TEST_P(BackwardNumbers, KeysThatNoRowSeesAreZero) {
  BackwardProblem problem =
      randomBackward({2, 40, 16}, {2, 100, 16}, DType::F16, true);
  problem.forward.options.alignment = CausalAlignment::TopLeft;
  const FlashAttentionGradients result = gradientsOf(problem, GetParam());
  EXPECT_TRUE(isAll(rowsOf(result.k, 40, 100), 0));
  EXPECT_TRUE(isAll(rowsOf(result.v, 40, 100), 0));
  BackwardJudgement(problem).expectAccurate(result);
}

/// Whether numbers stand where the definition has numbers, and nowhere else,
/// and those numbers are right. A key that is infinite speaks for itself: row
/// `ownKey` of dk and dv may hold anything.
static void expectSamePlaces(const BackwardProblem &problem, Form form,
                             int64_t ownKey = -1) {
  const FlashAttentionGradients actual = gradientsOf(problem, form);
  const reference::AttentionGradients &truth = BackwardJudgement(problem).truth;
  // The error of what is finite, relative to its largest magnitude.
  auto check = [](const char *name, const Tensor &actual, const Tensor &truth,
                  int64_t ownRow = -1) {
    const int64_t d = actual.size(-1);
    const std::vector<double> a = actual.toVector<double>(),
                              t = truth.toVector<double>();
    double largest = 0, error = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      if (ownRow >= 0 && static_cast<int64_t>(i) / d == ownRow)
        continue;
      ASSERT_EQ(std::isfinite(a[i]), std::isfinite(t[i]))
          << name << ", element " << i << ": " << a[i] << " against " << t[i];
      if (!std::isfinite(t[i]))
        continue;
      largest = std::max(largest, std::abs(t[i]));
      error = std::max(error, std::abs(a[i] - t[i]));
    }
    EXPECT_LE(error, 0.02 * largest) << name;
  };
  check("dq", actual.q, truth.dq);
  check("dk", actual.k, truth.dk, ownKey);
  check("dv", actual.v, truth.dv, ownKey);
}

TEST_P(FusedNumbers, WhatIsHiddenStaysHidden) {
  for (const double poison : {notANumber, infinity, -infinity})
    for (const auto &[queries, keys] :
         {std::pair<int64_t, int64_t>{130, 130}, {70, 130}, {130, 70}})
      for (const DType dtype : {DType::F32, DType::BF16}) {
        SCOPED_TRACE(std::to_string(poison) + " " + std::to_string(queries) +
                     " x " + std::to_string(keys));
        const BackwardProblem clean = randomBackward(
            {1, queries, 64}, {1, keys, 64}, dtype, /*causal=*/true);
        const int64_t row = queries - 30, key = keys - 2;
        auto poisoned = [&](const Tensor &tensor, int64_t at) {
          const Tensor copy = tensor.clone();
          copy.set({0, at, 3}, poison);
          return copy;
        };
        BackwardProblem problem = clean;
        problem.forward.k = poisoned(clean.forward.k, key);
        expectSamePlaces(problem, GetParam(), std::isinf(poison) ? key : -1);
        problem = clean;
        problem.forward.v = poisoned(clean.forward.v, key);
        expectSamePlaces(problem, GetParam());
        problem = clean;
        problem.forward.q = poisoned(clean.forward.q, row);
        expectSamePlaces(problem, GetParam());
        problem = clean;
        problem.dO = poisoned(clean.dO, row);
        expectSamePlaces(problem, GetParam());
      }
}

// Rows that see nothing may hold anything.
TEST_P(FusedNumbers, RowsWithoutKeysMayHoldAnything) {
  for (const double poison : {notANumber, infinity, -infinity}) {
    const BackwardProblem clean =
        randomBackward({1, 100, 16}, {1, 20, 16}, DType::F16, true);
    const FlashAttentionGradients expected = gradientsOf(clean, GetParam());
    for (const int64_t row : {0, 60, 70, 79}) {
      BackwardProblem problem = clean;
      problem.dO = clean.dO.clone();
      problem.dO.set({0, row, 5}, poison);
      const FlashAttentionGradients withDO = gradientsOf(problem, GetParam());
      problem = clean;
      problem.forward.q = clean.forward.q.clone();
      problem.forward.q.set({0, row, 5}, poison);
      const FlashAttentionGradients withQ = gradientsOf(problem, GetParam());
      for (const FlashAttentionGradients &actual : {withDO, withQ}) {
        EXPECT_TRUE(isAll(rowsOf(actual.q, 0, 80), 0)) << row;
        BackwardJudgement(clean).expectAccurate(actual);
      }
    }
  }
}

// Nothing behind the ends is read.
TEST_P(BackwardNumbers, SurroundingsHaveNoEffect) {
  for (const bool causal : {false, true}) {
    const BackwardProblem problem =
        randomBackward({2, 70, 40}, {2, 50, 40}, DType::F16, causal);
    BackwardProblem other = problem;
    other.forward.q = surrounded(problem.forward.q);
    other.forward.k = surrounded(problem.forward.k);
    other.forward.v = surrounded(problem.forward.v);
    other.dO = surrounded(problem.dO);
    const Form form =
        GetParam() == Form::Fused ? Form::FusedDeterministic : GetParam();
    expectSameBits(gradientsOf(other, form), gradientsOf(problem, form));
  }
}

//===----------------------------------------------------------------------===//
// One key
//===----------------------------------------------------------------------===//

TEST_P(BackwardNumbers, OneKeyHasNoGradientOfScores) {
  for (const DType dtype : {DType::F16, DType::F32}) {
    BackwardProblem problem =
        randomBackward({1, 1, 1, 16}, {1, 1, 1, 16}, dtype);
    for (Tensor *tensor :
         {&problem.forward.q, &problem.forward.k, &problem.forward.v}) {
      std::vector<double> values = tensor->toVector<double>();
      for (double &value : values)
        value *= 3;
      *tensor = Tensor::fromData(values, tensor->shape()).to(dtype);
    }
    problem.dO = Tensor::full({1, 1, 1, 16}, 1, dtype);
    const FlashAttentionGradients result = gradientsOf(problem, GetParam());
    if (GetParam() != Form::Dense) {
      EXPECT_TRUE(isAll(result.q, 0));
      EXPECT_TRUE(isAll(result.k, 0));
      EXPECT_TRUE(isAll(result.v, 1));
    }
  }
  // Each head is one row here: one of many may be unlucky.
  const BackwardProblem rows =
      randomBackward({4, 32, 1, 128}, {4, 32, 20, 128}, DType::F16);
  BackwardJudgement(rows).expectAccurate(gradientsOf(rows, GetParam()), {},
                                         /*slack=*/1e-3);
}

//===----------------------------------------------------------------------===//
// Promises
//===----------------------------------------------------------------------===//

TEST_P(BackwardNumbers, SubsetsOfGradients) {
  const BackwardProblem problem =
      randomBackward({2, 4, 70, 32}, {2, 2, 70, 32}, DType::BF16, true);
  const FlashAttentionGradients all = gradientsOf(problem, GetParam());
  const BackwardJudgement judgement(problem);
  for (int subset = 1; subset < 8; ++subset) {
    SCOPED_TRACE(subset);
    FlashAttentionBackwardOptions options;
    options.wantsQ = subset & 1;
    options.wantsK = subset & 2;
    options.wantsV = subset & 4;
    FlashAttentionGradients some = gradientsOf(problem, GetParam(), options);
    EXPECT_EQ(some.q.defined(), options.wantsQ);
    EXPECT_EQ(some.k.defined(), options.wantsK);
    EXPECT_EQ(some.v.defined(), options.wantsV);
    if (some.k.defined())
      EXPECT_TRUE(sameBits(some.k, all.k));
    if (some.v.defined())
      EXPECT_TRUE(sameBits(some.v, all.v));
    if (some.q.defined() && GetParam() != Form::Fused)
      EXPECT_TRUE(sameBits(some.q, all.q));
    for (auto [gradient, whole] :
         {std::pair(&some.q, &all.q), {&some.k, &all.k}, {&some.v, &all.v}})
      if (!gradient->defined())
        *gradient = *whole;
    judgement.expectAccurate(some);
  }
}

// A call of one's own is not recorded, whatever its operands are.
TEST_P(BackwardNumbers, OperandsOnTheTape) {
  BackwardProblem problem =
      randomBackward({2, 20, 16}, {2, 20, 16}, DType::F32, true);
  const BackwardJudgement judgement(problem);
  for (Tensor *tensor : {&problem.forward.q, &problem.forward.k,
                         &problem.forward.v, &problem.dO})
    tensor->setRequiresGrad();
  const FlashAttentionGradients result = gradientsOf(problem, GetParam());
  judgement.expectAccurate(result);
  for (const Tensor &gradient : {result.q, result.k, result.v})
    EXPECT_FALSE(gradient.requiresGrad());
}

TEST_P(BackwardNumbers, RepeatsGiveTheSameBits) {
  const BackwardProblem problem =
      randomBackward({2, 4, 200, 64}, {2, 2, 200, 64}, DType::BF16, true);
  const FlashAttentionGradients first = gradientsOf(problem, GetParam());
  const BackwardJudgement judgement(problem);
  for (int repeat = 0; repeat < 100; ++repeat) {
    const FlashAttentionGradients again = gradientsOf(problem, GetParam());
    EXPECT_TRUE(sameBits(again.k, first.k)) << repeat;
    EXPECT_TRUE(sameBits(again.v, first.v)) << repeat;
    if (GetParam() != Form::Fused)
      EXPECT_TRUE(sameBits(again.q, first.q)) << repeat;
    else if (repeat % 20 == 0)
      judgement.expectAccurate(again);
    if (HasFailure())
      return;
  }
}

TEST_P(BackwardNumbers, ThreadsDoNotDisturbEachOther) {
  std::vector<BackwardProblem> problems;
  std::vector<FlashAttentionGradients> expected;
  const Form form =
      GetParam() == Form::Fused ? Form::FusedDeterministic : GetParam();
  for (const int64_t d : {16, 40, 64})
    for (const bool causal : {false, true}) {
      problems.push_back(
          randomBackward({2, 65, d}, {2, 65, d}, DType::F16, causal));
      expected.push_back(gradientsOf(problems.back(), form));
    }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 5; ++repeat)
        for (size_t i = 0; i < problems.size(); ++i) {
          const FlashAttentionGradients actual = gradientsOf(problems[i], form);
          if (!sameBits(actual.q, expected[i].q) ||
              !sameBits(actual.k, expected[i].k) ||
              !sameBits(actual.v, expected[i].v))
            ++wrong;
        }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(BackwardSaved, GivesTheForwardToTheBit) {
  for (const DType dtype : {DType::F16, DType::BF16, DType::F64}) {
    const Problem problem =
        randomProblem({2, 100, 64}, {2, 90, 64}, dtype, true);
    const FlashAttentionSaved saved =
        flashAttentionSaved(problem.q, problem.k, problem.v, problem.options);
    const FlashAttentionResult result =
        flashAttention(problem.q, problem.k, problem.v, problem.options);
    EXPECT_TRUE(sameBits(saved.o, result.o)) << toString(dtype);
    EXPECT_TRUE(sameBits(saved.lse, result.lse)) << toString(dtype);
    EXPECT_EQ(saved.oRest.defined(), elementSize(dtype) == 2);
    EXPECT_FALSE(saved.lseRest.defined());
  }
}

// o and its rest hold twice the digits of o, and so do lse and its.
TEST(BackwardSaved, RestsAreWhatRoundingLost) {
  for (const DType dtype : {DType::F16, DType::BF16, DType::F32}) {
    Problem problem = randomProblem({2, 100, 64}, {2, 90, 64}, dtype, true);
    problem.options.scale = 3;
    const FlashAttentionSaved saved =
        flashAttentionSaved(problem.q, problem.k, problem.v, problem.options);
    reference::AttentionOptions options;
    options.causal = true;
    options.scale = 3;
    const auto truth =
        reference::denseAttention(problem.q, problem.k, problem.v, options);
    EXPECT_LT(reference::relativeError(saved.o, truth.o), 1e-2);
    EXPECT_LT(reference::relativeError(saved.lse, truth.lse), 1e-6);
    auto together = [](const Tensor &value, const Tensor &rest) {
      std::vector<double> sum = value.toVector<double>();
      const std::vector<double> more = rest.toVector<double>();
      for (size_t i = 0; i < sum.size(); ++i)
        sum[i] += more[i];
      return Tensor::fromData(sum, value.shape());
    };
    // What is left are the roundings of weights and scores.
    if (saved.oRest.defined())
      EXPECT_LT(
          reference::relativeError(together(saved.o, saved.oRest), truth.o) * 4,
          reference::relativeError(saved.o, truth.o));
    if (!saved.lseRest.defined())
      continue;
    // At most half a unit in the last place, and not nothing.
    const std::vector<double> lse = saved.lse.toVector<double>(),
                              rest = saved.lseRest.toVector<double>();
    double largest = 0;
    for (size_t i = 0; i < lse.size(); ++i) {
      if (!std::isfinite(lse[i]))
        continue;
      EXPECT_LE(std::abs(rest[i]), std::abs(lse[i]) * 0x1p-23) << lse[i];
      largest = std::max(largest, std::abs(rest[i] / lse[i]));
    }
    EXPECT_GT(largest, 0x1p-26);
  }
}

// The result of flashAttention will do, at the price that is documented.
TEST(BackwardSaved, RestsAreOptional) {
  const BackwardProblem problem =
      randomBackward({2, 100, 64}, {2, 100, 64}, DType::F16);
  const Problem &forward = problem.forward;
  const FlashAttentionResult result =
      flashAttention(forward.q, forward.k, forward.v);
  const FlashAttentionSaved saved = {result.o, result.lse, {}, {}};
  BackwardJudgement(problem).expectAccurate(flashAttentionBackward(
      forward.q, forward.k, forward.v, saved, problem.dO));
}

TEST(BackwardDefaults, TheFormIsThatOfTheTable) {
  const Problem problem = randomProblem({8, 16}, {8, 16}, DType::F32);
  FlashAttentionBackwardOptions options;
  EXPECT_EQ(
      flashAttentionBackwardForm(problem.q, problem.k, problem.v, options),
      Form::FusedDeterministic);
  EXPECT_EQ(defaultFlashAttentionBackwardForm(
                {DeviceClass::Sm90a, DType::BF16, 128, false}),
            Form::Fused);
  options.form = Form::Dense;
  EXPECT_EQ(
      flashAttentionBackwardForm(problem.q, problem.k, problem.v, options),
      Form::Dense);
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

TEST(BackwardRefusals, NameWhatIsWrong) {
  const BackwardProblem good =
      randomBackward({2, 6, 20, 16}, {2, 2, 20, 16}, DType::F16);
  const Tensor &q = good.forward.q, &k = good.forward.k, &v = good.forward.v;
  const FlashAttentionSaved saved = flashAttentionSaved(q, k, v);
  auto refusal = [&](const FlashAttentionSaved &forward, const Tensor &dO,
                     const Tensor &dLse = {}) {
    return refusalOf(
        [&] { flashAttentionBackward(q, k, v, forward, dO, dLse); });
  };
  FlashAttentionSaved wrong = saved;
  wrong.o = {};
  EXPECT_THAT(refusal(wrong, good.dO), HasSubstr("'o' is undefined"));
  wrong.o = saved.o.to(DType::F32);
  EXPECT_THAT(refusal(wrong, good.dO),
              HasSubstr("expected 'o' to be f16[2, 6, 20, 16] on cpu, but got "
                        "f32[2, 6, 20, 16] on cpu"));
  wrong = saved;
  wrong.lse = saved.lse.narrow(2, 0, 19);
  EXPECT_THAT(refusal(wrong, good.dO),
              HasSubstr("expected 'lse' to be f32[2, 6, 20]"));
  wrong = saved;
  wrong.oRest = saved.lse;
  EXPECT_THAT(refusal(wrong, good.dO), HasSubstr("'oRest'"));
  EXPECT_THAT(refusal(saved, good.dO.narrow(2, 0, 5)),
              HasSubstr("expected 'gradO' to be f16[2, 6, 20, 16]"));
  EXPECT_THAT(refusal(saved, good.dO.to(DType::BF16)),
              HasSubstr("but got bf16[2, 6, 20, 16]"));
  EXPECT_THAT(refusal(saved, good.dO, saved.lse.to(DType::F64)),
              HasSubstr("expected 'gradLse' to be f32[2, 6, 20]"));

  const Tensor three = Tensor::zeros({1, 3, 4, 16}, DType::F16);
  const Tensor two = Tensor::zeros({1, 2, 4, 16}, DType::F16);
  EXPECT_THAT(
      refusalOf([&] { flashAttentionBackward(three, two, two, saved, three); }),
      HasSubstr("multiple"));
  const Tensor fp8 = Tensor::zeros({4, 16}, DType::F8E4M3FN);
  EXPECT_THAT(
      refusalOf([&] { flashAttentionBackward(fp8, fp8, fp8, saved, fp8); }),
      HasSubstr("f8E4M3FN"));
  EXPECT_THAT(refusalOf([&] { flashAttentionSaved(fp8, fp8, fp8); }),
              HasSubstr("no fp8"));
  EXPECT_THAT(refusalOf([&] { denseAttentionBackward(fp8, fp8, fp8, fp8); }),
              HasSubstr("f8E4M3FN"));
  EXPECT_THAT(refusalOf([&] { denseAttentionBackward(q, k, v, q, q); }),
              HasSubstr("'gradLse'"));
  EXPECT_THAT(refusalOf([&] { denseAttentionBackward(q, k, {}, q); }),
              HasSubstr("'v' is undefined"));
}
