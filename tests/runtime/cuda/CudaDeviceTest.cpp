//===- CudaDeviceTest.cpp - Devices, contexts and threads -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/runtime/cuda/CudaTest.h"

using namespace flashtile;
using namespace flashtile::cuda;

namespace {

class CudaDeviceTest : public CudaTest {};

} // namespace

TEST_F(CudaDeviceTest, KnowsItsProperties) {
  EXPECT_EQ(CudaDevice::count(), 2);
  CudaDevice &device = CudaDevice::get(Device::cuda(0));
  const CudaDeviceProperties &p = device.properties();
  EXPECT_EQ(device.describe(), "cuda:0 (Fake GPU, sm_90)");
  EXPECT_EQ(p.multiprocessors, 132);
  EXPECT_EQ(p.sharedBytesPerBlockOptIn, 232448);
  EXPECT_EQ(p.maxGrid, (std::array<int64_t, 3>{2147483647, 65535, 65535}));
  EXPECT_EQ(p.l2Bytes, 50 << 20);
  EXPECT_TRUE(p.hasMemoryPools);
  EXPECT_EQ(device.driverVersion(), 12040);
  EXPECT_FALSE(CudaDevice::get(1).properties().hasClusters);
  EXPECT_EQ(&CudaDevice::get(0), &device);
  EXPECT_EQ(device.memory().totalBytes, size_t(1) << 30);
}

TEST_F(CudaDeviceTest, RefusesOtherIndices) {
  EXPECT_ERROR(NotFound, "no device 'cuda:2': the driver lists 2 devices",
               CudaDevice::get(2));
  EXPECT_ERROR(NotFound, "'cuda:99'", CudaDevice::get(99));
  EXPECT_ERROR(NotFound, "'cuda:-1'", CudaDevice::get(-1));
  EXPECT_ERROR(InvalidArgument, "'cpu'", CudaDevice::get(Device::cpu()));
}

TEST_F(CudaDeviceTest, AGuardRestoresWhatWasCurrent) {
  CudaDevice &device = CudaDevice::get(1);
  {
    ContextGuard guard(device);
    EXPECT_EQ(driver.currentDevice(), 1);
    ContextGuard again(device);
    EXPECT_EQ(driver.contextDepth(), 1) << "current already";
    ContextGuard other(CudaDevice::get(0));
    EXPECT_EQ(driver.currentDevice(), 0);
  }
  EXPECT_EQ(driver.currentDevice(), -1);

  driver.pushContext(0);
  device.synchronize();
  EXPECT_EQ(driver.currentDevice(), 0);
  EXPECT_EQ(driver.calls.back().name, "cuCtxPopCurrent");
  EXPECT_EQ(driver.contextDepth(), 1);
  driver.popContext();
}

TEST_F(CudaDeviceTest, AnErrorRestoresWhatWasCurrentToo) {
  driver.failOnce["cuCtxSynchronize"] = invalidValue;
  EXPECT_ERROR(Device,
               "cuCtxSynchronize on device cuda:1: CUDA_ERROR_INVALID_VALUE "
               "(says the fake driver)",
               CudaDevice::get(1).synchronize());
  EXPECT_EQ(driver.contextDepth(), 0);
  driver.failOnce["cuCtxSynchronize"] = notInitialized;
  EXPECT_ERROR(Device, "forked after CUDA had started",
               CudaDevice::get(1).synchronize());
  driver.failOnce["cuCtxPushCurrent"] = invalidContext;
  EXPECT_ERROR(Device, "making the context current on device cuda:1",
               CudaDevice::get(1).synchronize());
}

// Compiled on one thread, launched on many that have no context.
TEST_F(CudaDeviceTest, ManyShortThreadsLaunchWithoutAContext) {
  CudaDevice &device = CudaDevice::get(0);
  const CudaFunction kernel = load(device);
  driver.onLaunch = [&](const fake::Launch &launch) {
    EXPECT_EQ(launch.device, 0);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 32; ++i)
    threads.emplace_back([&, i] {
      if (i % 2)
        driver.pushContext(1); // another library's
      const CudaStream stream = CudaStream::create(device);
      kernel.launch(stream, {}, nullptr);
      stream.synchronize();
      EXPECT_EQ(driver.currentDevice(), i % 2 ? 1 : -1);
      EXPECT_EQ(driver.contextDepth(), i % 2);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(driver.launches.size(), 32u);
  EXPECT_EQ(driver.count("cuCtxPushCurrent"), driver.count("cuCtxPopCurrent"));
}

// First compiled on the worker, then on the main thread.
TEST_F(CudaDeviceTest, AWorkerMayLoadWhatTheMainThreadLaunches) {
  CudaDevice &device = CudaDevice::get(0);
  std::unique_ptr<CudaFunction> kernel;
  std::thread([&] {
    kernel = std::make_unique<CudaFunction>(load(device));
  }).join();
  kernel->launch(CudaStream::legacy(device), {}, nullptr);
  EXPECT_EQ(driver.launches.size(), 1u);
}

TEST_F(CudaDeviceTest, TwoDevicesAlternate) {
  CudaDevice &first = CudaDevice::get(0), &second = CudaDevice::get(1);
  const CudaFunction onFirst = load(first), onSecond = load(second);
  driver.pushContext(0);
  for (int i = 0; i < 10; ++i) {
    const bool odd = i % 2;
    (odd ? onSecond : onFirst)
        .launch(CudaStream::legacy(odd ? second : first), {}, nullptr);
    EXPECT_EQ(driver.launches.back().device, odd);
    EXPECT_EQ(driver.currentDevice(), 0);
  }
  EXPECT_ERROR(InvalidArgument,
               "legacy default stream of cuda:1 is of another device",
               onFirst.launch(CudaStream::legacy(second), {}, nullptr));
  driver.popContext();
}
