//===- FlashAttentionBackwardConfigs.cpp - Good tiles for gradients -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionBackwardConfigs.h"

#include "kernels/EnumChecks.h"

#include <optional>
#include <utility>
#include <vector>

using namespace flashtile;

using Form = FlashAttentionBackwardForm;

std::string flashtile::toString(Form form) {
  switch (form) {
  case Form::Default:
    return "default";
  case Form::Fused:
    return "fused";
  case Form::FusedDeterministic:
    return "deterministic";
  case Form::Dense:
    return "dense";
  }
  return {};
}

namespace {
struct Row {
  DeviceClass device;
  int64_t maxHeadDim;
  std::optional<bool> causal;        ///< none: either
  std::optional<Form> form;          ///< none: either
  FlashAttentionBackwardTiles tiles; ///< blockM, blockN, numWarps, numStages
};
} // namespace

/// For 16-bit types; the first row that fits counts. On sm_90a, a warpgroup has
/// 64 keys and the sums of dk and dv for them in registers, which is what
/// limits the queries of a tile, and the head dimension: beyond 128 (dq
/// included) or 160, two warpgroups have the same 64 keys, and halves of the
/// columns and of the queries.
static constexpr Form fused = Form::Fused;
static const Row defaults[] = {
    {DeviceClass::Cpu, 256, {}, {}, {{64, 64, 4, 2}, {64, 64, 4, 2}}},

    {DeviceClass::Sm80, 56, {}, {}, {{64, 64, 8, 2}, {128, 64, 8, 2}}},
    {DeviceClass::Sm80, 64, {}, {}, {{64, 64, 4, 2}, {128, 64, 8, 2}}},
    {DeviceClass::Sm80, 192, {}, {}, {{64, 64, 8, 2}, {128, 64, 8, 2}}},
    {DeviceClass::Sm80, 200, {}, {}, {{32, 64, 8, 2}, {64, 64, 8, 2}}},
    {DeviceClass::Sm80, 216, {}, {}, {{32, 64, 8, 2}, {64, 48, 8, 2}}},
    {DeviceClass::Sm80, 256, {}, {}, {{32, 64, 8, 2}, {64, 64, 8, 2}}},

    {DeviceClass::Sm90a, 64, {}, fused, {{128, 128, 8, 2}, {128, 128, 8, 2}}},
    {DeviceClass::Sm90a, 64, {}, {}, {{64, 128, 8, 2}, {128, 128, 8, 2}}},
    {DeviceClass::Sm90a, 128, {}, {}, {{64, 128, 8, 2}, {128, 128, 8, 2}}},
    {DeviceClass::Sm90a, 160, {}, fused, {{64, 64, 8, 2}, {128, 48, 8, 2}}},
    {DeviceClass::Sm90a, 160, {}, {}, {{32, 128, 8, 2}, {128, 48, 8, 2}}},
    {DeviceClass::Sm90a, 192, {}, {}, {{64, 64, 8, 2}, {128, 64, 8, 2}}},
    {DeviceClass::Sm90a, 256, {}, {}, {{64, 64, 8, 2}, {128, 48, 8, 2}}},
};

/// f32 takes three products of tf32 and twice the registers for operands; f64
/// takes no tensor cores.
static FlashAttentionBackwardTiles
tilesOfWide(const FlashAttentionClass &kind) {
  if (kind.device == DeviceClass::Cpu)
    return {{64, 64, 4, 2}, {64, 64, 4, 2}};
  if (kind.dtype == DType::F64)
    return {{16, 16, 4, 1}, {16, 16, 4, 1}};
  if (kind.headDim <= 64)
    return {{32, 32, 4, 2}, {32, 32, 8, 2}};
  if (kind.headDim <= 128)
    return {{16, 32, 8, 2}, {32, 32, 8, 2}};
  return {{16, 16, 8, 2}, {16, 16, 8, 1}};
}

FlashAttentionBackwardTiles
flashtile::defaultFlashAttentionBackwardTiles(const FlashAttentionClass &kind,
                                              Form form) {
  kernels::checkOption(form);
  if (kind.dtype == DType::F32 || kind.dtype == DType::F64)
    return tilesOfWide(kind);
  for (const Row &row : defaults)
    if (row.device == kind.device && kind.headDim <= row.maxHeadDim &&
        row.causal.value_or(kind.causal) == kind.causal &&
        row.form.value_or(form) == form)
      return row.tiles;
  return {};
}

int64_t flashtile::flashAttentionBackwardWidth(const FlashAttentionClass &kind,
                                               const FlashAttentionTiles &keys,
                                               bool addsDq) {
  constexpr int64_t kOneGroup = 64, kNarrow = 64, kWide = 128, kWarps = 8;
  const int64_t d = kind.headDim;
  if (kind.device != DeviceClass::Sm90a || elementSize(kind.dtype) != 2 ||
      keys.numWarps != kWarps)
    return d;
  auto filledUp = [&](int64_t parts) {
    return (d + parts - 1) / parts * parts;
  };
  if (d > kWide && keys.blockN == kOneGroup)
    return filledUp(64);
  // Of dq, there are as few rows.
  const bool sharesDq = addsDq && keys.blockM == kOneGroup && d > kNarrow;
  return sharesDq && d < kWide ? filledUp(32) : d;
}

bool flashtile::flashAttentionBackwardCountsHeads(
    const FlashAttentionClass &kind) {
  constexpr int64_t kNarrow = 64;
  return kind.device == DeviceClass::Sm80 && kind.headDim > kNarrow;
}

