//===- GoldenCommand.cpp - fa-run golden ----------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every case of a manifest: a table of errors and limits, exit status 1 if one
// fails.
//
//===----------------------------------------------------------------------===//

#include "tools/fa-run/BackwardForm.h"
#include "tools/fa-run/Commands.h"

#include "compiler/Support/Error.h"
#include "kernels/FlashAttentionBackward.h"
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
  std::string directory, target, filter, form;
  bool grad = false;
};

/// A tensor of a case.
struct Judged {
  const char *name;
  reference::Verdict verdict;
};

struct CaseResult {
  std::vector<Judged> judged;
  std::string failure; ///< what was thrown instead of a result
  bool pass() const {
    return failure.empty() &&
           std::all_of(judged.begin(), judged.end(),
                       [](const Judged &one) { return one.verdict.pass; });
  }
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

static void judgeForward(const reference::GoldenCase &golden,
                         const reference::GoldenTensors &tensors,
                         const Tensor &o, const Tensor &lse,
                         CaseResult &result) {
  auto plain = reference::plainAttention(tensors.q, tensors.k, tensors.v,
                                         golden.dtype, golden.options());
  auto truth = reference::denseAttention(tensors.q, tensors.k, tensors.v,
                                         golden.options());
  const reference::AttentionResult &stored = tensors.forward;
  result.judged = {
      {"o", judgeStored(o.to(Device::cpu()), stored.o, truth.o, plain.o, 2)},
      {"lse", judgeStored(lse.to(Device::cpu()), stored.lse, truth.lse,
                          plain.lse, 1)}};
}

static void judgeGradients(const reference::GoldenCase &golden,
                           const reference::GoldenTensors &tensors,
                           const FlashAttentionGradients &actual,
                           CaseResult &result) {
  auto plain = reference::plainAttentionBackward(
      tensors.q, tensors.k, tensors.v, tensors.dO, golden.dtype,
      golden.options());
  auto truth = reference::denseAttentionBackward(
      tensors.q, tensors.k, tensors.v, tensors.dO, golden.options());
  const reference::AttentionGradients &stored = tensors.gradients;
  auto add = [&](const char *name, const Tensor &gradient, const Tensor &stored,
                 const Tensor &truth, const Tensor &plain) {
    result.judged.push_back({name, judgeStored(gradient.to(Device::cpu()),
                                               stored, truth, plain, 2)});
  };
  add("dq", actual.q, stored.dq, truth.dq, plain.dq);
  add("dk", actual.k, stored.dk, truth.dk, plain.dk);
  add("dv", actual.v, stored.dv, truth.dv, plain.dv);
}

static CaseResult runCase(const reference::GoldenCase &golden, Device device,
                          const GoldenArguments &arguments) {
  CaseResult result;
  try {
    reference::GoldenTensors tensors = reference::loadGolden(golden);
    FlashAttentionOptions options;
    options.causal = golden.causal;
    options.scale = golden.scale;
    options.alignment = golden.alignment;
    const Tensor q = tensors.q.to(device), k = tensors.k.to(device),
                 v = tensors.v.to(device);
    if (!arguments.grad) {
      const FlashAttentionResult actual = flashAttention(q, k, v, options);
      judgeForward(golden, tensors, actual.o, actual.lse, result);
      return result;
    }
    const FlashAttentionSaved saved = flashAttentionSaved(q, k, v, options);
    judgeForward(golden, tensors, saved.o, saved.lse, result);
    FlashAttentionBackwardOptions backward(options);
    backward.form = parseBackwardForm(arguments.form);
    judgeGradients(golden, tensors,
                   flashAttentionBackward(q, k, v, saved, tensors.dO.to(device),
                                          {}, backward),
                   result);
  } catch (const Error &error) {
    result.failure = error.what();
  }
  return result;
}

static void printHeader(bool grad) {
  fmt::print("{:<24} {:<8}", "case", "dtype");
  const std::vector<const char *> names =
      grad ? std::vector{"o", "lse", "dq", "dk", "dv"}
           : std::vector{"o", "lse"};
  for (const char *name : names)
    fmt::print(" {:>11} {:>11}", fmt::format("error {}", name),
               fmt::format("limit {}", name));
  fmt::print("  result\n");
}

static void printCase(const reference::GoldenCase &golden,
                      const CaseResult &result) {
  fmt::print("{:<24} {:<8}", golden.name, toString(golden.dtype));
  if (!result.failure.empty()) {
    fmt::print(" FAILED: {}\n", result.failure);
    return;
  }
  for (const Judged &one : result.judged)
    fmt::print(" {:>11.3e} {:>11.3e}", one.verdict.error, one.verdict.limit);
  fmt::print("  {}\n", result.pass() ? "ok" : "FAILED");
  for (const Judged &one : result.judged)
    if (!one.verdict.pass)
      fmt::print("    {}: {}\n", one.name, one.verdict.reason);
}

static int runGolden(const GoldenArguments &arguments) {
  Device device = targetDevice(arguments.target);
  parseBackwardForm(arguments.form);
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
  printHeader(arguments.grad);
  size_t ran = 0, failed = 0;
  for (const auto &golden : cases) {
    if (!isChosen(golden))
      continue;
    showProgress(fmt::format("[{}/{}] {}", ran + 1, chosen, golden.name));
    CaseResult result = runCase(golden, device, arguments);
    showProgress("");
    ++ran;
    failed += !result.pass();
    printCase(golden, result);
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
  CLI::Option *grad = command->add_flag("--grad", arguments->grad,
                                        "Judge dq, dk and dv as well");
  addBackwardFormOption(*command, arguments->form)->needs(grad);
  addTargetOption(*command, arguments->target);
  return [arguments] { return runGolden(*arguments); };
}
