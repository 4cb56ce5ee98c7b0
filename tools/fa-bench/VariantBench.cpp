//===- VariantBench.cpp - fa-bench softcap-attention and its kind ---------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/fa-bench/AttentionSweep.h"
#include "tools/fa-bench/Commands.h"

#include "compiler/Support/Error.h"
#include "kernels/AttentionVariants.h"
#include "kernels/Reference/AttentionVariants.h"
#include "kernels/Reference/Judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

using namespace flashtile;
using namespace flashtile::tools;

namespace {
struct Options {
  AttentionSweep sweep;
  double cap = 50;
  bool fastTanh = false;
  std::vector<int64_t> left = {1024};
  int64_t right = 0;
};
} // namespace

static const std::vector<DType> variantTypes = {DType::F32, DType::F16,
                                                DType::BF16};

/// Pairs of a row and a key that it sees, of `n` rows and keys.
static double visiblePairs(int64_t n, int64_t left, int64_t right) {
  double pairs = 0;
  for (int64_t row = 0; row < n; ++row)
    pairs += static_cast<double>(std::min(n - 1, row + right) -
                                 std::max<int64_t>(0, row - left) + 1);
  return pairs;
}

static std::vector<BenchCase> casesOf(const Options &options,
                                      AttentionVariant variant, bool onGpu) {
  std::vector<BenchCase> cases =
      attentionCases(options.sweep, variantTypes, onGpu);
  if (variant != AttentionVariant::SlidingWindow)
    return cases;
  checkSizes("--left", options.left, 1 << 20);
  checkSizes("--right", {options.right}, 1 << 20);
  const std::vector<int64_t> causal = switchValues(options.sweep.causal);
  if (options.right && std::count(causal.begin(), causal.end(), 0) == 0)
    throw Error(ErrorCode::InvalidArgument,
                "expected --right only with --causal 0: a causal row sees no "
                "key behind it");
  std::vector<BenchCase> windows;
  for (const int64_t left : options.left)
    for (const BenchCase &point : cases) {
      BenchCase &window = windows.emplace_back(point);
      const int64_t n = point.at("seq_len");
      const int64_t right = point.at("causal") ? 0 : options.right;
      window.parameters.insert(window.parameters.end() - 1,
                               {{"left", left}, {"right", right}});
      window.flops = 4.0 * visiblePairs(n, left, right) *
                     static_cast<double>(point.at("batch")) *
                     static_cast<double>(point.at("heads")) *
                     static_cast<double>(point.at("head_dim"));
      window.series += fmt::format(" left={}", left);
      window.group += fmt::format(" left={}", left);
    }
  return windows;
}

/// Judges rows of the first and the last head: first, middle and last ones.
static CheckResult check(const Tensor &q, const Tensor &k, const Tensor &v,
                         const Tensor &o, const Tensor &lse,
                         const AttentionVariantOptions &options) {
  constexpr int64_t kRows = 64;
  const int64_t heads = q.size(1), rows = q.size(2);
  // Twice the error of a plain implementation, or four times where tanh adds
  // one of its own.
  reference::JudgeRule rule;
  rule.factor = options.fastTanh ? 4 : 2;
  CheckResult result;
  for (const int64_t index : std::set<int64_t>{0, q.size(0) * heads - 1}) {
    auto headOf = [&](const Tensor &tensor) {
      return tensor.select(0, index / heads)
          .narrow(0, index % heads, 1)
          .to(Device::cpu());
    };
    AttentionVariantProblem problem = options;
    problem.slopes = alibiSlopes(heads).narrow(0, index % heads, 1);
    for (const int64_t begin :
         std::set<int64_t>{0, std::max<int64_t>(rows / 2 - kRows / 2, 0),
                           std::max<int64_t>(rows - kRows, 0)}) {
      const int64_t count = std::min(kRows, rows - begin);
      const Tensor qRows = headOf(q).narrow(1, begin, count);
      const auto truth = reference::attentionVariant(qRows, headOf(k),
                                                     headOf(v), problem, begin);
      const auto plain = reference::plainAttentionVariant(
          qRows, headOf(k), headOf(v), q.dtype(), problem, begin);
      auto add = [&](const char *name, const reference::Verdict &verdict) {
        result.add(verdict.pass, verdict.error, verdict.limit,
                   verdict.pass
                       ? std::string()
                       : fmt::format("{} of head {}, from row {}: {}", name,
                                     index, begin, verdict.reason));
      };
      add("o", reference::judge(headOf(o).narrow(1, begin, count), truth.o,
                                plain.o, rule));
      // The error of the fast tanh is not one that a plain sum in f32 has.
      if (!lse.defined() || options.fastTanh)
        continue;
      reference::JudgeRule rowRule;
      rowRule.headRank = 1;
      add("lse", reference::judge(headOf(lse).narrow(1, begin, count),
                                  truth.lse, plain.lse, rowRule));
    }
  }
  return result;
}

