//===- AttentionVariantsTest.cpp - Kinds of attention on the cpu ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/AttentionVariants.h"

#include "kernels/AttentionVariantKernel.h"
#include "kernels/Reference/AttentionVariants.h"
#include "tests/kernels/FlashAttentionTestSupport.h"

#include <cmath>

using namespace flashtile;
using testing::HasSubstr;

namespace {
struct VariantProblem {
  Tensor q, k, v;
  AttentionVariantOptions options;
};
} // namespace

static VariantProblem problemOf(AttentionVariant variant, const Shape &qShape,
                                const Shape &kvShape, DType dtype,
                                bool causal) {
  VariantProblem problem = {Tensor::randn(qShape, dtype, 1),
                            Tensor::randn(kvShape, dtype, 2),
                            Tensor::randn(kvShape, dtype, 3),
                            {}};
  problem.options.variant = variant;
  problem.options.causal = causal;
  problem.options.cap = 3;
  problem.options.left = 20;
  problem.options.right = 5;
  return problem;
}

/// With `last` dimensions behind batch and heads: where there are three, no
/// heads are among them.
static Tensor withHeads(Tensor tensor, int64_t last) {
  while (tensor.rank() < last + 2)
    tensor = tensor.unsqueeze(tensor.rank() == last + 1 ? 1 : 0);
  return tensor;
}

/// Into guarded outputs, which are judged.
static void expectVariantAccurate(const VariantProblem &problem) {
  const auto &[q, k, v, options] = problem;
  const std::string what = std::string(attentionVariantName(options.variant)) +
                           " " + q.describe() + " x " + k.describe() +
                           (options.causal ? " causal" : "");
  GuardedTensor o(q.shape(), q.dtype());
  Shape rows = q.shape();
  rows.pop_back();
  GuardedTensor lse(rows, DType::F32);
  attentionVariant(q, k, v, options, o.tensor(), lse.tensor());
  EXPECT_TRUE(o.isIntact() && lse.isIntact()) << what;
  const Tensor qs = withHeads(q, 2), ks = withHeads(k, 2), vs = withHeads(v, 2);
  const auto truth = reference::attentionVariant(qs, ks, vs, options);
  const auto plain =
      reference::plainAttentionVariant(qs, ks, vs, q.dtype(), options);
  reference::JudgeRule rule;
  rule.elementFactor = 4;
  EXPECT_TRUE(accepted(judge(withHeads(o.tensor(), 2), truth.o, plain.o, rule)))
      << what;
  if (options.variant == AttentionVariant::Sigmoid)
    return;
  rule.headRank = 1;
  EXPECT_TRUE(
      accepted(judge(withHeads(lse.tensor(), 1), truth.lse, plain.lse, rule)))
      << what << " lse";
}

constexpr AttentionVariant variants[] = {
    AttentionVariant::Softcap, AttentionVariant::Alibi,
    AttentionVariant::SlidingWindow, AttentionVariant::Sigmoid};

TEST(AttentionVariantsTest, ShapesAndTypes) {
  for (const AttentionVariant variant : variants)
    for (const bool causal : {false, true}) {
      for (const DType dtype : {DType::F32, DType::F16, DType::BF16})
        expectVariantAccurate(
            problemOf(variant, {2, 4, 70, 16}, {2, 2, 70, 16}, dtype, causal));
      // One head, other lengths, more leading dimensions, rows without keys.
      expectVariantAccurate(
          problemOf(variant, {3, 40, 40}, {3, 130, 40}, DType::BF16, causal));
      expectVariantAccurate(
          problemOf(variant, {90, 64}, {33, 64}, DType::F16, causal));
      expectVariantAccurate(problemOf(variant, {2, 1, 3, 20, 8},
                                      {2, 1, 3, 20, 8}, DType::F32, causal));
    }
}

TEST(AttentionVariantsTest, StridedOperands) {
  for (const AttentionVariant variant : variants) {
    VariantProblem problem =
        problemOf(variant, {2, 3, 50, 16}, {2, 3, 60, 16}, DType::F16, true);
    // [batch, rows, heads, d] in memory, in the middle of NaN.
    auto other = [](const Tensor &tensor) {
      return surrounded(tensor.transpose(1, 2)).transpose(1, 2);
    };
    problem.q = other(problem.q);
    problem.k = other(problem.k);
    problem.v = other(problem.v);
    expectVariantAccurate(problem);
  }
}

