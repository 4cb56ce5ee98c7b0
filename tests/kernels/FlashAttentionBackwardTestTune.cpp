//===- FlashAttentionBackwardTestTune.cpp - Which tiles gradients take ----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/kernels/FlashAttentionBackwardTestSupport.h"
#include "tests/runtime/ExpectError.h"

#include <algorithm>

using namespace flashtile;

namespace {
bool operator==(const FlashAttentionTiles &a, const FlashAttentionTiles &b) {
  return a.blockM == b.blockM && a.blockN == b.blockN &&
         a.numWarps == b.numWarps && a.numStages == b.numStages;
}

/// Options that leave little to measure.
FlashAttentionBackwardOptions smallTuning() {
  FlashAttentionBackwardOptions options;
  options.tune = true;
  options.tiles.keys = {32, 0, 0, 0};
  options.tiles.queries = {32, 0, 0, 0};
  return options;
}

FlashAttentionBackwardChoice
tuningOf(const BackwardProblem &problem,
         const FlashAttentionBackwardOptions &options) {
  const Problem &forward = problem.forward;
  return flashAttentionBackwardTuning(
      forward.q, forward.k, forward.v,
      flashAttentionSaved(forward.q, forward.k, forward.v, forward.options),
      problem.dO, problem.dLse, options);
}

bool hasTrial(const FlashAttentionBackwardChoice &choice,
              const std::string &prefix) {
  return std::any_of(choice.trials.begin(), choice.trials.end(),
                     [&](const TuningTrial &trial) {
                       return trial.config.toString().find(prefix) == 0;
                     });
}
} // namespace

TEST(FlashAttentionBackwardTune, ChoosesAFormAndTilesThatAreRight) {
  const BackwardProblem problem =
      randomBackward({2, 70, 16}, {2, 90, 16}, DType::F32);
  const FlashAttentionBackwardChoice choice = tuningOf(problem, smallTuning());
  for (const char *prefix :
       {"keys_and_dq_block_m", "keys_block_m", "queries_block_m", "form"})
    EXPECT_TRUE(hasTrial(choice, prefix)) << prefix;
  EXPECT_TRUE(choice.form == Form::Fused ||
              choice.form == Form::FusedDeterministic);
  EXPECT_EQ(choice.tiles.keys.blockM, 32);
  BackwardJudgement(problem).expectAccurate(
      gradientsOf(problem, Form::Default, smallTuning()));
}

TEST(FlashAttentionBackwardTune, WhatIsAskedForCountsMost) {
  const BackwardProblem problem =
      randomBackward({70, 16}, {70, 16}, DType::F32, /*causal=*/true);
  FlashAttentionBackwardOptions options = smallTuning();
  options.causal = true;
  options.form = Form::FusedDeterministic;
  options.tiles = {{32, 32, 4, 2}, {16, 32, 4, 2}};
  const FlashAttentionBackwardChoice choice = tuningOf(problem, options);
  EXPECT_EQ(choice.form, Form::FusedDeterministic);
  EXPECT_TRUE(choice.tiles.keys == options.tiles.keys);
  EXPECT_TRUE(choice.tiles.queries == options.tiles.queries);
  EXPECT_FALSE(hasTrial(choice, "form"));
  EXPECT_FALSE(hasTrial(choice, "keys_and_dq"));

  options.form = Form::Dense;
  EXPECT_EQ(tuningOf(problem, options).form, Form::Dense);
}

TEST(FlashAttentionBackwardTune, AnyLeadingDimensionsAndNoUpstreamGradient) {
  BackwardProblem problem =
      randomBackward({2, 2, 1, 70, 16}, {2, 2, 1, 70, 16}, DType::F32);
  problem.dO = {};
  problem.dLse = Tensor::randn({2, 2, 1, 70}, DType::F32, 5);
  EXPECT_FALSE(tuningOf(problem, smallTuning()).trials.empty());
  BackwardJudgement(problem).expectAccurate(
      gradientsOf(problem, Form::Default, smallTuning()));
}

TEST(FlashAttentionBackwardTune, MeasuresOnlyWhatIsWanted) {
  const BackwardProblem problem =
      randomBackward({70, 16}, {70, 16}, DType::F32);
  FlashAttentionBackwardOptions options = smallTuning();
  options.wantsK = options.wantsV = false;
  const FlashAttentionBackwardChoice choice = tuningOf(problem, options);
  EXPECT_TRUE(hasTrial(choice, "queries_block_m"));
  EXPECT_FALSE(hasTrial(choice, "keys"));
}

TEST(FlashAttentionBackwardTune, NothingToMeasureIsAnError) {
  const BackwardProblem problem = randomBackward({0, 16}, {8, 16}, DType::F32);
  EXPECT_ERROR(InvalidArgument, "expected queries and keys to measure",
               tuningOf(problem, smallTuning()));
  EXPECT_EQ(gradientsOf(problem, Form::Default, smallTuning()).k.numel(), 128);
}

TEST(FlashAttentionBackwardTune, CandidatesAreFeasibleAndFew) {
  for (const DeviceClass device : {DeviceClass::Sm80, DeviceClass::Sm90a})
    for (const DType type : {DType::F32, DType::BF16})
      for (int64_t headDim = 8; headDim <= 256; headDim += 8)
        for (const auto work :
             {TileWork::KeyGradients, TileWork::KeyGradientsAndDq,
              TileWork::QueryGradients}) {
          const FlashAttentionClass kind = {device, type, headDim, false};
          const auto tiles = defaultFlashAttentionBackwardTiles(
              kind, work == TileWork::KeyGradientsAndDq
                        ? Form::Fused
                        : Form::FusedDeterministic);
          const FlashAttentionTiles &first =
              work == TileWork::QueryGradients ? tiles.queries : tiles.keys;
          const auto candidates =
              flashAttentionBackwardCandidates(kind, work, first);
          EXPECT_LE(candidates.size(), 10u);
          EXPECT_TRUE(candidates.front() == first);
          for (const FlashAttentionTiles &each : candidates)
            EXPECT_EQ(flashAttentionDemand(kind, each, work).whyNot, "");
        }
}
