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

/// For 16-bit types; the first row that fits counts. On sm_90a, warpgroups of
/// 64 rows share the keys; what limits blockN are registers (scores and output
/// are both held by the consumers) and, for d = 256, shared memory. Masked
/// tiles need more registers, so that causal kernels have shorter ones.
static const Row defaults[] = {
    {DeviceClass::Cpu, 256, {}, {64, 64, 4, 2}},

    {DeviceClass::Sm80, 64, {}, {128, 64, 4, 2}},
    {DeviceClass::Sm80, 120, false, {64, 64, 4, 2}},
    {DeviceClass::Sm80, 128, false, {128, 64, 4, 2}},
    {DeviceClass::Sm80, 128, true, {128, 64, 8, 2}},
    {DeviceClass::Sm80, 160, false, {64, 64, 4, 2}},
    {DeviceClass::Sm80, 144, true, {64, 64, 4, 2}},
    {DeviceClass::Sm80, 160, true, {64, 48, 4, 2}},
    {DeviceClass::Sm80, 256, {}, {64, 64, 8, 2}},

    {DeviceClass::Sm90a, 32, false, {192, 112, 12, 2}},
    {DeviceClass::Sm90a, 72, false, {192, 128, 12, 2}},
    {DeviceClass::Sm90a, 88, false, {192, 112, 12, 2}},
    {DeviceClass::Sm90a, 88, true, {192, 96, 12, 2}},
    {DeviceClass::Sm90a, 128, {}, {128, 128, 8, 2}},
    {DeviceClass::Sm90a, 192, false, {128, 112, 8, 2}},
    {DeviceClass::Sm90a, 176, true, {128, 80, 8, 2}},
    {DeviceClass::Sm90a, 192, true, {128, 96, 8, 2}},
    {DeviceClass::Sm90a, 208, true, {128, 80, 8, 2}},
    {DeviceClass::Sm90a, 256, false, {128, 80, 8, 2}},
    {DeviceClass::Sm90a, 256, true, {128, 64, 8, 2}},
};

/// f32 takes three products of tf32 and twice the registers for operands.
static FlashAttentionTiles tilesOfF32(const FlashAttentionClass &kind) {
  if (kind.device == DeviceClass::Cpu)
    return {64, 64, 4, 2};
  if (kind.headDim <= 56 && kind.causal)
    return {64, 48, 8, 2};
  if (kind.headDim <= 32 ||
      (kind.headDim <= 64 && kind.device == DeviceClass::Sm90a))
    return {64, 32, 4, 2};
  if (kind.headDim <= 64)
    return {128, 32, 8, 2};
  if (kind.headDim <= 128)
    return {32, 32, 8, 2};
  return {16, 64, 8, 2};
}

/// fp8 is widened in registers, and more of it is there where rows are no
/// multiple of 32.
static FlashAttentionTiles tilesOfFp8(const FlashAttentionClass &kind) {
  constexpr int64_t kShort = 32, kLong = 160, kStep = 32;
  const bool isEasy = kind.headDim <= kShort ||
                      (kind.headDim % kStep == 0 && kind.headDim <= kLong);
  if (isEasy || kind.device == DeviceClass::Cpu)
    return {64, 64, 4, 2};
  return {64, kind.headDim <= kLong ? 64 : 32, 8, 2};
}

static bool is16Bit(DType dtype) {
  return dtype == DType::BF16 || dtype == DType::F16;
}

FlashAttentionTiles
flashtile::defaultFlashAttentionTiles(const FlashAttentionClass &kind) {
  if (kind.dtype == DType::F32)
    return tilesOfF32(kind);
  if (!is16Bit(kind.dtype))
    return tilesOfFp8(kind);
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
  if (kind.device == DeviceClass::Sm90a && is16Bit(kind.dtype)) {
    // A warpgroup for each 64 rows; three have too few registers for long rows.
    constexpr int64_t longRow = 64;
    for (int64_t groups : {1, 2, 3})
      for (int64_t blockN : {64, 96, 128, 176})
        if (groups < 3 || kind.headDim <= longRow)
          all.push_back({64 * groups, blockN, 4 * groups, 2});
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
