//===- BackwardTest.cpp - Passes through graphs of all shapes -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/runtime/autograd/TestFunctions.h"

using namespace flashtile;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(BackwardTest, ProductRule) {
  const Tensor a = leaf({1, 2, 3}), b = leaf({4, 5, 6});
  const Tensor c = Multiply::apply(a, b);
  EXPECT_TRUE(c.requiresGrad());
  EXPECT_FALSE(c.isLeaf());
  EXPECT_TRUE(a.isLeaf());
  EXPECT_EQ(a.gradFn(), nullptr);
  EXPECT_EQ(c.gradFn()->name(), "flashtile::Multiply");
  EXPECT_FALSE(a.grad().defined());
  c.backward(Tensor::fromData(std::vector<double>{1, 10, 100}, {3}));
  EXPECT_THAT(gradOf(a), ElementsAre(4, 50, 600));
  EXPECT_THAT(gradOf(b), ElementsAre(1, 20, 300));
}

TEST(BackwardTest, Diamond) {
  // y = (2 x) * (3 x) = 6 x^2, whose derivative is 12 x.
  const Tensor x = leaf({1, 2});
  int calls = 0;
  const Tensor shared = Scale::apply(x, 1.0);
  shared.registerHook([&](const Tensor &) { ++calls; });
  const Tensor y =
      Multiply::apply(Scale::apply(shared, 2.0), Scale::apply(shared, 3.0));
  Sum::apply(y).backward();
  EXPECT_THAT(gradOf(x), ElementsAre(12, 24));
  EXPECT_EQ(calls, 1) << "once, with the whole gradient";
}

TEST(BackwardTest, OneInputTwice) {
  const Tensor x = leaf({3, -2});
  Sum::apply(Multiply::apply(x, x)).backward();
  EXPECT_THAT(gradOf(x), ElementsAre(6, -4));
}

TEST(BackwardTest, DeepDiamondsAreGoneThroughOnce) {
  // 2^60 paths.
  const Tensor x = leaf({1});
  Tensor y = x;
  for (int i = 0; i < 60; ++i)
    y = Add::apply(y, y);
  y.backward(Tensor::fromData(std::vector<double>{1}, {1}));
  EXPECT_THAT(gradOf(x), ElementsAre(0x1p60));
}

TEST(BackwardTest, GradientsAddUp) {
  const Tensor x = leaf({1, 2});
  for (int i = 0; i < 3; ++i)
    Sum::apply(Scale::apply(x, 2.0)).backward();
  EXPECT_THAT(gradOf(x), ElementsAre(6, 6));
  const Tensor kept = x.grad();
  x.setGrad();
  EXPECT_FALSE(x.grad().defined());
  Sum::apply(Scale::apply(x, 5.0)).backward();
  EXPECT_THAT(gradOf(x), ElementsAre(5, 5));
  EXPECT_THAT(kept.toVector<double>(), ElementsAre(6, 6));
}

TEST(BackwardTest, UpstreamGradientStaysTheCallers) {
  const Tensor x = leaf({1, 2});
  const Tensor g = Tensor::fromData(std::vector<double>{1, 1}, {2});
  for (int i = 0; i < 3; ++i)
    Add::apply(x, x).backward(g);
  EXPECT_THAT(gradOf(x), ElementsAre(6, 6));
  EXPECT_THAT(g.toVector<double>(), ElementsAre(1, 1));
  EXPECT_EQ(g.version(), 0u);
  EXPECT_FALSE(x.grad().sharesStorageWith(g));
}

TEST(BackwardTest, UpstreamGradientWithStridesOfZero) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor one = Tensor::full({}, 2, DType::F64);
  Multiply::apply(x, x).backward(one.expand({3}));
  EXPECT_THAT(gradOf(x), ElementsAre(4, 8, 12));
  EXPECT_TRUE(x.grad().isContiguous());
  // Handed through to the leaf, it must not become its gradient as it is.
  const Tensor y = leaf({1, 2, 3});
  for (int i = 0; i < 2; ++i)
    Sum::apply(y).backward();
  EXPECT_THAT(gradOf(y), ElementsAre(2, 2, 2));
  EXPECT_TRUE(y.grad().isContiguous());
  // And one that the user sets is never written to.
  y.setGrad(one.expand({3}));
  Sum::apply(y).backward();
  EXPECT_THAT(gradOf(y), ElementsAre(3, 3, 3));
  EXPECT_EQ(one.item<double>(), 2);
}

