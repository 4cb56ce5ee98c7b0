//===- LaunchTimer.h - How long a launch takes ----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One way to measure for the autotuner, the benchmarks and applications: after
// warming up, several groups of launches, of which the median counts. On a GPU
// groups are timed there, by events, so that what the host does between
// launches does not count as long as the queue does not run empty. Launches
// that are not counted go before each group, so that it does not begin empty.
// Where the host takes longer for a launch than the device, groups can be
// graphs.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_LAUNCHTIMER_H
#define FLASHTILE_RUNTIME_LAUNCHTIMER_H

#include "runtime/Device.h"

#include <functional>
#include <limits>
#include <vector>

namespace flashtile {

struct TimingOptions {
  /// Launches before the measurement, the first included; fewer where they take
  /// longer than `warmupMilliseconds` together.
  int warmups = 10;
  double warmupMilliseconds = 1000;
  int groups = 5;
  /// Launches of a group: as many as take about `groupMilliseconds`, at least 1
  /// and at most `maxLaunches`.
  double groupMilliseconds = 20;
  int maxLaunches = 100;
  /// The device rests this long before the launches that are measured: a GPU
  /// that has worked for a while is slower, for the power it may take.
  double restMilliseconds = 0;
  /// A launch that took longer than this while warming up is not measured any
  /// further.
  double limitMilliseconds = std::numeric_limits<double>::infinity();
  /// On a GPU: groups are recorded once and then launched as graphs, so that
  /// the host's time for each launch does not count. All launches then go into
  /// a stream of their own, and none may allocate or wait.
  bool graphs = false;
};

struct Timing {
  /// Of one launch: the median of `groups`, or the best launch while warming up
  /// where that was beyond the limit.
  double milliseconds = 0;
  /// The first launch, from the call until its work was done, on the host's
  /// clock.
  double firstMilliseconds = 0;
  /// Of one launch, for each group in order; empty beyond the limit.
  std::vector<double> groups;
  int launchesPerGroup = 0;
};

/// Times `launch`, which puts the same work into the current stream of `device`
/// each time, or does it where that is the cpu. What `launch` throws, and what
/// the device reports of its work, is thrown from here. Throws InvalidArgument
/// for options that leave nothing to measure and while the stream is captured.
Timing timeLaunches(Device device, const std::function<void()> &launch,
                    const TimingOptions &options = {});

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_LAUNCHTIMER_H
