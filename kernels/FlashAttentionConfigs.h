//===- FlashAttentionConfigs.h - Good tiles for flash attention -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What flashAttention runs where its caller chooses nothing, and what it tries
// where it is asked to tune. All numbers come from measurements
// (docs/performance.md).
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_FLASHATTENTIONCONFIGS_H
#define FLASHTILE_KERNELS_FLASHATTENTIONCONFIGS_H

#include "kernels/ProblemClass.h"
#include "runtime/DType.h"

#include <cstdint>
#include <vector>

namespace flashtile {

/// What is open once the problem is known. On the cpu, only the tile counts.
struct FlashAttentionTiles {
  int64_t blockM = 64; ///< rows of a query tile
  int64_t blockN = 64; ///< rows of a key tile
  int64_t numWarps = 4;
  int64_t numStages = 2;
};

/// What the choice depends on.
struct FlashAttentionClass {
  DeviceClass device = DeviceClass::Cpu;
  DType dtype = DType::BF16;
  int64_t headDim = 64;
  bool causal = false;
};

/// From the table.
FlashAttentionTiles defaultFlashAttentionTiles(const FlashAttentionClass &kind);

/// What tuning tries; the default is among them.
std::vector<FlashAttentionTiles>
flashAttentionCandidates(const FlashAttentionClass &kind);

} // namespace flashtile

#endif // FLASHTILE_KERNELS_FLASHATTENTIONCONFIGS_H
