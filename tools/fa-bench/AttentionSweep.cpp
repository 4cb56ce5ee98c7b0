//===- AttentionSweep.cpp - Cases of attention ----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/fa-bench/AttentionSweep.h"

#include "compiler/Support/Error.h"

#include <fmt/format.h>

#include <algorithm>

using namespace flashtile;
using namespace flashtile::tools;

namespace {
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

static void checkHeadDims(const std::vector<int64_t> &headDims) {
  for (const int64_t d : headDims)
    if (d < 8 || d > 256 || d % 8)
      throw Error(
          ErrorCode::InvalidArgument,
          fmt::format("expected --head-dim from 8 to 256 in steps of 8, "
                      "but got {}",
                      d));
}

/// Scores that are not hidden; half of the square where it is one.
static double visibleScores(double n, double m, bool causal) {
  if (!causal)
    return n * m;
  return m < n ? 0.5 * m * m : n * (m - n) + 0.5 * n * n;
}

static BenchCase attentionCase(DType dtype, int64_t d, int64_t causal,
                               int64_t batch, int64_t heads, int64_t n,
                               int64_t keyHeads, int64_t m) {
  if (keyHeads && heads % keyHeads)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("expected --kv-heads to divide the {} heads of the "
                            "queries, but got {}",
                            heads, keyHeads));
  BenchCase point;
  point.dtype = dtype;
  point.parameters = {
      {"head_dim", d}, {"causal", causal}, {"batch", batch}, {"heads", heads}};
  if (keyHeads)
    point.parameters.emplace_back("kv_heads", keyHeads);
  point.parameters.emplace_back("seq_len", n);
  if (m)
    point.parameters.emplace_back("seq_len_k", m);
  point.flops = 4.0 * static_cast<double>(batch) * static_cast<double>(heads) *
                static_cast<double>(d) *
                visibleScores(static_cast<double>(n),
                              static_cast<double>(m ? m : n), causal != 0);
  point.x = n;
  point.group = fmt::format("{} d={}", toString(dtype), d);
  return point;
}

std::vector<BenchCase>
flashtile::tools::attentionCases(const AttentionSweep &sweep,
                                 const std::vector<DType> &types, bool onGpu) {
  const Protocol &protocol = onGpu ? gpuProtocol : cpuProtocol;
  const auto &headDims =
      sweep.headDims.empty() ? protocol.headDims : sweep.headDims;
  const auto &seqLens =
      sweep.seqLens.empty() ? protocol.seqLens : sweep.seqLens;
  checkHeadDims(headDims);
  checkSizes("--seq-len", seqLens, 1 << 20);
  checkSizes("--batch", sweep.batches, 1 << 20);
  checkSizes("--heads", sweep.heads, 1 << 16);
  checkSizes("--kv-heads", sweep.keyHeads, 1 << 16);
  checkSizes("--seq-len-k", sweep.keySeqLens, 1 << 20);
  // 0 stands for what the protocol says.
  const std::vector<int64_t> open = {0};
  const auto &batches = sweep.batches.empty() ? open : sweep.batches;
  const auto &headCounts = sweep.heads.empty() ? open : sweep.heads;
  const auto &keyHeadCounts = sweep.keyHeads.empty() ? open : sweep.keyHeads;
  const auto &keySeqLens = sweep.keySeqLens.empty() ? open : sweep.keySeqLens;
  std::vector<BenchCase> cases;
  auto add = [&](DType dtype, int64_t d, int64_t causal, int64_t batch,
                 int64_t heads, int64_t keyHeads, int64_t n, int64_t m) {
    BenchCase point =
        attentionCase(dtype, d, causal,
                      batch ? batch : std::max<int64_t>(protocol.tokens / n, 1),
                      heads ? heads : std::max<int64_t>(protocol.width / d, 1),
                      n, keyHeads, m);
    if (batches.size() > 1)
      point.group += fmt::format(" batch={}", batch);
    if (headCounts.size() > 1)
      point.group += fmt::format(" heads={}", heads);
    if (keyHeadCounts.size() > 1)
      point.group += fmt::format(" kv_heads={}", keyHeads);
    if (keySeqLens.size() > 1)
      point.group += fmt::format(" seq_len_k={}", m);
    point.series = point.group + (causal ? " causal" : "");
    cases.push_back(std::move(point));
  };
  for (DType dtype : typesOf(sweep.common.dtypes, types))
    for (int64_t d : headDims)
      for (int64_t causal : switchValues(sweep.causal))
        for (int64_t batch : batches)
          for (int64_t heads : headCounts)
            for (int64_t keyHeads : keyHeadCounts)
              for (int64_t n : seqLens)
                for (int64_t m : keySeqLens)
                  add(dtype, d, causal, batch, heads, keyHeads, n, m);
  return cases;
}

static Shape shapeOf(const BenchCase &point) {
  return {point.at("batch"), point.at("heads"), point.at("seq_len"),
          point.at("head_dim")};
}

AttentionInputs flashtile::tools::attentionInputs(Operands &operands,
                                                  const BenchCase &point) {
  const Shape shape = shapeOf(point);
  Shape keys = shape;
  if (const int64_t heads = point.at("kv_heads"))
    keys[1] = heads;
  if (const int64_t rows = point.at("seq_len_k"))
    keys[2] = rows;
  return {operands.get(shape, point.dtype, 0),
          operands.get(keys, point.dtype, 1),
          operands.get(keys, point.dtype, 2)};
}

Tensor flashtile::tools::attentionGradient(Operands &operands,
                                           const BenchCase &point) {
  return operands.get(shapeOf(point), point.dtype, 3);
}

FlashAttentionTiles flashtile::tools::givenTiles(const BenchOptions &common) {
  return {common.tileM, common.tileN, common.numWarps, common.numStages};
}

void flashtile::tools::checkAttentionTiles(const BenchOptions &common,
                                           const FlashAttentionTiles &tiles,
                                           int64_t headDim) {
  checkTiles({{"--tile-m", common.tileM, tiles.blockM},
              {"--tile-n", common.tileN, tiles.blockN},
              {"--head-dim", 0, headDim}});
}

void flashtile::tools::addAttentionOptions(CLI::App &command,
                                           AttentionSweep &sweep,
                                           bool hasDepth) {
  addSizes(command, "--head-dim", sweep.headDims,
           "Head dimensions (cuda: 64,128,256; cpu: 64,128)");
  addSizes(command, "--seq-len", sweep.seqLens,
           "Rows of a sequence (cuda: 512 to 16384; cpu: 128 to 1024)");
  addSizes(command, "--batch", sweep.batches,
           "Sequences (16384 / seq-len; cpu: 1024 / seq-len)");
  addSizes(command, "--heads", sweep.heads,
           "Heads (2048 / head-dim; cpu: 256 / head-dim)");
  addSwitches(command, "--causal", sweep.causal,
              "Whether row i sees the keys up to i only: 0, 1, or 0,1 for both")
      ->capture_default_str();
  addBenchOptions(command, sweep.common, hasDepth);
}

void flashtile::tools::addKeyOptions(CLI::App &command, AttentionSweep &sweep) {
  addSizes(command, "--kv-heads", sweep.keyHeads,
           "Heads of keys and values, which divide those of the queries (as "
           "many)");
  addSizes(command, "--seq-len-k", sweep.keySeqLens,
           "Rows of keys and values (as many as of queries)");
}
