//===- GradCheckTest.cpp - Finding wrong gradients ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Autograd/GradCheck.h"

#include "tests/runtime/autograd/TestFunctions.h"

using namespace flashtile;
using autograd::Context;
using autograd::Function;
using autograd::gradcheck;
using autograd::GradCheckOptions;

namespace {

/// sin(a), whose gradient is off in ways that tests choose.
struct Sine : Function<Sine> {
  static inline std::function<Tensor(const Tensor &)> distort;
  static Tensor forward(Context &ctx, const Tensor &a) {
    ctx.saveForBackward({a});
    return zip(a, a, [](double x, double) { return std::sin(x); });
  }
  static TensorList backward(Context &ctx, const TensorList &gradOutputs) {
    Tensor gradient = zip(gradOutputs[0], ctx.savedTensors()[0],
                          [](double g, double x) { return g * std::cos(x); });
    return {distort ? distort(gradient) : gradient};
  }
};

class GradCheckTest : public testing::Test {
protected:
  void TearDown() override { Sine::distort = nullptr; }

  static TensorList sine(const TensorList &in) { return {Sine::apply(in[0])}; }
  const Tensor x = Tensor::randn({2, 3}, DType::F64, 1).setRequiresGrad();
};

} // namespace

TEST_F(GradCheckTest, AcceptsRightGradients) {
  const auto before = x.toVector<double>();
  EXPECT_TRUE(gradcheck(sine, {x}));
  EXPECT_EQ(x.toVector<double>(), before) << "elements are put back";
  EXPECT_FALSE(x.grad().defined());
  const Tensor y = Tensor::randn({2, 3}, DType::F64, 2).setRequiresGrad();
  const auto product = [](const TensorList &in) {
    return TensorList{Multiply::apply(in[0], in[1]),
                      Sum::apply(Exponential::apply(in[1]))};
  };
  EXPECT_TRUE(gradcheck(product, {x, y}));
  EXPECT_TRUE(gradcheck(product, {x, y.detach()})) << "one input only";
  EXPECT_TRUE(gradcheck(product, {x.transpose(0, 1).detach().setRequiresGrad(),
                                  y.detach().transpose(0, 1)}));
}

TEST_F(GradCheckTest, NamesTheWrongElement) {
  Sine::distort = [](const Tensor &g) {
    const Tensor wrong = g.clone();
    wrong.set({1, 2}, g.at<double>({1, 2}) * 1.01);
    return wrong;
  };
  try {
    gradcheck(sine, {x});
    FAIL() << "expected an error";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr(
                    "the derivative of output 0 [1, 2] by input 0 [1, 2] is "
                    "numerically "));
    EXPECT_THAT(error.what(), testing::HasSubstr(", but backward gives "));
  }
  GradCheckOptions options;
  options.raisesException = false;
  EXPECT_FALSE(gradcheck(sine, {x}, options));
  options.rtol = 0.05;
  EXPECT_TRUE(gradcheck(sine, {x}, options));
}

TEST_F(GradCheckTest, FindsEveryKindOfFault) {
  GradCheckOptions quiet;
  quiet.raisesException = false;
  const auto isFound = [&](std::function<Tensor(const Tensor &)> distort) {
    Sine::distort = std::move(distort);
    return !gradcheck(sine, {x}, quiet);
  };
  EXPECT_TRUE(isFound([](const Tensor &g) { return times(g, -1); }));
  EXPECT_TRUE(isFound([](const Tensor &) { return Tensor(); }));
  EXPECT_TRUE(isFound([](const Tensor &g) {
    return g.detach().view({3, 2}).transpose(0, 1).clone();
  })) << "elements in other places";
  EXPECT_TRUE(isFound([](const Tensor &g) { return times(g, NAN); }));
  EXPECT_TRUE(isFound([](const Tensor &g) {
    return zip(g, g, [](double a, double) { return a + 1e-4; });
  }));
  int calls = 0;
  EXPECT_TRUE(isFound([&](const Tensor &g) {
    return times(g, 1 + 1e-9 * ++calls);
  })) << "another one each time";
  quiet.nondetTol = 1e-3;
  EXPECT_FALSE(
      isFound([&](const Tensor &g) { return times(g, 1 + 1e-9 * ++calls); }));
}

namespace {
/// Reads its upstream gradient as if it were contiguous.
struct IgnoresStrides : Function<IgnoresStrides> {
  static Tensor forward(Context &, const Tensor &a) { return times(a, 1); }
  static TensorList backward(Context &, const TensorList &gradOutputs) {
    const Tensor &g = gradOutputs[0];
    const Tensor wrong = Tensor::zeros(g.shape(), DType::F64);
    for (int64_t i = 0; i < g.numel(); ++i)
      wrong.data<double>()[i] =
          g.isContiguous() || i == 0 ? g.data<double>()[i] : 0;
    return {wrong};
  }
};
} // namespace

