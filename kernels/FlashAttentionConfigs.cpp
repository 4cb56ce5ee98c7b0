//===- FlashAttentionConfigs.cpp - Good tiles for flash attention ---------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionConfigs.h"

#include <optional>

using namespace flashtile;

namespace {
struct Row {
  DeviceClass device;
  int64_t maxHeadDim;
  std::optional<bool> causal; ///< none: either
  FlashAttentionTiles tiles;  ///< blockM, blockN, numWarps, numStages
};
} // namespace

/// For 16-bit types and fp8; the first row that fits counts.
static const Row defaults[] = {
    {DeviceClass::Cpu, 256, {}, {64, 64, 4, 2}},

    {DeviceClass::Sm80, 256, {}, {64, 64, 4, 2}},

    {DeviceClass::Sm90a, 64, {}, {64, 64, 4, 2}},
    {DeviceClass::Sm90a, 128, {}, {64, 64, 4, 2}},
    {DeviceClass::Sm90a, 256, {}, {64, 64, 4, 2}},
};

FlashAttentionTiles
flashtile::defaultFlashAttentionTiles(const FlashAttentionClass &kind) {
  // f32 takes three products of tf32 and twice the registers for operands.
  if (kind.dtype == DType::F32)
    return {64, 64, 4, 2};
  for (const Row &row : defaults)
    if (row.device == kind.device && kind.headDim <= row.maxHeadDim &&
        row.causal.value_or(kind.causal) == kind.causal)
      return row.tiles;
  return {};
}

std::vector<FlashAttentionTiles>
flashtile::flashAttentionCandidates(const FlashAttentionClass &kind) {
  std::vector<FlashAttentionTiles> all = {defaultFlashAttentionTiles(kind)};
  if (kind.device == DeviceClass::Cpu) {
    for (int64_t blockM : {32, 64, 128})
      for (int64_t blockN : {32, 64, 128})
        all.push_back({blockM, blockN, 4, 2});
    return all;
  }
  struct Rows {
    int64_t blockM, numWarps;
  };
  for (const Rows rows : {Rows{64, 4}, Rows{128, 4}, Rows{128, 8}})
    for (int64_t blockN : {32, 64, 128})
      for (int64_t numStages : {2, 3})
        all.push_back({rows.blockM, blockN, rows.numWarps, numStages});
  return all;
}