// As x.grad = g in PyTorch: what gathers gradients in one buffer counts on it.
TEST(BackwardTest, SetGradSharesItsTensor) {
  const Tensor x = leaf({1, 2}), y = leaf({3});
  const Tensor buffer = Tensor::zeros({3}, DType::F64);
  x.setGrad(buffer.slice(0, 0, 2));
  y.setGrad(buffer.slice(0, 2, 3));
  for (int i = 1; i <= 2; ++i) {
    autograd::backward(
        {Sum::apply(Scale::apply(x, 2.0)), Scale::apply(y, 5.0)});
    EXPECT_THAT(buffer.toVector<double>(), ElementsAre(2 * i, 2 * i, 5 * i));
  }
  EXPECT_TRUE(x.grad().sharesStorageWith(buffer));
  // One that is to stay as it is is copied first.
  const Tensor kept = Tensor::full({2}, 1, DType::F64);
  const Tensor copy = Tensor::empty({2}, DType::F64);
  copy.copyFrom(kept);
  x.setGrad(copy);
  Sum::apply(x).backward();
  EXPECT_THAT(gradOf(x), ElementsAre(2, 2));
  EXPECT_THAT(kept.toVector<double>(), ElementsAre(1, 1));
}

// Elements that share places cannot be added to one by one.
TEST(BackwardTest, SetGradWithElementsThatOverlap) {
  std::vector<double> values = {1, 2, 3};
  const Tensor x = Tensor::zeros({2, 2}, DType::F64).setRequiresGrad();
  x.setGrad(Tensor::fromBlob(values.data(), {2, 2}, DType::F64, {}, {1, 1}));
  Sum::apply(x).backward();
  EXPECT_THAT(gradOf(x), ElementsAre(2, 3, 3, 4));
  EXPECT_THAT(values, ElementsAre(1, 2, 3));
  // Columns before rows have places of their own.
  const Tensor columns = Tensor::zeros({2, 2}, DType::F64).transpose(0, 1);
  x.setGrad(columns);
  Sum::apply(x).backward();
  EXPECT_THAT(columns.toVector<double>(), ElementsAre(1, 1, 1, 1));
}

TEST(BackwardTest, ConvertsTheTypeOfTheUpstreamGradient) {
  const Tensor x = Tensor::full({2}, 1, DType::F32).setRequiresGrad();
  Scale::apply(x, 2.0).backward(Tensor::full({2}, 3, DType::F64));
  EXPECT_EQ(x.grad().dtype(), DType::F32);
  EXPECT_THAT(gradOf(x), ElementsAre(6, 6));
}

TEST(BackwardTest, SeveralRoots) {
  const Tensor x = leaf({1, 2});
  const Tensor a = Scale::apply(x, 2.0), b = Scale::apply(a, 3.0);
  const Tensor one = Tensor::full({2}, 1, DType::F64);
  autograd::backward({a, b, a}, {one, one, one});
  EXPECT_THAT(gradOf(x), ElementsAre(10, 10));
}

TEST(BackwardTest, ALeafItself) {
  const Tensor x = leaf({7});
  x.backward();
  EXPECT_THAT(gradOf(x), ElementsAre(1));
}

TEST(BackwardTest, RestrictedToInputs) {
  const Tensor a = leaf({1}), b = leaf({2});
  const Tensor c = Multiply::apply(a, b);
  c.backward({}, /*retainGraph=*/true, {a});
  EXPECT_THAT(gradOf(a), ElementsAre(2));
  EXPECT_THAT(gradOf(b), IsEmpty());
  c.backward({}, /*retainGraph=*/true, {a, a});
  EXPECT_THAT(gradOf(a), ElementsAre(4)) << "named twice, added once";
  EXPECT_ERROR(InvalidArgument, "input 0 to be a leaf",
               c.backward({}, false, {Scale::apply(a, 1.0)}));
}

TEST(BackwardTest, GradLeavesLeavesAlone) {
  const Tensor a = leaf({2}), b = leaf({5});
  const Tensor c = Multiply::apply(a, b), d = Multiply::apply(c, c);
  const TensorList found = autograd::grad({d}, {a, c, d});
  EXPECT_EQ(found[0].item<double>(), 2 * 10 * 5);
  EXPECT_EQ(found[1].item<double>(), 20);
  EXPECT_EQ(found[2].item<double>(), 1);
  EXPECT_FALSE(a.grad().defined());
  EXPECT_FALSE(b.grad().defined());
}

TEST(BackwardTest, GradSaysWhatIsUnused) {
  const Tensor a = leaf({2}), b = leaf({5});
  const Tensor c = Scale::apply(a, 3.0);
  EXPECT_ERROR(InvalidArgument, "do not depend on input 1",
               autograd::grad({c}, {a, b}, {}, /*retainGraph=*/true));
  const TensorList found =
      autograd::grad({c}, {a, b}, {}, false, /*allowUnused=*/true);
  EXPECT_EQ(found[0].item<double>(), 3);
  EXPECT_FALSE(found[1].defined());
  EXPECT_ERROR(InvalidArgument, "expected input 0 to require a gradient",
               autograd::grad({c}, {Tensor::zeros({1}, DType::F64)}));
  EXPECT_ERROR(InvalidArgument, "expected an input", autograd::grad({c}, {}));
}

