//===- PlainModuleTest.cpp - Functions compiled when a launch needs them --===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/runtime/gpu/CachedCudaTest.h"
#include "tests/runtime/jit/Kernels.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <thread>

using namespace flashtile;
using namespace flashtile::cuda;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

class PlainModuleTest : public CachedCudaTest {
protected:
  static Kernel compile() {
    return Jit(Device::cuda(0)).compile(testkernels::copyRows).kernel();
  }
  /// Addresses and strides that are multiples of 16 bytes.
  static void launchAligned(const Kernel &kernel) {
    kernel(at(0x1000), at(0x2000), 100, 64);
  }
  static void launchUnaligned(const Kernel &kernel) {
    kernel(at(0x1000), at(0x2000), 100, 63);
  }
  /// Nothing reads it.
  static void *at(uint64_t address) {
    return reinterpret_cast<void *>(address);
  }

  std::vector<std::string> launched() const {
    std::vector<std::string> names;
    for (const fake::Launch &launch : driver.launches)
      names.push_back(launch.kernel);
    return names;
  }
  /// Modules that the driver compiled or loaded.
  int loaded() const { return driver.count("cuModuleLoadDataEx"); }
};

} // namespace

TEST_F(PlainModuleTest, AreCompiledOnceAndOnlyWhenNeeded) {
  const Kernel kernel = compile();
  launchAligned(kernel);
  EXPECT_EQ(loaded(), 1);
  EXPECT_THAT(kernel.report().toString(), Not(HasSubstr("copy_rows__plain")));
  launchUnaligned(kernel);
  EXPECT_EQ(loaded(), 2);
  launchUnaligned(kernel);
  launchAligned(kernel);
  EXPECT_EQ(loaded(), 2);
  EXPECT_THAT(launched(), ElementsAre("copy_rows", "copy_rows__plain",
                                      "copy_rows__plain", "copy_rows"));
}

TEST_F(PlainModuleTest, TheReportSaysWhatLaunchesNeeded) {
  const Kernel kernel = compile();
  launchUnaligned(kernel);
  const KernelReport report = kernel.report();
  ASSERT_EQ(report.entries.size(), 2u);
  EXPECT_EQ(report.entries[0].symbol, "copy_rows");
  EXPECT_EQ(report.entries[1].symbol, "copy_rows__plain");
  EXPECT_GE(report.entries[1].resources.registers, 0);
  EXPECT_THAT(report.toString(),
              HasSubstr("function 'copy_rows' not taken: argument 'stride': 63 "
                        "is not a multiple of 4"));
  EXPECT_THAT(report.toString(),
              HasSubstr("its plain function was compiled in "));
}

TEST_F(PlainModuleTest, AreKeptOnDisk) {
  launchUnaligned(compile());
  Jit::clearCache(); // as a new process would get it
  const Kernel kernel = compile();
  launchUnaligned(kernel);
  EXPECT_EQ(launched().back(), "copy_rows__plain");
  EXPECT_THAT(kernel.report().toString(),
              HasSubstr("its plain function was loaded in "));
}

TEST_F(PlainModuleTest, AFailureIsThatOfACompilationAndIsNotKept) {
  const Kernel kernel = compile();
  driver.failOnce["cuModuleLoadDataEx"] = invalidPtx;
  EXPECT_ERROR(Compile, "the driver cannot compile 'copy_rows'",
               launchUnaligned(kernel));
  launchAligned(kernel);
  launchUnaligned(kernel);
  EXPECT_THAT(launched(), ElementsAre("copy_rows", "copy_rows__plain"));
}

// Both functions have the same: it is told once.
TEST_F(PlainModuleTest, AReasonAgainstAllFunctionsIsToldOnce) {
  driver.functionAttributes["staticSharedBytes"] = 1 << 20;
  const Kernel kernel = compile();
  std::string message;
  try {
    launchAligned(kernel);
  } catch (const Error &error) {
    message = error.what();
  }
  const std::string reason = "of shared memory, but a block on device";
  const size_t first = message.find(reason);
  ASSERT_NE(first, std::string::npos) << message;
  EXPECT_EQ(message.find(reason, first + 1), std::string::npos) << message;
}

TEST_F(PlainModuleTest, ManyThreadsCompileOnce) {
  const Kernel kernel = compile();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&kernel, i] {
      for (int j = 0; j < 10; ++j)
        i % 2 ? launchUnaligned(kernel) : launchAligned(kernel);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(loaded(), 2);
  EXPECT_EQ(driver.launches.size(), 80u);
}

TEST_F(PlainModuleTest, OutliveTheHandleOfTheModule) {
  std::optional<Kernel> kernel = compile();
  const Kernel copy = *kernel;
  kernel.reset();
  Jit::clearCache();
  launchUnaligned(copy);
  EXPECT_EQ(launched().back(), "copy_rows__plain");
}

TEST_F(PlainModuleTest, AreNotCompiledWhileAGraphIsCaptured) {
  const Kernel kernel = compile();
  const CudaStream stream = CudaStream::create(CudaDevice::get(0));
  const CudaStreamGuard guard(stream);
  {
    CudaCapture capture(stream);
    launchAligned(kernel);
    EXPECT_ERROR(InvalidArgument,
                 "cannot launch kernel 'copy_rows' in a capture: these "
                 "arguments need a function that has to be compiled first "
                 "(argument 'stride': 63 is not a multiple of 4)",
                 launchUnaligned(kernel));
    capture.finish();
  }
  launchUnaligned(kernel);
  CudaCapture capture(stream);
  launchUnaligned(kernel);
  capture.finish();
  EXPECT_EQ(loaded(), 2);
}
