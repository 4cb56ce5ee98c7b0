//===- CudaModuleTest.cpp - Linking, loading and launching ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/runtime/cuda/CudaTest.h"

#include <cstring>

using namespace flashtile;
using namespace flashtile::cuda;

namespace {

class CudaModuleTest : public CudaTest {
protected:
  CudaDevice &device = CudaDevice::get(0);
  CudaStream stream = CudaStream::legacy(CudaDevice::get(0));

  /// Launches with this grid and nothing else of note.
  static CudaLaunchConfig gridOf(std::array<int64_t, 3> grid) {
    CudaLaunchConfig config;
    config.grid = grid;
    return config;
  }
};

} // namespace

TEST_F(CudaModuleTest, LinksWithOptionsAndKeepsTheLog) {
  driver.infoLog = "ptxas info    : Used 32 registers\n\n";
  PtxOptions options;
  options.maxRegisters = 128;
  options.optimizationLevel = 3;
  options.lineInfo = true;
  const CudaModule module = CudaModule::loadPtx(device, ptx, options);
  EXPECT_EQ(module.linkLog(), "ptxas info    : Used 32 registers");
  EXPECT_GT(module.linkMilliseconds(), 0);
  EXPECT_EQ(driver.jitOptions[jitMaxRegisters], 128u);
  EXPECT_EQ(driver.jitOptions[jitOptimizationLevel], 3u);
  EXPECT_EQ(driver.jitOptions[jitGenerateLineInfo], 1u);
  EXPECT_EQ(driver.alive["link"], 0) << "the cubin was copied";
  driver.jitOptions.clear();
  CudaModule::loadPtx(device, ptx);
  EXPECT_EQ(driver.jitOptions.count(jitMaxRegisters), 0u);
}

TEST_F(CudaModuleTest, ALinkedCubinCanBeKept) {
  const LinkedCode code = linkPtx(device, ptx);
  EXPECT_GT(code.cubin.size(), 64u);
  driver.calls.clear();
  CudaModule::loadCubin(device, code.cubin.data(), code.cubin.size());
  EXPECT_EQ(driver.count("cuLinkCreate"), 0);
  EXPECT_ERROR(InvalidArgument, "expected a cubin of 'k', an ELF file",
               CudaModule::loadCubin(device, "abc", 4, "k"));
}

TEST_F(CudaModuleTest, TheLinkLogIsInTheError) {
  driver.errorLog = "ptxas application ptx input, line 9; error : bad";
  for (const char *call : {"cuLinkAddData", "cuLinkComplete"}) {
    driver.failOnce[call] = invalidPtx;
    EXPECT_ERROR(Compile,
                 "cannot compile 'test' (PTX 8.3 for sm_90a) for device cuda:0 "
                 "(Fake GPU, sm_90): CUDA_ERROR_INVALID_PTX (says the fake "
                 "driver)\nptxas application ptx input, line 9; error : bad",
                 load(device));
  }
  driver.failOnce["cuLinkComplete"] = outOfMemory;
  EXPECT_ERROR(OutOfMemory, "compiling PTX 'test'", load(device));
  driver.failOnce["cuLinkComplete"] = jitCompilerNotFound;
  EXPECT_ERROR(Unsupported, "libnvidia-ptxjitcompiler", load(device));
}

TEST_F(CudaModuleTest, NewerPtxThanTheDriverNamesBothVersions) {
  const char *expected =
      "is PTX of version 9.0, but the driver (CUDA 12.4) reads versions up to "
      "8.4; compile for PTX 8.4, or install a driver for CUDA 13.0 or later";
  const char *newer = "// generated\n.version 9.0\n.target sm_90a\n";
  driver.failOnce["cuLinkAddData"] = unsupportedPtxVersion;
  EXPECT_ERROR(Unsupported, expected, CudaModule::loadPtx(device, newer));
  driver.failOnce["cuLinkAddData"] = invalidPtx;
  EXPECT_ERROR(Unsupported, expected, CudaModule::loadPtx(device, newer));
  driver.failOnce["cuLinkAddData"] = 999;
  driver.errorLog = "Unsupported .version 9.0; current version is '8.4'";
  EXPECT_ERROR(Unsupported, "current version is '8.4'",
               CudaModule::loadPtx(device, newer));
}

