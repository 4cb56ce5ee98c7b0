//===- CudaFaultTest.cpp - Errors at every call, lost devices, exit -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/CudaBackend.h"
#include "runtime/cuda/TensorMap.h"
#include "tests/runtime/cuda/CudaTest.h"

#include <cstdlib>
#include <optional>

#include <sys/wait.h>
#include <unistd.h>

using namespace flashtile;
using namespace flashtile::cuda;

namespace {

class CudaFaultTest : public CudaTest {};

constexpr const char *text = ".version 8.3\n.target sm_90a\n";

/// Something of everything.
void useEverything() {
  CudaDevice &device = CudaDevice::get(0);
  const CudaStream stream = CudaStream::create(device);
  const CudaStream other = CudaStream::create(device);
  const CudaStreamGuard guard(stream);
  const CudaEvent start(device, CudaEvent::Timing::On);
  const CudaEvent end(device, CudaEvent::Timing::On);
  start.record(stream);
  const CudaModule module = CudaModule::loadPtx(device, text);
  const CudaFunction kernel = module.function("kernel");
  DeviceMemory memory(stream, 1024);
  PinnedMemory pinned(device, 1024);
  stream.fill(memory.address(), 0, 1, 1024);
  stream.copyToHost(pinned.data(), memory.address(), 1024);
  CudaLaunchConfig config;
  config.dynamicSharedBytes = 100000;
  kernel.launch(stream, FlattenedGrid({2, 70000, 2}), config, nullptr, 0);
  config.grid = config.cluster = {16, 1, 1};
  kernel.launch(stream, config, nullptr);
  {
    CudaCapture capture(stream);
    stream.fill(memory.address(), 1, 4, 4);
    const CudaGraph graph = capture.finish();
    graph.launch(stream);
  }
  memory.usedBy(other);
  end.record(stream);
  end.synchronize();
  end.millisecondsSince(start);
  const Tensor tensor = Tensor::full({3, 3}, 1, DType::F32, Device::cuda(0));
  const Tensor peer = tensor.to(Device::cuda(1));
  peer.transpose(0, 1).contiguous().toVector<float>();
  recordUse(tensor, other);
  TensorMapDescription map;
  map.shape = map.box = {64};
  TensorMap::encode(device, map);
  kernel.maxBlocksPerMultiprocessor(128, 0);
  stream.synchronize();
}

/// Runs `body` in a forked process; its exit status, or -1 if it was killed.
template <typename Body>
int runInChild(Body body) {
  const pid_t child = fork();
  if (child == 0)
    std::exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace

TEST_F(CudaFaultTest, AnErrorAtAnyCallIsReportedAndNothingLeaks) {
  useEverything();
  const int numCalls = static_cast<int>(driver.calls.size());
  EXPECT_GT(numCalls, 100);
  int numReported = 0;
  for (int i = 0; i < numCalls; ++i) {
    driver.reset();
    driver.failAfter = i;
    driver.failResult = invalidValue;
    try {
      useEverything();
    } catch (const Error &error) {
      ++numReported;
      // A module that cannot be compiled has a code of its own.
      EXPECT_THAT(errorCodeName(error.code()),
                  testing::AnyOf(testing::StrEq("device error"),
                                 testing::StrEq("compile error")));
    }
    EXPECT_EQ(driver.contextDepth(), 0) << driver.lastFailed;
    EXPECT_EQ(driver.totalAlive(), 0) << driver.lastFailed << ", call " << i;
  }
  EXPECT_GT(numReported, numCalls / 3)
      << "the rest is destructors and contexts";
}

// A fault that stays, at every call in turn, each in a process of its own.
TEST_F(CudaFaultTest, AfterAStickyFaultEverythingSaysContextLost) {
  useEverything();
  const int numCalls = static_cast<int>(driver.calls.size());
  for (int i = 0; i < numCalls; i += 3) {
    const int status = runInChild([&] {
      driver.reset();
      driver.failAfter = i;
      driver.failResult = illegalAddress;
      driver.failureStays = true;
      try {
        useEverything();
      } catch (const Error &) {
      }
      CudaDevice &device = CudaDevice::get(
          CudaDevice::get(0).isLost() || !CudaDevice::get(1).isLost() ? 0 : 1);
      try {
        device.synchronize(); // notices at the latest
      } catch (const Error &) {
      }
      driver.calls.clear();
      int numLost = 0;
      const auto expectLost = [&](auto call) {
        try {
          call();
        } catch (const Error &error) {
          numLost += std::string(error.what()).find("context lost") == 0 &&
                     std::string(error.what()).find("ILLEGAL_ADDRESS") !=
                         std::string::npos;
        }
      };
      expectLost([&] { device.synchronize(); });
      expectLost([&] { CudaModule::loadPtx(device, text); });
      expectLost([&] { CudaStream::create(device); });
      expectLost([&] { Tensor::zeros({1}, DType::F32, device.device()); });
      return numLost == 4 && driver.calls.empty() ? 0 : 1;
    });
    EXPECT_EQ(status, 0) << "call " << i;
  }
}

TEST_F(CudaFaultTest, SynchronousLaunchesNameTheKernel) {
  EXPECT_EQ(runInChild([&] {
              CudaDevice &device = CudaDevice::get(0);
              device.setSynchronousLaunches(true);
              const CudaFunction kernel = load(device, "culprit");
              driver.pushContext(0);
              driver.onLaunch = [&](const fake::Launch &) {
                driver.failAfter = 1; // not the question for the context
                driver.failResult = illegalAddress;
                driver.failureStays = true;
              };
              std::string first, later;
              try {
                kernel.launch(CudaStream::legacy(device), {}, nullptr);
              } catch (const Error &error) {
                first = error.what();
              }
              try {
                load(device, "innocent");
              } catch (const Error &error) {
                later = error.what();
              }
              const bool isNamed =
                  first.find("running kernel 'culprit'") == 0 &&
                  first.find("FLASHTILE_CUDA_SYNC") == first.npos;
              const bool isRecalled =
                  later.find("context lost") == 0 &&
                  later.find("first error was: running kernel 'culprit'") !=
                      later.npos;
              return isNamed && isRecalled ? 0 : 1;
            }),
            0);
}

TEST_F(CudaFaultTest, AsynchronousErrorsSayHowToFindTheKernel) {
  EXPECT_EQ(
      runInChild([&] {
        driver.failOnce["cuStreamSynchronize"] = illegalAddress;
        try {
          CudaStream::legacy(CudaDevice::get(0)).synchronize();
        } catch (const Error &error) {
          return std::string(error.what()).find("set FLASHTILE_CUDA_SYNC=1") ==
                 std::string::npos;
        }
        return true;
      }),
      0);
}

TEST_F(CudaFaultTest, OneLostDeviceLeavesTheOther) {
  EXPECT_EQ(runInChild([&] {
              driver.failOnce["cuCtxSynchronize"] = illegalAddress;
              try {
                CudaDevice::get(0).synchronize();
              } catch (const Error &) {
              }
              CudaDevice::get(1).synchronize();
              return CudaDevice::get(0).isLost() && !CudaDevice::get(1).isLost()
                         ? 0
                         : 1;
            }),
            0);
}

namespace {

/// Destroyed late: constructed before the driver was loaded.
struct Holder {
  std::optional<CudaModule> module;
  std::optional<CudaFunction> kernel;
  std::optional<CudaStream> stream;
  std::optional<CudaEvent> event;
  DeviceMemory memory;
  Tensor tensor;
};
Holder early;

void fill(Holder &holder) {
  CudaDevice &device = CudaDevice::get(0);
  holder.stream = CudaStream::create(device);
  holder.event.emplace(device);
  holder.module = CudaModule::loadPtx(device, text);
  holder.kernel = holder.module->function("kernel");
  holder.memory = DeviceMemory(*holder.stream, 16);
  holder.tensor = Tensor::zeros({4}, DType::F32, Device::cuda(0));
}

void exitWithLiveHandles() {
  fill(early);
  static Holder late;
  fill(late);
  std::exit(3);
}

} // namespace

// The fake driver exits with 77 if it is called after its end.
TEST(CudaFaultDeathTest, LiveHandlesAtExitDoNoHarm) {
  EXPECT_EXIT(exitWithLiveHandles(), testing::ExitedWithCode(3), "");
}

TEST(CudaFaultDeathTest, SynchronousLaunchesComeFromTheEnvironment) {
  EXPECT_EXIT(
      {
        setenv("FLASHTILE_CUDA_SYNC", "1", 1);
        std::exit(CudaDevice::get(0).launchesAreSynchronous() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}
