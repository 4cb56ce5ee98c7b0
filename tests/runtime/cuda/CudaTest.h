//===- CudaTest.h - What the tests of the CUDA runtime share --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_RUNTIME_CUDA_CUDATEST_H
#define FLASHTILE_TESTS_RUNTIME_CUDA_CUDATEST_H

#include "runtime/cuda/CudaMemory.h"
#include "runtime/cuda/CudaModule.h"
#include "tests/runtime/ExpectError.h"
#include "tests/runtime/cuda/FakeDriver.h"

namespace flashtile {

/// Starts with a fresh record, and ends with everything given back.
class CudaTest : public testing::Test {
protected:
  void SetUp() override {
    CudaDevice::get(0);
    CudaDevice::get(1);
    driver.reset();
  }
  void TearDown() override {
    EXPECT_EQ(driver.totalAlive(), 0);
    EXPECT_EQ(driver.contextDepth(), 0);
    for (int i = 0; i < 2; ++i)
      CudaDevice::get(i).setSynchronousLaunches(false);
    driver.reset();
  }

  static constexpr const char *ptx = ".version 8.3\n.target sm_90a\n";
  static CudaFunction load(CudaDevice &device,
                           const std::string &name = "kernel") {
    return CudaModule::loadPtx(device, ptx, {}, "test").function(name);
  }

  fake::FakeDriver &driver = fake::FakeDriver::get();
};

} // namespace flashtile

#endif // FLASHTILE_TESTS_RUNTIME_CUDA_CUDATEST_H
