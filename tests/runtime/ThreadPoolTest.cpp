//===- ThreadPoolTest.cpp - Parallel loops --------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/ThreadPool.h"

#include "tests/runtime/ExpectError.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace flashtile;

TEST(ThreadPoolTest, RunsEveryIndexOnce) {
  for (unsigned workers : {1u, 2u, 7u}) {
    ThreadPool pool(workers);
    EXPECT_EQ(pool.workerCount(), workers);
    for (int64_t count : {0, 1, 2, 3, 100, 10000}) {
      std::vector<std::atomic<int>> hits(count);
      pool.parallelFor(count, [&](int64_t index, unsigned worker) {
        ASSERT_LT(worker, workers);
        hits[index]++;
      });
      EXPECT_TRUE(std::all_of(hits.begin(), hits.end(),
                              [](auto &hit) { return hit == 1; }));
    }
  }
}

TEST(ThreadPoolTest, WritesOfBodiesAreVisibleAfterTheLoop) {
  ThreadPool pool(4);
  std::vector<int64_t> values(1000);
  for (int round = 0; round < 200; ++round) {
    pool.parallelFor(1000, [&](int64_t i, unsigned) { values[i] += i; });
  }
  for (int64_t i = 0; i < 1000; ++i)
    ASSERT_EQ(values[i], 200 * i);
}

TEST(ThreadPoolTest, WorkerNumbersAreNotSharedWithinALoop) {
  ThreadPool pool(4);
  std::vector<std::atomic<bool>> isBusy(4);
  std::atomic<bool> clash{false};
  pool.parallelFor(2000, [&](int64_t, unsigned worker) {
    if (isBusy[worker].exchange(true))
      clash = true;
    std::this_thread::yield();
    isBusy[worker] = false;
  });
  EXPECT_FALSE(clash);
}

