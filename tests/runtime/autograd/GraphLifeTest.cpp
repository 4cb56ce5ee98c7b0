//===- GraphLifeTest.cpp - What is saved, freed and overwritten -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Jit.h"
#include "tests/runtime/autograd/TestFunctions.h"

#include <pthread.h>

using namespace flashtile;
using testing::ElementsAre;

TEST(GraphLifeTest, SecondBackward) {
  const Tensor x = leaf({1, 2});
  const Tensor y = Sum::apply(Multiply::apply(x, x));
  y.backward({}, /*retainGraph=*/true);
  y.backward();
  EXPECT_THAT(gradOf(x), ElementsAre(4, 8));
  EXPECT_ERROR(InvalidArgument,
               "flashtile::Multiply: what forward saved was freed by an "
               "earlier backward; pass retainGraph = true",
               y.backward());
  EXPECT_THAT(gradOf(x), ElementsAre(4, 8)) << "nothing was added";
}

TEST(GraphLifeTest, PartOfAGraphThatWasFreed) {
  const Tensor x = leaf({2});
  const Tensor shared = Multiply::apply(x, x);
  const Tensor a = Scale::apply(shared, 2.0), b = Scale::apply(shared, 3.0);
  a.backward();
  EXPECT_ERROR(InvalidArgument, "freed by an earlier backward", b.backward());
  EXPECT_THAT(gradOf(x), ElementsAre(8));
  // A new graph on top of the same leaves is fine.
  Multiply::apply(x, x).backward();
  EXPECT_THAT(gradOf(x), ElementsAre(12));
}

TEST(GraphLifeTest, OperandWrittenToAfterForward) {
  const Tensor x = leaf({1, 2}), w = Tensor::full({2}, 3, DType::F64);
  const Tensor y = Sum::apply(Multiply::apply(x, w));
  w.narrow(0, 1, 1).fill(9); // by any view of it
  EXPECT_ERROR(InvalidArgument,
               "flashtile::Multiply: saved tensor 1, f64[2] on cpu, was "
               "written to after forward: it is at version 2, but was saved "
               "at version 1",
               y.backward());
  EXPECT_FALSE(x.grad().defined());
}

TEST(GraphLifeTest, ResultWrittenToAfterForward) {
  const Tensor x = leaf({1, 2});
  const Tensor y = Exponential::apply(x);
  y.detach().set({0}, 5);
  EXPECT_ERROR(InvalidArgument, "saved tensor 0",
               y.backward(Tensor::zeros({2}, DType::F64)));
}

TEST(GraphLifeTest, WriteBetweenPassesOfARetainedGraph) {
  const Tensor x = leaf({1, 2});
  const Tensor y = Sum::apply(Multiply::apply(x, x));
  y.backward({}, /*retainGraph=*/true);
  {
    const NoGradGuard noGrad;
    x.fill(7);
  }
  EXPECT_ERROR(InvalidArgument, "was written to after forward", y.backward());
  EXPECT_THAT(gradOf(x), ElementsAre(2, 4));
}

TEST(GraphLifeTest, UpdateOfALeafBetweenSteps) {
  const Tensor x = leaf({4});
  for (int step = 0; step < 3; ++step) {
    Multiply::apply(x, x).backward(); // 2 x
    const NoGradGuard noGrad;
    x.copyFrom(
        zip(x, x.grad(), [](double a, double b) { return a - 0.25 * b; }));
    x.setGrad();
  }
  EXPECT_DOUBLE_EQ(x.item<double>(), 0.5);
}

TEST(GraphLifeTest, WritesThatTheTapeWouldMiss) {
  const Tensor x = leaf({1, 2}), y = Scale::apply(x, 2.0);
  EXPECT_ERROR(InvalidArgument, "fill() of f64[2] on cpu, which requires",
               x.fill(0));
  EXPECT_ERROR(InvalidArgument, "set() of", y.set({0}, 1));
  EXPECT_ERROR(InvalidArgument, "copyFrom() of", y.copyFrom(x.detach()));
  EXPECT_ERROR(InvalidArgument, "copyFrom with a source() of",
               Tensor::zeros({2}, DType::F64).copyFrom(x));
  EXPECT_ERROR(InvalidArgument, "fill() of", x.narrow(0, 0, 1).fill(0));
  EXPECT_THAT(x.toVector<double>(), ElementsAre(1, 2));
  x.detach().fill(3);
  EXPECT_THAT(x.toVector<double>(), ElementsAre(3, 3));
}

