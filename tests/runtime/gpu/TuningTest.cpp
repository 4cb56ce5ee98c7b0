//===- TuningTest.cpp - Timing and tuning on a scripted driver ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Autotuner.h"
#include "runtime/LaunchTimer.h"
#include "tests/runtime/cuda/CudaTest.h"

#include <atomic>

using namespace flashtile;

namespace {
class GpuTuningTest : public CudaTest {
protected:
  void SetUp() override {
    CudaTest::SetUp();
    clearTuningResults();
    options.timing.warmups = 3;
    options.timing.groups = 4;
    options.timing.groupMilliseconds = 0.5;
    options.timing.maxLaunches = 5;
  }

  /// The launch of a kernel without arguments in the current stream.
  std::function<void()> launchOf(const CudaFunction &kernel) {
    return [kernel, this] {
      ++launches;
      kernel.launch(CudaStream::current(device), {}, nullptr);
    };
  }

  CudaDevice &device = CudaDevice::get(0);
  TuningOptions options;
  std::atomic<int> launches{0};
};
} // namespace

TEST_F(GpuTuningTest, GroupsLieBetweenEventsInTheCurrentStream) {
  const CudaStream stream = CudaStream::create(device);
  const CudaStreamGuard guard(stream);
  const CudaFunction kernel = load(device);
  driver.calls.clear();
  const Timing timing =
      timeLaunches(device.device(), launchOf(kernel), options.timing);
  EXPECT_EQ(timing.groups.size(), 4u);
  EXPECT_GE(timing.launchesPerGroup, 1);
  EXPECT_LE(timing.launchesPerGroup, 5);
  // Some launches before each group are not counted.
  const int ahead = (launches - 3) / 4 - timing.launchesPerGroup;
  EXPECT_GE(ahead, 1);
  EXPECT_LE(ahead, 20);
  EXPECT_EQ(launches, 3 + 4 * (ahead + timing.launchesPerGroup));
  // The driver's clock, which says 1.5 ms for everything.
  EXPECT_DOUBLE_EQ(timing.milliseconds, 1.5 / timing.launchesPerGroup);
  EXPECT_EQ(driver.count("cuEventRecord"), 2 * 4);
  for (const cuda::StreamHandle handle : driver.streamsOf("cuEventRecord"))
    EXPECT_EQ(handle, stream.handle());
  // Each launch while warming up, and no other, is waited for.
  EXPECT_EQ(driver.count("cuStreamSynchronize"), 3);
}

TEST_F(GpuTuningTest, GroupsMayBeGraphs) {
  const CudaFunction kernel = load(device);
  const CudaStream before = CudaStream::current(device);
  options.timing.graphs = true;
  driver.calls.clear();
  const Timing timing =
      timeLaunches(device.device(), launchOf(kernel), options.timing);
  // Recorded once; two graphs for each group, of which one is counted.
  EXPECT_EQ(launches, 3 + timing.launchesPerGroup);
  EXPECT_EQ(driver.count("cuGraphLaunch"), 1 + 2 * 4);
  EXPECT_EQ(driver.count("cuEventRecord"), 2 * 4);
  EXPECT_DOUBLE_EQ(timing.milliseconds, 1.5 / timing.launchesPerGroup);
  EXPECT_EQ(CudaStream::current(device).handle(), before.handle());
}

TEST_F(GpuTuningTest, CapturedStreamsAreRefused) {
  const CudaStream stream = CudaStream::create(device);
  const CudaStreamGuard guard(stream);
  const CudaFunction kernel = load(device);
  const CudaCapture capture(stream);
  EXPECT_ERROR(InvalidArgument, "is captured",
               timeLaunches(device.device(), launchOf(kernel)));
  EXPECT_EQ(launches, 0);
}

TEST_F(GpuTuningTest, WhatTheDriverRefusesIsOutOfTheRace) {
  TuningProblem problem;
  problem.key = "refused";
  problem.device = device.device();
  problem.configs = {{{"shared", 1 << 30}}, {{"shared", 0}}};
  const CudaFunction kernel = load(device);
  problem.build = [&](const TuningConfig &config) -> std::function<void()> {
    CudaLaunchConfig launch;
    launch.dynamicSharedBytes = static_cast<size_t>(config.at("shared"));
    return [=] { kernel.launch(CudaStream::current(device), launch, nullptr); };
  };
  const TuningResult result = autotune(problem, options);
  EXPECT_EQ(result.best.at("shared"), 0);
  EXPECT_NE(result.trials[0].failure, "");
  EXPECT_TRUE(autotune(problem, options).fromCache);
  // What is best on one device says nothing of others: these are of two kinds.
  problem.build = [](const TuningConfig &) { return [] {}; };
  for (const Device other : {Device::cuda(1), Device::cpu()}) {
    problem.device = other;
    EXPECT_FALSE(autotune(problem, options).fromCache);
  }
}

TEST_F(GpuTuningTest, AsynchronousFaultsAreFound) {
  TuningProblem problem;
  problem.key = "faults";
  problem.device = device.device();
  problem.configs = {{{"faulty", 1}}, {{"faulty", 0}}};
  const CudaFunction kernel = load(device);
  problem.build = [&](const TuningConfig &config) -> std::function<void()> {
    const bool isFaulty = config.at("faulty") != 0;
    return [=] {
      kernel.launch(CudaStream::current(device), {}, nullptr);
      if (isFaulty)
        driver.failOnce["cuStreamSynchronize"] = cuda::invalidValue;
    };
  };
  const TuningResult result = autotune(problem, options);
  EXPECT_EQ(result.best.at("faulty"), 0);
  EXPECT_NE(result.trials[0].failure, "");
}
