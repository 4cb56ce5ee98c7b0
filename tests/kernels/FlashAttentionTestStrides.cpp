//===- FlashAttentionTestStrides.cpp - Views in, views out ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands and outputs of any strides. Where the head dimension is contiguous
// the same kernel runs and the bits must be equal; elsewhere it is judged.
//
//===----------------------------------------------------------------------===//

#include "FlashAttentionTestSupport.h"

using namespace flashtile;
using ::testing::HasSubstr;

static Problem smallProblem(DType dtype, bool causal) {
  return randomProblem({2, 3, 45, 24}, {2, 3, 70, 24}, dtype, causal);
}

/// The elements of `tensor` where dimension order[i] is the i-th from outside.
static Tensor inOrder(const Tensor &tensor, const Shape &order) {
  Shape back(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    back[order[i]] = static_cast<int64_t>(i);
  return tensor.permute(order).contiguous().permute(back);
}

/// The elements of `tensor`, `step` apart in dimension `dim`; NaN between.
static Tensor spread(const Tensor &tensor, int64_t dim, int64_t step) {
  Shape shape = tensor.shape();
  shape[dim] *= step;
  Tensor view = Tensor::full(shape, notANumber, tensor.dtype())
                    .slice(dim, 0, shape[dim], step);
  view.copyFrom(tensor);
  return view;
}

TEST(FlashAttentionStrides, RowsAnywhereKeepTheBits) {
  for (DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F8E4M3FN})
    for (bool causal : {false, true}) {
      auto problem = smallProblem(dtype, causal);
      auto expected = attend(problem);
      for (const Shape &order : {Shape{0, 2, 1, 3}, Shape{2, 0, 1, 3},
                                 Shape{1, 0, 2, 3}, Shape{1, 2, 0, 3}}) {
        Problem other{inOrder(problem.q, order), inOrder(problem.k, order),
                      inOrder(problem.v, order), problem.options};
        SCOPED_TRACE(caseName(other));
        expectSameBits(attend(other), expected);
        // Each operand has strides of its own.
        other.q = problem.q;
        other.v = spread(problem.v, 2, 3);
        expectSameBits(attend(other), expected);
      }
    }
}

TEST(FlashAttentionStrides, HeadDimensionAnywhere) {
  for (DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F8E5M2})
    for (bool causal : {false, true}) {
      auto problem = smallProblem(dtype, causal);
      Judgement judgement(problem);
      // Transposed, and with an inner stride of 2, all or one of the operands.
      Shape transposed = {0, 1, 3, 2};
      for (Problem other :
           {Problem{inOrder(problem.q, transposed),
                    inOrder(problem.k, transposed),
                    inOrder(problem.v, transposed), problem.options},
            Problem{problem.q, inOrder(problem.k, {3, 0, 1, 2}), problem.v,
                    problem.options},
            Problem{spread(problem.q, 3, 2), spread(problem.k, 3, 3),
                    spread(problem.v, 3, 5), problem.options},
            Problem{problem.q, problem.k, spread(problem.v, 3, 2),
                    problem.options}}) {
        SCOPED_TRACE(caseName(other));
        judgement.expectAccurate(attend(other));
      }
    }
}

TEST(FlashAttentionStrides, StrideZeroEqualsCopies) {
  // One head of keys and values for eight heads of queries, without groups.
  for (DType dtype : {DType::F32, DType::BF16}) {
    auto problem = randomProblem({2, 8, 70, 64}, {2, 1, 70, 64}, dtype, true);
    auto grouped = attend(problem);
    problem.k = problem.k.expand({2, 8, 70, 64});
    problem.v = problem.v.expand({2, 8, 70, 64});
    expectSameBits(expectAccurate(problem), grouped);
    Problem copies{problem.q, problem.k.contiguous(), problem.v.contiguous(),
                   problem.options};
    expectSameBits(attend(copies), grouped);
  }
}

TEST(FlashAttentionStrides, StrideZeroInEveryDimension) {
  Shape shape = {3, 2, 40, 16};
  for (const Shape &seen :
       {Shape{1, 2, 40, 16}, Shape{3, 1, 40, 16}, Shape{3, 2, 1, 16},
        Shape{3, 2, 40, 1}, Shape{1, 1, 1, 1}}) {
    Problem problem{Tensor::randn(seen, DType::F32, 1).expand(shape),
                    Tensor::randn(seen, DType::F32, 2).expand(shape),
                    Tensor::randn(seen, DType::F32, 3).expand(shape),
                    {}};
    SCOPED_TRACE(caseName(problem));
    expectAccurate(problem);
  }
}

