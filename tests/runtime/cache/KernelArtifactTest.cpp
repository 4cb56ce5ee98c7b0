//===- KernelArtifactTest.cpp - Compiled kernels as bytes -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/KernelArtifact.h"

#include "compiler/Driver/Compiler.h"
#include "tests/runtime/cache/AddConstant.h"

#include <functional>
#include <gmock/gmock.h>
#include <random>

using namespace flashtile;

using Op = GridExpr::Op;

/// One of everything, small.
static KernelArtifact sample() {
  KernelArtifact artifact;
  artifact.target = "sm_90a";
  artifact.format = CodeFormat::Cubin;
  artifact.code = std::string("\0\xff"
                              "code",
                              6);
  ArtifactKernel &kernel = artifact.kernels.emplace_back();
  kernel.info.name = "k";
  kernel.info.arguments = {{"x", true, ElementType::BF16, true},
                           {"n", false, ElementType::I32, false},
                           {"s", false, ElementType::F64, false}};
  kernel.info.grid.push_back(
      {{{Op::Argument, 0}, {Op::Constant, INT64_MIN}, {Op::CeilDiv, 0}}});
  kernel.arenaBytes = INT64_MAX;
  kernel.canFail = true;
  GpuEntry &entry = kernel.entries.emplace_back();
  entry.symbol = "k";
  entry.numThreads = 160;
  entry.sharedBytes = 49152;
  entry.clusterBlocks = 2;
  entry.persistentBlocks = 1;
  entry.programsAtOnce = {1, 2, 1};
  entry.countsPrograms = true;
  TensorMapParameter &map = entry.tensorMaps.emplace_back();
  map.swizzleBytes = 128;
  map.fillsNaN = true;
  map.box = {64, 128};
  map.extents = {{{{Op::Constant, 64}}}, {{{Op::Argument, 0}}}};
  map.strides = {{{{Op::Argument, 0}, {Op::Argument, 0}, {Op::Multiply, 0}}}};
  map.offset = {{{Op::Constant, 8}}};
  entry.requirements = {{0, 16}};
  entry.sharedBuffers = {{"ring", 0, 49152}};
  entry.resources = {168, 0, 8, 4};
  kernel.hasPlainElsewhere = true;
  artifact.remarks = {"a remark", ""};
  artifact.warnings = {"a warning"};
  return artifact;
}

static bool survives(const KernelArtifact &artifact) {
  return KernelArtifact::parse(artifact.serialize()).has_value();
}

TEST(KernelArtifactTest, RoundTrip) {
  const std::string bytes = sample().serialize();
  const auto read = KernelArtifact::parse(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->serialize(), bytes);
  EXPECT_EQ(read->target, "sm_90a");
  EXPECT_EQ(read->format, CodeFormat::Cubin);
  EXPECT_EQ(read->code, sample().code);
  const ArtifactKernel &kernel = read->kernels.at(0);
  EXPECT_EQ(kernel.info.signature(), "k(x: ptr<bf16>, n: i32, s: f64)");
  EXPECT_EQ(kernel.info.gridText(), sample().kernels[0].info.gridText());
  EXPECT_TRUE(kernel.info.arguments[0].isWritten);
  EXPECT_FALSE(kernel.info.arguments[1].isWritten);
  EXPECT_EQ(kernel.arenaBytes, INT64_MAX);
  EXPECT_TRUE(kernel.canFail);
  ASSERT_EQ(kernel.entries.size(), 1u);
  const GpuEntry &entry = kernel.entries[0];
  EXPECT_EQ(entry.symbol, "k");
  EXPECT_EQ(entry.numThreads, 160);
  EXPECT_EQ(entry.sharedBytes, 49152);
  EXPECT_EQ(entry.clusterBlocks, 2);
  EXPECT_EQ(entry.persistentBlocks, 1);
  EXPECT_EQ(entry.programsAtOnce, (std::array<int64_t, 3>{1, 2, 1}));
  EXPECT_TRUE(entry.countsPrograms);
  ASSERT_EQ(entry.tensorMaps.size(), 1u);
  EXPECT_EQ(entry.tensorMaps[0].box, (std::vector<int64_t>{64, 128}));
  EXPECT_EQ(entry.tensorMaps[0].strides[0].text({"n"}), "n * n");
  EXPECT_TRUE(entry.tensorMaps[0].fillsNaN);
  ASSERT_EQ(entry.requirements.size(), 1u);
  EXPECT_EQ(entry.requirements[0].divisor, 16);
  ASSERT_EQ(entry.sharedBuffers.size(), 1u);
  EXPECT_EQ(entry.sharedBuffers[0].name, "ring");
  EXPECT_EQ(entry.resources.registers, 168);
  EXPECT_EQ(entry.resources.spillLoadBytes, 4);
  EXPECT_TRUE(kernel.hasPlainElsewhere);
  EXPECT_EQ(read->remarks, sample().remarks);
  EXPECT_EQ(read->warnings, sample().warnings);
}

