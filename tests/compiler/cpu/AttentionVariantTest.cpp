//===- AttentionVariantTest.cpp - Kinds of attention, as code -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softcap, ALiBi, sliding windows and sigmoids on the code of each target:
// small tiles, so that few elements see every kind of tile.
//
//===----------------------------------------------------------------------===//

#include "kernels/AttentionVariantKernel.h"
#include "kernels/Reference/AttentionVariants.h"
#include "kernels/Reference/Judge.h"
#include "tests/compiler/cpu/TensorMemory.h"

#include <cmath>
#include <limits>
#include <ostream>

using namespace flashtile;
using namespace flashtile::cputest;
using namespace flashtile::kernels;

namespace {
struct Case {
  AttentionVariant variant;
  DType dtype;
  int64_t headsQ, headsKV, seqQ, seqK, headDim;
  bool causal = false;
  int64_t left = 0, right = 0;
  bool fastTanh = false;
  int64_t blockM = 32, blockN = 32, numWarps = 0;

  friend std::ostream &operator<<(std::ostream &os, const Case &c) {
    return os << attentionVariantName(c.variant) << " " << toString(c.dtype)
              << " " << c.seqQ << "x" << c.seqK << " d=" << c.headDim
              << (c.causal ? " causal" : "");
  }
};

class AttentionVariantCode : public OnTheTarget,
                             public testing::WithParamInterface<Case> {};

AttentionVariantProblem problemOf(const Case &c) {
  AttentionVariantProblem problem;
  problem.variant = c.variant;
  problem.causal = c.causal;
  // Scores of a few units: a cap that bends them.
  problem.scale = 0.75;
  problem.cap = 2.5;
  problem.left = c.left;
  problem.right = c.right;
  return problem;
}

struct Inputs {
  explicit Inputs(const Case &c)
      : q(Tensor::randn({1, c.headsQ, c.seqQ, c.headDim}, c.dtype, 1)),
        k(Tensor::randn({1, c.headsKV, c.seqK, c.headDim}, c.dtype, 2)),
        v(Tensor::randn({1, c.headsKV, c.seqK, c.headDim}, c.dtype, 3)) {}
  Tensor q, k, v;
};
} // namespace

static reference::AttentionResult run(const Case &c, const Inputs &inputs) {
  const AttentionVariantProblem problem = problemOf(c);
  AttentionVariantConfig config;
  config.variant = c.variant;
  config.dtype = c.dtype;
  config.headDim = c.headDim;
  config.blockM = c.blockM;
  config.blockN = c.blockN;
  config.causal = c.causal;
  config.scaleIsPositive = true;
  config.fastTanh = c.fastTanh;
  Memory q = memoryOf(inputs.q), k = memoryOf(inputs.k);
  Memory v = memoryOf(inputs.v), o(c.dtype, inputs.q.numel());
  Memory lse(DType::F32, c.headsQ * c.seqQ);
  Memory slopes = memoryOf(alibiSlopes(c.headsQ));
  std::vector<Argument> arguments = {q, k, v, o};
  const bool hasLse = c.variant != AttentionVariant::Sigmoid;
  if (hasLse)
    arguments.push_back(lse);
  if (c.variant == AttentionVariant::Alibi)
    arguments.push_back(slopes);
  for (int64_t extent : {c.headsQ, c.headsKV, c.seqQ, c.seqK, int64_t(1)})
    arguments.push_back(static_cast<int32_t>(extent));
  for (int64_t rows : {c.seqQ, c.seqK, c.seqK, c.seqQ})
    for (int64_t stride : {int64_t(0), rows * c.headDim, c.headDim})
      arguments.push_back(stride);
  arguments.push_back(static_cast<float>(*problem.scale));
  if (c.variant == AttentionVariant::Softcap)
    arguments.push_back(static_cast<float>(problem.cap));
  if (c.variant == AttentionVariant::SlidingWindow)
    arguments.push_back(static_cast<int32_t>(c.left));
  if (c.variant == AttentionVariant::SlidingWindow && !c.causal)
    arguments.push_back(static_cast<int32_t>(c.right));
  if (c.variant == AttentionVariant::Sigmoid)
    arguments.push_back(static_cast<float>(-std::log(double(c.seqK))));
  Program program(buildAttentionVariantKernel(config).text(), "host",
                  c.numWarps);
  program.run(arguments);
  return {tensorOf(o, inputs.q.shape()),
          hasLse ? tensorOf(lse, {1, c.headsQ, c.seqQ}) : Tensor()};
}

/// For sm_80 and sm_90a: compiled, and assembled.
static bool hasResults() {
  return testTarget() != TestTarget::Sm80 && testTarget() != TestTarget::Sm90a;
}

