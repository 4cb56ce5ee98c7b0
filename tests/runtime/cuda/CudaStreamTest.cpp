//===- CudaStreamTest.cpp - Streams, events, copies and graphs ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/runtime/cuda/CudaTest.h"

#include <cstring>

using namespace flashtile;
using namespace flashtile::cuda;
using testing::Each;
using testing::ElementsAre;

namespace {

class CudaStreamTest : public CudaTest {
protected:
  CudaDevice &device = CudaDevice::get(0);
};

StreamHandle handleOf(uintptr_t number) {
  return reinterpret_cast<StreamHandle>(number);
}

} // namespace

TEST_F(CudaStreamTest, EveryCallGoesToItsStream) {
  const CudaStream stream = CudaStream::create(device);
  const CudaFunction kernel = load(device);
  driver.calls.clear();
  float host[4] = {1, 2, 3, 4}, back[4] = {};
  {
    DeviceMemory memory(stream, sizeof host);
    stream.copyToDevice(memory.address(), host, sizeof host);
    stream.fill(memory.address() + 4, 0x40400000, 4, 2);
    kernel.launch(stream, {}, nullptr);
    stream.copyToHost(back, memory.address(), sizeof back);
    stream.synchronize();
  }
  EXPECT_THAT(back, ElementsAre(1, 3, 3, 4));
  for (const fake::Call &call : driver.calls)
    if (call.name.rfind("cuCtx", 0) != 0)
      EXPECT_EQ(call.stream, stream.handle()) << call.name;
  EXPECT_EQ(driver.count("cuMemFreeAsync"), 1);
}

TEST_F(CudaStreamTest, DefaultStreamsKeepTheirMeaning) {
  for (uintptr_t number : {0, 1})
    EXPECT_EQ(CudaStream::wrap(device, handleOf(number)).handle(), nullptr);
  const CudaStream perThread = CudaStream::wrap(device, handleOf(2));
  EXPECT_EQ(perThread.handle(), handleOf(2));
  EXPECT_EQ(perThread.describe(), "per-thread default stream of cuda:0");
  EXPECT_EQ(driver.count("cuStreamDestroy"), 0);
}

TEST_F(CudaStreamTest, WhatIsNoStreamIsRefused) {
  EXPECT_ERROR(InvalidArgument, "expected the handle of a stream",
               CudaStream::wrap(device, handleOf(7)));
  const CudaStream stream = CudaStream::create(device);
  EXPECT_ERROR(InvalidArgument, "primary context of device cuda:1",
               CudaStream::wrap(CudaDevice::get(1), stream.handle()));
  const CudaStream wrapped = CudaStream::wrap(device, stream.handle());
  EXPECT_TRUE(wrapped == stream);
}

TEST_F(CudaStreamTest, OnlyOwnedStreamsAreDestroyed) {
  {
    const CudaStream owned = CudaStream::create(device);
    {
      const CudaStream copy = owned,
                       view = CudaStream::wrap(device, owned.handle());
    }
    EXPECT_EQ(driver.count("cuStreamDestroy"), 0);
  }
  EXPECT_EQ(driver.count("cuStreamDestroy"), 1);
}

TEST_F(CudaStreamTest, StreamsWaitThroughEvents) {
  const CudaStream a = CudaStream::create(device),
                   b = CudaStream::create(device);
  driver.calls.clear();
  b.wait(a);
  EXPECT_THAT(driver.streamsOf("cuEventRecord"), ElementsAre(a.handle()));
  EXPECT_THAT(driver.streamsOf("cuStreamWaitEvent"), ElementsAre(b.handle()));
  EXPECT_EQ(driver.count("cuEventDestroy"), 1);
  a.wait(a);
  EXPECT_EQ(driver.count("cuEventCreate"), 1) << "nothing to wait for";
  EXPECT_TRUE(a.isDone());
}

TEST_F(CudaStreamTest, EventsMeasure) {
  const CudaEvent start(device, CudaEvent::Timing::On);
  const CudaEvent end(device, CudaEvent::Timing::On), plain(device);
  EXPECT_EQ(end.millisecondsSince(start), 1.5f);
  EXPECT_FALSE(end.isDone());
  EXPECT_ERROR(InvalidArgument, "events with timing",
               plain.millisecondsSince(start));
  EXPECT_ERROR(InvalidArgument, "cannot record an event of device cuda:0",
               start.record(CudaStream::legacy(CudaDevice::get(1))));
  EXPECT_ERROR(InvalidArgument,
               "expected timing to be Off (0) or On (1), but got the number 2",
               CudaEvent(device, static_cast<CudaEvent::Timing>(2)));
}

TEST_F(CudaStreamTest, GuardsNestPerThreadAndDevice) {
  CudaDevice &other = CudaDevice::get(1);
  EXPECT_EQ(CudaStream::current(device).handle(), nullptr);
  const CudaStream a = CudaStream::create(device),
                   b = CudaStream::create(device);
  const CudaStream c = CudaStream::create(other);
  const CudaStreamGuard outer(a);
  {
    const CudaStreamGuard inner(b), elsewhere(c);
    EXPECT_TRUE(CudaStream::current(device) == b);
    EXPECT_TRUE(CudaStream::current(other) == c);
    std::thread([&] {
      EXPECT_EQ(CudaStream::current(device).handle(), nullptr);
    }).join();
  }
  EXPECT_TRUE(CudaStream::current(device) == a);
}