TEST(KernelArtifactTest, BytesAreTheSameOnEveryMachine) {
  // Little-endian: the version behind the magic text, then the length of the
  // target, eight bytes.
  const std::string bytes = sample().serialize();
  EXPECT_EQ(bytes.substr(0, 34),
            std::string("FlashTile kernel\7\0\0\0\6\0\0\0\0\0\0\0sm_90a", 34));
}

TEST(KernelArtifactTest, EveryPrefixAndAnythingBehindIsRefused) {
  const std::string bytes = sample().serialize();
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(KernelArtifact::parse(bytes.substr(0, size))) << size;
  EXPECT_FALSE(KernelArtifact::parse(bytes + '\0'));
}

TEST(KernelArtifactTest, OtherVersionsAreRefused) {
  std::string bytes = sample().serialize();
  bytes[16] = 1;
  EXPECT_FALSE(KernelArtifact::parse(bytes));
}

TEST(KernelArtifactTest, LengthsBeyondTheEndCostNoMemory) {
  const std::string bytes = sample().serialize();
  // Every eight bytes in turn as the largest lengths.
  for (const char top : {'\x7f', '\xff', '\x00'})
    for (size_t at = 20; at + 8 <= bytes.size(); ++at) {
      std::string hostile = bytes;
      hostile.replace(at, 8, std::string(7, '\xff') + top);
      KernelArtifact::parse(hostile); // must neither crash nor allocate a lot
    }
}

TEST(KernelArtifactTest, WhatCannotBeLaunchedIsRefused) {
  EXPECT_TRUE(survives(sample()));
  KernelArtifact none = sample();
  none.kernels.clear();
  EXPECT_FALSE(survives(none));
  KernelArtifact arena = sample();
  arena.kernels[0].arenaBytes = -1;
  EXPECT_FALSE(survives(arena));
  const std::vector<std::function<void(GpuEntry &)>> wrongEntries = {
      [](GpuEntry &e) { e.symbol.clear(); },
      [](GpuEntry &e) { e.sharedBytes = -1; },
      [](GpuEntry &e) { e.numThreads = 0; },
      [](GpuEntry &e) { e.numThreads = 1025; },
      [](GpuEntry &e) { e.clusterBlocks = 0; },
      [](GpuEntry &e) { e.clusterBlocks = 17; },
      [](GpuEntry &e) { e.persistentBlocks = -1; },
      [](GpuEntry &e) { e.programsAtOnce[1] = 0; },
      [](GpuEntry &e) { e.programsAtOnce[2] = 65; },
      [](GpuEntry &e) { e.persistentBlocks = 0; }, // counts programs
      [](GpuEntry &e) { e.tensorMaps.resize(17, e.tensorMaps[0]); },
      [](GpuEntry &e) { e.tensorMaps[0].argument = 1; }, // n: no pointer
      [](GpuEntry &e) { e.tensorMaps[0].argument = -1; },
      [](GpuEntry &e) { e.tensorMaps[0].swizzleBytes = 16; },
      [](GpuEntry &e) { e.requirements[0].argument = 3; },
      [](GpuEntry &e) { e.requirements[0].argument = -1; },
      [](GpuEntry &e) { e.requirements[0].divisor = 0; },
      [](GpuEntry &e) { e.requirements[0].divisor = 12; },
      [](GpuEntry &e) { e.tensorMaps[0].box.push_back(1); },
      [](GpuEntry &e) { e.tensorMaps[0].strides.clear(); },
      [](GpuEntry &e) { e.tensorMaps[0].extents[0].steps[0].op = Op::Add; },
      [](GpuEntry &e) { e.tensorMaps[0].offset.steps[0].op = Op::Mod; },
  };
  for (const auto &change : wrongEntries) {
    KernelArtifact artifact = sample();
    change(artifact.kernels[0].entries[0]);
    EXPECT_FALSE(survives(artifact)) << &change - wrongEntries.data();
  }
  KernelArtifact noEntry = sample();
  noEntry.kernels[0].entries.clear();
  EXPECT_FALSE(survives(noEntry));
  KernelArtifact onCpu = sample();
  onCpu.target = "cpu";
  EXPECT_FALSE(survives(onCpu));
  const std::vector<std::vector<GridExpr>> bad = {
      {},                                         // no grid
      {{}, {}, {}, {}},                           // four extents
      {{{}}},                                     // nothing to push
      {{{{Op::Add, 0}}}},                         // no operands
      {{{{Op::Constant, 1}, {Op::Add, 0}}}},      // one operand
      {{{{Op::Constant, 1}, {Op::Constant, 1}}}}, // two results
      {{{{Op::Argument, 1}}}},                    // s: no integer
      {{{{Op::Argument, -1}}}},
      {{{{Op::Argument, INT64_MAX}}}},
  };
  for (const std::vector<GridExpr> &grid : bad) {
    KernelArtifact artifact = sample();
    artifact.kernels[0].info.grid = grid;
    EXPECT_FALSE(survives(artifact)) << (&grid - bad.data());
  }
}

