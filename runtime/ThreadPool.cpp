//===- ThreadPool.cpp - Loops spread over the CPUs ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop lives on the stack of its caller. Workers find it in a list, under
// the mutex, and count themselves in and out under the mutex too; once the
// caller has taken the loop off the list and the count is 0, nobody can touch
// it. Indices are handed out by one atomic counter without the mutex.
//
//===----------------------------------------------------------------------===//

#include "runtime/ThreadPool.h"

#include "compiler/Support/Error.h"
#include "runtime/EnvOptions.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>

using namespace flashtile;

/// Whether the calling thread is inside of a body.
static thread_local bool isInsideLoop = false;

/// How long an idle thread polls before it sleeps: longer than the host takes
/// from the end of one kernel to the start of the next, so that a sequence of
/// kernels does not wake its threads each time, and too short to matter once
/// the process idles.
static constexpr std::chrono::microseconds spinTime(30);

static void pauseCpu() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Polls until `isDone()` or until spinTime has passed.
template <typename Predicate>
static void spinUntil(Predicate isDone) {
  const auto end = std::chrono::steady_clock::now() + spinTime;
  do {
    for (int i = 0; i < 16; ++i) {
      if (isDone())
        return;
      pauseCpu();
    }
  } while (std::chrono::steady_clock::now() < end);
}

/// How many forks lie between the first process and this one. A pool that was
/// created with another number has no threads here, and its mutex may have been
/// held, for good, by one of them.
static std::atomic<unsigned> forkCount{0};

static unsigned watchForks() {
  static const int failure =
      pthread_atfork(nullptr, nullptr, [] { forkCount.fetch_add(1); });
  if (failure)
    throw Error(ErrorCode::OutOfMemory,
                "cannot register a fork handler: " +
                    std::generic_category().message(failure));
  return forkCount.load(std::memory_order_relaxed);
}

struct ThreadPool::Loop {
  Loop(int64_t count, BodyFunction function, const void *target,
       unsigned workers)
      : count(static_cast<uint64_t>(count)), function(function), target(target),
        // Small enough that unequal programs even out, large enough that the
        // counter is not contended.
        chunk(std::max<uint64_t>(1, this->count / (uint64_t(workers) * 16))) {}

  bool hasWork() const { return next.load(std::memory_order_relaxed) < count; }
  void work(unsigned worker);

  const uint64_t count;
  const BodyFunction function;
  const void *const target;
  const uint64_t chunk;
  /// Exceeds `count` by at most one chunk per worker, hence unsigned.
  std::atomic<uint64_t> next{0};
  std::atomic<bool> hasFailed{false};
  std::exception_ptr failure;      ///< written by whoever set hasFailed
  std::atomic<unsigned> active{0}; ///< workers inside; the caller not counted
};

void ThreadPool::Loop::work(unsigned worker) {
  isInsideLoop = true;
  try {
    while (!hasFailed.load(std::memory_order_relaxed)) {
      const uint64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= count)
        break;
      const uint64_t end = std::min(begin + chunk, count);
      for (uint64_t i = begin; i < end; ++i) {
        if (hasFailed.load(std::memory_order_relaxed))
          break;
        function(target, static_cast<int64_t>(i), worker);
      }
    }
  } catch (...) {
    if (!hasFailed.exchange(true))
      failure = std::current_exception();
    next.store(count, std::memory_order_relaxed);
  }
  isInsideLoop = false;
}

struct ThreadPool::State {
  explicit State(unsigned workers) : workers(workers), forks(watchForks()) {}

  void runWorker(unsigned worker);
  Loop *findLoop() const;
  void stop();
  bool isWorker(std::thread::id id) const;
  bool isInherited() const {
    return forks != forkCount.load(std::memory_order_relaxed);
  }

  const unsigned workers;
  const unsigned forks; ///< forkCount at the creation
  std::mutex mutex;
  std::condition_variable wake; ///< a loop came, or the end
  std::condition_variable left; ///< a worker left a loop
  std::vector<Loop *> loops;
  std::atomic<uint64_t> submissions{0}; ///< what idle workers poll
  bool isStopping = false;
  std::vector<std::thread> threads;
};

ThreadPool::Loop *ThreadPool::State::findLoop() const {
  for (Loop *loop : loops)
    if (loop->hasWork())
      return loop;
  return nullptr;
}