TEST(GraphLifeTest, LaunchesThatWrite) {
  const Kernel kernel = Jit()
                            .compile(R"(
    tile.kernel @copy(%x: !tile.ptr<f64>, %y: !tile.ptr<f64>) grid() -> (1) {
      %value = tile.load %x : !tile.ptr<f64>
      tile.store %y, %value : !tile.ptr<f64>
      tile.return
    })")
                            .kernel();
  const Tensor x = leaf({1}), y = leaf({2});
  const Tensor z = Multiply::apply(x, y);
  EXPECT_ERROR(InvalidArgument,
               "expected argument 'y' to be ptr<f64>, but got a tensor f64[1] "
               "on cpu, which requires a gradient, and the kernel writes to it",
               kernel(x, y));
  EXPECT_EQ(y.item<double>(), 2);
  kernel(x, z.detach()); // reads x, and writes to what is not saved
  z.backward({}, /*retainGraph=*/true);
  {
    const NoGradGuard noGrad;
    kernel(x, y);
  }
  EXPECT_EQ(y.item<double>(), 1);
  EXPECT_ERROR(InvalidArgument, "saved tensor 1, f64[1] on cpu, was written to",
               z.backward());
}

TEST(GraphLifeTest, GraphsEndWithTheirTensors) {
  std::weak_ptr<autograd::Node> first, second;
  const Tensor x = leaf({1});
  {
    const Tensor y = Exponential::apply(x); // saves its own result
    const Tensor z = Multiply::apply(y, y);
    first = y.gradFn();
    second = z.gradFn();
  }
  EXPECT_TRUE(first.expired());
  EXPECT_TRUE(second.expired());
}

TEST(GraphLifeTest, AGraphOutlivesTheTensorsItWasMadeOf) {
  const Tensor x = leaf({2});
  Tensor z;
  {
    const Tensor y = Exponential::apply(x), w = leaf({3});
    z = Multiply::apply(y, w);
  }
  z.backward();
  EXPECT_DOUBLE_EQ(gradOf(x)[0], 3 * std::exp(2.0));
}

TEST(GraphLifeTest, FreedGraphWithOutstandingTensors) {
  const Tensor x = leaf({2});
  const Tensor y = Exponential::apply(x), z = Multiply::apply(y, y);
  z.backward();
  // Values and flags are what they were; only the way back is gone.
  EXPECT_DOUBLE_EQ(y.item<double>(), std::exp(2.0));
  EXPECT_TRUE(z.requiresGrad());
  EXPECT_NE(z.gradFn(), nullptr);
  const Tensor more = Scale::apply(z, 2.0);
  EXPECT_ERROR(InvalidArgument, "freed", more.backward());
}

TEST(GraphLifeTest, SavedMemoryIsFreedAfterBackward) {
  bool isFreed = false;
  const Tensor x = leaf({1, 1});
  static double values[2] = {3, 4};
  Tensor y;
  {
    const Tensor w =
        Tensor::fromBlob(values, {2}, DType::F64, [&] { isFreed = true; });
    y = Sum::apply(Multiply::apply(x, w));
  }
  EXPECT_FALSE(isFreed);
  y.backward({}, /*retainGraph=*/true);
  EXPECT_FALSE(isFreed);
  y.backward();
  EXPECT_TRUE(isFreed) << "although y is still here";
}

TEST(GraphLifeTest, NothingIsSavedWhereNothingIsRecorded) {
  bool isFreed = false;
  static double values[2] = {3, 4};
  Tensor y;
  {
    const Tensor w =
        Tensor::fromBlob(values, {2}, DType::F64, [&] { isFreed = true; });
    y = Multiply::apply(w, w);
  }
  EXPECT_TRUE(isFreed);
  EXPECT_FALSE(y.requiresGrad());
}

namespace {
/// Runs `function` on a thread with little stack.
void runOnSmallStack(const std::function<void()> &function) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 256 * 1024), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void *argument) -> void * {
                  (*static_cast<const std::function<void()> *>(argument))();
                  return nullptr;
                },
                const_cast<std::function<void()> *>(&function)),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}
} // namespace

TEST(GraphLifeTest, DeepGraphsNeedNoDeepStack) {
  constexpr int depth = 100000;
  runOnSmallStack([] {
    const Tensor x = leaf({1});
    Tensor y = x;
    for (int i = 0; i < depth; ++i)
      y = i % 2 ? Exponential::apply(Scale::apply(y, 0.0))
                : y.unsqueeze(0).squeeze(0);
    y.backward();
    EXPECT_THAT(gradOf(x), ElementsAre(0));
    y = {}; // after the pass
    Tensor z = x;
    for (int i = 0; i < depth; ++i)
      z = Multiply::apply(z, z);
    z = {}; // without one: saved tensors hang from saved tensors
    for (int i = 0; i < depth; ++i)
      z = i == 0 ? Scale::apply(x, 1.0) : z.expand({1});
    const Tensor captured = autograd::grad({z}, {x})[0];
    EXPECT_EQ(captured.item<double>(), 1);
  });
}
