//===- FlashAttentionTestTune.cpp - Which tiles attention takes -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionConfigs.h"
#include "tests/kernels/FlashAttentionTestSupport.h"

#include <algorithm>

using namespace flashtile;

static bool areSame(const FlashAttentionTiles &a,
                    const FlashAttentionTiles &b) {
  return a.blockM == b.blockM && a.blockN == b.blockN &&
         a.numWarps == b.numWarps && a.numStages == b.numStages;
}

TEST(FlashAttentionTiles, EveryClassHasADefaultAmongItsCandidates) {
  for (DeviceClass device :
       {DeviceClass::Cpu, DeviceClass::Sm80, DeviceClass::Sm90a})
    for (DType type : {DType::F32, DType::BF16, DType::F8E4M3FN})
      for (int64_t headDim = 8; headDim <= 256; headDim += 8)
        for (bool causal : {false, true}) {
          const FlashAttentionClass kind = {device, type, headDim, causal};
          const FlashAttentionTiles tiles = defaultFlashAttentionTiles(kind);
          EXPECT_GE(tiles.blockM, 16);
          EXPECT_GE(tiles.blockN, 16);
          EXPECT_GE(tiles.numWarps, 1);
          EXPECT_GE(tiles.numStages, 1);
          const auto candidates = flashAttentionCandidates(kind);
          EXPECT_TRUE(std::any_of(
              candidates.begin(), candidates.end(),
              [&](const auto &other) { return areSame(tiles, other); }));
        }
}

static FlashAttentionTiles tilesOf(const Problem &problem) {
  return flashAttentionTiles(problem.q, problem.k, problem.v, problem.options);
}

TEST(FlashAttentionTiles, OptionsCountMost) {
  Problem problem = randomProblem({100, 32}, {100, 32}, DType::F32);
  EXPECT_EQ(tilesOf(problem).blockM, 64);
  problem.options.blockM = 48;
  problem.options.blockN = 24;
  problem.options.numWarps = 2;
  problem.options.numStages = 3;
  for (bool tune : {false, true}) {
    problem.options.tune = tune;
    EXPECT_TRUE(areSame(tilesOf(problem), {48, 24, 2, 3}));
  }
  expectAccurate(problem);
}

TEST(FlashAttentionTiles, ShortQueriesGetShortTiles) {
  EXPECT_EQ(tilesOf(randomProblem({1, 32}, {100, 32}, DType::F32)).blockM, 16);
  EXPECT_EQ(tilesOf(randomProblem({17, 32}, {100, 32}, DType::F32)).blockM, 32);
}

TEST(FlashAttentionTiles, TunedOnesAreCandidatesAndRight) {
  Problem problem = randomProblem({2, 70, 16}, {2, 90, 16}, DType::BF16, true);
  problem.options.tune = true;
  problem.options.blockM = 32; // fewer to compile
  const FlashAttentionTiles tiles = tilesOf(problem);
  EXPECT_EQ(tiles.blockM, 32);
  const auto candidates =
      flashAttentionCandidates({DeviceClass::Cpu, DType::BF16, 16, true});
  EXPECT_TRUE(
      std::any_of(candidates.begin(), candidates.end(), [&](const auto &other) {
        return other.blockN == tiles.blockN;
      }));
  expectAccurate(problem);
  // A problem of the same class is not measured again.
  Problem similar = randomProblem({2, 71, 16}, {2, 89, 16}, DType::BF16, true);
  similar.options = problem.options;
  EXPECT_TRUE(areSame(tilesOf(similar), tiles));
  expectAccurate(similar);
}

TEST(FlashAttentionTiles, NothingIsMeasuredWithoutWork) {
  Problem problem = randomProblem({0, 16}, {8, 16}, DType::F32);
  problem.options.tune = true;
  EXPECT_EQ(attend(problem).o.numel(), 0);
}

TEST(FlashAttentionTiles, NoCandidateWorksIsOneError) {
  Problem problem = randomProblem({70, 16}, {70, 16}, DType::F32);
  problem.options.tune = true;
  problem.options.blockM = 1 << 20;
  const std::string message = refusal(problem);
  EXPECT_THAT(message, testing::HasSubstr("no configuration of "
                                          "'flash_attention_forward f32"));
  EXPECT_THAT(message,
              testing::HasSubstr("expected blockM between 1 and 65536, but got "
                                 "1048576"));
}
