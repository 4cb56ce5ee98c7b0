//===- ViewGradientTest.cpp - Views and copies on the tape ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Autograd/GradCheck.h"
#include "runtime/Autograd/GradientArithmetic.h"
#include "runtime/Autograd/GradientKernels.h"
#include "tests/runtime/autograd/TestFunctions.h"

using namespace flashtile;
using testing::ElementsAre;

TEST(ViewGradientTest, EveryViewAndCopy) {
  const Tensor x = Tensor::randn({2, 3, 4}, DType::F64, 1).setRequiresGrad();
  const Tensor w = Tensor::randn({4, 3, 2}, DType::F64, 2).setRequiresGrad();
  const std::vector<std::pair<const char *, std::function<Tensor(Tensor)>>>
      views = {
          {"slice", [](Tensor t) { return t.slice(1, 0, 3, 2); }},
          {"empty slice", [](Tensor t) { return t.slice(2, 4, 4); }},
          {"narrow", [](Tensor t) { return t.narrow(-1, 1, 2); }},
          {"select", [](Tensor t) { return t.select(1, 2); }},
          {"transpose", [](Tensor t) { return t.transpose(0, -1); }},
          {"permute", [](Tensor t) { return t.permute({2, 0, 1}); }},
          {"permute from the back",
           [](Tensor t) { return t.permute({-1, 0, -2}); }},
          {"view", [](Tensor t) { return t.view({2, 3, -1, 2}); }},
          {"reshape", [](Tensor t) { return t.transpose(0, 2).reshape({-1}); }},
          {"expand",
           [](Tensor t) { return t.unsqueeze(1).expand({5, 2, 3, 3, 4}); }},
          {"squeeze", [](Tensor t) { return t.unsqueeze(0).squeeze(0); }},
          {"squeeze all", [](Tensor t) { return t.narrow(0, 1, 1).squeeze(); }},
          {"unsqueeze", [](Tensor t) { return t.unsqueeze(-1); }},
          {"contiguous",
           [](Tensor t) { return t.transpose(0, 1).contiguous(); }},
          {"clone", [](Tensor t) { return t.clone(); }},
          {"chain",
           [](Tensor t) {
             return t.permute({1, 2, 0}).slice(0, 1, 3).reshape({8, 2}).select(
                 1, 1);
           }},
      };
  for (const auto &[name, view] : views) {
    SCOPED_TRACE(name);
    const auto &function = view;
    EXPECT_TRUE(function(x).requiresGrad());
    EXPECT_TRUE(autograd::gradcheck(
        [&](const TensorList &in) {
          // Squares, so that each gradient is different.
          const Tensor y = function(in[0]);
          return TensorList{Multiply::apply(y, y)};
        },
        {x}));
    // A leaf that is not contiguous, and a gradient that is not.
    const Tensor turned = w.detach().transpose(0, 2).setRequiresGrad();
    EXPECT_TRUE(autograd::gradcheck(
        [&](const TensorList &in) { return TensorList{function(in[0])}; },
        {turned}));
  }
}

TEST(ViewGradientTest, TypesAreConvertedBack) {
  const Tensor x = Tensor::full({3}, 1.5, DType::F32).setRequiresGrad();
  const Tensor narrow = x.to(DType::BF16);
  EXPECT_TRUE(narrow.requiresGrad());
  narrow.backward(Tensor::full({3}, 2, DType::BF16));
  EXPECT_EQ(x.grad().dtype(), DType::F32);
  EXPECT_THAT(gradOf(x), ElementsAre(2, 2, 2));
  EXPECT_FALSE(x.to(DType::I32).requiresGrad()) << "has no gradient";
  const Tensor same = x.to(DType::F32);
  EXPECT_TRUE(same.isLeaf()) << "the tensor itself";
}

TEST(ViewGradientTest, ReadingIsNotRecorded) {
  const Tensor x = leaf({1, 2});
  EXPECT_THAT(x.toVector<float>(), ElementsAre(1, 2));
  EXPECT_EQ(x.select(0, 1).item<double>(), 2);
  const Tensor plain = x.detach();
  EXPECT_FALSE(plain.requiresGrad());
  EXPECT_TRUE(plain.sharesStorageWith(x));
  EXPECT_FALSE(plain.unsqueeze(0).requiresGrad());
}

TEST(ViewGradientTest, ViewsOfOneLeafAddUp) {
  const Tensor x = leaf({1, 2, 3});
  Multiply::apply(x.narrow(0, 0, 2), x.narrow(0, 1, 2))
      .backward(Tensor::full({2}, 1, DType::F64));
  EXPECT_THAT(gradOf(x), ElementsAre(2, 4, 2));
}

