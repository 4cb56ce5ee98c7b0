//===- AttentionVariantBlocksTest.cpp - Blocks of kinds of attention ------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many blocks a launch has, on the scripted driver of tests/runtime/cuda,
// whose first device is a Hopper of 132 multiprocessors.
//
//===----------------------------------------------------------------------===//

#include "kernels/AttentionVariants.h"
#include "runtime/cuda/CudaDevice.h"
#include "tests/runtime/cuda/FakeDriver.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace flashtile;

namespace {

const Device gpu = Device::cuda(0);
constexpr unsigned multiprocessors = 132;

class AttentionVariantBlocksTest : public testing::Test {
protected:
  AttentionVariantBlocksTest() { CudaDevice::get(gpu); }
  ~AttentionVariantBlocksTest() override {
    unsetenv("FLASHTILE_PERSISTENT");
    driver.reset();
  }

  /// Of windows over many rows. Kernels are kept by their head dimension.
  unsigned blocksOf(int64_t headDim, const char *persistent) {
    if (persistent)
      setenv("FLASHTILE_PERSISTENT", persistent, 1);
    const Tensor q = Tensor::zeros({32, 4096, headDim}, DType::BF16, gpu);
    AttentionVariantOptions options;
    options.variant = AttentionVariant::SlidingWindow;
    options.left = options.right = 100;
    attentionVariant(q, q, q, options);
    return driver.launches.back().grid[0];
  }

  fake::FakeDriver &driver = fake::FakeDriver::get();
};

} // namespace

TEST_F(AttentionVariantBlocksTest, MaskedKernelsHaveABlockForEachProgram) {
  EXPECT_GT(blocksOf(64, nullptr), multiprocessors);
}

TEST_F(AttentionVariantBlocksTest, AutoLeavesThatAsItIs) {
  EXPECT_GT(blocksOf(80, "auto"), multiprocessors);
}

TEST_F(AttentionVariantBlocksTest, TheEnvironmentHasTheLastWord) {
  EXPECT_EQ(blocksOf(96, "static"), multiprocessors);
  EXPECT_EQ(blocksOf(112, "dynamic"), multiprocessors);
  EXPECT_GT(blocksOf(128, "off"), multiprocessors);
}
