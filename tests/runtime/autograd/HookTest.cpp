//===- HookTest.cpp - Functions called on the way back --------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/runtime/autograd/TestFunctions.h"

using namespace flashtile;
using testing::ElementsAre;

TEST(HookTest, SeesAndReplaces) {
  const Tensor x = leaf({1, 2});
  const Tensor y = Scale::apply(x, 3.0);
  std::vector<double> seen;
  y.registerHook([&](const Tensor &g) { seen = g.toVector<double>(); });
  y.registerHook([](const Tensor &g) { return times(g, 10); });
  y.registerHook([](const Tensor &) { return Tensor(); }); // keeps it
  y.registerHook([](Tensor g) { return times(g, 2); });
  Sum::apply(y).backward();
  EXPECT_THAT(seen, ElementsAre(1, 1));
  EXPECT_THAT(gradOf(x), ElementsAre(60, 60));
}

TEST(HookTest, OfLeaves) {
  const Tensor x = leaf({1});
  int calls = 0;
  x.registerHook([&](const Tensor &g) {
    ++calls;
    EXPECT_EQ(g.item<double>(), 7) << "the whole gradient of the pass";
    return times(g, -1);
  });
  Add::apply(Scale::apply(x, 3.0), Scale::apply(x, 4.0)).backward();
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(gradOf(x), ElementsAre(-7));
}

TEST(HookTest, Removed) {
  const Tensor x = leaf({1}), y = Scale::apply(x, 2.0);
  int calls = 0;
  const auto count = [&](const Tensor &) { ++calls; };
  const uint64_t first = y.registerHook(count), second = y.registerHook(count);
  const uint64_t ofLeaf = x.registerHook(count);
  EXPECT_TRUE(y.removeHook(first));
  EXPECT_FALSE(y.removeHook(first));
  EXPECT_FALSE(y.removeHook(ofLeaf)) << "numbers do not repeat";
  EXPECT_TRUE(x.removeHook(ofLeaf));
  EXPECT_FALSE(Tensor::zeros({1}, DType::F64).removeHook(second));
  y.backward();
  EXPECT_EQ(calls, 1);
}

TEST(HookTest, RemovesItselfWhileItRuns) {
  const Tensor x = leaf({1});
  int calls = 0;
  uint64_t id = 0;
  id = x.registerHook([&](const Tensor &) {
    ++calls;
    EXPECT_TRUE(x.removeHook(id));
    x.registerHook([&](const Tensor &) { calls += 100; }); // from next time on
  });
  Scale::apply(x, 1.0).backward();
  EXPECT_EQ(calls, 1);
  Scale::apply(x, 1.0).backward();
  EXPECT_EQ(calls, 101);
}

TEST(HookTest, RefusesWhatDoesNotFit) {
  const Tensor x = leaf({1, 2}), y = Scale::apply(x, 2.0);
  const Tensor one = Tensor::full({2}, 1, DType::F64);
  uint64_t id = y.registerHook(
      [](const Tensor &) { return Tensor::zeros({3}, DType::F64); });
  EXPECT_ERROR(InvalidArgument,
               "flashtile::Scale: expected a hook of a tensor to give gradient "
               "0 as f64[2] on cpu, but got f64[3] on cpu",
               y.backward(one));
  y.removeHook(id);
  id = y.registerHook(
      [](const Tensor &) { return Tensor::zeros({2}, DType::F32); });
  EXPECT_ERROR(InvalidArgument, "but got f32[2]", y.backward(one));
  y.removeHook(id);
  EXPECT_ERROR(InvalidArgument, "requires a gradient to register a hook",
               one.registerHook([](const Tensor &) {}));
  EXPECT_ERROR(InvalidArgument, "an empty function",
               y.registerHook(autograd::TensorHook()));
  y.backward(one);
  EXPECT_THAT(gradOf(x), ElementsAre(2, 2));
}