TEST_F(CudaModuleTest, CodeForAnotherGpuAndMissingKernels) {
  driver.failOnce["cuModuleLoadDataEx"] = noBinaryForGpu;
  EXPECT_ERROR(Device,
               "the code of 'test' is not for device cuda:0 (Fake GPU, sm_90)",
               load(device));
  EXPECT_ERROR(NotFound, "the module has no kernel 'missing'",
               load(device, "missing"));
  PtxOptions options;
  options.optimizationLevel = 5;
  EXPECT_ERROR(InvalidArgument, "from 0 to 4, but got 5",
               linkPtx(device, ptx, options));
  options = {};
  options.maxRegisters = 256;
  EXPECT_ERROR(InvalidArgument, "but got 256", linkPtx(device, ptx, options));
}

TEST_F(CudaModuleTest, AFunctionKeepsItsModule) {
  driver.functionAttributes = {{"registers", 168}, {"localBytes", 16}};
  {
    const CudaFunction kernel = load(device);
    EXPECT_EQ(driver.alive["module"], 1);
    EXPECT_EQ(kernel.attributes().registers, 168);
    EXPECT_EQ(kernel.attributes().localBytes, 16);
    EXPECT_EQ(kernel.maxBlocksPerMultiprocessor(256, 0), 8);
  }
  EXPECT_EQ(driver.alive["module"], 0);
}

TEST_F(CudaModuleTest, ArgumentsArriveAsPointersToValues) {
  const CudaFunction kernel = load(device);
  const float *pointer = nullptr;
  const int n = 17;
  const void *arguments[] = {&pointer, &n};
  driver.onLaunch = [&](const fake::Launch &launch) {
    EXPECT_EQ(launch.arguments[0], &pointer);
    EXPECT_EQ(*static_cast<int *>(launch.arguments[1]), 17);
  };
  kernel.launch(stream, {}, arguments);
  EXPECT_EQ(driver.launches.size(), 1u);
}

TEST_F(CudaModuleTest, SharedMemoryAbove48KBIsAskedForOnce) {
  driver.functionAttributes = {{"staticSharedBytes", 1024}};
  const CudaFunction kernel = load(device);
  CudaLaunchConfig config;
  config.dynamicSharedBytes = 48128;
  kernel.launch(stream, config, nullptr);
  EXPECT_EQ(driver.count("cuFuncSetAttribute"), 0);
  config.dynamicSharedBytes = 200000;
  kernel.launch(stream, config, nullptr);
  config.dynamicSharedBytes = 100000;
  kernel.launch(stream, config, nullptr);
  EXPECT_EQ(driver.count("cuFuncSetAttribute"), 1);
  config.dynamicSharedBytes = 231424; // 232448 with the static ones
  kernel.launch(stream, config, nullptr);
  EXPECT_EQ(driver.launches.back().dynamicSharedBytes, 231424u);
  config.dynamicSharedBytes = 231425;
  EXPECT_ERROR(InvalidArgument,
               "cannot launch kernel 'kernel' on device cuda:0 (Fake GPU, "
               "sm_90): it needs 231425 bytes of dynamic and 1024 of static "
               "shared memory, but a block has at most 232448",
               kernel.launch(stream, config, nullptr));
  EXPECT_EQ(driver.launches.size(), 4u);
}

