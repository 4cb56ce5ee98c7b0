//===- WitnessGpuTest.cpp - Passes that know no kernel, on a GPU ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kinds of attention, products with epilogues, two layers in one kernel: judged
// as on the cpu, and launched again and again: buffers that are filled while
// somebody still reads them show in some launches only.
//
//===----------------------------------------------------------------------===//

#include "kernels/AttentionVariants.h"
#include "kernels/Matmul.h"
#include "kernels/Mlp.h"
#include "kernels/Reference/AttentionVariants.h"
#include "kernels/Reference/Judge.h"
#include "kernels/Reference/Layers.h"
#include "tests/gpu/GpuTest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

using namespace flashtile;

static const Device gpu0 = Device::cuda(0);

static testing::AssertionResult accepted(const reference::Verdict &verdict) {
  if (verdict)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "error " << verdict.error << ", limit "
                                     << verdict.limit << ": " << verdict.reason;
}

static testing::AssertionResult sameBits(const Tensor &actual,
                                         const Tensor &expected) {
  return accepted(reference::judgeExact(actual.to(Device::cpu()), expected));
}

namespace {
class EpilogueGpuTest : public GpuTest {};
class MlpGpuTest : public GpuTest {};

struct VariantCase {
  AttentionVariant variant;
  DType dtype;
  Shape q, k;
  bool causal;
  int64_t left = 0, right = 0;
  bool fastTanh = false;

  friend std::ostream &operator<<(std::ostream &os, const VariantCase &c) {
    return os << attentionVariantName(c.variant) << " " << toString(c.dtype)
              << " q " << toString(c.q) << " k " << toString(c.k)
              << (c.causal ? " causal" : "");
  }
};

class AttentionVariantGpuTest
    : public GpuTest,
      public testing::WithParamInterface<VariantCase> {
protected:
  static AttentionVariantOptions optionsOf(const VariantCase &c) {
    AttentionVariantOptions options;
    options.variant = c.variant;
    options.causal = c.causal;
    options.cap = 4; // which bends scores of a few units
    options.left = c.left;
    options.right = c.right;
    options.fastTanh = c.fastTanh;
    return options;
  }
};
} // namespace

TEST_P(AttentionVariantGpuTest, IsJudgedAsOnTheCpu) {
  const VariantCase &c = GetParam();
  const Tensor q = Tensor::randn(c.q, DType::F32, 1).to(c.dtype);
  const Tensor k = Tensor::randn(c.k, DType::F32, 2).to(c.dtype);
  const Tensor v = Tensor::randn(c.k, DType::F32, 3).to(c.dtype);
  const AttentionVariantOptions options = optionsOf(c);
  const Tensor qThere = q.to(gpu0), kThere = k.to(gpu0), vThere = v.to(gpu0);
  auto run = [&] { return attentionVariant(qThere, kThere, vThere, options); };
  const FlashAttentionResult result = run();
  const Tensor o = result.o.to(Device::cpu());
  const auto truth = reference::attentionVariant(q, k, v, options);
  const auto plain =
      reference::plainAttentionVariant(q, k, v, c.dtype, options);
  reference::JudgeRule rule;
  rule.factor = c.fastTanh ? 4 : 2;
  EXPECT_TRUE(accepted(reference::judge(o, truth.o, plain.o, rule)));
  // The instruction's error is one that a sum in f32 does not have.
  if (result.lse.defined() && !c.fastTanh) {
    reference::JudgeRule rowRule;
    rowRule.headRank = 1;
    EXPECT_TRUE(accepted(reference::judge(result.lse.to(Device::cpu()),
                                          truth.lse, plain.lse, rowRule)));
  }
  for (int repeat = 0; repeat < repeatsOf(20); ++repeat)
    ASSERT_TRUE(sameBits(run().o, o)) << "repeat " << repeat;
}

