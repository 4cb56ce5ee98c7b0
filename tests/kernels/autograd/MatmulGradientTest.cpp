//===- MatmulGradientTest.cpp - Gradients of products ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/Matmul.h"

#include "kernels/Mlp.h"
#include "tests/kernels/autograd/GradientTestSupport.h"

using namespace flashtile;
using autograd::gradcheck;

static bool checkProduct(const Tensor &a, const Tensor &b,
                         const MatmulOptions &options = {}) {
  return gradcheck(
      [&](const TensorList &in) {
        return TensorList{matmul(in[0], in[1], options)};
      },
      {a, b});
}

TEST(MatmulGradientTest, Shapes) {
  struct Case {
    Shape a, b;
  };
  for (const Case &shapes :
       {Case{{3, 4}, {4, 5}}, Case{{1, 1}, {1, 1}}, Case{{2, 3, 4}, {2, 4, 2}},
        Case{{2, 1, 2, 3}, {3, 3, 2}}, Case{{2, 3}, {4, 3, 2}},
        Case{{2, 2, 3, 4}, {4, 2}}, Case{{3, 2, 3}, {1, 3, 2}}}) {
    SCOPED_TRACE(toString(shapes.a) + " " + toString(shapes.b));
    EXPECT_TRUE(checkProduct(parameter(shapes.a, 1), parameter(shapes.b, 2)));
    // One operand alone.
    EXPECT_TRUE(
        checkProduct(parameter(shapes.a, 1), parameter(shapes.b, 2).detach()));
    EXPECT_TRUE(
        checkProduct(parameter(shapes.a, 1).detach(), parameter(shapes.b, 2)));
  }
}

TEST(MatmulGradientTest, Groups) {
  MatmulOptions options;
  options.group = 3;
  EXPECT_TRUE(
      checkProduct(parameter({6, 3, 4}, 1), parameter({2, 4, 2}, 2), options));
  EXPECT_TRUE(checkProduct(parameter({2, 3, 2, 3}, 1),
                           parameter({2, 1, 3, 2}, 2), options));
  // One b for every batch, shared by the heads of a group.
  EXPECT_TRUE(checkProduct(parameter({2, 6, 2, 3}, 1), parameter({2, 3, 2}, 2),
                           options));
}

TEST(MatmulGradientTest, StridedOperands) {
  const Tensor a = parameter({4, 3}, 1), b = parameter({5, 4}, 2);
  EXPECT_TRUE(gradcheck(
      [](const TensorList &in) {
        return TensorList{matmul(in[0].transpose(0, 1), in[1].transpose(0, 1))};
      },
      {a, b}));
  EXPECT_TRUE(checkProduct(a.detach().transpose(0, 1).setRequiresGrad(),
                           b.detach().transpose(0, 1).setRequiresGrad()));
}

TEST(MatmulGradientTest, Bias) {
  const Tensor a = parameter({2, 3, 4}, 1), b = parameter({4, 5}, 2);
  const Tensor bias = parameter({5}, 3);
  EXPECT_TRUE(gradcheck(
      [](const TensorList &in) {
        MatmulOptions options;
        options.bias = in[2];
        return TensorList{matmul(in[0], in[1], options)};
      },
      {a, b, bias}));
}

constexpr Activation activations[] = {Activation::Relu, Activation::Gelu,
                                      Activation::GeluTanh, Activation::Silu};

TEST(MatmulGradientTest, Activations) {
  for (Activation activation : activations) {
    SCOPED_TRACE(activationName(activation));
    MatmulOptions options;
    options.activation = activation;
    const auto product = [&](const TensorList &in) {
      options.bias = in.size() > 2 ? in[2] : Tensor();
      return TensorList{matmul(in[0], in[1], options)};
    };
    const Tensor a = parameter({2, 3, 4}, 1), b = parameter({4, 5}, 2);
    const Tensor bias = parameter({5}, 3);
    EXPECT_TRUE(gradcheck(product, {a, b}));
    EXPECT_TRUE(gradcheck(product, {a, b, bias}));
    EXPECT_TRUE(gradcheck(product, {a.detach(), b.detach(), bias}));
    options.group = 3;
    EXPECT_TRUE(
        gradcheck(product, {parameter({3, 2, 4}, 4), parameter({1, 4, 2}, 5)}));
  }
}

TEST(MatmulGradientTest, ActivationsFarOut) {
  // Where the derivative is 0 or 1, whatever squares would be.
  const Tensor one = Tensor::full({1, 1}, 1, DType::F32);
  for (Activation activation : activations)
    for (double z : {-1e30, -200.0, 200.0, 1e30}) {
      SCOPED_TRACE(std::string(activationName(activation)) + " of " +
                   std::to_string(z));
      MatmulOptions options;
      options.activation = activation;
      const Tensor a = Tensor::full({1, 1}, z, DType::F32).setRequiresGrad();
      matmul(a, one, options).backward();
      EXPECT_NEAR(a.grad().item<double>(), z > 0 ? 1 : 0, 1e-6);
    }
}

