//===- AttentionBench.cpp - fa-bench flash-attention, dense-attention -----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The usual protocol of attention: a fixed number of tokens and a fixed width
// of the model, cut into sequences and heads as the case says.
//
//===----------------------------------------------------------------------===//

#include "tools/fa-bench/AttentionCheck.h"
#include "tools/fa-bench/Commands.h"
#include "tools/fa-bench/Sweep.h"

#include "compiler/Support/Error.h"
#include "kernels/DenseAttention.h"
#include "kernels/FlashAttention.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

using namespace flashtile;
using namespace flashtile::tools;

namespace {
struct AttentionSweep {
  BenchOptions common;
  std::vector<int64_t> headDims, seqLens, batches, heads;
  std::vector<std::string> causal = {"0", "1"};
  std::string scores; ///< dense: type of the scores
};

/// What a case has unless its options say otherwise: that of the published
/// figures on a GPU, and on a cpu what ends within seconds.
struct Protocol {
  int64_t tokens, width; ///< batch * rows, heads * head dimension
  std::vector<int64_t> headDims, seqLens;
};
} // namespace

static const Protocol gpuProtocol = {
    16384, 2048, {64, 128, 256}, {512, 1024, 2048, 4096, 8192, 16384}};
static const Protocol cpuProtocol = {
    1024, 256, {64, 128}, {128, 256, 512, 1024}};

static const std::vector<DType> attentionTypes = {
    DType::F32, DType::F16, DType::BF16, DType::F8E4M3FN, DType::F8E5M2};

static void checkHeadDims(const std::vector<int64_t> &headDims) {
  for (const int64_t d : headDims)
    if (d < 8 || d > 256 || d % 8)
      throw Error(
          ErrorCode::InvalidArgument,
          fmt::format("expected --head-dim from 8 to 256 in steps of 8, "
                      "but got {}",
                      d));
}

/// Limits that keep sizes within 64 bits; what fits the machine is another
/// matter.
static void checkSizes(const char *option, const std::vector<int64_t> &sizes,
                       int64_t limit) {
  for (const int64_t size : sizes)
    if (size > limit)
      throw Error(
          ErrorCode::InvalidArgument,
          fmt::format("expected {} up to {}, but got {}", option, limit, size));
}

static BenchCase attentionCase(DType dtype, int64_t d, int64_t causal,
                               int64_t batch, int64_t heads, int64_t n) {
  BenchCase point;
  point.dtype = dtype;
  point.parameters = {{"head_dim", d},
                      {"causal", causal},
                      {"batch", batch},
                      {"heads", heads},
                      {"seq_len", n}};
  point.flops = 4.0 * static_cast<double>(batch) * static_cast<double>(heads) *
                static_cast<double>(n) * static_cast<double>(n) *
                static_cast<double>(d) * (causal ? 0.5 : 1.0);
  point.x = n;
  point.group = fmt::format("{} d={}", toString(dtype), d);
  return point;
}

static std::vector<BenchCase> casesOf(const AttentionSweep &sweep,
                                      const Protocol &protocol) {
  const auto &headDims =
      sweep.headDims.empty() ? protocol.headDims : sweep.headDims;
  const auto &seqLens =
      sweep.seqLens.empty() ? protocol.seqLens : sweep.seqLens;
  checkHeadDims(headDims);
  checkSizes("--seq-len", seqLens, 1 << 20);
  checkSizes("--batch", sweep.batches, 1 << 20);
  checkSizes("--heads", sweep.heads, 1 << 16);
  // 0 stands for what the protocol says.
  const std::vector<int64_t> open = {0};
  const auto &batches = sweep.batches.empty() ? open : sweep.batches;
  const auto &headCounts = sweep.heads.empty() ? open : sweep.heads;
  std::vector<BenchCase> cases;
  for (DType dtype : typesOf(sweep.common.dtypes, attentionTypes))
    for (int64_t d : headDims)
      for (int64_t causal : switchValues(sweep.causal))
        for (int64_t batch : batches)
          for (int64_t heads : headCounts)
            for (int64_t n : seqLens) {
              BenchCase point = attentionCase(
                  dtype, d, causal,
                  batch ? batch : std::max<int64_t>(protocol.tokens / n, 1),
                  heads ? heads : std::max<int64_t>(protocol.width / d, 1), n);
              if (batches.size() > 1)
                point.group += fmt::format(" batch={}", batch);
              if (headCounts.size() > 1)
                point.group += fmt::format(" heads={}", heads);
              point.series = point.group + (causal ? " causal" : "");
              cases.push_back(std::move(point));
            }
  return cases;
}

static std::array<Tensor, 3> inputsOf(Operands &operands,
                                      const BenchCase &point) {
  const Shape shape = {point.at("batch"), point.at("heads"),
                       point.at("seq_len"), point.at("head_dim")};
  return {operands.get(shape, point.dtype, 0),
          operands.get(shape, point.dtype, 1),
          operands.get(shape, point.dtype, 2)};
}