// Keys that are not finite reach the rows that see them.
TEST_P(AttentionVariantGpuTest, HidesWhatIsNotFinite) {
  const VariantCase &c = GetParam();
  const Tensor q = Tensor::randn(c.q, DType::F32, 1).to(c.dtype);
  const Tensor k = Tensor::randn(c.k, DType::F32, 2).to(c.dtype);
  const Tensor v = Tensor::randn(c.k, DType::F32, 3).to(c.dtype);
  for (const int64_t key : {int64_t(0), v.size(2) / 2, v.size(2) - 1})
    v.narrow(2, key, 1).fill(std::numeric_limits<double>::infinity());
  const AttentionVariantOptions options = optionsOf(c);
  const std::vector<double> actual =
      attentionVariant(q.to(gpu0), k.to(gpu0), v.to(gpu0), options)
          .o.to(Device::cpu())
          .toVector<double>();
  const std::vector<double> truth =
      reference::attentionVariant(q, k, v, options).o.toVector<double>();
  for (size_t i = 0; i < actual.size(); ++i)
    ASSERT_EQ(std::isfinite(actual[i]), std::isfinite(truth[i]))
        << "element " << i << ": " << actual[i] << " against " << truth[i];
}

static std::vector<VariantCase> variantCases() {
  constexpr DType bf16 = DType::BF16, f16 = DType::F16, f32 = DType::F32;
  std::vector<VariantCase> all;
  for (const AttentionVariant variant :
       {AttentionVariant::Softcap, AttentionVariant::Alibi,
        AttentionVariant::Sigmoid})
    for (const bool causal : {false, true}) {
      // Every default tile, at lengths that leave it ragged.
      all.push_back({variant, bf16, {1, 3, 300, 64}, {1, 3, 300, 64}, causal});
      all.push_back({variant, f16, {2, 4, 130, 128}, {2, 2, 520, 128}, causal});
      all.push_back(
          {variant, bf16, {1, 2, 200, 256}, {1, 1, 200, 256}, causal});
      all.push_back({variant, f32, {1, 2, 65, 64}, {1, 2, 130, 64}, causal});
      all.push_back({variant, f16, {1, 2, 100, 40}, {1, 2, 100, 40}, causal});
      // Rows without keys, if causal; fewer keys than a tile has.
      all.push_back({variant, bf16, {1, 2, 200, 128}, {1, 2, 50, 128}, causal});
      // More programs than multiprocessors, which take several each.
      all.push_back(
          {variant, bf16, {1, 200, 300, 64}, {1, 50, 300, 64}, causal});
    }
  for (const bool causal : {false, true})
    all.push_back({AttentionVariant::Softcap,
                   bf16,
                   {1, 2, 300, 128},
                   {1, 2, 300, 128},
                   causal,
                   0,
                   0,
                   /*fastTanh=*/true});
  const AttentionVariant window = AttentionVariant::SlidingWindow;
  for (const bool causal : {false, true})
    for (auto [left, right] :
         {std::pair(0, 0), std::pair(10, 3), std::pair(128, 0),
          std::pair(200, 100), std::pair(5000, 5000)}) {
      all.push_back({window,
                     bf16,
                     {1, 2, 700, 128},
                     {1, 2, 700, 128},
                     causal,
                     left,
                     right});
      all.push_back(
          {window, f16, {1, 2, 500, 64}, {1, 1, 650, 64}, causal, left, right});
      all.push_back({window,
                     bf16,
                     {1, 2, 300, 256},
                     {1, 2, 300, 256},
                     causal,
                     left,
                     right});
    }
  all.push_back({window, f32, {1, 2, 150, 64}, {1, 2, 150, 64}, true, 40});
  all.push_back({window, bf16, {1, 2, 300, 64}, {1, 2, 60, 64}, false, 20, 10});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Cases, AttentionVariantGpuTest,
                         testing::ValuesIn(variantCases()));

