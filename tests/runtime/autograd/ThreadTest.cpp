//===- ThreadTest.cpp - Several threads and one tape ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/runtime/autograd/TestFunctions.h"

#include <thread>

using namespace flashtile;
using testing::ElementsAre;

/// Runs `function(number)` on some threads at once.
static void runOnThreads(int count, const std::function<void(int)> &function) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back(function, i);
  for (std::thread &thread : threads)
    thread.join();
}

TEST(ThreadTest, GraphsOfTheirOwn) {
  runOnThreads(8, [](int number) {
    const Tensor x = leaf({double(number)});
    for (int i = 0; i < 50; ++i)
      Multiply::apply(x, Scale::apply(x, 0.5)).backward();
    EXPECT_THAT(gradOf(x), ElementsAre(50.0 * number));
  });
}

TEST(ThreadTest, SharedLeaves) {
  const Tensor w = leaf({1, 2});
  runOnThreads(8, [&](int) {
    for (int i = 0; i < 100; ++i)
      Sum::apply(Scale::apply(w, 3.0)).backward();
  });
  EXPECT_THAT(gradOf(w), ElementsAre(2400, 2400));
}

TEST(ThreadTest, OneRetainedGraph) {
  const Tensor x = leaf({3});
  const Tensor y = Multiply::apply(x, Exponential::apply(Scale::apply(x, 0.0)));
  runOnThreads(8, [&](int) {
    for (int i = 0; i < 50; ++i)
      y.backward({}, /*retainGraph=*/true);
  });
  EXPECT_THAT(gradOf(x), ElementsAre(400));
}

TEST(ThreadTest, BackwardOnAThreadThatRecordedNothing) {
  const Tensor x = leaf({3});
  Tensor y = Multiply::apply(x, x);
  std::thread([y = std::move(y)]() mutable {
    y.backward();
    y = {};
  }).join();
  EXPECT_THAT(gradOf(x), ElementsAre(6));
}

TEST(ThreadTest, GradModeIsTheThreadsOwn) {
  const NoGradGuard noGrad;
  std::thread([] {
    EXPECT_TRUE(GradMode::isEnabled());
    GradMode::setEnabled(false);
  }).join();
  EXPECT_FALSE(GradMode::isEnabled());
}

TEST(ThreadTest, HooksComeAndGoDuringPasses) {
  const Tensor x = leaf({1});
  const Tensor y = Scale::apply(x, 1.0);
  std::atomic<bool> isDone{false};
  std::atomic<int> calls{0};
  std::thread changer([&] {
    while (!isDone) {
      const auto id = y.registerHook([&](const Tensor &) { ++calls; });
      EXPECT_TRUE(y.removeHook(id));
    }
  });
  for (int i = 0; i < 500; ++i)
    y.backward({}, /*retainGraph=*/true);
  isDone = true;
  changer.join();
  EXPECT_THAT(gradOf(x), ElementsAre(500));
}

TEST(ThreadTest, ExceptionsStayWithTheirThread) {
  const Tensor x = leaf({1});
  const Tensor bad = Scale::apply(x, 1.0);
  bad.registerHook([](const Tensor &) { throw 7; });
  runOnThreads(4, [&](int number) {
    for (int i = 0; i < 50; ++i)
      if (number % 2)
        EXPECT_THROW(bad.backward({}, true), int);
      else
        Scale::apply(x, 2.0).backward();
  });
  EXPECT_THAT(gradOf(x), ElementsAre(200));
}