TEST_F(CudaStreamTest, CopiesBetweenDevicesAndNothing) {
  CudaDevice &other = CudaDevice::get(1);
  const CudaStream here = CudaStream::legacy(device);
  const CudaStream there = CudaStream::legacy(other);
  DeviceMemory from(here, 8), to(there, 8);
  here.fill(from.address(), 0xab, 1, 8);
  there.copyFromPeer(to.address(), device, from.address(), 8);
  uint64_t value = 0;
  there.copyToHost(&value, to.address(), 8);
  EXPECT_EQ(value, 0xababababababababu);
  EXPECT_EQ(driver.count("cuMemcpyPeerAsync"), 1);
  here.copyFromPeer(from.address(), device, from.address(), 8);
  EXPECT_EQ(driver.count("cuMemcpyDtoDAsync"), 1) << "on one device";
  driver.calls.clear();
  here.copyToDevice(0, nullptr, 0);
  here.copyToHost(nullptr, 0, 0);
  here.copyOnDevice(0, 0, 0);
  here.fill(0, 0, 4, 0);
  EXPECT_TRUE(driver.calls.empty());
  EXPECT_ERROR(InvalidArgument, "1, 2 or 4 bytes, but got 8",
               here.fill(from.address(), 0, 8, 1));
}

TEST_F(CudaStreamTest, AGraphRunsWhatWasRecorded) {
  const CudaStream stream = CudaStream::create(device);
  DeviceMemory memory(stream, 4);
  const CudaFunction kernel = load(device);
  int runs = 0;
  driver.onLaunch = [&](const fake::Launch &) { ++runs; };
  device.setSynchronousLaunches(true);
  CudaCapture capture(stream);
  EXPECT_TRUE(stream.isCapturing());
  kernel.launch(stream, {}, nullptr);
  stream.fill(memory.address(), 7, 4, 1);
  EXPECT_EQ(driver.count("cuStreamSynchronize"), 0) << "would spoil it";
  const CudaGraph graph = capture.finish();
  EXPECT_EQ(runs, 0);
  for (int i = 0; i < 3; ++i)
    graph.launch(stream);
  EXPECT_EQ(runs, 3);
  int value = 0;
  stream.copyToHost(&value, memory.address(), 4);
  EXPECT_EQ(value, 7);
  EXPECT_ERROR(InvalidArgument, "finished already", capture.finish());
  EXPECT_ERROR(InvalidArgument, "cannot launch a graph of device cuda:0",
               graph.launch(CudaStream::legacy(CudaDevice::get(1))));
}

TEST_F(CudaStreamTest, AnAbandonedCaptureEnds) {
  const CudaStream stream = CudaStream::create(device);
  try {
    const CudaCapture capture(stream);
    throw 1;
  } catch (int) {
  }
  EXPECT_FALSE(stream.isCapturing());
  EXPECT_EQ(driver.count("cuStreamEndCapture"), 1);
  EXPECT_ERROR(Device, "cuStreamBeginCapture on device cuda:0: error 900",
               CudaCapture(CudaStream::legacy(device)));
}

TEST_F(CudaStreamTest, MemoryWaitsForItsUsers) {
  const CudaStream owner = CudaStream::create(device);
  const CudaStream user = CudaStream::create(device);
  DeviceMemory memory(owner, 100);
  EXPECT_EQ(memory.numBytes(), 100u);
  memory.usedBy(user);
  memory.usedBy(user);
  memory.usedBy(owner);
  driver.calls.clear();
  memory.reset();
  EXPECT_THAT(driver.streamsOf("cuEventRecord"), ElementsAre(user.handle()));
  EXPECT_THAT(driver.streamsOf("cuMemFreeAsync"), ElementsAre(owner.handle()));
  memory.reset();
  EXPECT_EQ(driver.count("cuMemFreeAsync"), 1);

  DeviceMemory again(owner, 0);
  again.usedBy(user);
  driver.failOnce["cuEventCreate"] = invalidValue;
  again.reset();
  EXPECT_THAT(driver.streamsOf("cuStreamSynchronize"),
              ElementsAre(user.handle()))
      << "waits here if it cannot make the stream wait";
}

TEST_F(CudaStreamTest, MemoryMovesAndWorksWithoutPools) {
  DeviceMemory a(CudaStream::legacy(CudaDevice::get(1)), 16);
  EXPECT_EQ(driver.count("cuMemAlloc"), 1) << "the older device has no pools";
  const DevicePointer address = a.address();
  DeviceMemory b = std::move(a);
  EXPECT_FALSE(a);
  EXPECT_EQ(b.address(), address);
  b = DeviceMemory();
  EXPECT_EQ(driver.count("cuMemFree"), 1);
  PinnedMemory pinned(device, 8);
  std::memset(pinned.data(), 1, 8);
  PinnedMemory moved = std::move(pinned);
  EXPECT_EQ(pinned.data(), nullptr);
  EXPECT_EQ(moved.as<char>()[7], 1);
}

TEST_F(CudaStreamTest, OutOfMemoryTriesAgainAndThenSaysHowMuch) {
  const CudaStream stream = CudaStream::legacy(device);
  driver.failOnce["cuMemAllocAsync"] = outOfMemory;
  EXPECT_TRUE(DeviceMemory(stream, 64));
  EXPECT_EQ(driver.count("cuMemPoolTrimTo"), 1);
  driver.memoryLimit = 1000;
  EXPECT_ERROR(OutOfMemory,
               "allocating 4096 bytes on device cuda:0: "
               "CUDA_ERROR_OUT_OF_MEMORY (says the fake driver); 1000 of 1000 "
               "bytes are free",
               DeviceMemory(stream, 4096));
  driver.failOnce["cuMemHostAlloc"] = outOfMemory;
  EXPECT_ERROR(OutOfMemory, "8 bytes of pinned host memory",
               PinnedMemory(device, 8));
}
