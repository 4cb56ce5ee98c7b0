//===- FlashAttentionConfigs.h - Good tiles for flash attention -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What flashAttention runs where its caller chooses nothing, and what it tries
// where it is asked to tune. The tables come from measurements
// (docs/performance.md); what tuning tries, from the model of
// TileFeasibility.h, to which the tables are held as well.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_FLASHATTENTIONCONFIGS_H
#define FLASHTILE_KERNELS_FLASHATTENTIONCONFIGS_H

#include "kernels/TileFeasibility.h"
#include "runtime/DType.h"
#include "runtime/TuningConfig.h"

#include <cstdint>
#include <string>
#include <vector>

namespace flashtile {

/// What is open once the problem is known. On the cpu, only the tile counts.
struct FlashAttentionTiles {
  int64_t blockM = 64; ///< rows of a query tile
  int64_t blockN = 64; ///< rows of a key tile
  int64_t numWarps = 4;
  int64_t numStages = 2;
};

/// block_m, block_n, num_warps and num_stages, each with the prefix.
TuningConfig tuningConfigOf(const FlashAttentionTiles &tiles,
                            const std::string &prefix = {});
/// The inverse, without a prefix.
FlashAttentionTiles flashAttentionTilesOf(const TuningConfig &config);

/// Replaces what `asked` names: all that is not 0.
void completeTiles(FlashAttentionTiles &tiles,
                   const FlashAttentionTiles &asked);

/// What the choice depends on.
struct FlashAttentionClass {
  DeviceClass device = DeviceClass::Cpu;
  DType dtype = DType::BF16;
  int64_t headDim = 64;
  bool causal = false;

  /// Bytes of shared memory of a block, where that is known; otherwise those of
  /// the GPU that the class is named after.
  int64_t sharedBytes = 0;
  /// For the order in which tuning tries tiles: lengths, heads of all batches,
  /// and what they are shared among.
  int64_t queries = 4096, keys = 4096, heads = 64, multiprocessors = 132;
};

/// With sizes by their powers of two, so that problems that share what tuning
/// found have one class.
FlashAttentionClass flashAttentionClassOf(Device device, DType dtype,
                                          int64_t headDim, bool causal,
                                          int64_t queries, int64_t keys,
                                          int64_t heads);

/// What the model knows tiles by. Rows are what stays: keys, in kernels whose
/// programs own them.
TileLimits flashAttentionLimits(const FlashAttentionClass &kind);
TileShape flashAttentionShape(const FlashAttentionClass &kind,
                              const FlashAttentionTiles &tiles, TileWork work);

/// What tiles take of registers and shared memory.
TileDemand flashAttentionDemand(const FlashAttentionClass &kind,
                                const FlashAttentionTiles &tiles,
                                TileWork work = TileWork::Attention);

/// From the table, with fewer keys where a device has less shared memory than
/// the one that the table is for.
FlashAttentionTiles defaultFlashAttentionTiles(const FlashAttentionClass &kind);

/// What tuning tries: the default, and then the feasible tiles that the model
/// thinks best of. On sm_90a 64 to 192 rows, keys in steps of 16 up to 176, two
/// to four buffers.
std::vector<FlashAttentionTiles>
flashAttentionCandidates(const FlashAttentionClass &kind);

} // namespace flashtile

#endif // FLASHTILE_KERNELS_FLASHATTENTIONCONFIGS_H
