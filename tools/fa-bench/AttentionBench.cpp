//===- AttentionBench.cpp - fa-bench flash-attention, dense-attention -----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/fa-bench/AttentionCheck.h"
#include "tools/fa-bench/AttentionSweep.h"
#include "tools/fa-bench/Commands.h"
#include "tools/fa-bench/GradientCheck.h"

#include "compiler/Support/Error.h"
#include "kernels/DenseAttention.h"
#include "kernels/DenseAttentionBackward.h"
#include "kernels/FlashAttention.h"
#include "kernels/FlashAttentionBackward.h"

#include <fmt/format.h>

#include <memory>

using namespace flashtile;
using namespace flashtile::tools;

namespace {
struct Options {
  AttentionSweep sweep;
  std::string pass = "forward";
  std::string form;   ///< flash: how gradients are computed
  std::string scores; ///< dense: type of the scores
};
} // namespace

/// FLOPs of the backward to those of the forward, as everybody counts them: ten
/// products of n * n * d for four.
static constexpr double kBackwardFlops = 2.5;

static const std::vector<DType> attentionTypes = {
    DType::F32, DType::F16, DType::BF16, DType::F8E4M3FN, DType::F8E5M2};
/// Of the backward.
static const std::vector<DType> gradientTypes = {DType::F32, DType::F16,
                                                 DType::BF16};

//===----------------------------------------------------------------------===//
// Flash attention
//===----------------------------------------------------------------------===//

static BenchWork prepareFlash(const BenchCase &point,
                              const BenchOptions &common, Operands &operands,
                              Device device) {
  const auto [q, k, v] = attentionInputs(operands, point);
  FlashAttentionOptions options;
  options.causal = point.at("causal") != 0;
  BenchWork work;
  chooseTiles({q, k, v}, common, options, work, flashAttentionTuning,
              flashAttentionTiles);
  const bool isFp8 = elementSize(point.dtype) == 1;
  Tensor o =
      Tensor::empty(q.shape(), isFp8 ? DType::BF16 : point.dtype, device);
  Shape rows = q.shape();
  rows.pop_back();
  Tensor lse = Tensor::empty(rows, DType::F32, device);
  work.kernels = {flashAttentionKernel(q, k, v, options)};
  // Structured bindings are not captured in C++17.
  work.launch = [q = q, k = k, v = v, o, lse, options]() mutable {
    flashAttention(q, k, v, options, o, lse);
  };
  work.check = [q = q, k = k, v = v, o, lse, options] {
    return checkAttention(q, k, v, o, lse, options.causal);
  };
  return work;
}

static FlashAttentionBackwardForm formOf(const std::string &name) {
  using Form = FlashAttentionBackwardForm;
  if (name.empty())
    return Form::Default;
  for (const Form form : {Form::Fused, Form::FusedDeterministic, Form::Dense})
    if (name == toString(form))
      return form;
  throw Error(ErrorCode::InvalidArgument,
              "expected --form fused, deterministic or dense, but got '" +
                  name + "'");
}

static BenchWork prepareFlashBackward(const BenchCase &point,
                                      const BenchOptions &common,
                                      FlashAttentionBackwardForm form,
                                      Operands &operands, Device device) {
  const auto [q, k, v] = attentionInputs(operands, point);
  const Tensor gradO = attentionGradient(operands, point);
  FlashAttentionOptions forward;
  forward.causal = point.at("causal") != 0;
  FlashAttentionBackwardOptions options(forward);
  options.form = form;
  const FlashAttentionSaved saved = flashAttentionSaved(q, k, v, forward);
  BenchWork work;
  if (common.tune) {
    options.tiles = {givenTiles(common), givenTiles(common)};
    const FlashAttentionBackwardChoice best =
        flashAttentionBackwardTuning(q, k, v, saved, gradO, {}, options);
    options.form = best.form;
    options.tiles = best.tiles;
    work.trials = best.trials;
  } else {
    options.form = flashAttentionBackwardForm(q, k, v, options);
    options.tiles = defaultFlashAttentionBackwardTiles(
        {deviceClassOf(device), point.dtype, q.size(-1), forward.causal},
        options.form);
    completeTiles(options.tiles.keys, givenTiles(common));
    completeTiles(options.tiles.queries, givenTiles(common));
  }
  if (options.form != FlashAttentionBackwardForm::Dense) {
    for (const FlashAttentionTiles *kernel :
         {&options.tiles.keys, &options.tiles.queries})
      checkAttentionTiles(common, *kernel, q.size(-1));
    work.tiles = tuningConfigOf(options.tiles.keys);
    if (options.form == FlashAttentionBackwardForm::FusedDeterministic) {
      const TuningConfig queries =
          tuningConfigOf(options.tiles.queries, "queries_");
      for (const auto &[name, value] : queries.entries())
        work.tiles.set(name, value);
    }
  }
  work.kernels = flashAttentionBackwardKernels(q, k, v, options);
  auto result = std::make_shared<FlashAttentionGradients>();
  work.launch = [q = q, k = k, v = v, saved, gradO, options, result] {
    *result = flashAttentionBackward(q, k, v, saved, gradO, {}, options);
  };
  work.check = [q = q, k = k, v = v, saved, gradO, options, result] {
    return checkGradients(q, k, v, saved, gradO, *result, options.causal);
  };
  return work;
}

