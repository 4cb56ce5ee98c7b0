//===- LaunchTimer.cpp - How long a launch takes --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/LaunchTimer.h"

#include "compiler/Support/Error.h"
#include "runtime/cuda/CudaStream.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

using namespace flashtile;

namespace {
using Clock = std::chrono::steady_clock;

/// Runs launches on a device and says how long they took.
class Stopwatch {
public:
  explicit Stopwatch(Device device) {
    if (!device.isCuda())
      return;
    CudaDevice &gpu = CudaDevice::get(device);
    stream = CudaStream::current(gpu);
    if (stream->isCapturing())
      throw Error(ErrorCode::InvalidArgument,
                  "cannot measure launches while " + stream->describe() +
                      " is captured: measure, or tune, before");
    begin.emplace(gpu, CudaEvent::Timing::On);
    end.emplace(gpu, CudaEvent::Timing::On);
  }

  /// One launch, by the host's clock.
  double single(const std::function<void()> &launch) const {
    const auto start = Clock::now();
    launch();
    if (stream)
      stream->synchronize();
    return since(start);
  }

  /// Records groups of `count` launches, to be launched as graphs.
  void record(const std::function<void()> &launch, int count) {
    if (!stream)
      return;
    CudaCapture capture(*stream);
    for (int i = 0; i < count; ++i)
      launch();
    graph.emplace(capture.finish());
    // The first launch of a graph takes longer.
    graph->launch(*stream);
  }

  /// One of `count` launches, by the device's clock. About `ahead` launches
  /// come before them.
  double group(const std::function<void()> &launch, int count,
               int ahead) const {
    if (!stream) {
      const auto start = Clock::now();
      for (int i = 0; i < count; ++i)
        launch();
      return since(start) / count;
    }
    if (graph) {
      graph->launch(*stream);
      begin->record(*stream);
      graph->launch(*stream);
    } else {
      for (int i = 0; i < ahead; ++i)
        launch();
      begin->record(*stream);
      for (int i = 0; i < count; ++i)
        launch();
    }
    end->record(*stream);
    end->synchronize();
    return static_cast<double>(end->millisecondsSince(*begin)) / count;
  }

private:
  static double since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start)
        .count();
  }

  std::optional<CudaStream> stream;
  std::optional<CudaEvent> begin, end;
  std::optional<CudaGraph> graph;
};
} // namespace

static void checkOptions(const TimingOptions &options) {
  auto check = [](const char *name, int value) {
    if (value < 1)
      throw Error(ErrorCode::InvalidArgument,
                  std::string("expected ") + name +
                      " of a timing to be at least 1, but got " +
                      std::to_string(value));
  };
  check("warmups", options.warmups);
  check("groups", options.groups);
  check("maxLaunches", options.maxLaunches);
}

static double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle]
                           : (values[middle - 1] + values[middle]) / 2;
}

Timing flashtile::timeLaunches(Device device,
                               const std::function<void()> &launch,
                               const TimingOptions &options) {
  checkOptions(options);
  std::optional<CudaStreamGuard> guard;
  if (options.graphs && device.isCuda()) {
    CudaDevice &gpu = CudaDevice::get(device);
    // What was prepared in the current stream is there when its launches run.
    CudaStream::current(gpu).synchronize();
    guard.emplace(CudaStream::create(gpu));
  }
  Stopwatch stopwatch(device);
  Timing timing;
  timing.firstMilliseconds = stopwatch.single(launch);
  // The first launch loads and allocates: it says little of the others.
  double best = timing.firstMilliseconds, total = timing.firstMilliseconds;
  for (int i = 1; i < options.warmups; ++i) {
    if (total > options.warmupMilliseconds)
      break;
    const double time = stopwatch.single(launch);
    best = std::min(best, time);
    total += time;
  }
  timing.milliseconds = best;
  if (best > options.limitMilliseconds)
    return timing;

  const double fitting = options.groupMilliseconds / std::max(best, 1e-6);
  timing.launchesPerGroup = static_cast<int>(
      std::clamp(fitting, 1.0, static_cast<double>(options.maxLaunches)));
  if (options.graphs)
    stopwatch.record(launch, timing.launchesPerGroup);
  if (options.restMilliseconds > 0)
    std::this_thread::sleep_for(
        std::chrono::duration<double, std::milli>(options.restMilliseconds));
  // As many as keep the device busy while the host gets going.
  constexpr double kAheadMilliseconds = 0.2, kMostAhead = 20;
  const int ahead = static_cast<int>(
      std::clamp(kAheadMilliseconds / std::max(best, 1e-6), 1.0, kMostAhead));
  for (int i = 0; i < options.groups; ++i)
    timing.groups.push_back(
        stopwatch.group(launch, timing.launchesPerGroup, ahead));
  timing.milliseconds = medianOf(timing.groups);
  return timing;
}
