//===- GpuTargetTest.cpp - The instruction family for a GPU ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the GPU runs and what its driver reads decide together.
//
//===----------------------------------------------------------------------===//

#include "runtime/GpuModule.h"
#include "runtime/cuda/PtxVersion.h"
#include "tests/runtime/ExpectError.h"

using namespace flashtile;

static std::string target(int major, int minor, int driver,
                          const std::string &asked = "") {
  CudaDeviceProperties properties;
  properties.computeMajor = major;
  properties.computeMinor = minor;
  return gpuTarget(properties, driver, asked, "cuda:0 (a GPU)");
}

TEST(GpuTargetTest, HopperHasAFamilyOfItsOwn) {
  EXPECT_EQ(target(9, 0, 12040), "sm_90a");
  EXPECT_EQ(target(8, 0, 12040), "sm_80");
  EXPECT_EQ(target(8, 9, 12040), "sm_80");
  EXPECT_EQ(target(10, 0, 13000), "sm_80");
  EXPECT_EQ(target(12, 1, 13000), "sm_80");
  EXPECT_EQ(target(9, 0, 12040, "sm_80"), "sm_80");
  EXPECT_EQ(target(9, 0, 12010, "sm_90a"), "sm_90a");
}

TEST(GpuTargetTest, DriversTooOldForItGetTheOther) {
  EXPECT_EQ(target(9, 0, 12010), "sm_90a");
  EXPECT_EQ(target(9, 0, 12000), "sm_80");
  EXPECT_ERROR(Unsupported,
               "needs a driver for CUDA 12.1 or later, which reads PTX 8.1, "
               "but this one is for CUDA 12.0",
               target(9, 0, 12000, "sm_90a"));
}

TEST(GpuTargetTest, OtherGPUsAreErrors) {
  EXPECT_ERROR(Unsupported, "cuda:0 (a GPU) is older", target(7, 5, 12040));
  EXPECT_ERROR(Unsupported, "cuda:0 (a GPU) is another one",
               target(8, 9, 12040, "sm_90a"));
}

// The versions that gpuTarget relies on are those that the compiler writes.
TEST(GpuTargetTest, VersionsAreThoseOfTheCode) {
  constexpr const char *text = "tile.kernel @k() grid() -> (1) { tile.return }";
  for (const auto &[name, driver] :
       {std::pair("sm_80", 12000), std::pair("sm_90a", 12010)}) {
    CompilerOptions options;
    options.target = name;
    const TranslateResult result =
        translateForGpu(text, "k.mlir", options, OutputKind::Ptx);
    ASSERT_EQ(result.error, "");
    EXPECT_EQ(minDriverVersion(PtxHeader::parse(result.output).version), driver)
        << name;
  }
}
