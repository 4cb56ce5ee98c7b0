//===- GpuKernelTest.cpp - Launches with and without tensor maps ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/runtime/gpu/GpuKernelTestSupport.h"

#include <gmock/gmock.h>

using namespace flashtile;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class GpuKernelTest : public CudaTest {
protected:
  void SetUp() override {
    CudaTest::SetUp();
    driver.onLaunch = [this](const fake::Launch &launch) {
      std::copy_n(static_cast<const uint64_t *>(launch.arguments[5]), 16,
                  afterArguments.begin());
      isMapped = launch.kernel == "k";
      for (size_t i = 0; i < 3; ++i)
        extents[i] = *static_cast<const int32_t *>(
            launch.arguments[(isMapped ? 6 : 5) + i]);
    };
  }

  /// Where the map's tensor is; nothing reads it.
  static void *at(uint64_t address) {
    return reinterpret_cast<void *>(address);
  }
  std::string lastKernel() const { return driver.launches.back().kernel; }
  int encodings() const { return driver.count("cuTensorMapEncodeTiled"); }

  bool isMapped = false;
  /// The parameter behind the arguments, and the extents of the grid, while
  /// the launch is made.
  std::array<uint64_t, 16> afterArguments{};
  std::array<int32_t, 3> extents{};
};

std::string remarksOf(const Kernel &kernel) {
  std::string text;
  for (const std::string &remark : kernel.report().remarks)
    text += remark + "\n";
  return text;
}

} // namespace

TEST_F(GpuKernelTest, TensorMapsFollowTheArguments) {
  const Kernel kernel = kernelOf(mappedArtifact());
  kernel(at(0x1000), at(0x2000), 1000, 80, 3);
  ASSERT_EQ(driver.launches.size(), 1u);
  const fake::Launch &launch = driver.launches[0];
  EXPECT_EQ(launch.kernel, "k");
  EXPECT_THAT(launch.block, ElementsAre(160, 1, 1));
  EXPECT_THAT(launch.grid, ElementsAre(48, 1, 1)); // 16 * 3
  EXPECT_EQ(launch.dynamicSharedBytes, 100000u);
  EXPECT_THAT(extents, ElementsAre(16, 3, 1));
  // What the scripted driver writes: base, type, rank, extent 0, stride 1 in
  // bytes, box 0, swizzle, fill.
  afterArguments[8] = 0;
  EXPECT_THAT(
      std::vector<uint64_t>(afterArguments.begin(), afterArguments.begin() + 8),
      ElementsAre(0x1000, 9, 3, 64, 160, 64, 3, 0));
  EXPECT_EQ(remarksOf(kernel), "");
}

TEST_F(GpuKernelTest, MapsAreEncodedOncePerArguments) {
  const Kernel kernel = kernelOf(mappedArtifact());
  for (int i = 0; i < 3; ++i) {
    kernel(at(0x1000), at(0x2000), 1000, 80, 3);
    EXPECT_EQ(afterArguments[0], 0x1000u);
    kernel(at(0x4000), at(0x2000), 1000, 80, 3);
    EXPECT_EQ(afterArguments[0], 0x4000u);
    // y is in no map.
    kernel(at(0x4000), at(0x2010), 1000, 80, 3);
  }
  EXPECT_EQ(encodings(), 2);
  // Many more than are kept.
  for (uint64_t i = 0; i < 2 * TensorMapCache::capacity; ++i) {
    kernel(at(0x10000 + 16 * i), at(0x2000), 1000, 80, 3);
    EXPECT_EQ(afterArguments[0], 0x10000 + 16 * i);
  }
}

TEST_F(GpuKernelTest, WhatDoesNotQualifyRunsThePlainFunction) {
  struct {
    uint64_t x;
    int64_t rows, stride, batch;
    const char *reason;
  } cases[] = {
      {0x1008, 1000, 80, 3,
       "argument 'x': the base address is 8 bytes past a multiple of 16"},
      {0x1000, 1000, 36, 3,
       "argument 'x': stride 72 bytes of dimension 1 is not a multiple of 16"},
      {0x1000, 1000, -80, 3, "stride -160 bytes of dimension 1 is not from 0"},
      {0x1000, 1000, int64_t(1) << 40, 3, "is not from 0 to 2^40 - 1"},
      {0x1000, int64_t(1) << 40, int64_t(1) << 40, 0,
       "argument 'x': stride rows * stride does not fit 64 bits"},
  };
  for (const auto &c : cases) {
    const Kernel kernel = kernelOf(mappedArtifact());
    if (c.batch == 0) {
      // An empty grid runs nothing, whatever its maps would be.
      driver.launches.clear();
      EXPECT_ERROR(InvalidArgument, "grid",
                   kernel(at(c.x), at(0x2000), c.rows, c.stride, c.batch));
      continue;
    }
    for (int i = 0; i < 2; ++i) {
      kernel(at(c.x), at(0x2000), c.rows, c.stride, c.batch);
      EXPECT_EQ(lastKernel(), "k__plain");
      EXPECT_THAT(driver.launches.back().block, ElementsAre(128, 1, 1));
      EXPECT_EQ(driver.launches.back().dynamicSharedBytes, 4096u);
      EXPECT_THAT(extents, ElementsAre(16, 3, 1));
    }
    // Once, however often it was launched.
    const std::vector<std::string> remarks = kernel.report().remarks;
    ASSERT_EQ(remarks.size(), 1u);
    EXPECT_THAT(remarks[0], HasSubstr("at a launch of kernel 'k'"));
    EXPECT_THAT(remarks[0], HasSubstr(c.reason));
  }
  EXPECT_EQ(encodings(), 0);
}