TEST_P(AttentionVariantCode, IsAccurate) {
  const Case &c = GetParam();
  const Inputs inputs(c);
  const reference::AttentionResult actual = run(c, inputs);
  if (!hasResults())
    return;
  const AttentionVariantProblem problem = problemOf(c);
  const auto truth =
      reference::attentionVariant(inputs.q, inputs.k, inputs.v, problem);
  const auto plain = reference::plainAttentionVariant(
      inputs.q, inputs.k, inputs.v, c.dtype, problem);
  reference::JudgeRule rule;
  rule.elementFactor = 4;
  const auto o = reference::judge(actual.o, truth.o, plain.o, rule);
  EXPECT_TRUE(o.pass) << c << " o: " << o.error << " > " << o.limit << ", "
                      << o.reason;
  if (!actual.lse.defined())
    return;
  // The instruction's error shows in the sum, which the yardstick takes in f32.
  rule.headRank = 1;
  rule.factor = c.fastTanh ? 1e4 : 2;
  rule.elementFactor = c.fastTanh ? 0 : 4;
  const auto lse = reference::judge(actual.lse, truth.lse, plain.lse, rule);
  EXPECT_TRUE(lse.pass) << c << " lse: " << lse.error << " > " << lse.limit
                        << ", " << lse.reason;
}

// What a row does not see changes none of its bits.
TEST_P(AttentionVariantCode, HidesWhatIsNotFinite) {
  const Case &c = GetParam();
  const bool hasMask = c.causal || c.variant == AttentionVariant::SlidingWindow;
  if (!hasMask || !hasResults())
    return;
  Inputs inputs(c);
  for (const int64_t key : {int64_t(0), c.seqK / 2, c.seqK - 1}) {
    inputs.k.set({0, 0, key, 1}, std::numeric_limits<double>::quiet_NaN());
    inputs.v.set({0, 0, key, 0}, std::numeric_limits<double>::infinity());
  }
  const std::vector<double> actual = run(c, inputs).o.toVector<double>();
  const std::vector<double> truth =
      reference::attentionVariant(inputs.q, inputs.k, inputs.v, problemOf(c))
          .o.toVector<double>();
  for (size_t i = 0; i < actual.size(); ++i)
    ASSERT_EQ(std::isfinite(actual[i]), std::isfinite(truth[i]))
        << c << " element " << i << ": " << actual[i] << " against "
        << truth[i];
}

static std::vector<Case> cases() {
  constexpr DType bf16 = DType::BF16, f16 = DType::F16, f32 = DType::F32;
  std::vector<Case> all;
  for (const AttentionVariant variant :
       {AttentionVariant::Softcap, AttentionVariant::Alibi,
        AttentionVariant::Sigmoid})
    for (const bool causal : {false, true}) {
      all.push_back({variant, bf16, 2, 1, 70, 70, 16, causal});
      all.push_back({variant, f16, 1, 1, 45, 100, 24, causal});
      all.push_back({variant, f32, 3, 3, 40, 33, 8, causal});
      all.push_back({variant, bf16, 1, 1, 1, 40, 16, causal});
      // Rows without keys, if causal.
      all.push_back({variant, f16, 1, 1, 70, 20, 16, causal});
    }
  all.push_back({AttentionVariant::Softcap, bf16, 2, 2, 70, 70, 16, true, 0, 0,
                 /*fastTanh=*/true});
  const AttentionVariant window = AttentionVariant::SlidingWindow;
  // Narrower than a tile, of several tiles, ragged, wider than the sequence.
  for (auto [left, right] : {std::pair(0, 0), std::pair(5, 3), std::pair(40, 0),
                             std::pair(64, 33), std::pair(500, 500)}) {
    all.push_back({window, bf16, 2, 1, 150, 150, 16, false, left, right});
    all.push_back({window, f16, 1, 1, 150, 150, 16, true, left});
  }
  all.push_back({window, bf16, 1, 1, 45, 130, 16, false, 20, 10});
  all.push_back({window, bf16, 1, 1, 130, 45, 16, false, 20, 10});
  all.push_back({window, f32, 1, 1, 70, 70, 8, true, 20});
  // Tiles of one warpgroup and of two.
  for (const AttentionVariant variant :
       {AttentionVariant::Softcap, AttentionVariant::Alibi, window,
        AttentionVariant::Sigmoid})
    for (const bool causal : {false, true}) {
      all.push_back(
          {variant, bf16, 2, 1, 200, 200, 64, causal, 70, 40, false, 64, 64});
      all.push_back({variant, f16, 2, 1, 300, 260, 64, causal, 150, 30, false,
                     128, 128, 8});
    }
  return all;
}

INSTANTIATE_TEST_SUITE_P(, AttentionVariantCode, testing::ValuesIn(cases()));