TEST(AttentionVariantsTest, ParametersMatter) {
  VariantProblem problem = problemOf(AttentionVariant::Alibi, {1, 2, 40, 16},
                                     {1, 2, 40, 16}, DType::F32, false);
  problem.options.scale = -0.5;
  problem.options.slopes =
      Tensor::fromData(std::vector<float>{0.0f, 2.0f}, {2});
  expectVariantAccurate(problem);
  problem.options.variant = AttentionVariant::Sigmoid;
  problem.options.bias = 0.75;
  expectVariantAccurate(problem);
  problem.options.variant = AttentionVariant::Softcap;
  problem.options.cap = 0.125;
  expectVariantAccurate(problem);
  // With a cap beyond all scores, and with a window as wide as the sequence,
  // it is attention.
  problem.options.scale.reset();
  problem.options.cap = 1e6;
  const Tensor expected = flashAttention(problem.q, problem.k, problem.v).o;
  EXPECT_LT(
      reference::relativeError(
          attentionVariant(problem.q, problem.k, problem.v, problem.options).o,
          expected),
      1e-5);
  problem.options.variant = AttentionVariant::SlidingWindow;
  problem.options.left = problem.options.right = 100;
  EXPECT_LT(
      reference::relativeError(
          attentionVariant(problem.q, problem.k, problem.v, problem.options).o,
          expected),
      1e-6);
}

TEST(AttentionVariantsTest, NothingToSee) {
  VariantProblem problem =
      problemOf(AttentionVariant::SlidingWindow, {1, 1, 60, 16}, {1, 1, 10, 16},
                DType::F32, true);
  const FlashAttentionResult result =
      attentionVariant(problem.q, problem.k, problem.v, problem.options);
  EXPECT_TRUE(isAll(rowsOf(result.o, 0, 50), 0));
  EXPECT_TRUE(isAll(lseOf(result.lse, 0, 50), -infinity));
  for (const AttentionVariant variant : variants) {
    problem =
        problemOf(variant, {1, 2, 5, 16}, {1, 2, 0, 16}, DType::BF16, false);
    EXPECT_TRUE(isAll(
        attentionVariant(problem.q, problem.k, problem.v, problem.options).o,
        0));
  }
}

TEST(AttentionVariantsTest, TunesOnce) {
  VariantProblem problem = problemOf(AttentionVariant::Softcap, {1, 1, 64, 16},
                                     {1, 1, 64, 16}, DType::F32, false);
  AttentionVariantOptions &options = problem.options;
  options.tune = true;
  options.blockM = 32;
  expectVariantAccurate(problem);
  const auto &[q, k, v, same] = problem;
  EXPECT_EQ(attentionVariantTiles(q, k, v, options).blockM, 32);
  EXPECT_TRUE(attentionVariantTuning(q, k, v, options).fromCache);
  EXPECT_EQ(attentionVariantKernel(q, k, v, options).name(),
            "softcap_attention");
}

static std::string variantRefusal(const VariantProblem &problem) {
  return refusalOf([&] {
    attentionVariant(problem.q, problem.k, problem.v, problem.options);
  });
}

TEST(AttentionVariantsTest, RefusesWhatDoesNotFit) {
  auto make = [](AttentionVariant variant) {
    return problemOf(variant, {1, 2, 8, 16}, {1, 2, 8, 16}, DType::F32, false);
  };
  VariantProblem problem = make(AttentionVariant::Softcap);
  problem.options.cap = -1;
  EXPECT_THAT(variantRefusal(problem),
              HasSubstr("expected a cap between 1e-30 and 1e30, but got -1"));
  problem = make(AttentionVariant::SlidingWindow);
  problem.options.left = -1;
  EXPECT_THAT(variantRefusal(problem),
              HasSubstr("expected the left side of a window between 0 and "
                        "536870911, but got -1"));
  problem = make(AttentionVariant::Alibi);
  problem.options.slopes = Tensor::zeros({3}, DType::F32);
  EXPECT_THAT(variantRefusal(problem),
              HasSubstr("expected 'slopes' to be a contiguous f32[2] on cpu"));
  problem = make(AttentionVariant::Sigmoid);
  problem.options.bias = notANumber;
  EXPECT_THAT(variantRefusal(problem), HasSubstr("expected a bias between"));
  problem = make(AttentionVariant::Alibi);
  problem.options.fastTanh = true;
  EXPECT_THAT(variantRefusal(problem),
              HasSubstr("expected fastTanh only with softcap, but got alibi"));
  problem = make(AttentionVariant::Alibi);
  problem.options.blockM = 1 << 20;
  EXPECT_THAT(
      variantRefusal(problem),
      HasSubstr("expected blockM between 1 and 65536, but got 1048576"));
  problem = problemOf(AttentionVariant::Alibi, {1, 2, 8, 16}, {1, 2, 8, 16},
                      DType::F8E5M2, false);
  EXPECT_THAT(variantRefusal(problem),
              HasSubstr("expected 'q' of type f32, f16 or bf16 for alibi, but "
                        "got f8E5M2"));
  problem = make(AttentionVariant::Alibi);
  problem.k = Tensor::zeros({1, 2, 16, 8}, DType::F32).transpose(2, 3);
  EXPECT_THAT(variantRefusal(problem),
              HasSubstr("expected 'k' with contiguous rows"));
}
