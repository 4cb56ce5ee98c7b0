//===- LaunchGpuTest.cpp - Kernels on a GPU -------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttention.h"
#include "runtime/GpuModule.h"
#include "runtime/cuda/PtxVersion.h"
#include "runtime/cuda/TensorMap.h"
#include "tests/gpu/ChildProcess.h"
#include "tests/gpu/GpuTest.h"

#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

using namespace flashtile;
using namespace flashtile::cuda;

namespace {

class LaunchGpuTest : public GpuTest {
protected:
  static DevicePointer addressOf(const Tensor &tensor) {
    return reinterpret_cast<DevicePointer>(tensor.rawData());
  }

  static void add(const CudaFunction &kernel, const CudaStream &stream,
                  const Tensor &x, const Tensor &y, const Tensor &z) {
    const DevicePointer pointers[] = {addressOf(x), addressOf(y), addressOf(z)};
    const int n = static_cast<int>(x.numel());
    const void *arguments[] = {&pointers[0], &pointers[1], &pointers[2], &n};
    CudaLaunchConfig config;
    config.grid = {(n + 127) / 128, 1, 1};
    config.block = {128, 1, 1};
    kernel.launch(stream, config, arguments);
  }
};

} // namespace

TEST_F(LaunchGpuTest, AddsVectors) {
  const CudaModule module = CudaModule::loadPtx(device(), testKernels);
  EXPECT_GT(module.linkMilliseconds(), 0);
  const CudaFunction kernel = module.function("vector_add");
  EXPECT_GT(kernel.attributes().registers, 0);
  EXPECT_EQ(kernel.attributes().localBytes, 0);
  EXPECT_GT(kernel.maxBlocksPerMultiprocessor(128, 0), 0);
  const Tensor x = Tensor::randn({1000}, DType::F32, 1);
  const Tensor y = Tensor::randn({1000}, DType::F32, 2);
  const Tensor z = Tensor::zeros({1000}, DType::F32, Device::cuda(0));
  add(kernel, CudaStream::current(device()), x.to(Device::cuda(0)),
      y.to(Device::cuda(0)), z);
  const std::vector<float> sums = z.toVector<float>();
  for (size_t i = 0; i < sums.size(); ++i)
    ASSERT_EQ(sums[i], x.data<float>()[i] + y.data<float>()[i]) << i;
}

