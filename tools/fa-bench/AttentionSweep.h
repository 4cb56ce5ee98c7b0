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

#include "tools/fa-bench/Sweep.h"

namespace flashtile::tools {

struct AttentionSweep {
  BenchOptions common;
  std::vector<int64_t> headDims, seqLens, batches, heads;
  std::vector<std::string> causal = {"0", "1"};
};

/// Adds the options of such a sweep, those of all sweeps included.
void addAttentionOptions(CLI::App &command, AttentionSweep &sweep,
                         bool hasDepth = false);

/// Every combination, with the FLOPs of the forward. Throws InvalidArgument for
/// sizes and types out of range.
std::vector<BenchCase> attentionCases(const AttentionSweep &sweep,
                                      const std::vector<DType> &types,
                                      bool onGpu);

struct AttentionInputs {
  Tensor q, k, v;
};
/// [batch, heads, seq_len, head_dim].
AttentionInputs attentionInputs(Operands &operands, const BenchCase &point);
/// What goes with them: an upstream gradient.
Tensor attentionGradient(Operands &operands, const BenchCase &point);

} // namespace flashtile::tools

#endif // FLASHTILE_TOOLS_FA_BENCH_ATTENTIONSWEEP_H