//===----------------------------------------------------------------------===//
// The kernels that GPUs use for this, on the cpu.
//===----------------------------------------------------------------------===//

/// Some strided views of new memory.
static std::vector<Tensor> stridedViews(DType dtype) {
  const Tensor base = Tensor::randn({4, 6, 5, 3}, dtype, 3);
  return {base,
          base.transpose(0, 3),
          base.permute({2, 0, 3, 1}).slice(0, 0, 5, 2),
          base.narrow(1, 2, 1).expand({4, 7, 5, 3}),
          base.select(3, 1),
          base.narrow(0, 0, 1).narrow(1, 0, 1).narrow(2, 0, 1).narrow(3, 0, 1),
          base.narrow(2, 0, 0),
          Tensor::randn({3000}, dtype, 4),
          base.unsqueeze(0).expand({2, 4, 6, 5, 3}).permute({0, 4, 2, 3, 1}),
          Tensor::randn({2, 2, 2, 2, 2, 2, 2}, dtype, 5)
              .permute({6, 5, 4, 3, 2, 1, 0})};
}

TEST(GradientKernelTest, CopyAndAdd) {
  for (DType from : {DType::F64, DType::F32, DType::BF16, DType::F8E5M2})
    for (DType to : {DType::F64, DType::F32, DType::F16})
      for (const Tensor &source : stridedViews(from)) {
        SCOPED_TRACE(source.describe() + " to " + toString(to));
        const Tensor target =
            Tensor::randn(source.shape(), DType::F32, 6).to(to);
        // Into a target that has gaps.
        Shape wide = source.shape();
        wide.push_back(2);
        const Tensor actual = Tensor::zeros(wide, to).select(
            static_cast<int64_t>(wide.size()) - 1, 1);
        autograd::launchElementwise(actual, target, /*accumulates=*/false);
        EXPECT_EQ(actual.toVector<double>(), target.toVector<double>());
        autograd::launchElementwise(actual, source, /*accumulates=*/true);
        const Tensor expected = target.clone();
        if (from == to)
          autograd::addInto(expected, source);
        else
          expected.copyFrom(
              zip(target, source, [](double a, double b) { return a + b; }));
        const auto a = actual.toVector<double>(),
                   e = expected.toVector<double>();
        for (size_t i = 0; i < a.size(); ++i)
          EXPECT_NEAR(a[i], e[i], std::abs(e[i]) * 1e-3 + 1e-6) << i;
      }
}

TEST(GradientKernelTest, Sums) {
  for (DType dtype : {DType::F64, DType::F32, DType::BF16})
    for (const Shape &shape :
         {Shape{3, 1000, 2}, Shape{2, 7, 300}, Shape{1, 1, 1}, Shape{5, 33, 64},
          Shape{1, 5000, 1}}) {
      const Tensor source = Tensor::randn(shape, dtype, 7);
      for (const Tensor &t : {source, source.transpose(0, 2)}) {
        SCOPED_TRACE(t.describe());
        const DType wide = dtype == DType::F64 ? dtype : DType::F32;
        const Tensor actual = Tensor::empty({t.size(0), t.size(2)}, wide);
        autograd::launchSum(actual, t);
        const Tensor expected =
            autograd::sumTo(t.to(DType::F64), {t.size(0), 1, t.size(2)});
        const auto a = actual.toVector<double>(),
                   e = expected.toVector<double>();
        for (size_t i = 0; i < a.size(); ++i)
          EXPECT_NEAR(a[i], e[i], 1e-3) << i;
      }
    }
}

TEST(GradientKernelTest, SumTo) {
  const Tensor x = Tensor::full({2, 3, 4}, 1, DType::F32);
  EXPECT_THAT(autograd::sumTo(x, {}).toVector<double>(), ElementsAre(24));
  EXPECT_THAT(autograd::sumTo(x, {4}).toVector<double>(),
              ElementsAre(6, 6, 6, 6));
  EXPECT_THAT(autograd::sumTo(x, {2, 1, 1}).toVector<double>(),
              ElementsAre(12, 12));
  EXPECT_THAT(autograd::sumTo(x, {1, 3, 1}).toVector<double>(),
              ElementsAre(8, 8, 8));
  EXPECT_THAT(autograd::sumTo(Tensor::zeros({0, 2}, DType::F32), {2})
                  .toVector<double>(),
              ElementsAre(0, 0));
  // 4096 ones of bf16, whose running sum would stop at 256.
  EXPECT_THAT(autograd::sumTo(Tensor::full({4096}, 1, DType::BF16), {})
                  .toVector<double>(),
              ElementsAre(4096));
}