TEST(BackwardTest, GradRunsOnlyWhatLeadsToTheInputs) {
  const Tensor a = leaf({2}), b = leaf({5});
  int calls = 0;
  const Tensor onlyB = Scale::apply(b, 2.0);
  onlyB.registerHook([&](const Tensor &) { ++calls; });
  const Tensor c = Multiply::apply(Scale::apply(a, 3.0), onlyB);
  EXPECT_EQ(autograd::grad({c}, {a})[0].item<double>(), 30);
  EXPECT_EQ(calls, 0);
}

TEST(BackwardTest, RefusesWhatHasNoGradient) {
  const Tensor x = leaf({1, 2}), plain = Tensor::zeros({2}, DType::F64);
  EXPECT_ERROR(InvalidArgument, "does not require a gradient",
               plain.backward());
  EXPECT_ERROR(InvalidArgument, "tensor 0 is undefined",
               autograd::backward({Tensor()}));
  EXPECT_ERROR(InvalidArgument, "expected a tensor to begin with",
               autograd::backward({}));
  const Tensor y = Scale::apply(x, 2.0);
  EXPECT_ERROR(InvalidArgument, "expected a gradient, as f64[2] on cpu has 2",
               y.backward());
  EXPECT_ERROR(InvalidArgument, "but got f64[3] on cpu",
               y.backward(Tensor::zeros({3}, DType::F64)));
  EXPECT_ERROR(InvalidArgument, "but got i32[2] on cpu",
               y.backward(Tensor::zeros({2}, DType::I32)));
  EXPECT_ERROR(InvalidArgument, "at most 1 gradients",
               autograd::backward({y}, {plain, plain}));
  y.backward(plain); // none of these broke the graph
  EXPECT_THAT(gradOf(x), ElementsAre(0, 0));
}

TEST(BackwardTest, LeavesAreTakenOffAndPutBack) {
  const Tensor x = leaf({1});
  Scale::apply(x, 2.0).backward();
  x.setRequiresGrad(false);
  EXPECT_FALSE(Scale::apply(x, 2.0).requiresGrad());
  EXPECT_THAT(gradOf(x), ElementsAre(2)) << "what there was stays";
  x.setRequiresGrad();
  Scale::apply(x, 3.0).backward();
  EXPECT_THAT(gradOf(x), ElementsAre(5));
  EXPECT_ERROR(InvalidArgument, "use detach()",
               Scale::apply(x, 2.0).setRequiresGrad(false));
  EXPECT_ERROR(InvalidArgument, "of a float type",
               Tensor::zeros({1}, DType::I32).setRequiresGrad());
  EXPECT_FALSE(
      Tensor::zeros({1}, DType::F64).setRequiresGrad(false).requiresGrad());
}

TEST(BackwardTest, SetGradChecks) {
  const Tensor x = leaf({1, 2});
  EXPECT_ERROR(InvalidArgument, "to be f64[2] on cpu, as the tensor",
               x.setGrad(Tensor::zeros({3}, DType::F64)));
  EXPECT_ERROR(InvalidArgument, "but got f32[2] on cpu",
               x.setGrad(Tensor::zeros({2}, DType::F32)));
  EXPECT_ERROR(InvalidArgument, "to keep a gradient",
               Scale::apply(x, 1.0).setGrad(Tensor::zeros({2}, DType::F64)));
  const Tensor plain = Tensor::zeros({2}, DType::F64);
  plain.setGrad(x.detach());
  EXPECT_THAT(gradOf(plain), ElementsAre(1, 2));
  EXPECT_FALSE(plain.requiresGrad());
}

TEST(BackwardTest, RetainsGradientsOfResults) {
  const Tensor x = leaf({3});
  const Tensor y = Scale::apply(x, 2.0), z = Multiply::apply(y, y);
  EXPECT_FALSE(y.retainsGrad());
  y.retainGrad();
  y.retainGrad();
  x.retainGrad(); // a leaf does anyway
  EXPECT_TRUE(y.retainsGrad());
  z.backward({}, /*retainGraph=*/true);
  EXPECT_THAT(gradOf(y), ElementsAre(12));
  z.backward();
  EXPECT_THAT(gradOf(y), ElementsAre(24));
  EXPECT_FALSE(z.grad().defined());
  EXPECT_ERROR(InvalidArgument, "requires a gradient to retain",
               Tensor::zeros({1}, DType::F64).retainGrad());
}

TEST(BackwardTest, EmptyTensors) {
  const Tensor x = Tensor::zeros({0, 3}, DType::F64).setRequiresGrad();
  Scale::apply(x, 2.0).backward(Tensor::zeros({0, 3}, DType::F64));
  EXPECT_EQ(x.grad().shape(), (Shape{0, 3}));
  Sum::apply(x).backward();
}

TEST(BackwardTest, NarrowTypesAddUp) {
  for (DType type : {DType::F32, DType::F16, DType::BF16, DType::F8E4M3FN}) {
    const Tensor x = Tensor::full({100}, 1, type).setRequiresGrad();
    Sum::apply(Add::apply(x, Add::apply(x, x))).backward();
    EXPECT_EQ(x.grad().dtype(), type);
    EXPECT_THAT(gradOf(x), testing::Each(3)) << toString(type);
  }
}