TEST(FlashAttentionStrides, FiveDimensionsThatAreNoView) {
  auto problem =
      randomProblem({2, 3, 2, 20, 16}, {2, 3, 2, 20, 16}, DType::F32);
  auto expected = attend(problem);
  problem.q = inOrder(problem.q, {1, 0, 2, 3, 4});
  problem.k = inOrder(problem.k, {2, 1, 0, 3, 4});
  expectSameBits(attend(problem), expected);
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

TEST(FlashAttentionStrides, OutputAnywhere) {
  for (DType dtype : {DType::F32, DType::F16, DType::BF16})
    for (bool causal : {false, true}) {
      auto problem = smallProblem(dtype, causal);
      auto expected = attend(problem);
      for (const Shape &order :
           {Shape{0, 1, 2, 3}, Shape{0, 2, 1, 3}, Shape{2, 1, 0, 3}})
        for (int64_t gap : {0, 5}) {
          GuardedTensor o(problem.q.shape(), dtype, order, gap);
          SCOPED_TRACE(o.tensor().describe());
          expectSameBits(attendInto(o, problem), expected);
        }
      Judgement judgement(problem);
      for (auto [order, step] :
           {std::pair(Shape{0, 1, 3, 2}, 1), std::pair(Shape{0, 1, 2, 3}, 2),
            std::pair(Shape{3, 2, 1, 0}, 3)}) {
        GuardedTensor o(problem.q.shape(), dtype, order, 7, step);
        SCOPED_TRACE(o.tensor().describe());
        judgement.expectAccurate(attendInto(o, problem));
      }
    }
}

TEST(FlashAttentionStrides, OutputOfFiveDimensions) {
  auto problem =
      randomProblem({2, 3, 2, 20, 16}, {2, 3, 2, 20, 16}, DType::F32);
  auto expected = attend(problem);
  GuardedTensor o(problem.q.shape(), DType::F32, {0, 1, 3, 2, 4}, 3);
  expectSameBits(attendInto(o, problem), expected);
  // Leading dimensions that are no single one would be written to a copy.
  GuardedTensor scattered(problem.q.shape(), DType::F32, {1, 0, 2, 3, 4});
  Tensor lse = Tensor::empty({2, 3, 2, 20}, DType::F32);
  EXPECT_THAT(refusalOf([&] {
                flashAttention(problem.q, problem.k, problem.v, {},
                               scattered.tensor(), lse);
              }),
              HasSubstr("leading dimensions of 'o'"));
}

TEST(FlashAttentionStrides, OutputsThatDoNotFitAreRefused) {
  auto problem = randomProblem({2, 3, 8, 16}, {2, 3, 8, 16}, DType::BF16);
  Tensor good = Tensor::empty({2, 3, 8, 16}, DType::BF16),
         goodLse = Tensor::empty({2, 3, 8}, DType::F32);
  auto refused = [&](Tensor o, Tensor lse) {
    return refusalOf(
        [&] { flashAttention(problem.q, problem.k, problem.v, {}, o, lse); });
  };
  EXPECT_THAT(refused({}, goodLse), HasSubstr("undefined"));
  EXPECT_THAT(refused(good, {}), HasSubstr("undefined"));
  EXPECT_THAT(refused(Tensor::empty({2, 3, 8, 16}, DType::F16), goodLse),
              HasSubstr("expected 'o' to be bf16[2, 3, 8, 16], but got f16"));
  EXPECT_THAT(refused(Tensor::empty({2, 3, 8, 8}, DType::BF16), goodLse),
              HasSubstr("[2, 3, 8, 8]"));
  EXPECT_THAT(refused(good, Tensor::empty({2, 3, 8}, DType::BF16)),
              HasSubstr("expected 'lse' to be a contiguous f32[2, 3, 8]"));
  EXPECT_THAT(refused(good, Tensor::empty({2, 3, 9}, DType::F32)),
              HasSubstr("[2, 3, 9]"));
  EXPECT_THAT(
      refused(good, Tensor::empty({2, 3, 16}, DType::F32).slice(2, 0, 16, 2)),
      HasSubstr("contiguous"));
  EXPECT_THAT(
      refused(Tensor::empty({2, 3, 1, 16}, DType::BF16).expand({2, 3, 8, 16}),
              goodLse),
      HasSubstr("places of their own"));
}

TEST(FlashAttentionStrides, WritingCountsAsAWrite) {
  auto problem = randomProblem({4, 16}, {4, 16}, DType::F32);
  Tensor o = Tensor::empty({4, 16}, DType::F32),
         lse = Tensor::empty({4}, DType::F32);
  uint64_t before = o.version(), ofQ = problem.q.version();
  flashAttention(problem.q, problem.k, problem.v, {}, o, lse);
  EXPECT_GT(o.version(), before);
  EXPECT_EQ(problem.q.version(), ofQ);
}