FlashAttentionTiles
flashtile::flashAttentionBackwardRowTiles(const FlashAttentionClass &kind) {
  if (kind.device == DeviceClass::Cpu)
    return {64, 1, 4, 1};
  // What the warps hold in registers, several times, without spilling; the
  // smallest tile that products have is 16 rows.
  constexpr int64_t kElements = 2048, kWide = 128;
  int64_t rows = 64;
  while (rows > 16 && rows * kind.headDim > kElements)
    rows /= 2;
  // There ptxas takes 32 registers for 8 warps, and spills one.
  constexpr int64_t kSpills = 136;
  const bool isWide =
      kind.headDim > kWide &&
      (kind.device != DeviceClass::Sm90a || kind.headDim != kSpills);
  return {rows, 1, isWide ? 8 : 4, 1};
}

FlashAttentionTiles
flashtile::flashAttentionBackwardMendTiles(const FlashAttentionClass &kind,
                                           int64_t keysBlockN) {
  constexpr int64_t kWide = 128;
  const bool isCpu = kind.device == DeviceClass::Cpu;
  const bool isWide = kind.dtype == DType::F32 || kind.dtype == DType::F64;
  const int64_t rows = !isCpu && (isWide || kind.headDim > kWide) ? 16 : 32;
  const int64_t most = isCpu ? 64 : isWide ? 16 : 32;
  int64_t blockN = keysBlockN;
  while (blockN > most && blockN % 2 == 0)
    blockN /= 2;
  return {rows, blockN, 8, 1};
}

FlashAttentionTiles
flashtile::flashAttentionBackwardFinishTiles(const FlashAttentionClass &kind) {
  if (!kind.causal)
    return flashAttentionBackwardRowTiles(kind);
  const FlashAttentionTiles tiles = flashAttentionBackwardMendTiles(kind, 128);
  constexpr int64_t kNarrow = 128, kElements = 8192, kMost = 128;
  if (kind.device == DeviceClass::Cpu || elementSize(kind.dtype) != 2 ||
      kind.headDim > kNarrow)
    return tiles;
  // What they compute nearly never takes registers for two blocks; these are
  // to have as much of memory under way as it takes to keep it busy.
  int64_t rows = kMost;
  while (rows * kind.headDim > kElements)
    rows /= 2;
  return {rows, tiles.blockN, tiles.numWarps, tiles.numStages};
}

Form flashtile::defaultFlashAttentionBackwardForm(
    const FlashAttentionClass &kind) {
  // On the cpu, adding to memory with care costs what two products do, and on
  // sm_80 nothing was measured. On Hopper, between 128 and 160, the form with
  // dq multiplies a fifth of columns more, or two, that the other one has not.
  if (kind.device != DeviceClass::Sm90a)
    return Form::FusedDeterministic;
  const bool isFilledUp = kind.headDim > 128 && kind.headDim <= 160;
  return isFilledUp ? Form::FusedDeterministic : Form::Fused;
}

//===----------------------------------------------------------------------===//
// What tuning tries
//===----------------------------------------------------------------------===//

namespace {
/// Rows that stay, and warps.
struct Rows {
  int64_t rows, numWarps;
};
} // namespace

static std::vector<Rows> rowsToTry(const FlashAttentionClass &kind) {
  if (elementSize(kind.dtype) > 2)
    return {{16, 4}, {16, 8}, {32, 4}, {32, 8}, {64, 8}};
  if (kind.device == DeviceClass::Sm90a)
    return {{64, 4}, {64, 8}, {128, 8}, {192, 12}};
  return {{64, 4}, {64, 8}, {128, 8}};
}

/// blockM, blockN
static constexpr std::pair<int64_t, int64_t> tilesOfCpu[] = {
    {32, 32}, {32, 64}, {64, 32}, {64, 64}, {64, 128}, {128, 64}};

std::vector<FlashAttentionTiles>
flashtile::flashAttentionBackwardCandidates(const FlashAttentionClass &kind,
                                            TileWork work,
                                            const FlashAttentionTiles &first) {
  std::vector<FlashAttentionTiles> all = {first};
  if (kind.device == DeviceClass::Cpu) {
    for (const auto &[blockM, blockN] : tilesOfCpu)
      all.push_back({blockM, blockN, 4, 2});
    return all;
  }
  const bool ownsQueries = work == TileWork::QueryGradients;
  // The columns' tile has the rows of dq, which warps share by 16.
  const int64_t step = work == TileWork::KeyGradientsAndDq ? 32 : 16;
  std::vector<TileShape> space;
  for (const Rows &each : rowsToTry(kind))
    for (int64_t columns = step; columns <= 128; columns += step) {
      TileShape shape = flashAttentionShape(kind, first, work);
      shape.rows = each.rows;
      shape.columns = columns;
      shape.numWarps = each.numWarps;
      shape.numStages = 2;
      space.push_back(shape);
    }
  TileProblem problem;
  problem.rows = ownsQueries ? kind.queries : kind.keys;
  problem.columns = ownsQueries ? kind.keys : kind.queries;
  problem.batch = kind.heads;
  problem.causal = kind.causal;
  problem.multiprocessors = kind.multiprocessors;
  // Few enough for tuning to take seconds.
  constexpr size_t kMost = 9, kMostOfRows = 4;
  for (const TileShape &shape : bestShapes(flashAttentionLimits(kind), space,
                                           problem, kMost, kMostOfRows))
    all.push_back({ownsQueries ? shape.rows : shape.columns,
                   ownsQueries ? shape.columns : shape.rows, shape.numWarps,
                   shape.numStages});
  return all;
}