//===----------------------------------------------------------------------===//
// Dense attention
//===----------------------------------------------------------------------===//

static DenseAttentionOptions
denseOptions(const BenchCase &point, const BenchOptions &common, DType scores) {
  DenseAttentionOptions options;
  options.causal = point.at("causal") != 0;
  options.scoreType = scores;
  options.tiles = {common.tileM, common.tileN, common.tileK, common.numWarps,
                   common.numStages};
  options.tune = common.tune;
  return options;
}

/// Throws InvalidArgument for options that are too large for a product.
static void checkProductTiles(const BenchOptions &common,
                              const MatmulTiles &tiles) {
  checkTiles({{"--tile-m", common.tileM, tiles.blockM},
              {"--tile-n", common.tileN, tiles.blockN},
              {"--tile-k", common.tileK, tiles.blockK}});
}

static BenchWork prepareDense(const BenchCase &point,
                              const BenchOptions &common, DType scores,
                              Operands &operands) {
  const auto [q, k, v] = attentionInputs(operands, point);
  const DenseAttentionOptions options = denseOptions(point, common, scores);
  if (!common.tune)
    checkProductTiles(common, {common.tileM, common.tileN, common.tileK});
  const DenseAttentionPlan plan = denseAttentionPlan(q, k, v, options);
  BenchWork work;
  work.kernels = plan.kernels;
  for (auto [prefix, tiles] : {std::pair("", &plan.scoreTiles),
                               std::pair("value_", &plan.valueTiles)}) {
    const std::string name = prefix;
    work.tiles.set(name + "block_m", tiles->blockM);
    work.tiles.set(name + "block_n", tiles->blockN);
    work.tiles.set(name + "block_k", tiles->blockK);
    work.tiles.set(name + "num_warps", tiles->numWarps);
    work.tiles.set(name + "num_stages", tiles->numStages);
  }
  auto result = std::make_shared<DenseAttentionResult>();
  work.launch = [q = q, k = k, v = v, options, result] {
    *result = denseAttention(q, k, v, options);
  };
  work.check = [q = q, k = k, v = v, options, result] {
    // Rounded scores add up to a rounded lse, and to an error of o that the
    // plain implementation, which rounds only the weights, does not have.
    const bool isExact = *options.scoreType == DType::F32;
    return checkAttention(q, k, v, result->o, isExact ? result->lse : Tensor(),
                          options.causal, isExact ? 2 : 4);
  };
  return work;
}

