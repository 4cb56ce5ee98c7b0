//===- SoftmaxTest.cpp - Softmax of rows on the cpu -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/Softmax.h"

#include "kernels/Reference/Softmax.h"
#include "tests/kernels/FlashAttentionTestSupport.h"

using namespace flashtile;
using testing::HasSubstr;

/// What the rounding of a result and some units of f32 are worth.
static double toleranceOf(DType type) {
  switch (type) {
  case DType::F32:
    return 1e-6;
  case DType::F16:
    return 5e-4;
  case DType::BF16:
    return 4e-3;
  default:
    return 8e-2;
  }
}

static void expectSoftmax(const Tensor &x, const SoftmaxOptions &options,
                          const std::string &name) {
  const DType type = options.outputType.value_or(x.dtype());
  GuardedTensor y(x.shape(), type);
  Shape rows = x.shape();
  rows.pop_back();
  GuardedTensor lse(rows, DType::F32);
  softmax(x, options, y.tensor(), lse.tensor());
  std::optional<CausalAlignment> causal;
  if (options.causal)
    causal = options.alignment;
  const auto expected = reference::softmax(x, options.scale, causal);
  EXPECT_LE(reference::relativeError(y.tensor(), expected.y), toleranceOf(type))
      << name;
  // -inf has to stand where it is expected: judged, not measured.
  reference::JudgeRule rule;
  rule.headRank = 1;
  rule.slack = 1e-5;
  EXPECT_TRUE(accepted(reference::judge(lse.tensor(), expected.lse,
                                        expected.lse.to(DType::F32), rule)))
      << name;
  EXPECT_TRUE(y.isIntact()) << name;
  EXPECT_TRUE(lse.isIntact()) << name;
}

TEST(SoftmaxTest, AnyTypeAndLength) {
  for (DType type : {DType::F32, DType::F16, DType::BF16, DType::F8E5M2})
    for (auto [rows, columns] :
         {std::pair(1, 1), std::pair(5, 100), std::pair(70, 256),
          std::pair(3, 4097), std::pair(2, 20000)}) {
      // The weights of long rows are subnormal numbers in narrow types.
      SoftmaxOptions options;
      if (columns > 256)
        options.outputType = DType::F32;
      const Tensor x = Tensor::randn({rows, columns}, type, 1);
      expectSoftmax(x, options, x.describe());
    }
}

TEST(SoftmaxTest, CausalScaledAndTiled) {
  for (auto [rows, columns] :
       {std::pair(40, 40), std::pair(30, 70), std::pair(70, 30)})
    for (auto alignment :
         {CausalAlignment::BottomRight, CausalAlignment::TopLeft})
      for (double scale : {0.125, -2.0, 0.0})
        for (int64_t blockColumns : {0, 16}) {
          SoftmaxOptions options;
          options.causal = true;
          options.alignment = alignment;
          options.scale = scale;
          options.blockColumns = blockColumns;
          const Tensor x = Tensor::randn({2, 3, rows, columns}, DType::F32, 1);
          expectSoftmax(x, options,
                        x.describe() + " " + std::to_string(scale) + " " +
                            std::to_string(blockColumns));
        }
}

TEST(SoftmaxTest, HiddenPositionsDoNotCount) {
  Tensor x = Tensor::randn({40, 40}, DType::F32, 1);
  SoftmaxOptions options;
  options.causal = true;
  const Tensor clean = softmax(x, options);
  for (int64_t row = 0; row + 1 < 40; ++row)
    x.set({row, row + 1}, row % 2 ? notANumber : infinity);
  EXPECT_TRUE(sameBits(softmax(x, options), clean));
  EXPECT_TRUE(sameBits(softmax(surrounded(x), options), clean));
}

TEST(SoftmaxTest, NaNStaysInItsRow) {
  for (int64_t blockColumns : {0, 16}) {
    Tensor x = Tensor::full({5, 40}, 1, DType::F32);
    x.set({2, 33}, notANumber);
    SoftmaxOptions options;
    options.blockColumns = blockColumns;
    const Tensor y = softmax(x, options);
    EXPECT_TRUE(isAll(y.select(0, 2), notANumber));
    EXPECT_EQ(y.at<float>({1, 0}), 0.025f);
    EXPECT_EQ(y.at<float>({3, 39}), 0.025f);
  }
}

TEST(SoftmaxTest, InPlaceAndStrided) {
  const Tensor x = Tensor::randn({6, 5000}, DType::F32, 1);
  const Tensor expected = softmax(x);
  Tensor same = x.clone();
  softmax(same, {}, same);
  EXPECT_TRUE(sameBits(same, expected));
  // Columns of a matrix as rows: read through a copy.
  const Tensor turned = x.transpose(0, 1).contiguous().transpose(0, 1);
  EXPECT_TRUE(sameBits(softmax(turned), expected));
}

TEST(SoftmaxTest, NothingToDo) {
  EXPECT_EQ(softmax(Tensor::zeros({0, 5}, DType::F32)).numel(), 0);
  Tensor y = Tensor::zeros({3, 0}, DType::F32);
  const Tensor lse = Tensor::zeros({3}, DType::F32);
  softmax(y, {}, y, lse);
  EXPECT_TRUE(isAll(lse, -infinity));
}

TEST(SoftmaxTest, RefusesWhatDoesNotFit) {
  auto refusal = [](const Tensor &x, const SoftmaxOptions &options = {}) {
    return refusalOf([&] { softmax(x, options); });
  };
  EXPECT_THAT(refusal(Tensor()), HasSubstr("'x' is undefined"));
  EXPECT_THAT(refusal(Tensor::zeros({5}, DType::F32)),
              HasSubstr("expected 'x' to be [..., rows, columns]"));
  EXPECT_THAT(refusal(Tensor::zeros({5, 5}, DType::I32)),
              HasSubstr("expected 'x' of a float type, but got i32"));
  SoftmaxOptions options;
  options.scale = 1e39;
  EXPECT_THAT(refusal(Tensor::zeros({5, 5}, DType::F32), options),
              HasSubstr("expected a scale between -1e38 and 1e38, but got "
                        "1e+39"));
  options = {};
  options.blockRows = -4;
  EXPECT_THAT(refusal(Tensor::zeros({5, 5}, DType::F32), options),
              HasSubstr("expected blockRows between 1 and"));
  Tensor y = Tensor::zeros({5, 4}, DType::F32);
  EXPECT_THAT(
      refusalOf([&] { softmax(Tensor::zeros({5, 5}, DType::F32), {}, y); }),
      HasSubstr("expected 'y' to be f32[5, 5], but got f32[5, 4]"));
}