TEST_F(CudaModuleTest, LimitsOfGridAndBlockAreNamed) {
  const CudaFunction kernel = load(device);
  const auto refuse = [&](const char *part, CudaLaunchConfig config) {
    expectError(__FILE__, __LINE__, ErrorCode::InvalidArgument, part,
                [&] { kernel.launch(stream, config, nullptr); });
  };
  refuse("dimension y of the grid is 65536, but must be from 1 to 65535",
         gridOf({1, 65536, 1}));
  refuse("dimension z of the grid is 65536, but must be from 1 to 65535",
         gridOf({1, 1, 65536}));
  refuse("dimension x of the grid is 2147483648, but must be from 1 to "
         "2147483647",
         gridOf({int64_t(1) << 31, 1, 1}));
  refuse("dimension x of the grid is -1", gridOf({-1, 1, 1}));
  CudaLaunchConfig config;
  config.block = {2048, 1, 1};
  refuse("dimension x of the block is 2048, but must be from 1 to 1024",
         config);
  config.block = {512, 4, 1};
  refuse("a block of (512, 4, 1) has 2048 threads, but the limit of this "
         "kernel is 1024",
         config);
  config.block = {0, 1, 1};
  refuse("dimension x of the block is 0", config);
  EXPECT_TRUE(driver.launches.empty());
  kernel.launch(stream, gridOf({2147483647, 65535, 65535}), nullptr);
  EXPECT_EQ(driver.launches[0].grid,
            (std::array<unsigned, 3>{2147483647, 65535, 65535}));
}

TEST_F(CudaModuleTest, AnEmptyGridRunsNothing) {
  const CudaFunction kernel = load(device);
  kernel.launch(stream, gridOf({4, 0, 1}), nullptr);
  kernel.launch(stream, FlattenedGrid({0, 1, 1}), {}, nullptr, 0);
  EXPECT_TRUE(driver.launches.empty());
}

TEST_F(CudaModuleTest, ClustersGoThroughTheExtendedLaunch) {
  const CudaFunction kernel = load(device);
  CudaLaunchConfig config = gridOf({132, 2, 1});
  config.block = {128, 1, 1};
  config.cluster = {2, 1, 1};
  kernel.launch(stream, config, nullptr);
  EXPECT_EQ(driver.count("cuLaunchKernelEx"), 1);
  EXPECT_EQ(driver.launches[0].cluster, (std::array<unsigned, 3>{2, 1, 1}));
  EXPECT_EQ(driver.launches[0].grid, (std::array<unsigned, 3>{132, 2, 1}));
  config.cluster = {11, 1, 1};
  kernel.launch(stream, config, nullptr);
  EXPECT_EQ(driver.count("cuFuncSetAttribute"), 1) << "above 8 blocks";
  config.cluster = {5, 1, 1};
  EXPECT_ERROR(InvalidArgument,
               "dimension x of the grid is 132, which is no multiple of the "
               "cluster's 5",
               kernel.launch(stream, config, nullptr));
  config.cluster = {4, 8, 1};
  EXPECT_ERROR(InvalidArgument, "has 32 blocks, but the limit is 16",
               kernel.launch(stream, config, nullptr));
  config.cluster = {17, 1, 1};
  EXPECT_ERROR(InvalidArgument, "must be from 1 to 16",
               kernel.launch(stream, config, nullptr));
  config.cluster = {2, 1, 1};
  CudaDevice &older = CudaDevice::get(1);
  const CudaFunction onOlder = load(older);
  EXPECT_ERROR(InvalidArgument, "need sm_90",
               onOlder.launch(CudaStream::legacy(older), config, nullptr));
}