static BenchWork prepareDenseBackward(const BenchCase &point,
                                      const BenchOptions &common,
                                      Operands &operands) {
  const auto [q, k, v] = attentionInputs(operands, point);
  const Tensor gradO = attentionGradient(operands, point);
  const DenseAttentionOptions options = denseOptions(point, common, DType::F32);
  checkProductTiles(common, {common.tileM, common.tileN, common.tileK});
  BenchWork work;
  auto result = std::make_shared<FlashAttentionGradients>();
  work.launch = [q = q, k = k, v = v, gradO, options, result] {
    *result = denseAttentionBackward(q, k, v, gradO, {}, options);
  };
  work.check = [q = q, k = k, v = v, gradO, options, result] {
    FlashAttentionOptions forward;
    forward.causal = options.causal;
    return checkGradients(q, k, v, flashAttentionSaved(q, k, v, forward), gradO,
                          *result, options.causal);
  };
  return work;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// The passes that --pass names, as results name them.
static std::vector<std::string> passesOf(const std::string &name) {
  if (name == "forward")
    return {"fwd"};
  if (name == "backward")
    return {"bwd"};
  if (name == "both")
    return {"fwd", "bwd"};
  throw Error(ErrorCode::InvalidArgument,
              "expected --pass forward, backward or both, but got '" + name +
                  "'");
}

static DType scoreTypeOf(const std::string &name, DType dtype) {
  if (name.empty())
    return elementSize(dtype) == 1 ? DType::BF16 : dtype;
  const std::optional<DType> type = parseElementType(name);
  if (type == DType::F32 || type == DType::F16 || type == DType::BF16)
    return *type;
  throw Error(ErrorCode::InvalidArgument,
              "expected --scores f32, f16 or bf16, but got '" + name + "'");
}

static int runAttention(const Options &options, bool isDense) {
  const BenchOptions &common = options.sweep.common;
  const std::vector<std::string> passes = passesOf(options.pass);
  const bool isForwardOnly = options.pass == "forward";
  const FlashAttentionBackwardForm form = formOf(options.form);
  if (!options.form.empty() && isForwardOnly)
    throw Error(ErrorCode::InvalidArgument,
                "expected --form only with --pass backward or both");
  // The dense form of flash attention takes the tiles that products have.
  if (options.pass == "backward" && form == FlashAttentionBackwardForm::Dense)
    for (auto [name, isGiven] : {std::pair("--tile-m", common.tileM != 0),
                                 {"--tile-n", common.tileN != 0},
                                 {"--num-warps", common.numWarps != 0},
                                 {"--num-stages", common.numStages != 0},
                                 {"--tune", common.tune}})
      if (isGiven)
        throw Error(ErrorCode::InvalidArgument,
                    std::string("expected no ") + name +
                        " with --pass backward --form dense: it has no effect; "
                        "fa-bench dense-attention --pass backward takes tiles "
                        "of products");
  if (!options.scores.empty() && options.pass == "backward")
    throw Error(ErrorCode::InvalidArgument,
                "expected --scores only with --pass forward or both: the "
                "backward keeps its scores in f32");
  if (common.graph && (isDense || !isForwardOnly))
    throw Error(ErrorCode::InvalidArgument,
                "expected --graph only with flash-attention --pass forward: "
                "other launches allocate");
  scoreTypeOf(options.scores, DType::F32);
  Sweep sweep;
  sweep.benchmark = isDense ? "dense-attention" : "flash-attention";
  sweep.system = isDense ? "flashtile_dense" : "flashtile";
  if (!options.form.empty())
    sweep.system += "_" + options.form;
  sweep.xLabel = "sequence length";
  sweep.device = targetDevice(common.target);
  for (const BenchCase &point : attentionCases(
           options.sweep, isForwardOnly ? attentionTypes : gradientTypes,
           sweep.device.isCuda())) {
    for (const std::string &pass : passes) {
      BenchCase &added = sweep.cases.emplace_back(point);
      added.pass = pass;
      if (pass != "bwd")
        continue;
      added.flops *= kBackwardFlops;
      // A colour of its own, solid where it is not causal.
      added.series += " backward";
      added.group += " backward";
    }
  }
  Operands operands(sweep.device);
  sweep.prepare = [&](const BenchCase &point) {
    const bool isBackward = point.pass == "bwd";
    if (isDense && isBackward)
      return prepareDenseBackward(point, common, operands);
    if (isDense)
      return prepareDense(point, common,
                          scoreTypeOf(options.scores, point.dtype), operands);
    return isBackward ? prepareFlashBackward(point, common, form, operands,
                                             sweep.device)
                      : prepareFlash(point, common, operands, sweep.device);
  };
  return runSweep(sweep, common);
}

static Command addAttention(CLI::App &app, bool isDense) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      isDense ? "dense-attention" : "flash-attention",
      isDense ? "Attention with its scores in memory: the baseline"
              : "Attention in one kernel, and its gradients");
  command->footer("FLOPs are 4 batch heads head_dim for each score that is not "
                  "hidden, which are half of seq_len^2 if causal, and 2.5 "
                  "times that backward.");
  command
      ->add_option("--pass", options->pass,
                   "What to measure: forward, backward, or both, a row each")
      ->capture_default_str();
  if (isDense)
    command->add_option("--scores", options->scores,
                        "Type of the forward's scores in memory (that of "
                        "--dtype)");
  else
    command->add_option("--form", options->form,
                        "How gradients are computed: fused, deterministic or "
                        "dense; the library chooses one of the first two");
  addAttentionOptions(*command, options->sweep, /*hasDepth=*/isDense);
  addKeyOptions(*command, options->sweep);
  return [options, isDense] { return runAttention(*options, isDense); };
}

Command flashtile::tools::addFlashAttentionCommand(CLI::App &app) {
  return addAttention(app, /*isDense=*/false);
}

Command flashtile::tools::addDenseAttentionCommand(CLI::App &app) {
  return addAttention(app, /*isDense=*/true);
}
