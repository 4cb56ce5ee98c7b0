//===- GoldenCommand.cpp - fa-run golden ----------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every case of a manifest: a table of errors and limits, exit status 1 if one
// fails.
//
//===----------------------------------------------------------------------===//

#include "tools/fa-run/Commands.h"

#include "compiler/Support/Error.h"
#include "kernels/FlashAttention.h"
#include "kernels/Reference/DenseAttention.h"
#include "kernels/Reference/Golden.h"
#include "kernels/Reference/Judge.h"
#include "kernels/Reference/PlainAttention.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

using namespace flashtile;
using namespace flashtile::tools;

namespace {
struct GoldenArguments {
  std::string directory, target, filter;
};

struct CaseResult {
  reference::Verdict o, lse;
  std::string failure; ///< what was thrown instead of a result
  bool pass() const { return failure.empty() && o.pass && lse.pass; }
};
} // namespace

/// Judges a result, after the stored expectation itself: measured by a wrong
/// one, the plain implementation would be as wrong, and the limit without
/// bound.
static reference::Verdict judgeStored(const Tensor &actual,
                                      const Tensor &stored, const Tensor &truth,
                                      const Tensor &plain, int64_t headRank) {
  // What is stored is rounded to float32.
  constexpr double kStorageLimit = 1e-6;
  double error = reference::relativeError(stored, truth);
  if (!(error <= kStorageLimit)) {
    reference::JudgeRule rule;
    rule.headRank = headRank;
    rule.factor = 0;
    reference::Verdict verdict = reference::judge(stored, truth, truth, rule);
    return {false, error, kStorageLimit,
            "the stored expectation is not that of the case: " +
                verdict.reason};
  }
  reference::JudgeRule rule;
  rule.headRank = headRank;
  return reference::judge(actual, stored, plain, rule);
}

static CaseResult runCase(const reference::GoldenCase &golden, Device device) {
  CaseResult result;
  try {
    reference::GoldenTensors tensors = reference::loadGolden(golden);
    FlashAttentionOptions options;
    options.causal = golden.causal;
    options.scale = golden.scale;
    options.alignment = golden.alignment;
    FlashAttentionResult actual =
        flashAttention(tensors.q.to(device), tensors.k.to(device),
                       tensors.v.to(device), options);
    actual = {actual.o.to(Device::cpu()), actual.lse.to(Device::cpu())};
    auto plain = reference::plainAttention(tensors.q, tensors.k, tensors.v,
                                           golden.dtype, golden.options());
    auto truth = reference::denseAttention(tensors.q, tensors.k, tensors.v,
                                           golden.options());
    result.o = judgeStored(actual.o, tensors.forward.o, truth.o, plain.o, 2);
    result.lse =
        judgeStored(actual.lse, tensors.forward.lse, truth.lse, plain.lse, 1);
  } catch (const Error &error) {
    result.failure = error.what();
  }
  return result;
}

static int runGolden(const GoldenArguments &arguments) {
  Device device = targetDevice(arguments.target);
  std::vector<reference::GoldenCase> cases =
      reference::readGoldenManifest(arguments.directory);
  auto isChosen = [&](const reference::GoldenCase &golden) {
    return golden.name.find(arguments.filter) != std::string::npos;
  };
  size_t chosen = std::count_if(cases.begin(), cases.end(), isChosen);
  if (chosen == 0)
    throw Error(ErrorCode::NotFound, "no case of '" + arguments.directory +
                                         "' has '" + arguments.filter +
                                         "' in its name");
  fmt::print("{:<24} {:<8} {:>11} {:>11} {:>11} {:>11}  {}\n", "case", "dtype",
             "error o", "limit o", "error lse", "limit lse", "result");
  size_t ran = 0, failed = 0;
  for (const auto &golden : cases) {
    if (!isChosen(golden))
      continue;
    showProgress(fmt::format("[{}/{}] {}", ran + 1, chosen, golden.name));
    CaseResult result = runCase(golden, device);
    showProgress("");
    ++ran;
    failed += !result.pass();
    if (!result.failure.empty()) {
      fmt::print("{:<24} {:<8} FAILED: {}\n", golden.name,
                 toString(golden.dtype), result.failure);
      continue;
    }
    fmt::print("{:<24} {:<8} {:>11.3e} {:>11.3e} {:>11.3e} {:>11.3e}  {}\n",
               golden.name, toString(golden.dtype), result.o.error,
               result.o.limit, result.lse.error, result.lse.limit,
               result.pass() ? "ok" : "FAILED");
    for (auto [name, verdict] :
         {std::pair("o", &result.o), std::pair("lse", &result.lse)})
      if (!verdict->pass)
        fmt::print("    {}: {}\n", name, verdict->reason);
  }
  fmt::print("{} of {} cases passed on {}\n", ran - failed, ran,
             arguments.target);
  return failed ? 1 : 0;
}

Command flashtile::tools::addGoldenCommand(CLI::App &app) {
  auto arguments = std::make_shared<GoldenArguments>();
  CLI::App *command = app.add_subcommand(
      "golden", "Run every case of a manifest and judge it against its "
                "float64 values");
  command
      ->add_option("directory", arguments->directory,
                   "Folder with manifest.json and .npy files")
      ->required();
  command->add_option("--filter", arguments->filter,
                      "Only cases with this in their name");
  addTargetOption(*command, arguments->target);
  return [arguments] { return runGolden(*arguments); };
}