void ThreadPool::State::runWorker(unsigned worker) {
  std::unique_lock<std::mutex> lock(mutex);
  bool hasSpun = false;
  while (true) {
    if (Loop *loop = findLoop()) {
      loop->active.fetch_add(1, std::memory_order_relaxed);
      lock.unlock();
      loop->work(worker);
      lock.lock();
      // Releases to the caller what the bodies wrote.
      loop->active.fetch_sub(1, std::memory_order_release);
      left.notify_all();
      hasSpun = false;
    } else if (isStopping) {
      return;
    } else if (!hasSpun) {
      const uint64_t seen = submissions.load(std::memory_order_relaxed);
      lock.unlock();
      spinUntil(
          [&] { return submissions.load(std::memory_order_relaxed) != seen; });
      lock.lock();
      hasSpun = true;
    } else {
      wake.wait(lock);
    }
  }
}

void ThreadPool::State::stop() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isStopping = true;
    submissions.fetch_add(1, std::memory_order_relaxed);
  }
  wake.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

bool ThreadPool::State::isWorker(std::thread::id id) const {
  return std::any_of(threads.begin(), threads.end(),
                     [&](const std::thread &t) { return t.get_id() == id; });
}

ThreadPool::ThreadPool(unsigned workers) {
  if (workers == 0)
    throw Error(ErrorCode::InvalidArgument,
                "expected a thread pool of 1 or more workers, but got 0");
  state = std::make_unique<State>(workers);
  state->threads.reserve(workers - 1);
  try {
    for (unsigned i = 1; i < workers; ++i)
      state->threads.emplace_back([s = state.get(), i] { s->runWorker(i); });
  } catch (const std::system_error &error) {
    state->stop();
    throw Error(ErrorCode::OutOfMemory,
                "cannot start worker " +
                    std::to_string(state->threads.size() + 1) + " of " +
                    std::to_string(workers) + ": " + error.what());
  }
}

ThreadPool::~ThreadPool() {
  // In a forked child there is nobody to join, and a body that calls exit()
  // runs this on a worker, which cannot join itself. The process ends in both
  // cases; what is left of the pool ends with it.
  if (state->isInherited() || state->isWorker(std::this_thread::get_id()))
    static_cast<void>(state.release());
  else
    state->stop();
}

ThreadPool &ThreadPool::global() {
  static ThreadPool pool(defaultWorkerCount());
  return pool;
}

unsigned ThreadPool::defaultWorkerCount() {
  if (const unsigned wanted = EnvOptions::read().numThreads)
    return wanted;
  // A machine may have more CPUs than cpu_set_t has bits; then the kernel
  // refuses the small mask.
  for (int bits = CPU_SETSIZE; bits <= 1 << 16; bits *= 2) {
    const size_t bytes = CPU_ALLOC_SIZE(bits);
    std::vector<unsigned long> mask(bytes / sizeof(unsigned long));
    auto *set = reinterpret_cast<cpu_set_t *>(mask.data());
    if (sched_getaffinity(0, bytes, set) == 0)
      return static_cast<unsigned>(std::max(1, CPU_COUNT_S(bytes, set)));
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

unsigned ThreadPool::workerCount() const { return state->workers; }

void ThreadPool::run(int64_t count, BodyFunction function, const void *target) {
  if (count < 0)
    throw Error(ErrorCode::InvalidArgument,
                "expected a loop of 0 or more indices, but got " +
                    std::to_string(count));
  if (count <= 1 || state->workers == 1 || isInsideLoop ||
      state->isInherited()) {
    for (int64_t i = 0; i < count; ++i)
      function(target, i, 0);
    return;
  }

  Loop loop(count, function, target, state->workers);
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->loops.push_back(&loop);
    state->submissions.fetch_add(1, std::memory_order_relaxed);
  }
  const int64_t helpers = std::min<int64_t>(count - 1, state->workers - 1);
  if (helpers == state->workers - 1)
    state->wake.notify_all();
  else
    for (int64_t i = 0; i < helpers; ++i)
      state->wake.notify_one();

  loop.work(0);

  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->loops.erase(
        std::find(state->loops.begin(), state->loops.end(), &loop));
  }
  // From here on no worker can enter; those inside finish their last index.
  const auto isDone = [&] {
    return loop.active.load(std::memory_order_acquire) == 0;
  };
  spinUntil(isDone);
  if (!isDone()) {
    std::unique_lock<std::mutex> lock(state->mutex);
    state->left.wait(lock, isDone);
  }
  if (loop.failure)
    std::rethrow_exception(loop.failure);
}
