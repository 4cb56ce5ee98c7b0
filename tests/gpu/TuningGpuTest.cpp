//===- TuningGpuTest.cpp - What tuning tries, on a GPU --------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model says that all candidates are feasible: none may fail, here.
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionBackward.h"
#include "kernels/Matmul.h"
#include "kernels/Reference/DenseAttention.h"
#include "kernels/Reference/Judge.h"
#include "kernels/Reference/PlainAttention.h"
#include "tests/gpu/GpuTest.h"

using namespace flashtile;

static const Device gpu0 = Device::cuda(0);

namespace {
class TuningTest : public GpuTest {};
} // namespace

static std::string failuresOf(const std::vector<TuningTrial> &trials) {
  std::string text;
  for (const TuningTrial &trial : trials)
    if (!trial.failure.empty())
      text += trial.config.toString() + ": " + trial.failure + "\n";
  return text;
}

static testing::AssertionResult accepted(const reference::Verdict &verdict) {
  if (verdict)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "error " << verdict.error << ", limit "
                                     << verdict.limit << ": " << verdict.reason;
}

TEST_F(TuningTest, EveryCandidateOfTheForwardRuns) {
  for (const int64_t headDim : {64, 128, 256})
    for (const bool causal : {false, true}) {
      const Tensor q =
          Tensor::randn({4, 4, 1024, headDim}, DType::BF16, 1).to(gpu0);
      FlashAttentionOptions options;
      options.causal = causal;
      const TuningResult result = flashAttentionTuning(q, q, q, options);
      EXPECT_EQ(failuresOf(result.trials), "") << "d = " << headDim;
      EXPECT_GE(result.trials.size(), 4u);
    }
}

TEST_F(TuningTest, EveryCandidateOfProductsRuns) {
  const Tensor a = Tensor::randn({1024, 1024}, DType::BF16, 1).to(gpu0);
  for (const Tensor &b : {a, a.transpose(0, 1)})
    EXPECT_EQ(failuresOf(matmulTuning(a, b, {}).trials), "");
}

TEST_F(TuningTest, EveryCandidateOfTheBackwardRunsAndTheBestIsRight) {
  for (const int64_t headDim : {64, 128})
    for (const bool causal : {false, true}) {
      const Tensor q = Tensor::randn({2, 300, headDim}, DType::BF16, 1);
      const Tensor k = Tensor::randn({2, 300, headDim}, DType::BF16, 2);
      const Tensor v = Tensor::randn({2, 300, headDim}, DType::BF16, 3);
      const Tensor dO = Tensor::randn({2, 300, headDim}, DType::BF16, 4);
      const Tensor qOn = q.to(gpu0), kOn = k.to(gpu0), vOn = v.to(gpu0);
      FlashAttentionOptions forward;
      forward.causal = causal;
      const FlashAttentionSaved saved =
          flashAttentionSaved(qOn, kOn, vOn, forward);
      FlashAttentionBackwardOptions options(forward);
      const FlashAttentionBackwardChoice choice = flashAttentionBackwardTuning(
          qOn, kOn, vOn, saved, dO.to(gpu0), {}, options);
      EXPECT_EQ(failuresOf(choice.trials), "") << "d = " << headDim;

      options.tune = true;
      const FlashAttentionGradients gradients = flashAttentionBackward(
          qOn, kOn, vOn, saved, dO.to(gpu0), {}, options);
      reference::AttentionOptions problem;
      problem.causal = causal;
      const auto truth =
          reference::denseAttentionBackward(q, k, v, dO, problem);
      const auto plain =
          reference::plainAttentionBackward(q, k, v, dO, DType::BF16, problem);
      reference::JudgeRule rule;
      rule.elementFactor = 4;
      for (auto [actual, expected, yardstick] :
           {std::tuple(&gradients.q, &truth.dq, &plain.dq),
            std::tuple(&gradients.k, &truth.dk, &plain.dk),
            std::tuple(&gradients.v, &truth.dv, &plain.dv)})
        EXPECT_TRUE(accepted(reference::judge(actual->to(Device::cpu()),
                                              *expected, *yardstick, rule)));
    }
}
