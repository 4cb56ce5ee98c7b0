//===- RegisterBudget.h - Registers of warp roles on Hopper ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block whose warps have roles starts with the same number of registers in
// each thread and then moves some from its producers to its consumers, by
// setmaxnreg. There are only those that it started with: a consumer that asks
// for more waits forever. The compiler gives them out by this, and who chooses
// tiles asks what will be there.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_SUPPORT_REGISTERBUDGET_H
#define FLASHTILE_COMPILER_SUPPORT_REGISTERBUDGET_H

#include <algorithm>
#include <cstdint>

namespace flashtile {

/// Of a thread.
struct RegisterBudget {
  int64_t producer, consumer;
};

/// For one warpgroup of producers and `warpgroups` of consumers, 1 to 15, each
/// of 128 threads. With C consumers' registers and P of a producer,
///   warpgroups * C + P <= (warpgroups + 1) * start
/// where `start` is 65536 / threads, rounded down to a multiple of 8: {24, 240}
/// for two, {32, 160} for three, {32, 112} for four.
constexpr RegisterBudget registersOfRoles(int64_t warpgroups) {
  constexpr int64_t kAll = 65536, kThreads = 128, kStep = 8;
  // What setmaxnreg takes; and what a producer needs, and can use.
  constexpr int64_t kMost = 256, kFewestProducer = 24, kMostProducer = 56;
  const int64_t start = kAll / ((warpgroups + 1) * kThreads) / kStep * kStep;
  const int64_t total = (warpgroups + 1) * start;
  const int64_t consumer =
      std::min(kMost, (total - kFewestProducer) / warpgroups / kStep * kStep);
  return {std::min(kMostProducer, total - warpgroups * consumer), consumer};
}

} // namespace flashtile

#endif // FLASHTILE_COMPILER_SUPPORT_REGISTERBUDGET_H
