//===- FlashAttentionBackwardConfigs.h - Good tiles for gradients ---------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What flashAttentionBackward runs where its caller chooses nothing, and what
// it tries where it is asked to tune.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_FLASHATTENTIONBACKWARDCONFIGS_H
#define FLASHTILE_KERNELS_FLASHATTENTIONBACKWARDCONFIGS_H

#include "kernels/FlashAttentionConfigs.h"

#include <string>

namespace flashtile {

/// How gradients of attention are computed.
enum class FlashAttentionBackwardForm {
  /// By the table: the fastest of the two fused ones for the device.
  Default,
  /// One kernel of five products. Programs that share a row of queries add
  /// their parts of dq to an f32 tensor, in any order: dq may differ in its
  /// last bits from run to run.
  Fused,
  /// A kernel for dk and dv and one for dq, seven products in all. The same
  /// bits at every run.
  FusedDeterministic,
  /// Matrices of scores in memory, one product after another: the definition,
  /// to judge the others by. Also the same bits at every run.
  Dense,
};

/// "default", "fused", "deterministic" or "dense".
std::string toString(FlashAttentionBackwardForm form);

/// In `keys`, programs own a tile of keys and go through the queries (dk and
/// dv, and dq in the form of five products); in `queries`, the other way round
/// (dq). Where query tiles are passed by, `blockM` is still their rows.
struct FlashAttentionBackwardTiles {
  FlashAttentionTiles keys;
  FlashAttentionTiles queries;

  /// Leaves everything to the library.
  static FlashAttentionBackwardTiles open() {
    return {{0, 0, 0, 0}, {0, 0, 0, 0}};
  }
};

/// From the table. `form` is one of the fused ones.
FlashAttentionBackwardTiles
defaultFlashAttentionBackwardTiles(const FlashAttentionClass &kind,
                                   FlashAttentionBackwardForm form);

/// Columns of the tiles of `keys`, and of dq_sum: the head dimension, or more
/// where two warpgroups share them, each in parts that products can read; those
/// of dq where that is computed, or all.
int64_t flashAttentionBackwardWidth(const FlashAttentionClass &kind,
                                    const FlashAttentionTiles &keys,
                                    bool addsDq);

/// Whether `keys` of grouped heads counts heads of all batches: on sm_80, but
/// for narrow heads, which spill nothing without.
bool flashAttentionBackwardCountsHeads(const FlashAttentionClass &kind);

/// What tuning tries for a kernel of the fused forms, by what its loop does:
/// `first`, and then the feasible tiles that the model thinks best of.
std::vector<FlashAttentionTiles>
flashAttentionBackwardCandidates(const FlashAttentionClass &kind, TileWork work,
                                 const FlashAttentionTiles &first);

/// Of the kernels before and after, which move memory and compute little:
/// blockM rows.
FlashAttentionTiles
flashAttentionBackwardRowTiles(const FlashAttentionClass &kind);

/// Of the kernels that look for hidden NaN and hardly ever have products to
/// form: few registers count, and nothing else. blockN divides `keysBlockN`.
FlashAttentionTiles
flashAttentionBackwardMendTiles(const FlashAttentionClass &kind,
                                int64_t keysBlockN);

/// Of `finish`, which moves memory and with a causal mask looks for NaN.
FlashAttentionTiles
flashAttentionBackwardFinishTiles(const FlashAttentionClass &kind);

/// The form that Default stands for.
FlashAttentionBackwardForm
defaultFlashAttentionBackwardForm(const FlashAttentionClass &kind);

} // namespace flashtile

#endif // FLASHTILE_KERNELS_FLASHATTENTIONBACKWARDCONFIGS_H