TEST_F(GpuKernelTest, AStrideThatDoesNotFit64BitsIsNoMap) {
  KernelArtifact artifact = mappedArtifact();
  artifact.kernels[0].info.grid = {constant(2)};
  const Kernel kernel = kernelOf(artifact);
  kernel(at(0x1000), at(0x2000), INT32_MAX, int64_t(1) << 40, 3);
  EXPECT_EQ(lastKernel(), "k__plain");
  EXPECT_THAT(remarksOf(kernel),
              HasSubstr("stride rows * stride does not fit 64 bits"));
}

TEST_F(GpuKernelTest, AnExtentBeyondTheCoordinatesIsNoMap) {
  KernelArtifact artifact = mappedArtifact();
  artifact.kernels[0].info.grid = {constant(2)};
  artifact.kernels[0].entries[0].tensorMaps[0].strides[1] = constant(64);
  const Kernel kernel = kernelOf(artifact);
  kernel(at(0x1000), at(0x2000), INT32_MAX, 64, 3);
  EXPECT_EQ(lastKernel(), "k");
  kernel(at(0x1000), at(0x2000), int64_t(INT32_MAX) + 1, 64, 3);
  EXPECT_EQ(lastKernel(), "k__plain");
  EXPECT_THAT(remarksOf(kernel),
              HasSubstr("extent 2147483648 of dimension 1 is beyond 2^31 - 1"));
}

TEST_F(GpuKernelTest, AnEmptyTensorHasNoMap) {
  // A map reads what is out of bounds as zero, but must have an element, which
  // here is not there to be read.
  KernelArtifact artifact = mappedArtifact();
  artifact.kernels[0].info.grid = {constant(2)};
  const Kernel kernel = kernelOf(artifact);
  kernel(at(0x1000), at(0x2000), 0, 80, 3);
  EXPECT_EQ(lastKernel(), "k__plain");
  EXPECT_THAT(remarksOf(kernel), HasSubstr("extent 0 of dimension 1"));
}

TEST_F(GpuKernelTest, StridesOfASingleIndexDoNotMatter) {
  const Kernel kernel = kernelOf(mappedArtifact());
  kernel(at(0x1000), at(0x2000), 1, 37, 1);
  EXPECT_EQ(lastKernel(), "k");
}

TEST_F(GpuKernelTest, ArgumentsMustBeTheMultiplesThatAFunctionNeeds) {
  KernelArtifact artifact = mappedArtifact();
  artifact.kernels[0].entries[0].tensorMaps.clear();
  artifact.kernels[0].entries[0].symbol = "k__aligned";
  artifact.kernels[0].entries[0].requirements = {{1, 16}, {4, 4}, {3, 8}};
  const Kernel kernel = kernelOf(artifact);
  driver.onLaunch = nullptr;
  kernel(at(0x1008), at(0x2000), 1000, 80, 4);
  EXPECT_EQ(lastKernel(), "k__aligned");
  EXPECT_EQ(remarksOf(kernel), "");
  kernel(at(0x1008), at(0x2000), 1000, -80, 64 * 1000);
  EXPECT_EQ(lastKernel(), "k__aligned");
  kernel(at(0x1000), at(0x2004), 1000, 80, 4);
  EXPECT_EQ(lastKernel(), "k__plain");
  kernel(at(0x1000), at(0x2000), 1000, 84, 4);
  EXPECT_EQ(lastKernel(), "k__plain");
  kernel(at(0x1000), at(0x2000), 1000, 80, 6);
  EXPECT_EQ(lastKernel(), "k__plain");
  const std::string remarks = remarksOf(kernel);
  EXPECT_THAT(remarks, HasSubstr("argument 'y': the address is 4 bytes past a "
                                 "multiple of 16"));
  EXPECT_THAT(remarks, HasSubstr("'stride': 84 is not a multiple of 8"));
  EXPECT_THAT(remarks, HasSubstr("'batch': 6 is not a multiple of 4"));

  artifact.kernels[0].entries.pop_back();
  EXPECT_ERROR(InvalidArgument,
               "cannot launch kernel 'k': argument 'stride': 84 is not a "
               "multiple of 8",
               kernelOf(artifact)(at(0x1000), at(0x2000), 1000, 84, 4));
}

