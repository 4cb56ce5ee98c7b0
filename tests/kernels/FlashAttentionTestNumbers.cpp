//===- FlashAttentionTestNumbers.cpp - Scales, logits and types -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FlashAttentionTestSupport.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

using namespace flashtile;
using ::testing::HasSubstr;

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

TEST(FlashAttentionScale, ZeroAveragesTheVisibleValues) {
  for (double scale : {0.0, -0.0}) {
    auto problem = randomProblem({33, 16}, {33, 16}, DType::F32, true);
    problem.options.scale = scale;
    auto result = expectAccurate(problem);
    std::vector<double> sum(16, 0.0);
    for (int64_t i = 0; i < 33; ++i) {
      EXPECT_FLOAT_EQ(result.lse.at<float>({i}), float(std::log(i + 1.0)));
      for (int64_t c = 0; c < 16; ++c) {
        sum[c] += problem.v.at<float>({i, c});
        EXPECT_NEAR(result.o.at<float>({i, c}), sum[c] / double(i + 1), 1e-6);
      }
    }
  }
}

TEST(FlashAttentionScale, AnyFiniteScale) {
  for (double scale : {-0.25, -4.0, 1e-3, 3.0, 1e-30, -1e-30, double(FLT_MIN),
                       1e-40, -1e-40, 1e-300, 100.0, -100.0})
    for (DType dtype : {DType::F32, DType::BF16})
      for (bool causal : {false, true}) {
        auto problem =
            randomProblem({1, 2, 70, 16}, {1, 2, 90, 16}, dtype, causal);
        problem.options.scale = scale;
        SCOPED_TRACE(caseName(problem) + " scale " + std::to_string(scale));
        expectAccurate(problem);
      }
}

TEST(FlashAttentionScale, DefaultIsTheInverseRootOfTheHeadDim) {
  auto problem = randomProblem({20, 72}, {20, 72}, DType::F32);
  auto byDefault = attend(problem);
  problem.options.scale = 1 / std::sqrt(72.0);
  expectSameBits(attend(problem), byDefault);
}

// The scale and log2(e) are one factor in the compiled code: their product must
// not overflow where the scores do not.
TEST(FlashAttentionScale, Largest) {
  for (double scale : {1e38, -1e38}) {
    auto problem = randomProblem({9, 16}, {9, 16}, DType::F32, true);
    problem.q.fill(0.0);
    problem.options.scale = scale;
    expectAccurate(problem);
  }
}

TEST(FlashAttentionScale, OutOfRangeIsRefused) {
  for (double scale : {notANumber, infinity, -infinity, 1.1e38, -1e300}) {
    auto problem = randomProblem({4, 16}, {4, 16}, DType::F32);
    problem.options.scale = scale;
    EXPECT_THAT(refusal(problem),
                HasSubstr("expected a scale between -1e38 and 1e38"));
  }
}

//===----------------------------------------------------------------------===//
// Logits
//===----------------------------------------------------------------------===//

// All logits lie far below any finite stand-in for -inf.
TEST(FlashAttentionLogits, FarBelowZero) {
  for (double key : {-128.0, -2048.0}) {
    Problem problem{Tensor::zeros({1, 1, 1, 64}, DType::BF16),
                    Tensor::zeros({1, 1, 32, 64}, DType::BF16),
                    Tensor::zeros({1, 1, 32, 64}, DType::BF16),
                    {}};
    problem.q.set({0, 0, 0, 0}, 448.0);
    for (int64_t j = 0; j < 32; ++j) {
      problem.k.set({0, 0, j, 0}, key);
      problem.v.set({0, 0, j, 0}, double(j % 4));
    }
    problem.options.scale = 1.0;
    for (bool causal : {false, true}) {
      problem.options.causal = causal;
      auto result = expectAccurate(problem);
      EXPECT_EQ(double(result.o.at<BFloat16>({0, 0, 0, 0})), 1.5);
      EXPECT_NEAR(result.lse.at<float>({0, 0, 0}), 448 * key + std::log(32.0),
                  key == -128 ? 0.004 : 0.0625);
    }
  }
}

TEST(FlashAttentionLogits, SpreadWide) {
  for (double spread : {8.0, 40.0, 1000.0})
    for (DType dtype : {DType::F32, DType::F16, DType::BF16})
      for (bool causal : {false, true}) {
        auto problem =
            randomProblem({1, 2, 80, 32}, {1, 2, 130, 32}, dtype, causal);
        Tensor q = problem.q.to(DType::F64);
        std::for_each(q.data<double>(), q.data<double>() + q.numel(),
                      [&](double &element) { element *= spread; });
        problem.q = q.to(dtype);
        SCOPED_TRACE(caseName(problem) + " spread " + std::to_string(spread));
        expectAccurate(problem);
      }
}

