//===- SoftmaxGradientTest.cpp - Gradients of softmax ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/SoftmaxFunction.h"

#include "kernels/Reference/Softmax.h"
#include "tests/kernels/autograd/GradientTestSupport.h"

#include <cmath>
#include <limits>

using namespace flashtile;
using autograd::gradcheck;

static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

static bool checkSoftmax(const Tensor &x, const SoftmaxOptions &options) {
  return gradcheck(
      [&](const TensorList &in) {
        const auto [y, lse] = Softmax::apply(in[0], options);
        return TensorList{y, lse};
      },
      {x});
}

TEST(SoftmaxGradientTest, Options) {
  for (double scale : {1.0, 0.3, -2.0, 0.0})
    for (bool causal : {false, true})
      for (auto alignment :
           {CausalAlignment::BottomRight, CausalAlignment::TopLeft}) {
        SoftmaxOptions options;
        options.scale = scale;
        options.causal = causal;
        options.alignment = alignment;
        // Each row sees a column, so that the log-sum-exp is finite.
        EXPECT_TRUE(checkSoftmax(parameter({2, 3, 5}, 1), options));
        EXPECT_TRUE(checkSoftmax(parameter({4, 4}, 2), options));
      }
}

TEST(SoftmaxGradientTest, StridesAndRanks) {
  const Tensor x = parameter({2, 3, 2, 4}, 1);
  const auto f = [](const TensorList &in) {
    return TensorList{softmax(in[0])};
  };
  EXPECT_TRUE(gradcheck(f, {x}));
  EXPECT_TRUE(
      gradcheck(f, {x.detach().permute({3, 1, 0, 2}).setRequiresGrad()}));
  EXPECT_TRUE(gradcheck(f, {parameter({1, 1}, 1)}));
  EXPECT_TRUE(gradcheck(
      [](const TensorList &in) {
        // The upstream gradient comes transposed.
        return TensorList{softmax(in[0]).transpose(1, 3).reshape({-1})};
      },
      {x}));
}

/// By the definition, in f64, for one gradient of y.
static Tensor expectedGradient(const Tensor &x, const Tensor &dy,
                               const SoftmaxOptions &options) {
  std::optional<CausalAlignment> causal;
  if (options.causal)
    causal = options.alignment;
  const Tensor p =
      reference::softmax(x, options.scale, causal).y.to(DType::F64);
  const int64_t columns = x.size(-1), rows = x.numel() / columns;
  const auto weights = p.toVector<double>();
  const auto upstream = dy.toVector<double>();
  std::vector<double> result(weights.size());
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (int64_t j = row * columns; j < (row + 1) * columns; ++j)
      if (weights[j] != 0)
        sum += weights[j] * upstream[j];
    for (int64_t j = row * columns; j < (row + 1) * columns; ++j)
      if (weights[j] != 0)
        result[j] = options.scale * weights[j] * (upstream[j] - sum);
  }
  return Tensor::fromData(result, x.shape());
}

TEST(SoftmaxGradientTest, TypesAndLongRows) {
  for (auto [type, tolerance] :
       {std::pair(DType::F64, 1e-12), std::pair(DType::F32, 2e-6),
        std::pair(DType::F16, 1e-3), std::pair(DType::BF16, 8e-3)})
    for (auto [rows, columns] :
         {std::pair(1, 1), std::pair(5, 100), std::pair(70, 256),
          std::pair(9, 2048), std::pair(3, 2049), std::pair(2, 20000)}) {
      SCOPED_TRACE(toString(type) + " " + std::to_string(columns));
      SoftmaxOptions options;
      options.scale = 0.7;
      options.outputType = type == DType::F64 ? type : DType::F32;
      const Tensor x = parameter({rows, columns}, 1, type);
      const Tensor dy = Tensor::randn({rows, columns}, *options.outputType, 2);
      softmax(x, options).backward(dy);
      EXPECT_EQ(x.grad().dtype(), type);
      const Tensor expected = expectedGradient(x.detach(), dy, options);
      if (columns == 1)
        EXPECT_NEAR(x.grad().item<double>(), 0, 1e-6);
      else if (columns <= 2049 || type != DType::F16) // no subnormal numbers
        expectClose(x.grad(), expected, tolerance, "x");
    }
}