/// Every activation for one type, and one for the others: each combination is a
/// kernel to be compiled and translated.
static bool isTested(DType type, Activation activation) {
  return type == DType::BF16 || activation == Activation::Gelu;
}

TEST_F(EpilogueGpuTest, BiasAndActivation) {
  for (const DType type : {DType::F32, DType::F16, DType::BF16})
    for (const Activation activation : kActivations)
      for (auto [m, n, k] : {std::tuple(65, 130, 70), std::tuple(300, 520, 513),
                             std::tuple(128, 256, 64)})
        for (const bool hasBias : {false, true}) {
          if (!isTested(type, activation))
            continue;
          const Tensor a = Tensor::randn({m, k}, type, 1);
          const Tensor b = Tensor::randn({k, n}, type, 2);
          const Tensor bias = hasBias ? Tensor::randn({n}, type, 3) : Tensor();
          MatmulOptions options;
          options.activation = activation;
          if (hasBias)
            options.bias = bias.to(gpu0);
          const Tensor aThere = a.to(gpu0), bThere = b.to(gpu0);
          const Tensor c = matmul(aThere, bThere, options).to(Device::cpu());
          const Tensor plain =
              reference::layer(a, b, bias, activation, DType::F32).to(type);
          EXPECT_TRUE(accepted(reference::judge(
              c, reference::layer(a, b, bias, activation), plain)))
              << toString(type) << " " << activationName(activation) << " " << m
              << "x" << n << "x" << k << (hasBias ? " bias" : "");
          for (int repeat = 0; repeat < repeatsOf(5); ++repeat)
            ASSERT_TRUE(sameBits(matmul(aThere, bThere, options), c));
        }
}

TEST_F(MlpGpuTest, TwoLayers) {
  for (const DType type : {DType::F32, DType::F16, DType::BF16})
    for (const Activation activation : kActivations)
      for (auto [rows, width, hidden] :
           {std::tuple(300, 64, 520), std::tuple(130, 128, 1000),
            std::tuple(200, 256, 333), std::tuple(50, 40, 72),
            std::tuple(40000, 64, 128)})
        for (const bool hasBias : {false, true}) {
          if (!isTested(type, activation))
            continue;
          auto biasOf = [&, dtype = type](int64_t count, uint64_t seed) {
            return hasBias ? Tensor::randn({count}, dtype, seed) : Tensor();
          };
          const Tensor x = Tensor::randn({rows, width}, type, 1);
          const Tensor w1 = Tensor::randn({width, hidden}, type, 2);
          const Tensor w2 = Tensor::randn({hidden, width}, type, 3);
          const Tensor b1 = biasOf(hidden, 4), b2 = biasOf(width, 5);
          MlpOptions options;
          options.activation = activation;
          if (hasBias) {
            options.b1 = b1.to(gpu0);
            options.b2 = b2.to(gpu0);
          }
          const Tensor xThere = x.to(gpu0), w1There = w1.to(gpu0);
          const Tensor w2There = w2.to(gpu0);
          auto run = [&] { return mlp(xThere, w1There, w2There, options); };
          const Tensor y = run().to(Device::cpu());
          // Some rows of many.
          const int64_t count = std::min<int64_t>(rows, 200);
          for (const int64_t begin : {int64_t(0), rows - count}) {
            const Tensor some = x.narrow(0, begin, count);
            EXPECT_TRUE(accepted(reference::judge(
                y.narrow(0, begin, count),
                reference::mlp(some, w1, w2, b1, b2, activation),
                reference::plainMlp(some, w1, w2, b1, b2, activation))))
                << toString(type) << " " << activationName(activation) << " "
                << rows << " rows, width " << width << ", hidden " << hidden
                << (hasBias ? ", bias" : "");
          }
          for (int repeat = 0; repeat < repeatsOf(5); ++repeat)
            ASSERT_TRUE(sameBits(run(), y));
        }
}
