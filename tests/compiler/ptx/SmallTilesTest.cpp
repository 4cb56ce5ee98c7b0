//===- SmallTilesTest.cpp - Kernels at 64 x 64 tiles on Hopper ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention as its author wrote it for small tiles and 4 warps: programs become
// warpgroups of one block, with everything that larger tiles get, and ptxas
// neither spills nor serialises products.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Compiler.h"
#include "compiler/Driver/PtxAssembler.h"
#include "kernels/AttentionVariantKernel.h"
#include "kernels/FlashAttentionForward.h"

#include <gmock/gmock.h>

#include <functional>
#include <ostream>

using namespace flashtile;
using testing::Contains;
using testing::HasSubstr;

namespace {
struct SmallTiles {
  std::string name; ///< letters, digits and underscores
  int64_t atOnce;   ///< CompilerOptions::programsAtOnce
  int64_t expected; ///< programs of a block
  std::function<std::string()> text;

  friend std::ostream &operator<<(std::ostream &os, const SmallTiles &kernel) {
    return os << kernel.name;
  }
};

class SmallTilesTest : public testing::TestWithParam<SmallTiles> {};

void addForward(std::vector<SmallTiles> &all, ElementType type, int64_t headDim,
                bool isCausal, int64_t atOnce, int64_t expected,
                bool looksForHidden = false) {
  kernels::FlashAttentionConfig config;
  config.dtype = type;
  config.headDim = headDim;
  config.causal = isCausal;
  config.shortenedLoop = config.mendsBehind = isCausal && !looksForHidden;
  config.scaleIsPositive = true;
  all.push_back({"forward_" + std::string(elementTypeName(type)) + "_d" +
                     std::to_string(headDim) + (isCausal ? "_causal_" : "_") +
                     (looksForHidden ? "looking_" : "") +
                     std::to_string(atOnce),
                 atOnce, expected, [config] {
                   return kernels::buildFlashAttentionForward(config).text();
                 }});
}

void addVariant(std::vector<SmallTiles> &all, AttentionVariant variant,
                int64_t headDim, int64_t expected) {
  kernels::AttentionVariantConfig config;
  config.variant = variant;
  config.headDim = headDim;
  config.scaleIsPositive = true;
  all.push_back({std::string(attentionVariantName(variant)) + "_d" +
                     std::to_string(headDim),
                 0, expected, [config] {
                   return kernels::buildAttentionVariantKernel(config).text();
                 }});
}

std::vector<SmallTiles> smallTiles() {
  std::vector<SmallTiles> all;
  for (const bool isCausal : {false, true}) {
    for (const auto &[headDim, expected] :
         {std::pair(32, 3), std::pair(64, 3), std::pair(96, 2),
          std::pair(128, 2), std::pair(192, 2), std::pair(256, 2)})
      addForward(all, ElementType::BF16, headDim, isCausal, 0, expected);
    addForward(all, ElementType::F16, 128, isCausal, 0, 2);
    addForward(all, ElementType::BF16, 64, isCausal, 2, 2);
    addForward(all, ElementType::BF16, 128, isCausal, 3, 3);
    addForward(all, ElementType::BF16, 128, isCausal, 1, 1);
  }
  // Both sides of a branch: three where registers allow it, else two.
  addForward(all, ElementType::BF16, 32, /*isCausal=*/true, 3, 3, true);
  addForward(all, ElementType::BF16, 64, /*isCausal=*/true, 3, 2, true);
  for (const AttentionVariant variant :
       {AttentionVariant::Softcap, AttentionVariant::Alibi,
        AttentionVariant::Sigmoid}) {
    addVariant(all, variant, 64, 3);
    addVariant(all, variant, 128, 2);
  }
  return all;
}

ArtifactResult compile(const SmallTiles &kernel) {
  CompilerOptions options;
  options.target = "sm_90a";
  options.programsAtOnce = kernel.atOnce;
  return compileToArtifact(kernel.text(), kernel.name, options);
}
} // namespace

TEST_P(SmallTilesTest, ProgramsAreWarpgroupsOfABlock) {
  const SmallTiles &kernel = GetParam();
  const ArtifactResult compiled = compile(kernel);
  ASSERT_TRUE(compiled.artifact) << compiled.error;
  const GpuEntry &entry = compiled.artifact->kernels.at(0).entries.at(0);
  EXPECT_EQ(entry.programsAtOnce,
            (std::array<int64_t, 3>{kernel.expected, 1, 1}));
  constexpr int64_t threads = 128; // of a warpgroup, and of the producers'
  EXPECT_EQ(entry.numThreads, (kernel.expected + 1) * threads);
  const std::vector<std::string> &remarks = compiled.artifact->remarks;
  EXPECT_THAT(remarks, Contains(HasSubstr("the first product of a tile runs "
                                          "beside the second of the one "
                                          "before")));
  if (kernel.expected > 1)
    EXPECT_THAT(remarks,
                Contains(HasSubstr(std::to_string(kernel.expected) +
                                   " programs along x are warpgroups of one "
                                   "block")));
}

TEST_P(SmallTilesTest, NeitherSpillsNorWaits) {
  std::string missing;
  const std::string ptxas = findPtxas("", missing);
  if (ptxas.empty())
    GTEST_SKIP() << missing;
  const SmallTiles &kernel = GetParam();
  const ArtifactResult compiled = compile(kernel);
  ASSERT_TRUE(compiled.artifact) << compiled.error;
  const AssembledPtx assembled =
      assemblePtx(compiled.artifact->code, "sm_90a", ptxas);
  ASSERT_EQ(assembled.error, "");
  EXPECT_THAT(assembled.log.advice, testing::IsEmpty());
  EXPECT_THAT(compiled.artifact->warnings, testing::IsEmpty());
  for (const auto &[name, taken] : assembled.log.functions) {
    EXPECT_EQ(taken.spillStoreBytes, 0) << name;
    EXPECT_EQ(taken.spillLoadBytes, 0) << name;
  }
}

/// The function for any arguments, which has the grid of the kernel.
TEST(SmallTiles, PlainFunctionsStayAsTheyAre) {
  CompilerOptions options;
  options.target = "sm_90a";
  options.plain = true;
  const ArtifactResult compiled = compileToArtifact(
      kernels::buildFlashAttentionForward({}).text(), "plain", options);
  ASSERT_TRUE(compiled.artifact) << compiled.error;
  const GpuEntry &entry = compiled.artifact->kernels.at(0).entries.at(0);
  EXPECT_EQ(entry.programsAtOnce, (std::array<int64_t, 3>{1, 1, 1}));
}

TEST(SmallTiles, TooManyProgramsAtOnceAreAnError) {
  CompilerOptions options;
  options.target = "sm_90a";
  options.programsAtOnce = 4;
  const ArtifactResult compiled = compileToArtifact(
      kernels::buildFlashAttentionForward({}).text(), "many", options);
  EXPECT_FALSE(compiled.artifact);
  EXPECT_THAT(compiled.error,
              HasSubstr("expected 0 to 3 programs at once, but got 4"));
}

INSTANTIATE_TEST_SUITE_P(All, SmallTilesTest, testing::ValuesIn(smallTiles()),
                         [](const auto &info) { return info.param.name; });