TEST(HookTest, OfNodes) {
  const Tensor a = leaf({2}), b = leaf({5});
  const Tensor c = Multiply::apply(a, b);
  std::vector<std::string> order;
  const auto node = c.gradFn();
  const auto pre = node->addPreHook([&](const TensorList &gradOutputs) {
    order.push_back("pre");
    return TensorList{times(gradOutputs[0], 10)};
  });
  const auto post = node->addPostHook(
      [&](const TensorList &gradInputs, const TensorList &gradOutputs) {
        order.push_back("post");
        EXPECT_EQ(gradOutputs[0].item<double>(), 10);
        EXPECT_EQ(gradInputs[0].item<double>(), 50);
        return TensorList{times(gradInputs[0], -1), Tensor()};
      });
  c.registerHook([&](const Tensor &) { order.push_back("tensor"); });
  c.backward({}, /*retainGraph=*/true);
  EXPECT_THAT(order, ElementsAre("tensor", "pre", "post"));
  EXPECT_THAT(gradOf(a), ElementsAre(-50));
  EXPECT_THAT(gradOf(b), ElementsAre(20));
  EXPECT_TRUE(node->removeHook(pre));
  EXPECT_TRUE(node->removeHook(post));
  EXPECT_FALSE(node->removeHook(post));
  c.backward();
  EXPECT_THAT(gradOf(a), ElementsAre(-45));
}

TEST(HookTest, OfNodesRefuseWrongCounts) {
  const Tensor a = leaf({2});
  const Tensor c = Multiply::apply(a, a);
  const auto node = c.gradFn();
  const auto pre = node->addPreHook(
      [](const TensorList &g) { return TensorList{g[0], g[0]}; });
  EXPECT_ERROR(InvalidArgument,
               "expected a pre-hook to give no or 1 gradients, but got 2",
               c.backward());
  node->removeHook(pre);
  node->addPostHook([](const TensorList &, const TensorList &g) { return g; });
  EXPECT_ERROR(InvalidArgument, "expected a post-hook to give no or 2",
               c.backward());
  EXPECT_ERROR(InvalidArgument, "expected an input below 1, but got 1",
               node->addTensorPreHook(1, [](const Tensor &g) { return g; }));
  EXPECT_FALSE(a.grad().defined());
}

namespace {
/// Gives no gradient at all.
struct Severed : autograd::Function<Severed> {
  static TensorList forward(autograd::Context &ctx, const Tensor &a) {
    ctx.setMaterializeGrads(false);
    return {times(a, 1), times(a, 2)};
  }
  static TensorList backward(autograd::Context &, const TensorList &) {
    return {Tensor()};
  }
};
} // namespace

// A hook may give a gradient where there was none, but not one of any kind.
TEST(HookTest, InTheFirstPlace) {
  const Tensor x = leaf({1, 2}), one = Tensor::full({2}, 1, DType::F64);
  const Tensor y = Severed::apply(x)[0];
  const auto node = y.gradFn();
  auto id = node->addPostHook([](const TensorList &, const TensorList &) {
    return TensorList{Tensor::zeros({3}, DType::F32)};
  });
  EXPECT_ERROR(InvalidArgument,
               "expected a post-hook to give gradient 0 as f64[2] on cpu, but "
               "got f32[3] on cpu",
               y.backward(one));
  node->removeHook(id);
  id = node->addPreHook([](const TensorList &gradOutputs) {
    return TensorList{gradOutputs[0], Tensor::zeros({2}, DType::I32)};
  });
  EXPECT_ERROR(InvalidArgument,
               "expected a pre-hook to give gradient 1 as f64[2] on cpu, but "
               "got i32[2] on cpu",
               y.backward(one));
  EXPECT_FALSE(x.grad().defined());
  node->removeHook(id);
  node->addPostHook(
      [&](const TensorList &, const TensorList &) { return TensorList{one}; });
  y.backward(one);
  EXPECT_THAT(gradOf(x), ElementsAre(1, 1));
}

