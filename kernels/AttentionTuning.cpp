//===- AttentionTuning.cpp - The fastest tiles of a forward ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/AttentionTuning.h"

#include "kernels/LookupTable.h"

using namespace flashtile;
using namespace flashtile::kernels;

TuningResult kernels::tuneAttention(const AttentionForward &forward) {
  const AttentionOperand &q = forward.operands.q;
  const Device device = q.tensor.device();
  TuningProblem problem;
  problem.key = forward.key;
  problem.program = forward.program();
  problem.device = device;
  // The first says what is wrong with what was asked for where something is.
  for (const FlashAttentionTiles &tiles : forward.candidates())
    if (problem.configs.empty() ||
        flashAttentionDemand(forward.kind, tiles).isFeasible())
      problem.configs.push_back(tuningConfigOf(tiles));
  AttentionOperand o = q;
  Tensor lse;
  bool hasOutput = false;
  problem.build = [&](const TuningConfig &config) {
    const Kernel kernel = forward.compile(flashAttentionTilesOf(config));
    return [&, kernel] {
      // Here, and not where kernels are compiled: on the thread, and so in the
      // stream, that launches.
      if (!hasOutput) {
        o.tensor = Tensor::empty(q.tensor.shape(), forward.outputType, device);
        if (forward.hasLse)
          lse = Tensor::empty({q.batch, q.heads, q.rows},
                              attentionRealType(q.tensor.dtype()), device);
        hasOutput = true;
      }
      forward.launch(kernel, o, lse);
    };
  };
  return autotune(problem);
}

FlashAttentionTiles
kernels::tunedAttentionTiles(const AttentionForward &forward) {
  // The autotuner would find its result as well, with more to read and hash.
  static LookupTable<std::string, FlashAttentionTiles> table;
  const std::string key = forward.operands.q.tensor.device().toString() + " " +
                          forward.key + ": " +
                          tuningConfigOf(forward.asked).toString();
  return table.get(
      key, [&] { return flashAttentionTilesOf(tuneAttention(forward).best); });
}