TEST_F(CudaModuleTest, AFlattenedLaunchAppendsTheExtents) {
  const CudaFunction kernel = load(device);
  for (size_t count : {size_t(2), size_t(80)}) {
    std::vector<int> values(count, 5);
    std::vector<const void *> arguments;
    for (int &value : values)
      arguments.push_back(&value);
    bool isLaunched = false;
    driver.onLaunch = [&](const fake::Launch &launch) {
      isLaunched = true;
      const auto at = [&](size_t i) {
        return *static_cast<int32_t *>(launch.arguments[i]);
      };
      EXPECT_EQ(launch.grid, (std::array<unsigned, 3>{3 * 65536 * 2, 1, 1}));
      EXPECT_EQ(at(count - 1), 5);
      EXPECT_EQ(at(count), 3);
      EXPECT_EQ(at(count + 1), 65536);
      EXPECT_EQ(at(count + 2), 2);
    };
    kernel.launch(stream, FlattenedGrid({3, 65536, 2}), {}, arguments.data(),
                  count);
    EXPECT_TRUE(isLaunched);
  }
  CudaLaunchConfig config;
  config.cluster = {4, 1, 1};
  driver.onLaunch = nullptr;
  kernel.launch(stream, FlattenedGrid({3, 1, 3}), config, nullptr, 0);
  EXPECT_EQ(driver.launches.back().grid[0], 12u) << "9, in whole clusters";
  config.cluster = {1, 2, 1};
  EXPECT_ERROR(
      InvalidArgument, "clusters along x only",
      kernel.launch(stream, FlattenedGrid({3, 1, 3}), config, nullptr, 0));
}

TEST(FlattenedGridTest, EveryProgramHasItsPlace) {
  const FlattenedGrid grid({3, 4, 5});
  EXPECT_EQ(grid.numPrograms(), 60);
  EXPECT_EQ(grid.extents(), (std::array<int32_t, 3>{3, 4, 5}));
  int64_t linear = 0;
  for (int64_t z = 0; z < 5; ++z)
    for (int64_t y = 0; y < 4; ++y)
      for (int64_t x = 0; x < 3; ++x)
        EXPECT_EQ(grid.position(linear++), (std::array<int64_t, 3>{x, y, z}));
}

TEST(FlattenedGridTest, ReachesToTheLimitAndNoFurther) {
  EXPECT_EQ(FlattenedGrid({1, 131074, 1}).numPrograms(), 131074);
  EXPECT_EQ(FlattenedGrid({2147483647, 1, 1}).numPrograms(), 2147483647);
  EXPECT_EQ(FlattenedGrid({2147483647, 2147483647, 0}).numPrograms(), 0);
  EXPECT_ERROR(InvalidArgument,
               "expected dimension x of the grid to be from 0 to 2147483647, "
               "but got 2147483648",
               FlattenedGrid({int64_t(1) << 31, 1, 1}));
  EXPECT_ERROR(InvalidArgument, "dimension z of the grid to be from 0",
               FlattenedGrid({1, 1, -1}));
  EXPECT_ERROR(InvalidArgument,
               "a grid of (65536, 32768, 1) has more programs than the limit "
               "of 2147483647",
               FlattenedGrid({65536, 32768, 1}));
  EXPECT_ERROR(InvalidArgument, "take more blocks than the limit",
               FlattenedGrid({2147483647, 1, 1}).numBlocks(2));
}

TEST_F(CudaModuleTest, ALaunchThatTheDriverRefusesIsNeverSilent) {
  const CudaFunction kernel = load(device);
  for (int64_t cluster : {1, 2}) {
    CudaLaunchConfig config = gridOf({8, 1, 1});
    config.cluster = {cluster, 1, 1};
    driver.failOnce[cluster == 1 ? "cuLaunchKernel" : "cuLaunchKernelEx"] =
        launchOutOfResources;
    EXPECT_ERROR(Device,
                 "launching kernel 'kernel' on device cuda:0: error 701; grid "
                 "(8, 1, 1), block (1, 1, 1), 0 bytes",
                 kernel.launch(stream, config, nullptr));
  }
  device.setSynchronousLaunches(true);
  driver.failOnce["cuStreamSynchronize"] = 999;
  EXPECT_ERROR(Device, "running kernel 'kernel' on device cuda:0: error 999",
               kernel.launch(stream, {}, nullptr));
}