TEST_F(GpuKernelTest, OffsetsCountElements) {
  KernelArtifact artifact = mappedArtifact();
  artifact.kernels[0].entries[0].tensorMaps[0].offset = product(1, 2);
  const Kernel kernel = kernelOf(artifact);
  kernel(at(0x1000), at(0x2000), 1000, 80, 3);
  EXPECT_EQ(afterArguments[0], 0x1000u + 80 * 3 * 2);
  kernel(at(0x1000), at(0x2000), 1000, 81, 2);
  EXPECT_EQ(lastKernel(), "k__plain");
}

TEST_F(GpuKernelTest, WhatTheDriverRefusesRunsThePlainFunction) {
  const Kernel kernel = kernelOf(mappedArtifact());
  driver.failOnce["cuTensorMapEncodeTiled"] = cuda::invalidValue;
  kernel(at(0x1000), at(0x2000), 1000, 80, 3);
  EXPECT_EQ(lastKernel(), "k__plain");
  EXPECT_THAT(remarksOf(kernel), HasSubstr("the driver refuses it"));
}

TEST_F(GpuKernelTest, WithoutAPlainFunctionTheErrorSaysWhy) {
  KernelArtifact artifact = mappedArtifact();
  artifact.kernels[0].entries.pop_back();
  const Kernel kernel = kernelOf(artifact);
  EXPECT_ERROR(InvalidArgument,
               "cannot launch kernel 'k': argument 'x': stride 72 bytes of "
               "dimension 1 is not a multiple of 16",
               kernel(at(0x1000), at(0x2000), 1000, 36, 3));
  EXPECT_EQ(driver.launches.size(), 0u);
  kernel(at(0x1000), at(0x2000), 1000, 80, 3);
  EXPECT_EQ(lastKernel(), "k");
}

TEST_F(GpuKernelTest, PersistentGridsHaveAsManyBlocksAsFit) {
  KernelArtifact artifact = mappedArtifact();
  artifact.kernels[0].entries[0].persistentBlocks = 2;
  const Kernel kernel = kernelOf(artifact);
  kernel(at(0x1000), at(0x2000), 64 * 100, 80, 30);
  EXPECT_THAT(driver.launches.back().grid, ElementsAre(264, 1, 1)); // 132 SMs
  EXPECT_THAT(extents, ElementsAre(100, 30, 1));
  kernel(at(0x1000), at(0x2000), 64 * 10, 80, 3);
  EXPECT_THAT(driver.launches.back().grid, ElementsAre(30, 1, 1));
}

TEST_F(GpuKernelTest, ClustersRoundTheGrid) {
  KernelArtifact artifact = mappedArtifact();
  artifact.kernels[0].entries[0].clusterBlocks = 4;
  const Kernel kernel = kernelOf(artifact);
  kernel(at(0x1000), at(0x2000), 64 * 5, 80, 1);
  EXPECT_THAT(driver.launches.back().grid, ElementsAre(8, 1, 1));
  EXPECT_THAT(driver.launches.back().cluster, ElementsAre(4, 1, 1));
  artifact.kernels[0].entries[0].persistentBlocks = 1;
  artifact.kernels[0].entries[0].clusterBlocks = 16;
  const Kernel persistent = kernelOf(artifact);
  persistent(at(0x1000), at(0x2000), 64 * 1000, 80, 1);
  EXPECT_THAT(driver.launches.back().grid, ElementsAre(128, 1, 1));
}

TEST_F(GpuKernelTest, TooMuchSharedMemoryIsAnErrorThatListsTheBuffers) {
  KernelArtifact artifact = mappedArtifact();
  artifact.kernels[0].entries[0].sharedBytes = 232449;
  // The other function fits.
  const Kernel kernel = kernelOf(artifact);
  kernel(at(0x1000), at(0x2000), 1000, 80, 3);
  EXPECT_EQ(lastKernel(), "k__plain");
  driver.launches.clear();

  artifact.kernels[0].entries.pop_back();
  EXPECT_ERROR(InvalidArgument,
               "it needs 232449 bytes of shared memory, but a block on device "
               "cuda:0 (Fake GPU, sm_90) has at most 232448: ring of x takes "
               "98304 bytes from 0, barriers takes 1696 bytes from 98304",
               kernelOf(artifact)(at(0x1000), at(0x2000), 1000, 80, 3));
  EXPECT_EQ(driver.launches.size(), 0u);
}

TEST_F(GpuKernelTest, AFunctionThatTheCodeLacksIsNamed) {
  KernelArtifact artifact = mappedArtifact();
  artifact.kernels[0].entries[1].symbol = "missing";
  EXPECT_ERROR(NotFound, "the module has no kernel 'missing'",
               kernelOf(artifact));
}

TEST_F(GpuKernelTest, ManyThreadsLaunch) {
  const Kernel kernel = kernelOf(mappedArtifact());
  driver.onLaunch = nullptr;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&kernel, t] {
      for (uint64_t i = 0; i < 200; ++i)
        kernel(at(0x1000 + 16 * (i % 5) + 8 * (t % 2)), at(0x2000), 1000, 80,
               3);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(driver.launches.size(), 800u);
}
