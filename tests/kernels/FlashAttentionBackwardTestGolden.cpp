//===- FlashAttentionBackwardTestGolden.cpp - Stored gradients ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every form against gradients computed elsewhere: tests/data/golden, and the
// folder that FLASHTILE_GOLDEN_DIR names, or ../shared/golden, if there is one.
//
//===----------------------------------------------------------------------===//

#include "FlashAttentionBackwardTestSupport.h"

#include "kernels/Reference/Golden.h"

#include <filesystem>

using namespace flashtile;
namespace fs = std::filesystem;

static std::vector<reference::GoldenCase> allCases() {
  const fs::path own = fs::path(FLASHTILE_TEST_DATA_DIR) / "golden";
  std::vector<reference::GoldenCase> cases = reference::readGoldenManifest(own);
  const char *variable = std::getenv("FLASHTILE_GOLDEN_DIR");
  const fs::path other =
      variable ? fs::path(variable) : own / "../../../../shared/golden";
  if (variable || fs::exists(other / "manifest.json"))
    for (auto &one : reference::readGoldenManifest(other))
      cases.push_back(std::move(one));
  return cases;
}

namespace {
class GoldenGradients
    : public ::testing::TestWithParam<std::tuple<reference::GoldenCase, Form>> {
};
} // namespace

INSTANTIATE_TEST_SUITE_P(
    , GoldenGradients,
    ::testing::Combine(::testing::ValuesIn(allCases()),
                       ::testing::Values(Form::Fused, Form::FusedDeterministic,
                                         Form::Dense)),
    [](const auto &info) {
      return std::to_string(info.index) + "_" + std::get<0>(info.param).name +
             "_" + nameOf(std::get<1>(info.param));
    });

TEST_P(GoldenGradients, Pass) {
  const auto &[golden, form] = GetParam();
  const reference::GoldenTensors data = reference::loadGolden(golden);
  BackwardProblem problem{{data.q, data.k, data.v, {}}, data.dO, {}};
  problem.forward.options.causal = golden.causal;
  problem.forward.options.scale = golden.scale;
  problem.forward.options.alignment = golden.alignment;
  BackwardJudgement judgement(problem);
  judgement.truth = data.gradients;
  judgement.expectAccurate(gradientsOf(problem, form));
}
