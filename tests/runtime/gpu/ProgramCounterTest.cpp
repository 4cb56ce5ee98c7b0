//===- ProgramCounterTest.cpp - Which launches share a counter ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/ProgramCounters.h"
#include "tests/runtime/gpu/GpuKernelTestSupport.h"

#include <gmock/gmock.h>

#include <optional>
#include <set>
#include <thread>

using namespace flashtile;
using testing::ElementsAre;

namespace {
class ProgramCounterTest : public CudaTest {
protected:
  void SetUp() override {
    CudaTest::SetUp();
    ProgramCounters::of(CudaDevice::get(0));
    // Counters stay until the process ends.
    driver.alive["memory"] = 0;
    kernel.emplace(kernelOf(artifact()));
    driver.onLaunch = [this](const fake::Launch &launch) {
      counter = *static_cast<const uint64_t *>(launch.arguments[6]);
      for (size_t i = 0; i < 3; ++i)
        extents[i] = *static_cast<const int32_t *>(launch.arguments[7 + i]);
    };
  }

  void TearDown() override {
    kernel.reset();
    CudaTest::TearDown();
  }

  static KernelArtifact artifact() {
    KernelArtifact artifact = mappedArtifact();
    artifact.kernels[0].entries[0].persistentBlocks = 1;
    artifact.kernels[0].entries[0].countsPrograms = true;
    return artifact;
  }
  /// The counter that a launch of this many programs in the current stream
  /// gets.
  uint64_t launch(int64_t programs = 1000) {
    counter = 1;
    (*kernel)(reinterpret_cast<void *>(0x1000),
              reinterpret_cast<void *>(0x2000), 64 * programs, 80, 1);
    return counter;
  }
  uint64_t launchIn(const CudaStream &stream) {
    const CudaStreamGuard guard(stream);
    return launch();
  }

  CudaDevice &device = CudaDevice::get(0);
  std::optional<Kernel> kernel;
  uint64_t counter = 0;
  std::array<int32_t, 3> extents{};
};
} // namespace

TEST_F(ProgramCounterTest, IsTheParameterBetweenMapsAndExtents) {
  const uint64_t first = launch();
  ASSERT_NE(first, 0u);
  EXPECT_EQ(*reinterpret_cast<uint32_t *>(first), 0u);
  EXPECT_THAT(extents, ElementsAre(1000, 1, 1));
  EXPECT_THAT(driver.launches.back().grid, ElementsAre(132, 1, 1));
}

// Blocks as many as programs ask no counter: 132 is all there are.
TEST_F(ProgramCounterTest, AbsentWhereEveryProgramHasABlock) {
  EXPECT_EQ(launch(1), 0u);
  EXPECT_EQ(launch(132), 0u);
  EXPECT_THAT(driver.launches.back().grid, ElementsAre(132, 1, 1));
  EXPECT_NE(launch(133), 0u);
  EXPECT_THAT(driver.launches.back().grid, ElementsAre(132, 1, 1));
  driver.launches.clear();
  launch(0);
  EXPECT_EQ(driver.launches.size(), 0u);
}

TEST_F(ProgramCounterTest, OneForEachStream) {
  const CudaStream one = CudaStream::create(device);
  const CudaStream other = CudaStream::create(device);
  const uint64_t ofLegacy = launch(), ofOne = launchIn(one),
                 ofOther = launchIn(other);
  EXPECT_EQ((std::set<uint64_t>{ofLegacy, ofOne, ofOther, 0}).size(), 4u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(launchIn(other), ofOther);
    EXPECT_EQ(launchIn(one), ofOne);
    EXPECT_EQ(launchIn(CudaStream::wrap(device, one.handle())), ofOne);
    EXPECT_EQ(launch(), ofLegacy);
  }
  std::thread([&] {
    EXPECT_EQ(launchIn(one), ofOne);
    EXPECT_EQ(launch(), ofLegacy);
  }).join();
}

// The driver uses handles again, while the old stream's work may still run.
TEST_F(ProgramCounterTest, ANewStreamHasANewOne) {
  std::set<uint64_t> counters = {launch()};
  for (int i = 0; i < 5000; ++i) // more than are allocated at a time
    counters.insert(launchIn(CudaStream::create(device)));
  EXPECT_EQ(counters.size(), 5001u);
  driver.alive["memory"] = 0; // the second block of counters, which stays
}

TEST_F(ProgramCounterTest, ARepeatedLaunchAsksWhetherItIsCaptured) {
  const CudaStream stream = CudaStream::create(device);
  const CudaStreamGuard guard(stream);
  launch();
  const auto callsOfALaunch = [&] {
    const size_t before = driver.calls.size();
    launch();
    std::vector<std::string> names;
    for (size_t i = before; i < driver.calls.size(); ++i)
      names.push_back(driver.calls[i].name);
    return names;
  };
  EXPECT_THAT(callsOfALaunch(),
              ElementsAre("cuCtxGetCurrent", "cuCtxPushCurrent",
                          "cuStreamGetCaptureInfo", "cuLaunchKernel",
                          "cuCtxPopCurrent"));
  driver.pushContext(0);
  EXPECT_THAT(callsOfALaunch(),
              ElementsAre("cuCtxGetCurrent", "cuStreamGetCaptureInfo",
                          "cuLaunchKernel"));
  driver.popContext();
}

// Its handle means another stream on each thread.
TEST_F(ProgramCounterTest, TheStreamOfAThreadIsAskedForItsNumberEachTime) {
  const CudaStream stream = CudaStream::perThread(device);
  launchIn(stream);
  launchIn(stream);
  EXPECT_EQ(driver.count("cuStreamGetId"), 2);
  const CudaStream other = CudaStream::create(device);
  launchIn(other);
  launchIn(other);
  EXPECT_EQ(driver.count("cuStreamGetId"), 3);
}

TEST_F(ProgramCounterTest, EachCapturedLaunchHasItsOwnAsLongAsTheGraph) {
  const CudaStream stream = CudaStream::create(device);
  const uint64_t outside = launchIn(stream);
  const auto allocations = driver.count("cuMemAlloc");
  const auto capture = [&] {
    CudaCapture recording(stream);
    const CudaStreamGuard guard(stream);
    for (int i = 0; i < 3; ++i)
      launch();
    return recording.finish();
  };
  // The scripted driver does not copy arguments: it says what it is asked.
  {
    const CudaGraph graph = capture();
    EXPECT_EQ(driver.count("cuUserObjectCreate"), 3);
    EXPECT_EQ(driver.count("cuGraphRetainUserObject"), 3);
    EXPECT_EQ(driver.count("cuMemAlloc"), allocations);
    EXPECT_EQ(launchIn(stream), outside);
  }
  // Given back: as many as before are enough for ever.
  for (int i = 0; i < 3000; ++i)
    capture();
  EXPECT_EQ(driver.count("cuMemAlloc"), allocations);
  EXPECT_EQ(driver.alive["userObject"], 0);
}

TEST_F(ProgramCounterTest, WhatTheDriverRefusesIsAnError) {
  const CudaStream stream = CudaStream::create(device);
  const CudaStreamGuard guard(stream);
  for (const char *name : {"cuStreamGetCaptureInfo", "cuStreamGetId"}) {
    driver.failOnce[name] = cuda::invalidValue;
    EXPECT_ERROR(Device, name, launch());
  }
  EXPECT_NE(launch(), 0u);
  CudaCapture recording(stream);
  driver.failOnce["cuUserObjectCreate"] = cuda::outOfMemory;
  EXPECT_ERROR(OutOfMemory, "cuUserObjectCreate", launch());
}
