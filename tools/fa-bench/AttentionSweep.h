//===- AttentionSweep.h - Cases of attention --------------------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The usual protocol of attention: a fixed number of tokens and a fixed width
// of the model, cut into sequences and heads as the case says.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TOOLS_FA_BENCH_ATTENTIONSWEEP_H
#define FLASHTILE_TOOLS_FA_BENCH_ATTENTIONSWEEP_H

#include "kernels/FlashAttentionConfigs.h"
#include "tools/fa-bench/Sweep.h"

namespace flashtile::tools {

struct AttentionSweep {
  BenchOptions common;
  std::vector<int64_t> headDims, seqLens, batches, heads;
  /// Of keys and values: those of the queries unless there are such.
  std::vector<int64_t> keyHeads, keySeqLens;
  std::vector<std::string> causal = {"0", "1"};
};

/// Adds the options of such a sweep, those of all sweeps included.
void addAttentionOptions(CLI::App &command, AttentionSweep &sweep,
                         bool hasDepth = false);
/// Those of keys and values with heads and lengths of their own.
void addKeyOptions(CLI::App &command, AttentionSweep &sweep);

/// Every combination, with the FLOPs of the forward. Throws InvalidArgument for
/// sizes and types out of range.
std::vector<BenchCase> attentionCases(const AttentionSweep &sweep,
                                      const std::vector<DType> &types,
                                      bool onGpu);

struct AttentionInputs {
  Tensor q, k, v;
};
/// q is [batch, heads, seq_len, head_dim]; k and v may have kv_heads and
/// seq_len_k instead.
AttentionInputs attentionInputs(Operands &operands, const BenchCase &point);
/// What goes with them: an upstream gradient.
Tensor attentionGradient(Operands &operands, const BenchCase &point);

/// What --tile-m and the like name; 0: nothing.
FlashAttentionTiles givenTiles(const BenchOptions &common);
/// Throws InvalidArgument for options that are too large for tiles of
/// attention.
void checkAttentionTiles(const BenchOptions &common,
                         const FlashAttentionTiles &tiles, int64_t headDim);

/// Makes a call run in these tiles. `Options` are those of some kind of
/// attention.
template <typename Options>
void setTiles(Options &options, const FlashAttentionTiles &tiles) {
  options.blockM = tiles.blockM;
  options.blockN = tiles.blockN;
  options.numWarps = tiles.numWarps;
  options.numStages = tiles.numStages;
}

/// Chooses the tiles of a forward by the options of the command line: sets
/// those of `options`, and says in `work` what they are. `tune` and `choose`
/// are the functions of the kind of attention.
template <typename Options, typename Tune, typename Choose>
void chooseTiles(const AttentionInputs &inputs, const BenchOptions &common,
                 Options &options, BenchWork &work, Tune &&tune,
                 Choose &&choose) {
  const auto &[q, k, v] = inputs;
  setTiles(options, givenTiles(common));
  options.tune = common.tune;
  if (options.tune)
    work.trials = tune(q, k, v, options).trials;
  const FlashAttentionTiles tiles = choose(q, k, v, options);
  checkAttentionTiles(common, tiles, q.size(-1));
  setTiles(options, tiles);
  options.tune = false;
  work.tiles = tuningConfigOf(tiles);
}

} // namespace flashtile::tools

#endif // FLASHTILE_TOOLS_FA_BENCH_ATTENTIONSWEEP_H