static BenchWork prepareFlash(const BenchCase &point,
                              const BenchOptions &common, Operands &operands,
                              Device device) {
  const auto [q, k, v] = inputsOf(operands, point);
  FlashAttentionOptions options;
  options.causal = point.at("causal") != 0;
  options.blockM = common.tileM;
  options.blockN = common.tileN;
  options.numWarps = common.numWarps;
  options.numStages = common.numStages;
  options.tune = common.tune;
  BenchWork work;
  if (options.tune)
    work.trials = flashAttentionTuning(q, k, v, options).trials;
  const FlashAttentionTiles tiles = flashAttentionTiles(q, k, v, options);
  options.blockM = tiles.blockM;
  options.blockN = tiles.blockN;
  options.numWarps = tiles.numWarps;
  options.numStages = tiles.numStages;
  options.tune = false;

  const bool isFp8 = elementSize(point.dtype) == 1;
  Tensor o =
      Tensor::empty(q.shape(), isFp8 ? DType::BF16 : point.dtype, device);
  Shape rows = q.shape();
  rows.pop_back();
  Tensor lse = Tensor::empty(rows, DType::F32, device);
  work.kernels = {flashAttentionKernel(q, k, v, options)};
  work.tiles = {{"block_m", tiles.blockM},
                {"block_n", tiles.blockN},
                {"num_warps", tiles.numWarps},
                {"num_stages", tiles.numStages}};
  // Structured bindings are not captured in C++17.
  work.launch = [q = q, k = k, v = v, o, lse, options]() mutable {
    flashAttention(q, k, v, options, o, lse);
  };
  work.check = [q = q, k = k, v = v, o, lse, options] {
    return checkAttention(q, k, v, o, lse, options.causal);
  };
  return work;
}

static BenchWork prepareDense(const BenchCase &point,
                              const BenchOptions &common, DType scores,
                              Operands &operands) {
  const auto [q, k, v] = inputsOf(operands, point);
  DenseAttentionOptions options;
  options.causal = point.at("causal") != 0;
  options.scoreType = scores;
  options.tiles = {common.tileM, common.tileN, common.tileK, common.numWarps,
                   common.numStages};
  options.tune = common.tune;
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

static int runAttention(const AttentionSweep &options, bool isDense) {
  Sweep sweep;
  sweep.benchmark = isDense ? "dense-attention" : "flash-attention";
  sweep.system = isDense ? "flashtile_dense" : "flashtile";
  sweep.pass = "fwd";
  sweep.xLabel = "sequence length";
  sweep.device = targetDevice(options.common.target);
  sweep.cases =
      casesOf(options, sweep.device.isCuda() ? gpuProtocol : cpuProtocol);
  std::optional<DType> scores;
  if (!options.scores.empty()) {
    scores = parseElementType(options.scores);
    const bool isAllowed =
        scores == DType::F32 || scores == DType::F16 || scores == DType::BF16;
    if (!isAllowed)
      throw Error(ErrorCode::InvalidArgument,
                  "expected --scores f32, f16 or bf16, but got '" +
                      options.scores + "'");
  }
  Operands operands(sweep.device);
  sweep.prepare = [&](const BenchCase &point) {
    if (!isDense)
      return prepareFlash(point, options.common, operands, sweep.device);
    const bool isFp8 = elementSize(point.dtype) == 1;
    return prepareDense(point, options.common,
                        scores.value_or(isFp8 ? DType::BF16 : point.dtype),
                        operands);
  };
  return runSweep(sweep, options.common);
}

static Command addAttention(CLI::App &app, bool isDense) {
  auto options = std::make_shared<AttentionSweep>();
  CLI::App *command = app.add_subcommand(
      isDense ? "dense-attention" : "flash-attention",
      isDense ? "Attention with its scores in memory: the baseline"
              : "Attention in one kernel, forward");
  command->footer("FLOPs are 4 batch heads seq_len^2 head_dim, half of it if "
                  "causal.");
  addSizes(*command, "--head-dim", options->headDims,
           "Head dimensions (cuda: 64,128,256; cpu: 64,128)");
  addSizes(*command, "--seq-len", options->seqLens,
           "Rows of a sequence (cuda: 512 to 16384; cpu: 128 to 1024)");
  addSizes(*command, "--batch", options->batches,
           "Sequences (16384 / seq-len; cpu: 1024 / seq-len)");
  addSizes(*command, "--heads", options->heads,
           "Heads (2048 / head-dim; cpu: 256 / head-dim)");
  addSwitches(*command, "--causal", options->causal,
              "Whether row i sees the keys up to i only: 0, 1 or both")
      ->capture_default_str();
  if (isDense)
    command->add_option("--scores", options->scores,
                        "Type of the scores in memory (that of --dtype)");
  addBenchOptions(*command, options->common, /*hasDepth=*/isDense);
  return [options, isDense] { return runAttention(*options, isDense); };
}

Command flashtile::tools::addFlashAttentionCommand(CLI::App &app) {
  return addAttention(app, /*isDense=*/false);
}

Command flashtile::tools::addDenseAttentionCommand(CLI::App &app) {
  return addAttention(app, /*isDense=*/true);
}
