//===- DriverApiTest.cpp - Finding and starting a driver ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Tensor.h"
#include "tests/runtime/cuda/CudaTest.h"

#include <cstdlib>

using namespace flashtile;
using namespace flashtile::cuda;

namespace {

class DriverApiTest : public CudaTest {
protected:
  static DriverApi load() { return DriverApi::load({FLASHTILE_FAKE_LIBCUDA}); }
};

} // namespace

TEST_F(DriverApiTest, LoadsAndDescribesErrors) {
  const DriverApi api = load();
  EXPECT_EQ(api.driverVersion, 12040);
  EXPECT_EQ(versionText(api.driverVersion), "12.4");
  EXPECT_EQ(versionText(13000), "13.0");
  EXPECT_EQ(api.describe(noDevice),
            "CUDA_ERROR_NO_DEVICE (says the fake driver)");
  EXPECT_EQ(api.describe(12345), "error 12345");
}

TEST_F(DriverApiTest, EveryMissingLibraryIsNamedWithItsReason) {
  const auto fail = [] {
    DriverApi::load({"/nonexistent/a.so", "/nowhere/b"});
  };
  EXPECT_ERROR(Unsupported,
               "no CUDA driver found: tried /nonexistent/a.so "
               "(/nonexistent/a.so: cannot open shared object file",
               fail());
  EXPECT_ERROR(Unsupported, "; /nowhere/b (/nowhere/b: cannot open", fail());
  EXPECT_ERROR(Unsupported, "the cpu target works", fail());
}

TEST_F(DriverApiTest, TheSearchGoesOnAfterABadPath) {
  EXPECT_EQ(
      DriverApi::load({"/nonexistent/a.so", __FILE__, FLASHTILE_FAKE_LIBCUDA})
          .libraryPath,
      FLASHTILE_FAKE_LIBCUDA);
  const std::vector<std::string> paths = DriverApi::searchPaths("");
  EXPECT_EQ(paths.front(), "libcuda.so.1");
  for (const char *path :
       {"libcuda.so", "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
        "/usr/local/nvidia/lib64/libcuda.so.1",
        "/usr/local/cuda/compat/libcuda.so.1"})
    EXPECT_THAT(paths, testing::Contains(path));
  EXPECT_EQ(DriverApi::searchPaths("/opt/libcuda.so.1").front(),
            "/opt/libcuda.so.1");
  EXPECT_EQ(DriverApi::searchPaths("/opt/libcuda.so.1")[1], "libcuda.so.1");
}

TEST_F(DriverApiTest, WhatIsNoDriverIsRefused) {
  EXPECT_ERROR(Unsupported, "invalid ELF header", DriverApi::load({__FILE__}));
  EXPECT_ERROR(Unsupported,
               "(CUDA 11.4) is too old: it lacks cuGetProcAddress_v2; install "
               "a driver for CUDA 12.0",
               DriverApi::load({FLASHTILE_OLD_LIBCUDA}));
}

TEST_F(DriverApiTest, MissingFunctionsAreAllNamed) {
  driver.hiddenSymbols = {"cuLaunchKernelEx", "cuMemAllocAsync"};
  EXPECT_ERROR(Unsupported, "lacks cuMemAllocAsync, cuLaunchKernelEx; install",
               load());
}

TEST_F(DriverApiTest, AFailureToStartIsExplained) {
  driver.initResult = noDevice;
  EXPECT_ERROR(Unsupported,
               "does not start: cuInit returned CUDA_ERROR_NO_DEVICE", load());
  EXPECT_ERROR(Unsupported, "CUDA_VISIBLE_DEVICES", load());
  driver.initResult = 803;
  EXPECT_ERROR(Device, "cuInit returned error 803; the cpu target works",
               load());
  driver.initResult = stubLibrary;
  EXPECT_ERROR(Unsupported, "stub for linking", load());
}

/// In a process of its own, as the first outcome stays.
static void useWithoutDevice() {
  fake::FakeDriver::get().initResult = noDevice;
  std::string reason;
  if (CudaDevice::isAvailable(&reason) ||
      reason.find("CUDA_ERROR_NO_DEVICE") == reason.npos)
    std::exit(1);
  // A device that appears comes too late.
  fake::FakeDriver::get().initResult = success;
  int failures = 0;
  const auto expectUnsupported = [&](auto call) {
    try {
      call();
    } catch (const Error &error) {
      failures += error.code() == ErrorCode::Unsupported;
    }
  };
  expectUnsupported([] { CudaDevice::get(0); });
  expectUnsupported([] { CudaDevice::count(); });
  expectUnsupported([] { Tensor::zeros({2}, DType::F32, Device::cuda()); });
  expectUnsupported([] {
    int value = 0;
    Tensor::fromBlob(&value, {1}, DType::I32, nullptr, {}, Device::cuda());
  });
  std::exit(failures == 4 ? 0 : 2);
}

TEST(DriverApiDeathTest, NoDeviceIsAnErrorEachTimeAndNeverAnAbort) {
  EXPECT_EXIT(useWithoutDevice(), testing::ExitedWithCode(0), "");
}
