//===- StreamGpuTest.cpp - Copies, streams, events and graphs on a GPU ----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/DLPack.h"
#include "runtime/cuda/CudaBackend.h"
#include "tests/gpu/GpuTest.h"

#include <thread>

using namespace flashtile;
using namespace flashtile::cuda;

namespace {

class StreamGpuTest : public GpuTest {
protected:
  /// x += 1 for all of `count` integers.
  static void increment(const CudaFunction &kernel, const CudaStream &stream,
                        DevicePointer x, int count) {
    CudaLaunchConfig config;
    config.grid = {(count + 255) / 256, 1, 1};
    config.block = {256, 1, 1};
    const void *arguments[] = {&x, &count};
    kernel.launch(stream, config, arguments);
  }
};

} // namespace

TEST_F(StreamGpuTest, DescribesTheDevice) {
  const CudaDeviceProperties &p = device().properties();
  EXPECT_GE(p.computeMajor, 7) << device().describe();
  EXPECT_GT(p.multiprocessors, 0);
  EXPECT_GE(p.sharedBytesPerBlockOptIn, p.sharedBytesPerBlock);
  EXPECT_EQ(p.maxGrid[0], 2147483647);
  EXPECT_EQ(p.warpSize, 32);
  EXPECT_GT(device().memory().freeBytes, 0u);
  EXPECT_GE(device().driverVersion(), 12000);
}

TEST_F(StreamGpuTest, TensorsGoAndComeBack) {
  const Device gpu = Device::cuda(0);
  const Tensor host = Tensor::randn({37, 129}, DType::F32, 1);
  const Tensor there = host.to(gpu);
  EXPECT_EQ(there.toVector<float>(), host.toVector<float>());
  EXPECT_EQ(there.transpose(0, 1).toVector<float>(),
            host.transpose(0, 1).toVector<float>());
  EXPECT_EQ(there.clone().toVector<float>(), host.toVector<float>());
  EXPECT_EQ(there.to(DType::BF16).toVector<float>(),
            host.to(DType::BF16).toVector<float>());
  for (DType dtype : {DType::F64, DType::F32, DType::BF16, DType::I8}) {
    EXPECT_THAT(Tensor::full({1000}, 3, dtype, gpu).toVector<double>(),
                testing::Each(3));
    EXPECT_THAT(Tensor::zeros({1000}, dtype, gpu).toVector<double>(),
                testing::Each(0));
  }
  const Tensor part = Tensor::zeros({8, 8}, DType::F32, gpu);
  part.narrow(1, 2, 3).fill(5);
  EXPECT_EQ(part.slice(0, 7, 8).toVector<int>(),
            (std::vector<int>{0, 0, 5, 5, 5, 0, 0, 0}));
  const Tensor lent = fromDLPack(toDLPack(there));
  EXPECT_EQ(lent.rawData(), there.rawData());
  EXPECT_EQ(lent.toVector<float>(), host.toVector<float>());
}

TEST_F(StreamGpuTest, SecondDevice) {
  if (CudaDevice::count() < 2)
    GTEST_SKIP() << "one device only";
  const Tensor host = Tensor::randn({1 << 16}, DType::F32, 2);
  const Tensor there = host.to(Device::cuda(0)).to(Device::cuda(1));
  EXPECT_EQ(there.toVector<float>(), host.toVector<float>());
  EXPECT_EQ(there.to(Device::cuda(0)).toVector<float>(),
            host.toVector<float>());
  // Work on both in turn, with a context of neither current.
  CudaDevice *const devices[] = {&device(), &CudaDevice::get(1)};
  const CudaFunction kernels[] = {
      load("increment"),
      CudaModule::loadPtx(*devices[1], testKernels).function("increment")};
  const CudaStream streams[] = {CudaStream::create(*devices[0]),
                                CudaStream::create(*devices[1])};
  constexpr int count = 1 << 16;
  for (int round = 0; round < repeatsOf(20); ++round) {
    const size_t here = static_cast<size_t>(round % 2), other = 1 - here;
    DeviceMemory from(streams[here], count * sizeof(int));
    DeviceMemory to(streams[other], count * sizeof(int));
    streams[here].fill(from.address(), static_cast<uint32_t>(round), 4, count);
    increment(kernels[here], streams[here], from.address(), count);
    streams[other].wait(streams[here]);
    streams[other].copyFromPeer(to.address(), *devices[here], from.address(),
                                count * sizeof(int));
    increment(kernels[other], streams[other], to.address(), count);
    from.usedBy(streams[other]);
    std::vector<int> values(count);
    streams[other].copyToHost(values.data(), to.address(), count * sizeof(int));
    streams[other].synchronize();
    ASSERT_THAT(values, testing::Each(round + 2));
    ContextHandle current = nullptr;
    device().api().cuCtxGetCurrent(&current);
    ASSERT_EQ(current, nullptr);
  }
  EXPECT_ERROR(InvalidArgument, "of another device",
               increment(kernels[0], streams[1], 0, 1));
}

