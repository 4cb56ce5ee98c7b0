//===- ThreadPool.h - Loops spread over the CPUs --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the grid of a kernel. The calling thread works as well and can finish a
// loop alone, so a loop never waits for a thread to become free: any number of
// threads may call at once, and a pool of one starts no thread at all.
//
// Fork safety: a forked child has none of the workers of a pool that it
// inherits, so it runs the loops of that pool on the calling thread, whatever
// the other threads were doing during the fork. A new pool has threads again.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_THREADPOOL_H
#define FLASHTILE_RUNTIME_THREADPOOL_H

#include <cstdint>
#include <memory>
#include <type_traits>

namespace flashtile {

class ThreadPool {
public:
  /// A pool whose loops run on up to `workers` threads, the caller's included.
  /// Throws InvalidArgument for 0 and OutOfMemory if a thread cannot start.
  explicit ThreadPool(unsigned workers);
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;
  /// Waits for the workers. No loop may be running.
  ~ThreadPool();

  /// The pool of this process, with defaultWorkerCount() workers, created at
  /// the first call and destroyed at exit.
  static ThreadPool &global();

  /// FLASHTILE_NUM_THREADS, or else the number of CPUs in the affinity mask of
  /// the calling thread (`taskset -c 1` gives 1).
  static unsigned defaultWorkerCount();

  unsigned workerCount() const;

  /// Calls `body(int64_t index, unsigned worker)` once for each index from 0
  /// to count - 1, in no particular order, and returns when all calls have
  /// returned. `worker`, below workerCount(), differs between the threads that
  /// take part in this loop: use it to find scratch memory of this loop.
  ///
  /// A loop inside of a body runs on the thread of that body. After an
  /// exception no further index starts, and the first exception is thrown from
  /// here once all threads have left the loop. Throws InvalidArgument for a
  /// negative count.
  template <typename Body>
  void parallelFor(int64_t count, Body &&body) {
    using Target = std::remove_reference_t<Body>;
    run(
        count,
        [](const void *target, int64_t index, unsigned worker) {
          (*const_cast<Target *>(static_cast<const Target *>(target)))(index,
                                                                       worker);
        },
        &body);
  }

private:
  using BodyFunction = void (*)(const void *target, int64_t index,
                                unsigned worker);
  struct Loop;
  struct State;

  void run(int64_t count, BodyFunction function, const void *target);

  std::unique_ptr<State> state;
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_THREADPOOL_H