// Logits so large that their f32 spacing is 64: those that are equal weigh the
// same, and the others nothing. (With all weights 1, the yardstick is exact.)
TEST(FlashAttentionLogits, LargestAllowed) {
  for (double logit : {1e9, -1e9})
    for (bool causal : {false, true})
      for (double ofFirstKeys : {logit, -1e9}) {
        auto problem =
            randomProblem({1, 1, 200, 8}, {1, 1, 200, 8}, DType::F32, causal);
        problem.q.fill(0.0);
        problem.q.narrow(3, 0, 1).fill(1.0);
        problem.k.narrow(3, 0, 1).fill(logit);
        rowsOf(problem.k, 0, 128).narrow(3, 0, 1).fill(ofFirstKeys);
        problem.options.scale = 1.0;
        SCOPED_TRACE(caseName(problem) + " " + std::to_string(logit));
        auto result = attend(problem);
        auto truth = Judgement(problem).truth;
        EXPECT_LT(reference::relativeError(result.o, truth.o), 2e-6);
        EXPECT_LT(reference::relativeError(result.lse, truth.lse), 1e-7);
      }
}

// The weighted sum comes before the division, and may be larger than any o.
TEST(FlashAttentionLogits, LargeValues) {
  for (DType dtype : {DType::F16, DType::BF16, DType::F32})
    for (bool causal : {false, true}) {
      auto problem =
          randomProblem({1, 1, 20, 16}, {1, 1, 300, 16}, dtype, causal);
      problem.v.fill(dtype == DType::F16 ? 60000.0 : 1e36);
      expectAccurate(problem);
    }
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

TEST(FlashAttentionTypes, Fp8Storage) {
  for (DType dtype : {DType::F8E4M3FN, DType::F8E5M2})
    for (bool causal : {false, true})
      for (auto [n, m] : {std::pair(70, 70), std::pair(33, 129)}) {
        auto problem =
            randomProblem({2, 2, n, 64}, {2, 2, m, 64}, dtype, causal);
        SCOPED_TRACE(caseName(problem));
        auto result = expectAccurate(problem);
        EXPECT_EQ(result.o.dtype(), DType::BF16);
        // No worse than if the values had been stored in the output's type.
        Judgement(problem, DType::BF16).expectAccurate(result);
      }
}

namespace {
/// Element type of q, k and v.
class FlashAttentionOutput : public ::testing::TestWithParam<DType> {};
} // namespace

static const DType allTypes[] = {DType::F32, DType::F16, DType::BF16,
                                 DType::F8E4M3FN, DType::F8E5M2};

INSTANTIATE_TEST_SUITE_P(Of, FlashAttentionOutput,
                         ::testing::ValuesIn(allTypes),
                         [](const auto &info) { return toString(info.param); });

TEST_P(FlashAttentionOutput, IsOneRoundingOfF32) {
  DType input = GetParam();
  auto problem = randomProblem({1, 2, 40, 32}, {1, 2, 70, 32}, input, true);
  problem.options.outputType = DType::F32;
  Tensor exact = attend(problem).o;
  for (DType output : allTypes) {
    problem.options.outputType = output;
    SCOPED_TRACE(caseName(problem) + " to " + toString(output));
    auto result = attend(problem);
    EXPECT_TRUE(sameBits(result.o, exact.to(output)));
    // The yardstick: the coarser of the two, and bf16 has fewer digits than
    // f16.
    bool inputIsCoarser = elementSize(input) < elementSize(output) ||
                          (input == DType::BF16 && output == DType::F16);
    Judgement(problem, inputIsCoarser ? input : output).expectAccurate(result);
  }
}

// The log-sum-exp is then f64 as well.
TEST(FlashAttentionTypes, DoublePrecision) {
  for (const bool causal : {false, true}) {
    const Problem problem =
        randomProblem({2, 4, 70, 24}, {2, 2, 90, 24}, DType::F64, causal);
    const FlashAttentionResult result =
        flashAttention(problem.q, problem.k, problem.v, problem.options);
    reference::AttentionOptions options;
    options.causal = causal;
    const auto truth =
        reference::denseAttention(problem.q, problem.k, problem.v, options);
    EXPECT_EQ(result.lse.dtype(), DType::F64);
    EXPECT_LT(reference::relativeError(result.o, truth.o), 1e-14);
    EXPECT_LT(reference::relativeError(result.lse, truth.lse), 1e-14);
  }
}

TEST(FlashAttentionTypes, OthersAreRefused) {
  for (DType dtype : {DType::I32, DType::I8, DType::I1}) {
    Problem problem{Tensor::zeros({4, 16}, dtype),
                    Tensor::zeros({4, 16}, dtype),
                    Tensor::zeros({4, 16}, dtype),
                    {}};
    EXPECT_THAT(refusal(problem),
                HasSubstr("expected 'q' of type f64, f32, f16, bf16, f8E4M3FN "
                          "or f8E5M2, but got " +
                          toString(dtype)));
    auto output = randomProblem({4, 16}, {4, 16}, DType::F32);
    output.options.outputType = dtype;
    EXPECT_THAT(refusal(output), HasSubstr("but got " + toString(dtype)));
  }
}

TEST(FlashAttentionTypes, MixedOperandsAreRefused) {
  auto problem = randomProblem({4, 16}, {4, 16}, DType::BF16);
  problem.v = problem.v.to(DType::F16);
  EXPECT_THAT(refusal(problem),
              HasSubstr("expected 'v' of type bf16, as 'q', but got f16"));
}

//===----------------------------------------------------------------------===//
// Operands that do not belong together
//===----------------------------------------------------------------------===//

TEST(FlashAttentionOperands, ShapesThatDoNotFitAreRefused) {
  struct Case {
    Shape q, k, v;
    const char *message;
  };
  for (const Case &c : {
           Case{{4, 16}, {4, 24}, {4, 24}, "'k' with head dimension 16"},
           Case{{4, 16}, {4, 16}, {4, 24}, "'v' with head dimension 16"},
           Case{{4, 16}, {4, 16}, {5, 16}, "expected 'v' with 1 heads of 4"},
           Case{{2, 4, 16}, {3, 4, 16}, {3, 4, 16}, "'k' with batch 2"},
           Case{{2, 4, 16}, {4, 16}, {4, 16}, "'k' with the number of"},
           Case{{2, 3, 4, 16}, {3, 3, 4, 16}, {3, 3, 4, 16}, "batch [2]"},
           Case{{2, 3, 4, 16}, {2, 3, 4, 16}, {2, 1, 4, 16}, "1 heads"},
           // As many elements, but not the same batches.
           Case{{2, 3, 1, 4, 16},
                {3, 2, 1, 4, 16},
                {3, 2, 1, 4, 16},
                "batch [2, 3], as 'q', but got [3, 2]"},
           Case{{16}, {16}, {16}, "expected 'q' to be [rows, d]"},
           Case{{}, {}, {}, "expected 'q' to be [rows, d]"},
           Case{{4, 16}, {16}, {4, 16}, "expected 'k' to be [rows, d]"},
       }) {
    Problem problem{Tensor::zeros(c.q, DType::F32),
                    Tensor::zeros(c.k, DType::F32),
                    Tensor::zeros(c.v, DType::F32),
                    {}};
    EXPECT_THAT(refusal(problem), HasSubstr(c.message));
  }
}

TEST(FlashAttentionOperands, UndefinedIsRefused) {
  auto problem = randomProblem({4, 16}, {4, 16}, DType::F32);
  EXPECT_THAT(refusal({Tensor(), problem.k, problem.v, {}}),
              HasSubstr("'q' is undefined"));
  EXPECT_THAT(refusal({problem.q, Tensor(), problem.v, {}}),
              HasSubstr("'k' is undefined"));
  EXPECT_THAT(refusal({problem.q, problem.k, Tensor(), {}}),
              HasSubstr("'v' is undefined"));
}

TEST(FlashAttentionOperands, ExtentsBeyondInt32AreRefused) {
  Tensor row = Tensor::zeros({1, 16}, DType::F16);
  Tensor huge = row.expand({int64_t(1) << 31, 16});
  EXPECT_THAT(refusal({row, huge, huge, {}}), HasSubstr("rows of 'k'"));
  // With an output of the caller, since one of this size cannot be made.
  Tensor many = row.expand({int64_t(1) << 31, 1, 16});
  EXPECT_THAT(refusalOf([&] { flashAttentionKernel(many, many, many); }),
              HasSubstr("batches of 'q'"));
}
