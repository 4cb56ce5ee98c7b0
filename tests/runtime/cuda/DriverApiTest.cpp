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

class DriverApiTest : public CudaTest {};

} // namespace

TEST_F(DriverApiTest, LoadsAndDescribesErrors) {
  const DriverApi api = DriverApi::load(FLASHTILE_FAKE_LIBCUDA);
  EXPECT_EQ(api.driverVersion, 12040);
  EXPECT_EQ(versionText(api.driverVersion), "12.4");
  EXPECT_EQ(versionText(13000), "13.0");
  EXPECT_EQ(api.describe(noDevice),
            "CUDA_ERROR_NO_DEVICE (says the fake driver)");
  EXPECT_EQ(api.describe(12345), "error 12345");
}

TEST_F(DriverApiTest, AMissingLibraryIsNamedWithItsReason) {
  EXPECT_ERROR(Unsupported,
               "no CUDA driver found: tried /nonexistent/libcuda.so.1: "
               "/nonexistent/libcuda.so.1: cannot open shared object file",
               DriverApi::load("/nonexistent/libcuda.so.1"));
  EXPECT_ERROR(Unsupported, "FLASHTILE_LIBCUDA names it",
               DriverApi::load("/nonexistent/libcuda.so.1"));
  EXPECT_ERROR(Unsupported, "the cpu target works",
               DriverApi::load("/nonexistent/libcuda.so.1"));
}

TEST_F(DriverApiTest, TheSearchNamesEveryPlace) {
  try {
    DriverApi::load("");
    GTEST_SKIP() << "this machine has a driver";
  } catch (const Error &error) {
    for (const char *part :
         {"tried libcuda.so.1:", "tried libcuda.so:",
          "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
          "/usr/local/nvidia/lib64/libcuda.so.1",
          "/usr/local/cuda/compat/libcuda.so.1", "the cpu target works"})
      EXPECT_THAT(error.what(), testing::HasSubstr(part));
  }
}

TEST_F(DriverApiTest, WhatIsNoDriverIsRefused) {
  EXPECT_ERROR(Unsupported, "invalid ELF header", DriverApi::load(__FILE__));
  EXPECT_ERROR(Unsupported,
               "(CUDA 11.4) is too old: it lacks cuGetProcAddress_v2; install "
               "a driver for CUDA 12.0",
               DriverApi::load(FLASHTILE_OLD_LIBCUDA));
}

TEST_F(DriverApiTest, MissingFunctionsAreAllNamed) {
  driver.hiddenSymbols = {"cuLaunchKernelEx", "cuMemAllocAsync"};
  EXPECT_ERROR(Unsupported, "lacks cuMemAllocAsync, cuLaunchKernelEx; install",
               DriverApi::load(FLASHTILE_FAKE_LIBCUDA));
}

TEST_F(DriverApiTest, AFailureToStartIsExplained) {
  driver.initResult = noDevice;
  EXPECT_ERROR(Unsupported,
               "does not start: cuInit returned CUDA_ERROR_NO_DEVICE",
               DriverApi::load(FLASHTILE_FAKE_LIBCUDA));
  EXPECT_ERROR(Unsupported, "CUDA_VISIBLE_DEVICES",
               DriverApi::load(FLASHTILE_FAKE_LIBCUDA));
  driver.initResult = 803;
  EXPECT_ERROR(Device, "cuInit returned error 803; the cpu target works",
               DriverApi::load(FLASHTILE_FAKE_LIBCUDA));
  driver.initResult = stubLibrary;
  EXPECT_ERROR(Unsupported, "stub for linking",
               DriverApi::load(FLASHTILE_FAKE_LIBCUDA));
}

/// In a process of its own, as the first outcome stays.
static void useWithoutDriver() {
  setenv("FLASHTILE_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
  std::string reason;
  if (CudaDevice::isAvailable(&reason) ||
      reason.find("no CUDA driver found") == reason.npos)
    std::exit(1);
  // Fixing it comes too late.
  setenv("FLASHTILE_LIBCUDA", FLASHTILE_FAKE_LIBCUDA, 1);
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

TEST(DriverApiDeathTest, NoDriverIsAnErrorEachTimeAndNeverAnAbort) {
  EXPECT_EXIT(useWithoutDriver(), testing::ExitedWithCode(0), "");
}
