//===- GpuReportTest.cpp - What compile reports say of GPUs ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/GpuReport.h"
#include "compiler/Driver/PtxLog.h"
#include "tests/runtime/gpu/GpuKernelTestSupport.h"

#include <gmock/gmock.h>

using namespace flashtile;
using testing::HasSubstr;

namespace {

class GpuReportTest : public CudaTest {};

/// The words of ptxas 13.0.
constexpr const char *assemblerLog = R"(ptxas info    : 0 bytes gmem
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for the wgmma pipeline in the function 'k'
ptxas info    : Compiling entry function 'k' for 'sm_90a'
ptxas info    : Function properties for k
    112 bytes stack frame, 128 bytes spill stores, 388 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 112 bytes cumulative stack size
ptxas info    : Compile time = 853.296 ms
ptxas info    : Compiling entry function 'k__plain' for 'sm_90a'
ptxas info    : Function properties for k__plain
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 180 registers, used 1 barriers
)";

GpuEntryReport entryOf(int64_t threads, int64_t registers, int64_t shared) {
  GpuEntryReport entry;
  entry.symbol = "f";
  entry.numThreads = threads;
  entry.sharedBytes = shared;
  entry.resources.registers = registers;
  entry.limits = MultiprocessorLimits::ofTarget("sm_90a");
  return entry;
}

} // namespace

TEST_F(GpuReportTest, ReadsTheAssemblersLog) {
  const PtxLog log = PtxLog::parse(assemblerLog);
  ASSERT_EQ(log.functions.size(), 2u);
  const PtxResources &k = log.functions.at("k");
  EXPECT_EQ(k.registers, 255);
  EXPECT_EQ(k.stackBytes, 112);
  EXPECT_EQ(k.spillStoreBytes, 128);
  EXPECT_EQ(k.spillLoadBytes, 388);
  EXPECT_EQ(log.functions.at("k__plain").registers, 180);
  EXPECT_EQ(log.functions.at("k__plain").spillLoadBytes, 0);
  ASSERT_EQ(log.advice.size(), 1u);
  EXPECT_THAT(log.advice[0], HasSubstr("C7510"));
}

TEST_F(GpuReportTest, ReadsTheDriversLog) {
  const PtxLog log = PtxLog::parse(
      "info    : 0 bytes gmem\n"
      "info    : Function properties for 'k':\n"
      "info    : used 12 registers, 8 stack, 0 bytes smem, 380 bytes cmem[0], "
      "0 bytes lmem\n");
  EXPECT_EQ(log.functions.at("k").registers, 12);
  EXPECT_EQ(log.functions.at("k").stackBytes, 8);
  EXPECT_EQ(log.functions.at("k").spillStoreBytes, -1);
}

TEST_F(GpuReportTest, ReadsNothingIntoOtherText) {
  EXPECT_TRUE(PtxLog::parse("").functions.empty());
  const PtxLog log = PtxLog::parse(
      "Function properties for \nUsed 5 registers\nABC7510 and C75 and C751");
  EXPECT_TRUE(log.functions.empty());
  EXPECT_TRUE(log.advice.empty());
  EXPECT_EQ(PtxLog::parse("Function properties for k\n"
                          "9999999999999999999999 bytes spill stores")
                .functions.at("k")
                .spillStoreBytes,
            -1);
}

TEST_F(GpuReportTest, OccupancyIsThatOfTheCalculator) {
  // From NVIDIA's occupancy calculator for 9.0.
  const Occupancy little = entryOf(128, 32, 0).occupancy();
  EXPECT_EQ(little.byRegisters, 16);
  EXPECT_EQ(little.byThreads, 16);
  EXPECT_EQ(little.bySharedMemory, 32);
  EXPECT_EQ(little.blocks(), 16);
  EXPECT_EQ(entryOf(128, 255, 0).occupancy().byRegisters, 2);
  EXPECT_EQ(entryOf(384, 168, 0).occupancy().byRegisters, 1);
  EXPECT_EQ(entryOf(96, 40, 0).occupancy().byRegisters, 16);
  EXPECT_EQ(entryOf(1024, 64, 0).occupancy().byRegisters, 1);
  EXPECT_EQ(entryOf(1024, 65, 0).occupancy().byRegisters, 0);
  EXPECT_EQ(entryOf(128, 32, 100000).occupancy().bySharedMemory, 2);
  EXPECT_EQ(entryOf(128, 32, 232448).occupancy().bySharedMemory, 1);
  EXPECT_EQ(entryOf(128, 32, 232449).occupancy().blocks(), 0);
  EXPECT_EQ(entryOf(128, -1, 0).occupancy().byRegisters, -1);
}

