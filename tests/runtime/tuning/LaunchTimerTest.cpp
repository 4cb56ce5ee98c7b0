//===- LaunchTimerTest.cpp - How long a launch takes ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/LaunchTimer.h"

#include "tests/runtime/ExpectError.h"

#include <chrono>
#include <gmock/gmock.h>
#include <thread>

using namespace flashtile;

static void sleepFor(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

TEST(LaunchTimerTest, CountsAndMeasures) {
  TimingOptions options;
  options.warmups = 3;
  options.groups = 4;
  options.groupMilliseconds = 6.5;
  int launches = 0;
  const Timing timing = timeLaunches(
      Device::cpu(),
      [&] {
        ++launches;
        sleepFor(2);
      },
      options);
  EXPECT_EQ(timing.groups.size(), 4u);
  EXPECT_LE(timing.launchesPerGroup, 3);
  EXPECT_EQ(launches, 3 + 4 * timing.launchesPerGroup);
  // A sleep may take longer, never shorter.
  EXPECT_GE(timing.milliseconds, 2);
  EXPECT_GE(timing.firstMilliseconds, 2);
}

TEST(LaunchTimerTest, WarmingUpEndsEarlyWhereLaunchesAreLong) {
  TimingOptions options;
  options.warmupMilliseconds = 1;
  options.groups = 1;
  int launches = 0;
  timeLaunches(
      Device::cpu(),
      [&] {
        ++launches;
        sleepFor(30);
      },
      options);
  EXPECT_EQ(launches, 2);
}

TEST(LaunchTimerTest, BeyondTheLimitNothingIsMeasured) {
  TimingOptions options;
  options.warmups = 2;
  options.limitMilliseconds = 0.5;
  int launches = 0;
  const Timing timing = timeLaunches(
      Device::cpu(),
      [&] {
        ++launches;
        sleepFor(2);
      },
      options);
  EXPECT_EQ(launches, 2);
  EXPECT_TRUE(timing.groups.empty());
  EXPECT_GE(timing.milliseconds, 2);
}

TEST(LaunchTimerTest, PassesErrorsOn) {
  EXPECT_ERROR(Device, "broken", timeLaunches(Device::cpu(), [] {
                 throw Error(ErrorCode::Device, "broken");
               }));
  TimingOptions options;
  options.groups = 0;
  EXPECT_ERROR(InvalidArgument,
               "expected groups of a timing to be at least 1, but got 0",
               timeLaunches(Device::cpu(), [] {}, options));
}