TEST(ThreadPoolTest, SeveralThreadsTakePart) {
  ThreadPool pool(3);
  std::atomic<int> arrived{0};
  // Ends only if three threads are inside at the same time.
  pool.parallelFor(3, [&](int64_t, unsigned) {
    arrived++;
    while (arrived < 3)
      std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 3);
}

TEST(ThreadPoolTest, NegativeCountIsAnError) {
  ThreadPool pool(2);
  EXPECT_ERROR(InvalidArgument, "-5",
               pool.parallelFor(-5, [](int64_t, unsigned) { FAIL(); }));
}

TEST(ThreadPoolTest, PoolWithoutWorkersIsAnError) {
  EXPECT_ERROR(InvalidArgument, "got 0", ThreadPool(0));
}

TEST(ThreadPoolTest, ExceptionReachesTheCallerAndStopsTheLoop) {
  for (unsigned workers : {1u, 4u}) {
    ThreadPool pool(workers);
    std::atomic<int64_t> calls{0};
    std::atomic<int> inside{0};
    try {
      pool.parallelFor(1000000, [&](int64_t index, unsigned) {
        inside++;
        calls++;
        if (index == 3) {
          inside--;
          throw std::runtime_error("index 3");
        }
        inside--;
      });
      FAIL() << "expected the exception of the body";
    } catch (const std::runtime_error &error) {
      EXPECT_STREQ(error.what(), "index 3");
    }
    EXPECT_EQ(inside, 0) << "a thread was still in the loop";
    EXPECT_LT(calls, 1000000);
    // The pool is as good as new.
    std::atomic<int64_t> sum{0};
    pool.parallelFor(100, [&](int64_t index, unsigned) { sum += index; });
    EXPECT_EQ(sum, 4950);
  }
}

TEST(ThreadPoolTest, ManyExceptionsGiveOne) {
  ThreadPool pool(4);
  for (int round = 0; round < 50; ++round)
    EXPECT_THROW(pool.parallelFor(64, [](int64_t i, unsigned) { throw i; }),
                 int64_t);
}

TEST(ThreadPoolTest, NestedLoopRunsInline) {
  ThreadPool pool(3), other(2);
  std::atomic<int> calls{0};
  pool.parallelFor(16, [&](int64_t, unsigned) {
    const auto thread = std::this_thread::get_id();
    for (ThreadPool *inner : {&pool, &other})
      inner->parallelFor(8, [&](int64_t, unsigned worker) {
        EXPECT_EQ(std::this_thread::get_id(), thread);
        EXPECT_EQ(worker, 0u);
        calls++;
      });
  });
  EXPECT_EQ(calls, 16 * 8 * 2);
}

TEST(ThreadPoolTest, LoopOfOneLeavesThePoolToNestedLoops) {
  ThreadPool pool(2);
  std::atomic<int> arrived{0};
  pool.parallelFor(1, [&](int64_t, unsigned) {
    pool.parallelFor(2, [&](int64_t, unsigned) {
      arrived++;
      while (arrived < 2)
        std::this_thread::yield();
    });
  });
  EXPECT_EQ(arrived, 2);
}

TEST(ThreadPoolTest, NestedExceptionPassesThrough) {
  ThreadPool pool(3);
  EXPECT_THROW(pool.parallelFor(8,
                                [&](int64_t, unsigned) {
                                  pool.parallelFor(4, [](int64_t i, unsigned) {
                                    if (i == 2)
                                      throw std::out_of_range("inner");
                                  });
                                }),
               std::out_of_range);
}

TEST(ThreadPoolTest, ManyThreadsUseOnePool) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<int> failures{0};
  for (int caller = 0; caller < 6; ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 100; ++round) {
        const int64_t count = 1 + (caller * 37 + round * 11) % 200;
        std::atomic<int64_t> sum{0};
        const bool throws = round % 10 == 9;
        try {
          pool.parallelFor(count, [&](int64_t index, unsigned) {
            if (throws)
              throw caller;
            sum += index;
          });
          failures += throws || sum != count * (count - 1) / 2;
        } catch (int who) {
          failures += who != caller;
        }
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(failures, 0);
}

TEST(ThreadPoolTest, BodyIsNotCopied) {
  struct Body {
    int calls = 0;
    Body() = default;
    Body(const Body &) = delete;
    void operator()(int64_t, unsigned) { ++calls; }
  };
  ThreadPool pool(1);
  Body body;
  pool.parallelFor(5, body);
  EXPECT_EQ(body.calls, 5);
}

TEST(ThreadPoolTest, CreationAndDestructionInARow) {
  for (int i = 0; i < 50; ++i) {
    ThreadPool pool(4);
    if (i % 2)
      pool.parallelFor(8, [](int64_t, unsigned) {});
  }
}

TEST(ThreadPoolTest, IdlePoolDoesNotBurnCpu) {
  ThreadPool pool(4);
  pool.parallelFor(100, [](int64_t, unsigned) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto cpuTime = [] {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec * 1000.0 + usage.ru_utime.tv_usec / 1000.0 +
           usage.ru_stime.tv_sec * 1000.0 + usage.ru_stime.tv_usec / 1000.0;
  };
  const double before = cpuTime();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(cpuTime() - before, 50.0) << "milliseconds of CPU while idle";
}

TEST(ThreadPoolTest, AffinityMaskLimitsTheDefault) {
  unsetenv("FLASHTILE_NUM_THREADS");
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  EXPECT_EQ(ThreadPool::defaultWorkerCount(),
            static_cast<unsigned>(CPU_COUNT(&all)));
  // In a thread of its own, whose mask ends with it.
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &all)) {
        CPU_SET(cpu, &one);
        break;
      }
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(ThreadPool::defaultWorkerCount(), 1u);
  }).join();
}

TEST(ThreadPoolTest, GlobalPoolIsOne) {
  EXPECT_EQ(&ThreadPool::global(), &ThreadPool::global());
  std::atomic<int> calls{0};
  ThreadPool::global().parallelFor(10, [&](int64_t, unsigned) { calls++; });
  EXPECT_EQ(calls, 10);
}

TEST(ThreadPoolTest, ForkedChildRunsItsLoopsAlone) {
  ThreadPool pool(3);
  // Many times, since the workers may be anywhere, in the mutex as well.
  for (int round = 0; round < 20; ++round) {
    pool.parallelFor(10, [](int64_t, unsigned) {});
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(20); // a deadlock ends as a failure
      int calls = 0;
      const auto self = std::this_thread::get_id();
      pool.parallelFor(50, [&](int64_t, unsigned) {
        calls += std::this_thread::get_id() == self;
      });
      pool.~ThreadPool();
      _exit(calls == 50 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(WEXITSTATUS(status), 0);
  }
  std::atomic<int> calls{0};
  pool.parallelFor(50, [&](int64_t, unsigned) { calls++; });
  EXPECT_EQ(calls, 50) << "the parent is not concerned";
}

TEST(ThreadPoolDeathTest, ExitFromABodyEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        setenv("FLASHTILE_NUM_THREADS", "3", 1);
        std::atomic<int> arrived{0};
        ThreadPool::global().parallelFor(3, [&](int64_t, unsigned worker) {
          arrived++;
          while (arrived < 3)
            std::this_thread::yield();
          if (worker == 2)
            exit(42);
          // The others are still inside when the process ends.
          std::this_thread::sleep_for(std::chrono::seconds(20));
        });
      },
      testing::ExitedWithCode(42), "");
}
