//===- LaunchCostTest.cpp - What a launch does on the host ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts what a repeated launch asks of the driver and of the allocator; the
// time itself is measured on a GPU.
//
//===----------------------------------------------------------------------===//

#include "tests/runtime/gpu/GpuKernelTestSupport.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

using namespace flashtile;

/// Allocations of this thread while it counts.
static thread_local size_t allocations = 0;
static thread_local bool isCounting = false;

void *operator new(size_t size) {
  if (isCounting)
    ++allocations;
  if (void *memory = std::malloc(size ? size : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

namespace {
class LaunchCostTest : public CudaTest {
protected:
  /// What `body` allocates, for a driver that has room for its record.
  template <typename Body>
  size_t count(Body &&body) {
    driver.calls.reserve(1000);
    driver.launches.reserve(1000);
    allocations = 0;
    isCounting = true;
    body();
    isCounting = false;
    return allocations;
  }
};
} // namespace

TEST_F(LaunchCostTest, ARepeatedLaunchAsksTheDriverForLittle) {
  const Kernel kernel = kernelOf(mappedArtifact());
  const Tensor x = Tensor::zeros({3, 1000, 64}, DType::BF16, Device::cuda(0));
  const Tensor y = Tensor::zeros({3, 1000, 64}, DType::BF16, Device::cuda(0));
  const auto launch = [&] { kernel(x, y, 1000, 64, 3); };
  const auto callsOfALaunch = [&] {
    const size_t before = driver.calls.size();
    launch();
    std::vector<std::string> names;
    for (size_t i = before; i < driver.calls.size(); ++i)
      names.push_back(driver.calls[i].name);
    return names;
  };
  launch();
  EXPECT_EQ(callsOfALaunch(),
            (std::vector<std::string>{"cuCtxGetCurrent", "cuCtxPushCurrent",
                                      "cuLaunchKernel", "cuCtxPopCurrent"}));
  driver.pushContext(0);
  EXPECT_EQ(callsOfALaunch(),
            (std::vector<std::string>{"cuCtxGetCurrent", "cuLaunchKernel"}));
  driver.popContext();
  EXPECT_EQ(driver.count("cuTensorMapEncodeTiled"), 1);
  EXPECT_EQ(driver.launches.back().kernel, "k");
}

TEST_F(LaunchCostTest, ARepeatedLaunchAllocatesNextToNothing) {
  const Kernel kernel = kernelOf(mappedArtifact());
  const Tensor x = Tensor::zeros({3, 1000, 64}, DType::BF16, Device::cuda(0));
  const Tensor y = Tensor::zeros({3, 1000, 64}, DType::BF16, Device::cuda(0));
  const auto launch = [&] { kernel(x, y, 1000, 64, 3); };
  launch();
  // The scripted driver allocates, too: what it does for the same calls.
  CudaLaunchConfig config;
  const CudaFunction function = load(CudaDevice::get(0));
  const CudaStream stream = CudaStream::legacy(CudaDevice::get(0));
  const size_t ofDriver =
      count([&] { function.launch(stream, config, nullptr); });
  EXPECT_LE(count(launch), ofDriver);
}

TEST_F(LaunchCostTest, ANewAddressTakesAnEncodingOnly) {
  KernelArtifact artifact = mappedArtifact();
  GpuEntry &entry = artifact.kernels[0].entries[0];
  entry.tensorMaps.push_back(entry.tensorMaps[0]);
  entry.tensorMaps[1].argument = 1;
  const Kernel kernel = kernelOf(artifact);
  const Tensor x = Tensor::zeros({4, 1000, 64}, DType::BF16, Device::cuda(0));
  const Tensor y = Tensor::zeros({3, 1000, 64}, DType::BF16, Device::cuda(0));
  kernel(x.narrow(0, 0, 3), y, 1000, 64, 3);
  const Tensor next = x.narrow(0, 1, 3);
  EXPECT_EQ(driver.count("cuTensorMapEncodeTiled"), 2);
  const size_t before = driver.calls.size();
  const size_t first = count([&] { kernel(next, y, 1000, 64, 3); });
  // That of y stays as it was.
  std::vector<std::string> names;
  for (size_t i = before; i < driver.calls.size(); ++i)
    names.push_back(driver.calls[i].name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"cuCtxGetCurrent", "cuCtxPushCurrent",
                                      "cuTensorMapEncodeTiled",
                                      "cuLaunchKernel", "cuCtxPopCurrent"}));
  // No more than where it is known, but for what the scripted driver takes.
  const size_t again = count([&] { kernel(next, y, 1000, 64, 3); });
  CudaDevice &device = CudaDevice::get(0);
  const ContextGuard guard(device);
  TensorMapDescription map;
  map.base = 0x1000;
  map.shape = map.box = {64};
  const size_t ofDriver = count([&] { TensorMap::encode(device, map); });
  EXPECT_LE(first, again + ofDriver);
}

// Arguments of 8 bytes but for the number of rows, a map, and three extents.
TEST_F(LaunchCostTest, ArgumentsGoInOneBlockWhereTheDriverSaysHow) {
  driver.parameterSizes = {8, 8, 4, 8, 8, 128, 4, 4, 4};
  KernelArtifact artifact = mappedArtifact();
  const KernelInfo &info = artifact.kernels[0].info;
  ASSERT_EQ(info.arguments.size(), 5u);
  for (size_t i = 2; i < 5; ++i)
    driver.parameterSizes[i] = elementSize(info.arguments[i].type);
  const Kernel kernel = kernelOf(artifact);
  const Tensor x = Tensor::zeros({3, 1000, 64}, DType::BF16, Device::cuda(0));
  const Tensor y = Tensor::zeros({3, 1000, 64}, DType::BF16, Device::cuda(0));
  kernel(x, y, 1000, 64, 3);
  // No more: compute-sanitizer shows a refused question as an error.
  EXPECT_EQ(driver.count("cuFuncGetParamInfo"), 9);
  const fake::Launch &launch = driver.launches.back();
  EXPECT_EQ(launch.kernel, "k");
  ASSERT_EQ(launch.arguments, nullptr);
  const auto at = [&](size_t offset, auto value) {
    std::memcpy(&value, launch.packed.data() + offset, sizeof value);
    return value;
  };
  EXPECT_EQ(at(0, static_cast<void *>(nullptr)), x.rawData());
  EXPECT_EQ(at(8, static_cast<void *>(nullptr)), y.rawData());
  EXPECT_EQ(at(16, int32_t()), 1000);
  // Maps lie at multiples of 64: the first word is the address.
  ASSERT_EQ(launch.packed.size(), 64u + 128 + 3 * 4);
  EXPECT_EQ(at(64, static_cast<void *>(nullptr)), x.rawData());
  EXPECT_EQ(at(64 + 128, int32_t()), 16);
  EXPECT_EQ(at(64 + 128 + 4, int32_t()), 3);
  EXPECT_EQ(at(64 + 128 + 8, int32_t()), 1);
}

// As a driver may that does not know all of them.
TEST_F(LaunchCostTest, AnotherNumberOfParametersIsAListOfArguments) {
  driver.parameterSizes = {8, 8, 4};
  const Kernel kernel = kernelOf(mappedArtifact());
  const Tensor x = Tensor::zeros({3, 1000, 64}, DType::BF16, Device::cuda(0));
  kernel(x, x, 1000, 64, 3);
  EXPECT_NE(driver.launches.back().arguments, nullptr);
}

TEST_F(LaunchCostTest, CallsWithinAScopeOfTheContextAreNothingElse) {
  CudaDevice &device = CudaDevice::get(0);
  const ContextGuard guard(device);
  const size_t before = driver.calls.size();
  device.synchronize();
  EXPECT_EQ(driver.calls.size(), before + 1);
  {
    // Another device's is one of its own, and ends with this one's.
    const ContextGuard other(CudaDevice::get(1));
    EXPECT_EQ(driver.currentDevice(), 1);
    device.synchronize();
    EXPECT_EQ(driver.calls.back().name, "cuCtxPopCurrent");
    EXPECT_EQ(driver.currentDevice(), 1);
  }
  EXPECT_EQ(driver.currentDevice(), 0);
  device.synchronize();
  EXPECT_EQ(driver.calls.back().name, "cuCtxSynchronize");
}
