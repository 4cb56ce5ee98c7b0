//===- FlashAttentionTestThreads.cpp - Many callers at once ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FlashAttentionTestSupport.h"

#include "runtime/Jit.h"

#include <atomic>
#include <thread>

using namespace flashtile;

/// Runs `body(thread)` on `count` threads that start together.
template <typename Body>
static void onThreads(int count, Body body) {
  std::atomic<int> waiting = count;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < count; ++thread)
    threads.emplace_back([&, thread] {
      --waiting;
      while (waiting > 0)
        std::this_thread::yield();
      body(thread);
    });
  for (std::thread &thread : threads)
    thread.join();
}

static Problem problemOf(int which) {
  auto problem = randomProblem({1, 2, 40 + which, 16}, {1, 2, 70, 16},
                               which % 2 ? DType::F32 : DType::BF16,
                               which % 3 == 0, which + 1);
  return problem;
}

// Nothing is compiled yet: all threads ask for the same kernel, and for others.
TEST(FlashAttentionThreads, FirstCallsRace) {
  constexpr int kThreads = 12;
  std::vector<FlashAttentionResult> same(kThreads), own(kThreads);
  Problem shared = randomProblem({1, 2, 50, 48}, {1, 2, 50, 48}, DType::F16);
  onThreads(kThreads, [&](int thread) {
    same[thread] = flashAttention(shared.q, shared.k, shared.v);
    Problem problem = problemOf(thread);
    own[thread] =
        flashAttention(problem.q, problem.k, problem.v, problem.options);
  });
  auto expected = expectAccurate(shared);
  for (int thread = 0; thread < kThreads; ++thread) {
    SCOPED_TRACE(thread);
    expectSameBits(same[thread], expected);
    expectSameBits(own[thread], attend(problemOf(thread)));
  }
}

TEST(FlashAttentionThreads, LaunchesRace) {
  constexpr int kThreads = 8;
  std::vector<FlashAttentionResult> expected;
  for (int which = 0; which < kThreads; ++which)
    expected.push_back(attend(problemOf(which)));
  std::atomic<int> wrong = 0;
  onThreads(kThreads, [&](int thread) {
    for (int round = 0; round < 50; ++round) {
      int which = (thread + round) % kThreads;
      Problem problem = problemOf(which);
      auto result =
          flashAttention(problem.q, problem.k, problem.v, problem.options);
      if (!sameBits(result.o, expected[which].o) ||
          !sameBits(result.lse, expected[which].lse))
        ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

// Forgetting compiled code takes nothing from those who run it.
TEST(FlashAttentionThreads, CacheIsClearedMeanwhile) {
  Problem problem = problemOf(0);
  auto expected = attend(problem);
  std::atomic<int> wrong = 0;
  onThreads(4, [&](int thread) {
    for (int round = 0; round < 50; ++round) {
      if (thread == 0) {
        Jit::clearCache();
        continue;
      }
      auto result =
          flashAttention(problem.q, problem.k, problem.v, problem.options);
      wrong += !sameBits(result.o, expected.o);
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(FlashAttentionThreads, ErrorsLeaveTheOthersAlone) {
  Problem good = problemOf(1);
  auto expected = attend(good);
  std::atomic<int> wrong = 0;
  onThreads(6, [&](int thread) {
    for (int round = 0; round < 20; ++round) {
      Problem problem = good;
      if (thread % 2)
        problem.options.blockM = -1;
      try {
        auto result =
            flashAttention(problem.q, problem.k, problem.v, problem.options);
        wrong += thread % 2 || !sameBits(result.o, expected.o);
      } catch (const Error &) {
        wrong += thread % 2 == 0;
      }
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(FlashAttentionThreads, KernelIsKept) {
  Problem problem = problemOf(2);
  Kernel first =
      flashAttentionKernel(problem.q, problem.k, problem.v, problem.options);
  EXPECT_EQ(first.name(), "flash_attention_forward");
  problem.options.causal = true;
  Kernel causal =
      flashAttentionKernel(problem.q, problem.k, problem.v, problem.options);
  EXPECT_EQ(causal.name(), "flash_attention_forward_causal");
}