// What a hook gives is off the tape, whatever it was.
TEST(HookTest, ThatGivesAParameter) {
  const Tensor x = leaf({1}), w = leaf({5}), y = Scale::apply(x, 2.0);
  y.registerHook([&](const Tensor &) { return w; });
  const auto found =
      autograd::grad({Scale::apply(y, 1.0)}, {y}, {}, /*retainGraph=*/true);
  EXPECT_EQ(found[0].item<double>(), 5);
  EXPECT_FALSE(found[0].requiresGrad());
  y.backward();
  EXPECT_THAT(gradOf(x), ElementsAre(10));
}

TEST(HookTest, OfTheNodeOfALeaf) {
  const Tensor x = leaf({1});
  std::vector<double> atHook;
  const auto node = autograd::gradAccumulator(x);
  node->addPostHook([&](const TensorList &, const TensorList &gradOutputs) {
    atHook.push_back(gradOutputs[0].item<double>());
    atHook.push_back(gradOf(x)[0]); // is there already
    return TensorList();
  });
  for (int i = 0; i < 2; ++i)
    Scale::apply(x, 3.0).backward();
  EXPECT_THAT(atHook, ElementsAre(3, 3, 3, 6));
  // In a pass that is restricted to inputs as well, once for each.
  const Tensor y = Scale::apply(x, 3.0);
  y.backward({}, /*retainGraph=*/false, {x, x});
  EXPECT_THAT(atHook, ElementsAre(3, 3, 3, 6, 3, 9));
  EXPECT_ERROR(InvalidArgument, "expected a leaf",
               autograd::gradAccumulator(Scale::apply(x, 1.0)));
}

TEST(HookTest, OfTheNodeOfALeafThatThrows) {
  const Tensor x = leaf({1}), y = leaf({2});
  autograd::gradAccumulator(x)->addPostHook(
      [](const TensorList &, const TensorList &) -> TensorList {
        throw std::runtime_error("too late");
      });
  const Tensor z = Multiply::apply(x, y);
  EXPECT_THROW(z.backward(), std::runtime_error);
  // The pass itself was over.
  EXPECT_THAT(gradOf(x), ElementsAre(2));
  EXPECT_THAT(gradOf(y), ElementsAre(1));
  EXPECT_ERROR(InvalidArgument, "freed", z.backward());
}

TEST(HookTest, RetainedGradientsAreWhatHooksLeave) {
  const Tensor x = leaf({1}), y = Scale::apply(x, 2.0);
  y.retainGrad();
  y.registerHook([](const Tensor &g) { return times(g, 5); });
  Scale::apply(y, 1.0).backward();
  EXPECT_THAT(gradOf(y), ElementsAre(5));
  EXPECT_THAT(gradOf(x), ElementsAre(10));
}

TEST(HookTest, CapturedGradientsAreWhatHooksLeave) {
  const Tensor x = leaf({1}), y = Scale::apply(x, 2.0);
  y.registerHook([](const Tensor &g) { return times(g, 5); });
  x.registerHook([](const Tensor &g) { return times(g, 7); });
  const auto found = autograd::grad({Scale::apply(y, 1.0)}, {y, x});
  EXPECT_EQ(found[0].item<double>(), 5);
  EXPECT_EQ(found[1].item<double>(), 70);
}

TEST(HookTest, ThatKeepsTheGradient) {
  const Tensor x = leaf({1});
  Tensor kept;
  x.registerHook([&](const Tensor &g) { kept = g; });
  Scale::apply(x, 3.0).backward();
  Scale::apply(x, 4.0).backward();
  EXPECT_THAT(gradOf(x), ElementsAre(7));
  EXPECT_EQ(kept.item<double>(), 4) << "the sum went elsewhere";
}

TEST(HookTest, ThatWritesInPlace) {
  const Tensor x = leaf({1});
  x.registerHook([](const Tensor &g) { g.fill(9); });
  Scale::apply(x, 3.0).backward();
  EXPECT_THAT(gradOf(x), ElementsAre(9));
}