TEST_F(GpuReportTest, TheReportOfAKernelHasEverything) {
  driver.functionAttributes = {{"registers", 40}, {"localBytes", 16}};
  KernelArtifact artifact = mappedArtifact();
  PtxLog::parse(assemblerLog).addTo(artifact.kernels);
  artifact.remarks = {"k.mlir:1:1: remark: a remark"};
  const std::string text = kernelOf(artifact).report().toString();
  EXPECT_THAT(text, HasSubstr("function k: 160 threads, 40 registers a thread, "
                              "1 tensor map\n"));
  EXPECT_THAT(text, HasSubstr("spill stores 128, spill loads 388, stack 112, "
                              "local memory 16\n"));
  EXPECT_THAT(text, HasSubstr("shared memory: 100000 bytes of 232448\n"
                              "    ring of x: 98304 bytes from 0\n"
                              "    barriers: 1696 bytes from 98304\n"));
  EXPECT_THAT(text, HasSubstr("blocks on a multiprocessor: 12 (registers allow "
                              "9, shared memory 2, threads 12)\n"));
  EXPECT_THAT(text, HasSubstr("function k__plain: 128 threads"));
  EXPECT_THAT(text, HasSubstr("remark: a remark\n"));
}

TEST_F(GpuReportTest, WithoutAnAnswerTheOccupancyIsComputed) {
  const Kernel kernel = kernelOf(mappedArtifact());
  driver.failOnce["cuOccupancyMaxActiveBlocksPerMultiprocessor"] =
      cuda::invalidValue;
  EXPECT_THAT(kernel.report().toString(),
              HasSubstr("blocks on a multiprocessor: 2 (registers allow 12, "
                        "shared memory 2, threads 12)"));
}

TEST_F(GpuReportTest, AssemblingKeepsWhatTheDriverSaid) {
  driver.infoLog = assemblerLog;
  KernelArtifact artifact = mappedArtifact();
  artifact.target = "sm_80";
  artifact.format = CodeFormat::Ptx;
  artifact.code = ptx;
  CompileReport report;
  assemble(artifact, CudaDevice::get(0), report);
  EXPECT_EQ(artifact.format, CodeFormat::Cubin);
  EXPECT_EQ(artifact.kernels[0].entries[0].resources.spillLoadBytes, 388);
  EXPECT_EQ(artifact.kernels[0].entries[1].resources.registers, 180);
  ASSERT_EQ(artifact.warnings.size(), 1u);
  EXPECT_THAT(artifact.warnings[0], HasSubstr("C7510"));
  // Bytes on disk keep it.
  const auto read = KernelArtifact::parse(artifact.serialize());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->kernels[0].entries[0].resources.spillLoadBytes, 388);
}

// PTX for Hopper is not assembled before it is loaded.
TEST_F(GpuReportTest, LoadingPtxKeepsWhatTheDriverSaid) {
  driver.infoLog = assemblerLog;
  KernelArtifact artifact = mappedArtifact();
  artifact.format = CodeFormat::Ptx;
  artifact.code = ptx;
  CompileReport report;
  assemble(artifact, CudaDevice::get(0), report);
  EXPECT_EQ(artifact.format, CodeFormat::Ptx);
  const auto module =
      loadOnGpu(std::move(artifact), CudaDevice::get(0), std::move(report));
  EXPECT_EQ(driver.count("cuLinkComplete"), 0);
  EXPECT_EQ(module->kernels[0].entries[0].resources.spillLoadBytes, 388);
  ASSERT_EQ(module->report.warnings.size(), 1u);
  EXPECT_THAT(module->report.warnings[0], HasSubstr("C7510"));
  EXPECT_EQ(module->report.stages.back().stage, "driver");
}