// A long producer, our kernel and the copy, all in one stream, no waiting in
// between.
TEST_F(StreamGpuTest, OrderHoldsInAStreamFor200Rounds) {
  const CudaFunction kernel = load("increment");
  constexpr int count = 1 << 16;
  for (const CudaStream &stream :
       {CudaStream::create(device()), CudaStream::legacy(device()),
        CudaStream::perThread(device())}) {
    PinnedMemory pinned(device(), count * sizeof(int));
    for (int round = 0; round < repeatsOf(200); ++round) {
      const DeviceMemory memory(stream, count * sizeof(int));
      stream.fill(memory.address(), static_cast<uint32_t>(round), 4, count);
      increment(kernel, stream, memory.address(), count);
      increment(kernel, stream, memory.address(), count);
      stream.copyToHost(pinned.data(), memory.address(), count * sizeof(int));
      stream.synchronize();
      const int *values = pinned.as<int>();
      ASSERT_EQ(values[0], round + 2) << stream.describe();
      ASSERT_EQ(values[count - 1], round + 2) << stream.describe();
    }
  }
}

TEST_F(StreamGpuTest, AnotherStreamWaitsThroughAnEvent) {
  const CudaFunction kernel = load("increment");
  constexpr int count = 1 << 16;
  const CudaStream first = CudaStream::create(device());
  const CudaStream second = CudaStream::create(device());
  PinnedMemory pinned(device(), count * sizeof(int));
  for (int round = 0; round < repeatsOf(200); ++round) {
    DeviceMemory memory(first, count * sizeof(int));
    first.fill(memory.address(), 0, 4, count);
    increment(kernel, first, memory.address(), count);
    second.wait(first);
    increment(kernel, second, memory.address(), count);
    second.copyToHost(pinned.data(), memory.address(), count * sizeof(int));
    memory.usedBy(second);
    memory.reset();
    second.synchronize();
    ASSERT_EQ(pinned.as<int>()[count - 1], 2) << "round " << round;
  }
}

TEST_F(StreamGpuTest, EventsMeasureTime) {
  const CudaFunction kernel = load("increment");
  const CudaStream stream = CudaStream::create(device());
  const CudaEvent start(device(), CudaEvent::Timing::On);
  const CudaEvent end(device(), CudaEvent::Timing::On);
  const DeviceMemory memory(stream, 1024);
  start.record(stream);
  increment(kernel, stream, memory.address(), 256);
  end.record(stream);
  end.synchronize();
  EXPECT_TRUE(start.isDone());
  EXPECT_GT(end.millisecondsSince(start), 0);
  EXPECT_LT(end.millisecondsSince(start), 10000);
}

TEST_F(StreamGpuTest, AGraphRunsAsOftenAsLaunched) {
  const CudaFunction kernel = load("increment");
  constexpr int count = 1000;
  const CudaStream stream = CudaStream::create(device());
  const DeviceMemory memory(stream, count * sizeof(int));
  stream.fill(memory.address(), 0, 4, count);
  CudaCapture capture(stream);
  increment(kernel, stream, memory.address(), count);
  increment(kernel, stream, memory.address(), count);
  const CudaGraph graph = capture.finish();
  for (int i = 0; i < 5; ++i)
    graph.launch(stream);
  std::vector<int> values(count);
  stream.copyToHost(values.data(), memory.address(), count * sizeof(int));
  stream.synchronize();
  EXPECT_THAT(values, testing::Each(10));
  EXPECT_ERROR(Device, "cuStreamBeginCapture",
               CudaCapture(CudaStream::legacy(device())));
}

TEST_F(StreamGpuTest, WrappedStreamsAreChecked) {
  const CudaStream stream = CudaStream::create(device());
  EXPECT_TRUE(CudaStream::wrap(device(), stream.handle()) == stream);
  EXPECT_ERROR(InvalidArgument, "handle of a stream",
               CudaStream::wrap(device(), reinterpret_cast<StreamHandle>(17)));
}

TEST_F(StreamGpuTest, TooMuchMemoryIsAnErrorThatPasses) {
  const CudaStream stream = CudaStream::create(device());
  EXPECT_ERROR(OutOfMemory, "bytes are free",
               DeviceMemory(stream, size_t(1) << 46));
  EXPECT_TRUE(DeviceMemory(stream, 1 << 20));
  device().synchronize();
}
