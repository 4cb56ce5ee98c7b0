//===- MlpTest.cpp - Products with epilogues, two layers on the cpu -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/Mlp.h"

#include "kernels/Matmul.h"
#include "kernels/MlpKernel.h"
#include "kernels/Reference/Layers.h"
#include "tests/kernels/FlashAttentionTestSupport.h"

using namespace flashtile;
using testing::HasSubstr;

TEST(EpilogueTest, EveryTypeAndActivation) {
  for (const DType type : {DType::F64, DType::F32, DType::F16, DType::BF16,
                           DType::F8E4M3FN, DType::F8E5M2})
    for (const Activation activation : kActivations) {
      const Tensor a = Tensor::randn({3, 40, 50}, type, 1);
      const Tensor b = Tensor::randn({50, 33}, type, 2);
      MatmulOptions options;
      options.bias = Tensor::randn({33}, type, 3);
      options.activation = activation;
      const Tensor c = matmul(a, b, options);
      const Tensor plain =
          reference::layer(a, b, options.bias, activation, DType::F32)
              .to(c.dtype());
      EXPECT_TRUE(accepted(reference::judge(
          c, reference::layer(a, b, options.bias, activation), plain)))
          << toString(type) << " " << activationName(activation);
    }
}

TEST(EpilogueTest, RefusesWhatDoesNotFit) {
  const Tensor a = Tensor::zeros({4, 8}, DType::F32);
  const Tensor b = Tensor::zeros({8, 5}, DType::F32);
  MatmulOptions options;
  options.bias = Tensor::zeros({4}, DType::F32);
  EXPECT_THAT(refusalOf([&] { matmul(a, b, options); }),
              HasSubstr("expected 'bias' to be a contiguous f32[5] on cpu, but "
                        "got f32[4]"));
  options.bias = Tensor();
  options.activation = Activation::Relu;
  EXPECT_THAT(
      refusalOf([&] { matmul(a.to(DType::I8), b.to(DType::I8), options); }),
      HasSubstr("no bias and no activation for products of i8"));
}

TEST(MlpTest, EveryTypeAndActivation) {
  for (const DType type : {DType::F32, DType::F16, DType::BF16})
    for (const Activation activation : kActivations)
      for (const bool hasBias : {false, true}) {
        const Tensor x = Tensor::randn({2, 35, 24}, type, 1);
        const Tensor w1 = Tensor::randn({24, 130}, type, 2);
        const Tensor w2 = Tensor::randn({130, 40}, type, 3);
        MlpOptions options;
        options.activation = activation;
        if (hasBias) {
          options.b1 = Tensor::randn({130}, type, 4);
          options.b2 = Tensor::randn({40}, type, 5);
        }
        GuardedTensor y({2, 35, 40}, type);
        mlp(x, w1, w2, options, y.tensor());
        EXPECT_TRUE(y.isIntact());
        const Tensor truth =
            reference::mlp(x, w1, w2, options.b1, options.b2, activation);
        const Tensor plain =
            reference::plainMlp(x, w1, w2, options.b1, options.b2, activation);
        EXPECT_TRUE(accepted(reference::judge(y.tensor(), truth, plain)))
            << toString(type) << " " << activationName(activation) << hasBias;
      }
}

TEST(MlpTest, SlicesOfLargerTensors) {
  const Tensor x = surrounded(Tensor::randn({50, 16}, DType::F16, 1));
  const Tensor w1 = surrounded(Tensor::randn({16, 70}, DType::F16, 2));
  const Tensor w2 = surrounded(Tensor::randn({70, 8}, DType::F16, 3));
  const Tensor y = mlp(x, w1, w2);
  const auto relu = Activation::Relu;
  EXPECT_TRUE(
      accepted(reference::judge(y, reference::mlp(x, w1, w2, {}, {}, relu),
                                reference::plainMlp(x, w1, w2, {}, {}, relu))));
}

TEST(MlpTest, NothingToDo) {
  auto zeros = [](const Shape &shape) {
    return Tensor::zeros(shape, DType::F32);
  };
  EXPECT_EQ(mlp(zeros({0, 8}), zeros({8, 5}), zeros({5, 16})).shape(),
            Shape({0, 16}));
  EXPECT_TRUE(isAll(mlp(zeros({3, 8}), zeros({8, 0}), zeros({0, 16})), 0));
}

TEST(MlpTest, TunesOnce) {
  const Tensor x = Tensor::randn({64, 16}, DType::F32, 1);
  const Tensor w1 = Tensor::randn({16, 64}, DType::F32, 2);
  const Tensor w2 = Tensor::randn({64, 16}, DType::F32, 3);
  MlpOptions options;
  options.tune = true;
  options.tiles.blockM = 32;
  EXPECT_EQ(mlpTiles(x, w1, w2, options).blockM, 32);
  EXPECT_TRUE(mlpTuning(x, w1, w2, options).fromCache);
  EXPECT_EQ(mlpKernel(x, w1, w2, options).name(), "mlp");
}

TEST(MlpTest, RefusesWhatDoesNotFit) {
  auto zeros = [](const Shape &shape) {
    return Tensor::zeros(shape, DType::F32);
  };
  auto refusal = [](const Tensor &x, const Tensor &w1, const Tensor &w2,
                    const MlpOptions &options = {}) {
    return refusalOf([&] { mlp(x, w1, w2, options); });
  };
  const Tensor x = zeros({4, 8}), w1 = zeros({8, 20}), w2 = zeros({20, 8});
  EXPECT_THAT(refusal(Tensor(), w1, w2),
              HasSubstr("expected 'x' of two dimensions or more, but got an "
                        "undefined tensor"));
  EXPECT_THAT(refusal(x, zeros({16, 20}), w2),
              HasSubstr("expected 'w1' to be f32[8, 20] on cpu, as 'x'"));
  EXPECT_THAT(refusal(x, w1, w1),
              HasSubstr("expected 'w2' to be f32[20, 20] on cpu, as 'x'"));
  EXPECT_THAT(refusal(x, w1, zeros({8, 20}).transpose(0, 1)),
              HasSubstr("expected 'w2' with contiguous rows"));
  EXPECT_THAT(refusal(zeros({4, 264}), zeros({264, 20}), w2),
              HasSubstr("expected inputs between 8 and 256 in steps of 8, but "
                        "got 264"));
  MlpOptions options;
  options.b1 = zeros({20});
  EXPECT_THAT(refusal(x, w1, w2, options),
              HasSubstr("expected 'b2' to be f32[8] on cpu, as 'x', but got an "
                        "undefined tensor"));
}