TEST(MatmulGradientTest, TwoLayers) {
  for (Activation activation : activations) {
    const Tensor x = parameter({2, 3, 8}, 1, DType::F32);
    const Tensor w1 = parameter({8, 12}, 2, DType::F32);
    const Tensor w2 = parameter({12, 8}, 3, DType::F32);
    MlpOptions options;
    options.activation = activation;
    options.b1 = parameter({12}, 4, DType::F32);
    options.b2 = parameter({8}, 5, DType::F32);
    const Tensor dy = Tensor::randn({2, 3, 8}, DType::F32, 6);
    const Tensor y = mlp(x, w1, w2, options);
    y.backward(dy);
    // The same in f64, whose products are checked above.
    TensorList wide;
    for (const Tensor &t : {x, w1, w2, options.b1, options.b2})
      wide.push_back(t.detach().to(DType::F64).setRequiresGrad());
    MatmulOptions first, second;
    first.activation = activation;
    first.bias = wide[3];
    second.bias = wide[4];
    const Tensor expected =
        matmul(matmul(wide[0], wide[1], first), wide[2], second);
    expected.backward(dy.to(DType::F64));
    expectClose(y, expected, 1e-5, "y");
    size_t i = 0;
    for (const Tensor &t : {x, w1, w2, options.b1, options.b2})
      expectClose(t.grad(), wide[i++].grad(), 1e-5, activationName(activation));
    const NoGradGuard noGrad;
    expectClose(mlp(x, w1, w2, options), expected, 1e-5, "fused");
  }
}

TEST(MatmulGradientTest, ProductWithItself) {
  const Tensor a = parameter({3, 3}, 1);
  EXPECT_TRUE(gradcheck(
      [](const TensorList &in) {
        return TensorList{matmul(in[0], in[0]),
                          matmul(in[0], in[0].transpose(0, 1))};
      },
      {a}));
}

TEST(MatmulGradientTest, NothingToSum) {
  const Tensor a = parameter({0, 4}, 1), b = parameter({4, 3}, 2);
  matmul(a, b).backward(Tensor::zeros({0, 3}, DType::F64));
  EXPECT_EQ(a.grad().shape(), (Shape{0, 4}));
  EXPECT_THAT(b.grad().toVector<double>(), testing::Each(0));
  const Tensor c = parameter({2, 0}, 1), d = parameter({0, 3}, 2);
  matmul(c, d).backward(Tensor::full({2, 3}, 1, DType::F64));
  EXPECT_EQ(c.grad().shape(), (Shape{2, 0}));
  EXPECT_EQ(d.grad().shape(), (Shape{0, 3}));
}

TEST(MatmulGradientTest, NarrowTypes) {
  for (auto [type, tolerance] :
       {std::pair(DType::F32, 1e-6), std::pair(DType::F16, 1e-3),
        std::pair(DType::BF16, 8e-3), std::pair(DType::F8E4M3FN, 8e-2)}) {
    SCOPED_TRACE(toString(type));
    const Tensor a = parameter({3, 40, 70}, 1, type);
    const Tensor b = parameter({70, 50}, 2, type);
    const Tensor c = matmul(a, b);
    const Tensor dc = Tensor::randn({3, 40, 50}, c.dtype(), 3);
    c.backward(dc);
    EXPECT_EQ(a.grad().dtype(), type);
    EXPECT_EQ(b.grad().dtype(), type);
    const Tensor a64 = a.detach().to(DType::F64).setRequiresGrad();
    const Tensor b64 = b.detach().to(DType::F64).setRequiresGrad();
    matmul(a64, b64).backward(dc.to(DType::F64));
    expectClose(a.grad(), a64.grad(), tolerance, "a");
    expectClose(b.grad(), b64.grad(), tolerance, "b");
  }
}

TEST(MatmulGradientTest, SavesOnlyWhatIsNeeded) {
  const Tensor a = parameter({2, 2}, 1), b = parameter({2, 2}, 2).detach();
  const Tensor c = matmul(a, b);
  const Tensor one = Tensor::full({2, 2}, 1, DType::F64);
  {
    const NoGradGuard noGrad;
    a.fill(7); // not needed, as b has no gradient
  }
  c.backward(one, /*retainGraph=*/true);
  b.fill(7);
  EXPECT_ERROR(InvalidArgument, "flashtile::Matmul: saved tensor 1",
               c.backward(one));
}

TEST(MatmulGradientTest, WhatHasNoGradient) {
  const Tensor a = parameter({2, 2}, 1), b = parameter({2, 2}, 2).detach();
  Tensor c = Tensor::zeros({2, 2}, DType::F64);
  EXPECT_ERROR(Unsupported,
               "matmul into a tensor of the caller has no gradient",
               matmul(a, b, {}, c));
  const NoGradGuard noGrad;
  EXPECT_FALSE(matmul(a, b).requiresGrad());
  matmul(a, b, {}, c);
}