TEST_F(LaunchGpuTest, ManyShortThreads) {
  std::optional<CudaFunction> kernel;
  std::thread([&] { kernel = load("vector_add"); }).join();
  std::vector<std::thread> threads;
  std::atomic<int> numRight{0};
  for (int i = 0; i < 32; ++i)
    threads.emplace_back([&, i] {
      const CudaStreamGuard guard(CudaStream::create(device()));
      const Tensor x = Tensor::full({5000}, i, DType::F32, Device::cuda(0));
      const Tensor z = Tensor::zeros({5000}, DType::F32, Device::cuda(0));
      add(*kernel, CudaStream::current(device()), x, x, z);
      const std::vector<int> values = z.toVector<int>();
      numRight += values == std::vector<int>(5000, 2 * i);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(numRight, 32);
}

// Grids whose y or z is beyond 65535.
TEST_F(LaunchGpuTest, FlattenedGridsReachEveryProgram) {
  const CudaFunction kernel = load("where_am_i");
  for (const std::array<int64_t, 3> &extents :
       {std::array<int64_t, 3>{1, 65535, 1},
        std::array<int64_t, 3>{1, 65536, 1},
        std::array<int64_t, 3>{1, 131074, 1},
        std::array<int64_t, 3>{2, 3, 65537},
        std::array<int64_t, 3>{5, 7, 11}}) {
    const FlattenedGrid grid(extents);
    const Tensor out =
        Tensor::full({grid.numPrograms()}, -1, DType::I32, Device::cuda(0));
    const DevicePointer pointer = addressOf(out);
    const void *arguments[] = {&pointer};
    kernel.launch(CudaStream::current(device()), grid, {}, arguments, 1);
    const std::vector<int64_t> values = out.toVector<int64_t>();
    for (int64_t i = 0; i < grid.numPrograms(); ++i) {
      const std::array<int64_t, 3> p = grid.position(i);
      ASSERT_EQ(values[static_cast<size_t>(i)], p[0] + 3 * p[1] + 7 * p[2])
          << "program " << i << " of " << toString(extents);
    }
  }
}

TEST_F(LaunchGpuTest, GridsBeyondTheLimitsAreErrors) {
  const CudaFunction kernel = load("vector_add");
  CudaLaunchConfig config;
  config.grid = {1, 65536, 1};
  EXPECT_ERROR(InvalidArgument, "dimension y of the grid is 65536",
               kernel.launch(CudaStream::legacy(device()), config, nullptr));
  config.grid = {1, 1, 1};
  config.block = {2048, 1, 1};
  EXPECT_ERROR(InvalidArgument, "dimension x of the block is 2048",
               kernel.launch(CudaStream::legacy(device()), config, nullptr));
}

TEST_F(LaunchGpuTest, BigSharedMemory) {
  const CudaFunction kernel = load("big_shared");
  const auto limit =
      static_cast<int32_t>(device().properties().sharedBytesPerBlockOptIn);
  for (int32_t bytes : {1024, 49152, 49156, limit}) {
    const Tensor out = Tensor::zeros({1}, DType::I32, Device::cuda(0));
    const DevicePointer pointer = addressOf(out);
    const void *arguments[] = {&pointer, &bytes};
    CudaLaunchConfig config;
    config.dynamicSharedBytes = static_cast<size_t>(bytes);
    kernel.launch(CudaStream::current(device()), config, arguments);
    EXPECT_EQ(out.item<int>(), 12345) << bytes;
  }
  CudaLaunchConfig config;
  config.dynamicSharedBytes = static_cast<size_t>(limit) + 1;
  EXPECT_ERROR(InvalidArgument, "but a block has at most",
               kernel.launch(CudaStream::legacy(device()), config, nullptr));
}

TEST_F(LaunchGpuTest, ClusterLaunch) {
  if (!device().properties().hasClusters)
    GTEST_SKIP() << device().describe() << " has no clusters";
  const CudaFunction kernel = load("where_am_i");
  const FlattenedGrid grid({6, 2, 1});
  for (int64_t size : {2, 4, 12}) {
    const Tensor out = Tensor::full({12}, -1, DType::I32, Device::cuda(0));
    const DevicePointer pointer = addressOf(out);
    const void *arguments[] = {&pointer};
    CudaLaunchConfig config;
    config.cluster = {size, 1, 1};
    kernel.launch(CudaStream::current(device()), grid, config, arguments, 1);
    EXPECT_EQ(out.toVector<int>(),
              (std::vector<int>{0, 1, 2, 3, 4, 5, 3, 4, 5, 6, 7, 8}));
  }
}

TEST_F(LaunchGpuTest, WrongPtxShowsTheCompilersWords) {
  EXPECT_ERROR(Compile, "error",
               CudaModule::loadPtx(device(),
                                   ".version 8.0\n.target sm_80\n"
                                   ".address_size 64\n"
                                   ".visible .entry f() { nonsense; }\n"));
  EXPECT_ERROR(Unsupported, "is PTX of version 9.9, but the driver (CUDA ",
               CudaModule::loadPtx(device(), ".version 9.9\n.target sm_80\n"
                                             ".address_size 64\n"
                                             ".visible .entry f() { ret; }\n"));
  EXPECT_ERROR(NotFound, "no kernel 'g'", load("g"));
  EXPECT_EQ(load("vector_add").name(), "vector_add") << "and all goes on";
}

TEST_F(LaunchGpuTest, ACubinIsLoadedAgain) {
  const LinkedCode code = linkPtx(device(), testKernels);
  const CudaFunction kernel =
      CudaModule::loadCubin(device(), code.cubin.data(), code.cubin.size())
          .function("vector_add");
  const Tensor x = Tensor::full({10}, 2, DType::F32, Device::cuda(0));
  add(kernel, CudaStream::current(device()), x, x, x);
  EXPECT_THAT(x.toVector<int>(), testing::Each(4));
}

TEST_F(LaunchGpuTest, TensorMapsAreEncoded) {
  if (device().properties().computeMajor < 9)
    GTEST_SKIP() << device().describe() << " has no tensor maps";
  const Tensor matrix = Tensor::zeros({1000, 64}, DType::BF16, Device::cuda(0));
  TensorMapDescription map;
  map.base = addressOf(matrix);
  map.shape = {64, 1000};
  map.strideBytes = {128};
  map.box = {64, 128};
  const TensorMap encoded = TensorMap::encode(device(), map);
  const std::vector<char> zeros(TensorMap::numBytes);
  EXPECT_NE(std::memcmp(encoded.data(), zeros.data(), zeros.size()), 0);
  for (auto swizzle : {TensorMapDescription::Swizzle::None,
                       TensorMapDescription::Swizzle::Bytes32,
                       TensorMapDescription::Swizzle::Bytes64}) {
    map.swizzle = swizzle;
    map.box[0] = 16;
    EXPECT_NO_THROW(TensorMap::encode(device(), map));
  }
  // Our checks refuse what the driver refuses, and nothing else.
  map.shape = {64, 10, 20, 3, 5};
  map.strideBytes = {128, 1280, 25600, 76800};
  map.box = {64, 8, 4, 1, 1};
  map.swizzle = TensorMapDescription::Swizzle::Bytes128;
  map.fill = TensorMapDescription::Fill::NaN;
  EXPECT_NO_THROW(TensorMap::encode(device(), map));
  map.strideBytes[0] = 0; // repeats a row
  EXPECT_NO_THROW(TensorMap::encode(device(), map));
}

//===----------------------------------------------------------------------===//
// Faults, each in a process of its own.
//===----------------------------------------------------------------------===//

static void faultAndGoOn(bool isSynchronous) {
  CudaDevice &device = CudaDevice::get(0);
  device.setSynchronousLaunches(isSynchronous);
  const CudaModule module = CudaModule::loadPtx(device, testKernels);
  const CudaFunction wild = module.function("wild_store");
  const CudaFunction good = module.function("vector_add");
  const CudaStream stream = CudaStream::create(device);
  const Tensor tensor = Tensor::zeros({16}, DType::F32, Device::cuda(0));
  std::string first, later;
  try {
    wild.launch(stream, {}, nullptr);
    stream.synchronize();
  } catch (const Error &error) {
    first = error.what();
  }
  int numLost = 0;
  const auto expectLost = [&](auto call) {
    try {
      call();
    } catch (const Error &error) {
      later = error.what();
      numLost += later.find("context lost") == 0;
    }
  };
  expectLost([&] { good.launch(stream, {}, nullptr); });
  expectLost([&] { CudaModule::loadPtx(device, testKernels); });
  expectLost([&] { tensor.toVector<float>(); });
  const bool isNamed = first.find("wild_store") != first.npos;
  std::fprintf(stderr, "%s\n%s\n", first.c_str(), later.c_str());
  // Handles are dropped on the way out of a lost context.
  std::exit(numLost == 3 && isNamed == isSynchronous && !first.empty() ? 21
                                                                       : 1);
}

static std::optional<CudaModule> staticModule;

static void exitWithStaticModule() {
  staticModule = CudaModule::loadPtx(CudaDevice::get(0), testKernels);
  static const Tensor tensor = Tensor::zeros({16}, DType::F32, Device::cuda(0));
  std::exit(22);
}

TEST_F(LaunchGpuTest, AfterAFaultTheContextIsLostAndTheProcessGoesOn) {
  const ChildResult waiting = runInChild([] { faultAndGoOn(true); });
  EXPECT_EQ(waiting.exitCode, 21) << waiting.errors;
  const ChildResult later = runInChild([] { faultAndGoOn(false); });
  EXPECT_EQ(later.exitCode, 21) << later.errors;
  EXPECT_THAT(later.errors, testing::HasSubstr("FLASHTILE_CUDA_SYNC"));
}

TEST_F(LaunchGpuTest, AStaticModuleDoesNoHarmAtExit) {
  const ChildResult ended = runInChild(exitWithStaticModule);
  EXPECT_EQ(ended.exitCode, 22) << ended.errors;
}

//===----------------------------------------------------------------------===//
// FLASHTILE_CUDA_TARGET
//===----------------------------------------------------------------------===//

static void compileForEveryGpu() {
  setenv("FLASHTILE_CUDA_TARGET", "sm_80", 1);
  const Tensor x = Tensor::randn({1, 100, 64}, DType::F32, 1)
                       .to(DType::BF16)
                       .to(Device::cuda(0));
  const Tensor o = flashAttention(x, x, x, {}).o.to(Device::cpu());
  const std::string target = gpuTarget(CudaDevice::get(0));
  std::fprintf(stderr, "%s, %lld elements", target.c_str(),
               static_cast<long long>(o.numel()));
  std::exit(target == "sm_80" ? 0 : 1);
}

TEST_F(LaunchGpuTest, OlderInstructionsRunWhereAsked) {
  const ChildResult result = runInChild(compileForEveryGpu);
  EXPECT_EQ(result.exitCode, 0);
  EXPECT_THAT(result.errors, testing::HasSubstr("sm_80, 6400 elements"));
}

static void compileForNoGpu() {
  setenv("FLASHTILE_CUDA_TARGET", "sm_75", 1);
  try {
    gpuTarget(CudaDevice::get(0));
  } catch (const Error &error) {
    std::fprintf(stderr, "%s", error.what());
    std::exit(0);
  }
  std::exit(1);
}

TEST_F(LaunchGpuTest, UnknownInstructionsAreNamed) {
  const ChildResult result = runInChild(compileForNoGpu);
  EXPECT_EQ(result.exitCode, 0);
  EXPECT_THAT(result.errors,
              testing::HasSubstr("FLASHTILE_CUDA_TARGET to be sm_80 or "
                                 "sm_90a, but got 'sm_75'"));
}