TEST_F(GradCheckTest, FindsIgnoredStrides) {
  EXPECT_ERROR(InvalidArgument, "an upstream gradient with strides of 0",
               gradcheck(
                   [](const TensorList &in) {
                     return TensorList{IgnoresStrides::apply(in[0])};
                   },
                   {x}));
}

// A log-sum-exp of nothing is -inf wherever the inputs are, and a gradient of
// NaN is told as such.
TEST_F(GradCheckTest, WhatIsNotFinite) {
  Sine::distort = [](const Tensor &g) { return times(g, std::nan("")); };
  EXPECT_ERROR(InvalidArgument, "but backward gives nan", gradcheck(sine, {x}));
  struct Nowhere : autograd::Function<Nowhere> {
    static Tensor forward(autograd::Context &, const Tensor &a) {
      return Tensor::full(a.shape(), -INFINITY, a.dtype());
    }
    static TensorList backward(autograd::Context &, const TensorList &g) {
      return {times(g[0], 0.0)};
    }
  };
  EXPECT_TRUE(gradcheck(
      [](const TensorList &in) { return TensorList{Nowhere::apply(in[0])}; },
      {x}));
}

TEST_F(GradCheckTest, PutsElementsBackAfterExceptions) {
  const auto before = x.toVector<double>();
  int calls = 0;
  EXPECT_THROW(gradcheck(
                   [&](const TensorList &in) {
                     if (++calls == 4)
                       throw std::runtime_error("no");
                     return sine(in);
                   },
                   {x}),
               std::runtime_error);
  EXPECT_EQ(x.toVector<double>(), before);
}

TEST_F(GradCheckTest, NarrowTypesNeedALargerStep) {
  const Tensor narrow = Tensor::randn({4}, DType::F32, 1).setRequiresGrad();
  EXPECT_ERROR(
      InvalidArgument,
      "expected input 0 to be of f64, or an eps of 0.0001 or more, but "
      "got f32[4] on cpu and 1e-06",
      gradcheck(sine, {narrow}));
  GradCheckOptions options;
  options.eps = 1e-2;
  options.atol = options.rtol = 1e-3;
  EXPECT_TRUE(gradcheck(sine, {narrow}, options));
  Sine::distort = [](const Tensor &g) { return times(g, 1.1); };
  EXPECT_ERROR(InvalidArgument, "the derivative of output 0",
               gradcheck(sine, {narrow}, options));
}

TEST_F(GradCheckTest, RefusesWhatItCannotCheck) {
  const Tensor plain = x.detach();
  EXPECT_ERROR(InvalidArgument, "expected an input that requires a gradient",
               gradcheck(sine, {plain}));
  EXPECT_ERROR(InvalidArgument, "to be a leaf",
               gradcheck(sine, {Scale::apply(x, 1.0)}));
  EXPECT_ERROR(
      InvalidArgument, "elements in places of their own",
      gradcheck(
          sine,
          {Tensor::zeros({1}, DType::F64).expand({3}).setRequiresGrad()}));
  GradCheckOptions options;
  options.eps = 0;
  EXPECT_ERROR(InvalidArgument, "expected a positive eps, but got 0",
               gradcheck(sine, {x}, options));
  EXPECT_ERROR(
      InvalidArgument, "expected an output that requires a gradient",
      gradcheck([](const TensorList &in) { return TensorList{in[0].detach()}; },
                {x}));
  EXPECT_ERROR(InvalidArgument, "expected a function, but got an empty one",
               gradcheck(nullptr, {x}));
  options = {};
  options.eps = 1e-300;
  EXPECT_ERROR(InvalidArgument, "expected an eps that changes input 0 [0",
               gradcheck(sine, {x}, options));
  options = {};
  options.atol = std::nan("");
  EXPECT_ERROR(InvalidArgument, "expected atol of 0 or more, but got nan",
               gradcheck(sine, {x}, options));
  options = {};
  options.nondetTol = -1;
  EXPECT_ERROR(InvalidArgument, "expected nondetTol of 0 or more, but got -1",
               gradcheck(sine, {x}, options));
  EXPECT_ERROR(
      InvalidArgument, "expected output 0 to be defined",
      gradcheck([](const TensorList &) { return TensorList{Tensor()}; }, {x}));
}