TEST(KernelArtifactTest, MutationsAreRefusedOrWellFormed) {
  const std::string bytes = sample().serialize();
  std::mt19937 random(1);
  auto below = [&](size_t limit) { return random() % limit; };
  size_t accepted = 0;
  for (int round = 0; round < 200000; ++round) {
    std::string mutant = bytes;
    for (size_t edits = 1 + below(4); edits > 0 && !mutant.empty(); --edits) {
      const size_t at = below(mutant.size());
      switch (below(4)) {
      case 0:
        mutant[at] = static_cast<char>(random());
        break;
      case 1:
        mutant.erase(at, 1 + below(9));
        break;
      case 2:
        mutant.insert(at, mutant.substr(below(mutant.size()), below(20)));
        break;
      case 3:
        mutant[at] ^= static_cast<char>(1 << below(8));
        break;
      }
    }
    const auto artifact = KernelArtifact::parse(mutant);
    if (!artifact)
      continue;
    ++accepted;
    // What is accepted means what its bytes say, and can be used.
    ASSERT_EQ(artifact->serialize(), mutant);
    for (const ArtifactKernel &kernel : artifact->kernels) {
      const std::vector<int64_t> integers(kernel.info.integerNames().size(), 3);
      for (const GridExpr &extent : kernel.info.grid) {
        int64_t value = 0;
        extent.evaluate(integers, value);
      }
      kernel.info.gridText();
      kernel.info.signature();
    }
  }
  EXPECT_GT(accepted, 1000u); // the checksum of the cache is another layer
}

TEST(KernelArtifactTest, LoadingRefusesWhatIsNoCodeForTheCpu) {
  EXPECT_THAT(loadArtifact(sample(), {}).error,
              testing::HasSubstr("expected object code for 'cpu', but got code "
                                 "for 'sm_90a'"));
  KernelArtifact artifact = sample();
  artifact.target = "cpu";
  artifact.format = CodeFormat::Object;
  for (const std::string code : {"", "no object",
                                 "\x7f"
                                 "ELF"}) {
    artifact.code = code;
    const CompileResult result = loadArtifact(artifact, {});
    EXPECT_EQ(result.module, nullptr);
    EXPECT_FALSE(result.error.empty());
    EXPECT_TRUE(result.internal);
  }
}

TEST(KernelArtifactTest, LoadingNamesAKernelThatTheCodeLacks) {
  ArtifactResult compiled =
      compileToArtifact(testkernels::addConstant(1), "a.mlir", {});
  ASSERT_TRUE(compiled.artifact);
  compiled.artifact->kernels[0].info.name = "nowhere";
  EXPECT_THAT(loadArtifact(*compiled.artifact, {}).error,
              testing::HasSubstr("nowhere"));
}
