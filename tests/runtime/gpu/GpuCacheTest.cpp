//===- GpuCacheTest.cpp - Kernels for a GPU in the cache on disk ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/runtime/gpu/CachedCudaTest.h"
#include "tests/runtime/jit/Kernels.h"

#include <gmock/gmock.h>

#include <cstdlib>

using namespace flashtile;
using namespace flashtile::cuda;

namespace {

class GpuCacheTest : public CachedCudaTest {
protected:
  /// As a new process would get it: whether from the cache.
  bool compilesFromCache() {
    Jit::clearCache();
    CompilerOptions options;
    options.target = target;
    return Jit(Device::cuda(0), options)
        .compile(testkernels::vectorAdd)
        .kernel()
        .report()
        .fromCache;
  }

  /// The driver's linker assembles this one, and what it made is kept.
  std::string target = "sm_80";
};

} // namespace

TEST_F(GpuCacheTest, TheSecondProcessAssemblesNothing) {
  EXPECT_FALSE(compilesFromCache());
  EXPECT_EQ(driver.count("cuLinkComplete"), 1);
  EXPECT_TRUE(compilesFromCache());
  EXPECT_EQ(driver.count("cuLinkComplete"), 1);
}

// The driver compiles it at each load, and has a cache of its own.
TEST_F(GpuCacheTest, PtxForHopperIsKeptAsItIs) {
  target = "sm_90a";
  EXPECT_FALSE(compilesFromCache());
  EXPECT_TRUE(compilesFromCache());
  driver.failOnce["cuModuleLoadDataEx"] = invalidPtx;
  EXPECT_FALSE(compilesFromCache());
  EXPECT_EQ(driver.count("cuLinkComplete"), 0);
}

TEST_F(GpuCacheTest, CodeThatTheDriverRefusesIsCompiledAgain) {
  for (const Result refusal : {noBinaryForGpu, invalidImage, invalidPtx}) {
    EXPECT_FALSE(compilesFromCache());
    driver.failOnce["cuModuleLoadDataEx"] = refusal;
    EXPECT_FALSE(compilesFromCache()) << refusal;
    // And kept again.
    EXPECT_TRUE(compilesFromCache()) << refusal;
    TearDown();
    std::filesystem::remove_all(folder.file(""));
    SetUp();
  }
}

TEST_F(GpuCacheTest, CodeWithoutTheKernelIsCompiledAgain) {
  EXPECT_FALSE(compilesFromCache());
  driver.failOnce["cuModuleGetFunction"] = notFound;
  EXPECT_FALSE(compilesFromCache());
  EXPECT_TRUE(compilesFromCache());
}

TEST_F(GpuCacheTest, NoMemoryIsNoReasonToCompile) {
  EXPECT_FALSE(compilesFromCache());
  driver.failOnce["cuModuleLoadDataEx"] = outOfMemory;
  EXPECT_ERROR(OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", compilesFromCache());
  EXPECT_TRUE(compilesFromCache());
  EXPECT_EQ(driver.count("cuLinkComplete"), 1);
}