TEST(SoftmaxGradientTest, Fp8) {
  const Tensor x = parameter({4, 16}, 1, DType::F8E5M2);
  SoftmaxOptions options;
  options.outputType = DType::F32;
  const Tensor dy = Tensor::randn({4, 16}, DType::F32, 2);
  softmax(x, options).backward(dy);
  EXPECT_EQ(x.grad().dtype(), DType::F8E5M2);
  expectClose(x.grad(), expectedGradient(x.detach(), dy, options), 0.1, "x");
}

TEST(SoftmaxGradientTest, RowsThatSeeNothing) {
  // Three rows before the first column.
  SoftmaxOptions options;
  options.causal = true;
  for (int64_t columns : {2, 3000}) {
    const Tensor x = parameter({columns + 3, columns}, 1, DType::F32);
    const auto [y, lse] = Softmax::apply(x, options);
    autograd::backward({y, lse}, {Tensor::full(y.shape(), 1, DType::F32),
                                  Tensor::full(lse.shape(), 1, DType::F32)});
    EXPECT_THAT(x.grad().narrow(0, 0, 3).toVector<double>(), testing::Each(0));
    for (double value :
         x.grad().narrow(0, 3, 5 < columns ? 5 : 2).toVector<double>())
      EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(SoftmaxGradientTest, HiddenPositionsAreNotRead) {
  SoftmaxOptions options;
  options.causal = true;
  for (int64_t n : {5, 2100}) {
    const Tensor x = Tensor::randn({n, n}, DType::F32, 1);
    const Tensor dy = Tensor::randn({n, n}, DType::F32, 2);
    const Tensor expected = softmaxBackward(x, dy, {}, options);
    for (int64_t row : {int64_t(0), n / 2}) {
      x.narrow(0, row, 1).narrow(1, row + 1, n - row - 1).fill(notANumber);
      dy.narrow(0, row, 1).narrow(1, row + 1, n - row - 1).fill(notANumber);
    }
    const Tensor actual = softmaxBackward(x, dy, {}, options);
    EXPECT_EQ(actual.toVector<float>(), expected.toVector<float>());
    // What a row sees reaches this row, and no other.
    x.set({1, 0}, notANumber);
    const auto values = softmaxBackward(x, dy, {}, options).toVector<float>();
    for (int64_t i = 0; i < n * n; ++i)
      EXPECT_EQ(std::isnan(values[i]), i / n == 1 && i % n < 2) << i;
  }
}

TEST(SoftmaxGradientTest, GradientsThatAreMissing) {
  const Tensor x = parameter({3, 4}, 1);
  const auto [y, lse] = Softmax::apply(x, SoftmaxOptions());
  const Tensor ones = Tensor::full({3}, 1, DType::F64);
  lse.backward(ones.narrow(0, 0, 1).expand({3}), /*retainGraph=*/true);
  expectClose(x.grad(), softmax(x.detach()), 1e-12, "of lse alone");
  y.backward(Tensor::zeros({3, 4}, DType::F64));
  EXPECT_THAT(softmaxBackward(x.detach(), {}).toVector<double>(),
              testing::Each(0));
  EXPECT_ERROR(InvalidArgument, "expected 'gradY' to be floats of shape [3, 4]",
               softmaxBackward(x.detach(), ones));
  EXPECT_ERROR(InvalidArgument, "expected 'gradLse' to be floats of shape [3]",
               softmaxBackward(x.detach(), {}, x.detach()));
}

TEST(SoftmaxGradientTest, EmptyTensors) {
  for (const Shape &shape : {Shape{0, 4}, Shape{3, 0}, Shape{0, 3, 4}}) {
    const Tensor x = parameter(shape, 1, DType::F32);
    softmax(x).backward(Tensor::zeros(shape, DType::F32));
    EXPECT_EQ(x.grad().shape(), shape);
  }
}

TEST(SoftmaxGradientTest, IntoATensorOfTheCaller) {
  const Tensor x = parameter({3, 4}, 1);
  Tensor y = Tensor::zeros({3, 4}, DType::F64);
  EXPECT_ERROR(Unsupported, "softmax into a tensor of the caller",
               softmax(x, {}, y));
}