static BenchWork prepare(const BenchCase &point, const Options &settings,
                         AttentionVariant variant, Operands &operands,
                         Device device) {
  const BenchOptions &common = settings.sweep.common;
  const auto [q, k, v] = attentionInputs(operands, point);
  AttentionVariantOptions options;
  options.variant = variant;
  options.causal = point.at("causal") != 0;
  options.cap = settings.cap;
  options.fastTanh = settings.fastTanh;
  options.left = point.at("left");
  options.right = point.at("right");
  if (variant == AttentionVariant::Alibi)
    options.slopes = alibiSlopes(q.size(1), device);
  BenchWork work;
  chooseTiles({q, k, v}, common, options, work, attentionVariantTuning,
              attentionVariantTiles);
  work.kernels = {attentionVariantKernel(q, k, v, options)};
  Tensor o = Tensor::empty(q.shape(), point.dtype, device);
  Tensor lse;
  if (variant != AttentionVariant::Sigmoid)
    lse = Tensor::empty({q.size(0), q.size(1), q.size(2)}, DType::F32, device);
  // Structured bindings are not captured in C++17.
  work.launch = [q = q, k = k, v = v, o, lse, options]() mutable {
    attentionVariant(q, k, v, options, o, lse);
  };
  work.check = [q = q, k = k, v = v, o, lse, options] {
    return check(q, k, v, o, lse, options);
  };
  return work;
}

/// "sliding-window-attention".
static std::string commandName(AttentionVariant variant) {
  std::string name = attentionVariantName(variant);
  std::replace(name.begin(), name.end(), '_', '-');
  return name + "-attention";
}

static int run(const Options &options, AttentionVariant variant) {
  Sweep sweep;
  sweep.benchmark = commandName(variant);
  sweep.system = std::string("flashtile_") + attentionVariantName(variant) +
                 (options.fastTanh ? "_fast_tanh" : "");
  sweep.xLabel = "sequence length";
  sweep.device = targetDevice(options.sweep.common.target);
  sweep.cases = casesOf(options, variant, sweep.device.isCuda());
  for (BenchCase &point : sweep.cases)
    point.pass = "fwd";
  Operands operands(sweep.device);
  sweep.prepare = [&](const BenchCase &point) {
    return prepare(point, options, variant, operands, sweep.device);
  };
  return runSweep(sweep, options.sweep.common);
}

static const char *descriptionOf(AttentionVariant variant) {
  switch (variant) {
  case AttentionVariant::Softcap:
    return "Attention with scores cap tanh(s / cap)";
  case AttentionVariant::Alibi:
    return "Attention with a slope for each head, 2^(-8 (h + 1) / heads)";
  case AttentionVariant::SlidingWindow:
    return "Attention of each row to the keys around it";
  case AttentionVariant::Sigmoid:
    return "Attention with weights sigmoid(s - log(seq_len)), without softmax";
  }
  return "";
}

Command flashtile::tools::addAttentionVariantCommand(CLI::App &app,
                                                     AttentionVariant variant) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      app.add_subcommand(commandName(variant), descriptionOf(variant));
  const bool isWindow = variant == AttentionVariant::SlidingWindow;
  command->footer(isWindow
                      ? "FLOPs are 4 batch heads head_dim for each key that a "
                        "row sees."
                      : "FLOPs are 4 batch heads seq_len^2 head_dim, half of "
                        "it if causal: the formula's own are not counted.");
  if (variant == AttentionVariant::Softcap) {
    command->add_option("--cap", options->cap, "The cap")
        ->check(realNumber())
        ->capture_default_str();
    command->add_flag("--fast-tanh", options->fastTanh,
                      "tanh by one instruction on GPUs, to 2^-11");
  }
  if (isWindow) {
    options->sweep.causal = {"1"};
    addSizes(*command, "--left", options->left, "Keys before that of the row")
        ->capture_default_str();
    command
        ->add_option("--right", options->right, "Keys behind it, if not causal")
        ->check(positiveInteger());
  }
  addAttentionOptions(*command, options->sweep);
  return [options, variant] { return run(*options, variant); };
}
