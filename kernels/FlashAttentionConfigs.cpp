//===- FlashAttentionConfigs.cpp - Good tiles for flash attention ---------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionConfigs.h"

#include "runtime/cuda/CudaDevice.h"

#include <algorithm>
#include <optional>

using namespace flashtile;

TuningConfig flashtile::tuningConfigOf(const FlashAttentionTiles &tiles,
                                       const std::string &prefix) {
  TuningConfig config;
  config.set(prefix + "block_m", tiles.blockM);
  config.set(prefix + "block_n", tiles.blockN);
  config.set(prefix + "num_warps", tiles.numWarps);
  config.set(prefix + "num_stages", tiles.numStages);
  return config;
}

FlashAttentionTiles
flashtile::flashAttentionTilesOf(const TuningConfig &config) {
  return {config.at("block_m"), config.at("block_n"), config.at("num_warps"),
          config.at("num_stages")};
}

void flashtile::completeTiles(FlashAttentionTiles &tiles,
                              const FlashAttentionTiles &asked) {
  for (auto member :
       {&FlashAttentionTiles::blockM, &FlashAttentionTiles::blockN,
        &FlashAttentionTiles::numWarps, &FlashAttentionTiles::numStages})
    if (asked.*member)
      tiles.*member = asked.*member;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

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
    {DeviceClass::Sm80, 120, {}, {64, 64, 4, 2}},
    {DeviceClass::Sm80, 128, {}, {128, 64, 4, 2}},
    {DeviceClass::Sm80, 160, false, {64, 64, 4, 2}},
    {DeviceClass::Sm80, 144, true, {64, 64, 4, 2}},
    {DeviceClass::Sm80, 152, true, {64, 48, 4, 2}},
    {DeviceClass::Sm80, 160, true, {64, 64, 4, 2}},
    {DeviceClass::Sm80, 240, {}, {64, 64, 8, 2}},
    {DeviceClass::Sm80, 256, {}, {64, 48, 8, 2}},

    {DeviceClass::Sm90a, 40, false, {192, 112, 12, 2}},
    {DeviceClass::Sm90a, 72, false, {192, 128, 12, 2}},
    {DeviceClass::Sm90a, 88, false, {192, 112, 12, 2}},
    {DeviceClass::Sm90a, 64, true, {192, 96, 12, 2}},
    {DeviceClass::Sm90a, 88, true, {192, 80, 12, 2}},
    {DeviceClass::Sm90a, 104, true, {128, 128, 8, 2}},
    {DeviceClass::Sm90a, 112, true, {192, 64, 12, 2}},
    {DeviceClass::Sm90a, 128, {}, {128, 128, 8, 2}},
    {DeviceClass::Sm90a, 152, false, {128, 112, 8, 2}},
    {DeviceClass::Sm90a, 160, false, {128, 96, 8, 2}},
    {DeviceClass::Sm90a, 192, false, {128, 112, 8, 2}},
    {DeviceClass::Sm90a, 176, true, {128, 80, 8, 2}},
    {DeviceClass::Sm90a, 192, true, {128, 96, 8, 2}},
    {DeviceClass::Sm90a, 224, true, {128, 80, 8, 2}},
    {DeviceClass::Sm90a, 256, false, {128, 80, 8, 2}},
    {DeviceClass::Sm90a, 256, true, {128, 64, 8, 2}},
};

/// f32 takes three products of tf32 and twice the registers for operands. What
/// ptxas spills where it takes 128 registers of a thread, for a second block of
/// 256 threads, differs from one head dimension to the next.
static const Row f32Defaults[] = {
    {DeviceClass::Cpu, 256, {}, {64, 64, 4, 2}},

    {DeviceClass::Sm80, 32, false, {64, 32, 4, 2}},
    {DeviceClass::Sm80, 64, false, {128, 32, 8, 2}},
    {DeviceClass::Sm80, 128, false, {32, 32, 8, 2}},
    {DeviceClass::Sm80, 160, false, {16, 64, 8, 2}},
    {DeviceClass::Sm80, 168, false, {16, 48, 8, 2}},
    {DeviceClass::Sm80, 32, true, {64, 48, 8, 2}},
    {DeviceClass::Sm80, 48, true, {64, 32, 8, 2}},
    {DeviceClass::Sm80, 56, true, {64, 32, 4, 2}},
    {DeviceClass::Sm80, 64, true, {128, 32, 8, 2}},
    {DeviceClass::Sm80, 96, true, {32, 32, 8, 2}},
    {DeviceClass::Sm80, 128, true, {64, 32, 8, 2}},
    {DeviceClass::Sm80, 160, true, {16, 64, 8, 2}},
    {DeviceClass::Sm80, 168, true, {16, 48, 8, 2}},
    {DeviceClass::Sm80, 248, {}, {32, 32, 8, 2}},
    {DeviceClass::Sm80, 256, {}, {16, 32, 8, 2}},

    {DeviceClass::Sm90a, 64, false, {64, 32, 4, 2}},
    {DeviceClass::Sm90a, 128, false, {32, 32, 8, 2}},
    {DeviceClass::Sm90a, 160, false, {16, 64, 8, 2}},
    {DeviceClass::Sm90a, 168, false, {16, 48, 8, 2}},
    {DeviceClass::Sm90a, 32, true, {64, 48, 8, 2}},
    {DeviceClass::Sm90a, 48, true, {64, 32, 8, 2}},
    {DeviceClass::Sm90a, 64, true, {64, 32, 4, 2}},
    {DeviceClass::Sm90a, 128, true, {64, 32, 8, 2}},
    {DeviceClass::Sm90a, 160, true, {16, 64, 8, 2}},
    {DeviceClass::Sm90a, 256, {}, {32, 32, 8, 2}},
};

template <size_t count>
static FlashAttentionTiles firstThatFits(const Row (&rows)[count],
                                         const FlashAttentionClass &kind) {
  for (const Row &row : rows)
    if (row.device == kind.device && kind.headDim <= row.maxHeadDim &&
        row.causal.value_or(kind.causal) == kind.causal)
      return row.tiles;
  return {};
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

static FlashAttentionTiles tilesOfTable(const FlashAttentionClass &kind) {
  if (kind.dtype == DType::F32)
    return firstThatFits(f32Defaults, kind);
  if (!is16Bit(kind.dtype))
    return tilesOfFp8(kind);
  // Short sequences, on an H200 with n = 1024: what fewer rows leave empty or
  // masked costs less (D = 64 full 447 TFLOP/s instead of 413 with 192 x 128,
  // causal 315 instead of 268 with 192 x 96), and 1024 keys fill 16 tiles of 64
  // but not 13 of 80 (D = 256: 646 instead of 625).
  constexpr int64_t kShort = 1024;
  if (kind.device == DeviceClass::Sm90a && kind.queries > 0 &&
      kind.queries <= kShort) {
    if (kind.headDim == 64)
      return {128, 128, 8, 2};
    if (kind.headDim == 256)
      return {128, 64, 8, 2};
  }
  return firstThatFits(defaults, kind);
}

//===----------------------------------------------------------------------===//
// By the model
//===----------------------------------------------------------------------===//

FlashAttentionClass
flashtile::flashAttentionClassOf(Device device, DType dtype, int64_t headDim,
                                 bool causal, int64_t queries, int64_t keys,
                                 int64_t heads) {
  FlashAttentionClass kind{deviceClassOf(device), dtype, headDim, causal};
  if (device.isCuda()) {
    const CudaDeviceProperties &gpu = CudaDevice::get(device).properties();
    kind.sharedBytes = gpu.sharedBytesPerBlockOptIn;
    kind.multiprocessors = gpu.multiprocessors;
  }
  kind.queries = sizeClass(queries);
  kind.keys = sizeClass(keys);
  kind.heads = sizeClass(heads);
  return kind;
}

TileLimits flashtile::flashAttentionLimits(const FlashAttentionClass &kind) {
  TileLimits limits = TileLimits::of(kind.device);
  if (kind.sharedBytes)
    limits.sharedBytes = kind.sharedBytes;
  return limits;
}

TileShape flashtile::flashAttentionShape(const FlashAttentionClass &kind,
                                         const FlashAttentionTiles &tiles,
                                         TileWork work) {
  const bool ownsKeys =
      work == TileWork::KeyGradients || work == TileWork::KeyGradientsAndDq;
  TileShape shape;
  shape.work = work;
  shape.dtype = kind.dtype;
  shape.rows = ownsKeys ? tiles.blockN : tiles.blockM;
  shape.columns = ownsKeys ? tiles.blockM : tiles.blockN;
  shape.depth = kind.headDim;
  shape.numWarps = tiles.numWarps;
  shape.numStages = tiles.numStages;
  return shape;
}

TileDemand flashtile::flashAttentionDemand(const FlashAttentionClass &kind,
                                           const FlashAttentionTiles &tiles,
                                           TileWork work) {
  return tileDemand(flashAttentionLimits(kind),
                    flashAttentionShape(kind, tiles, work));
}

FlashAttentionTiles
flashtile::defaultFlashAttentionTiles(const FlashAttentionClass &kind) {
  FlashAttentionTiles tiles = tilesOfTable(kind);
  constexpr int64_t kStep = 16;
  for (;;) {
    const TileDemand demand = flashAttentionDemand(kind, tiles);
    if (demand.sharedBytes <= demand.sharedLimit || tiles.blockN <= kStep)
      return tiles;
    tiles.blockN -= kStep;
  }
}

/// Tiles that the instructions of a device can have.
static std::vector<TileShape> spaceOf(const FlashAttentionClass &kind) {
  struct Rows {
    int64_t rows, numWarps;
  };
  const bool isHopper =
      kind.device == DeviceClass::Sm90a && is16Bit(kind.dtype);
  const std::vector<Rows> all =
      isHopper ? std::vector<Rows>{{64, 4}, {128, 8}, {192, 12}}
               : std::vector<Rows>{{64, 4}, {128, 4}, {128, 8}};
  const int64_t mostColumns = isHopper ? 176 : 128;
  std::vector<TileShape> space;
  for (const Rows &each : all)
    for (int64_t columns = 16; columns <= mostColumns; columns += 16)
      space.push_back(flashAttentionShape(
          kind, {each.rows, columns, each.numWarps, 2}, TileWork::Attention));
  return space;
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
  TileProblem problem;
  problem.rows = kind.queries;
  problem.columns = kind.keys;
  problem.batch = kind.heads;
  problem.causal = kind.causal;
  problem.multiprocessors = kind.multiprocessors;
  // Few enough for tuning to take seconds.
  constexpr size_t kMost = 10, kMostOfRows = 4, kWithMoreStages = 2;
  for (const TileShape &shape :
       bestShapes(flashAttentionLimits(kind), spaceOf(kind), problem, kMost,
                  kMostOfRows))
    all.push_back({shape.rows, shape.columns, shape.numWarps, shape.numStages});
  // More buffers make little difference: only for the first ones.
  for (size_t i = 0; i < std::min(all.size(), kWithMoreStages); ++i)
    for (int64_t numStages : {3, 4}) {
      FlashAttentionTiles tiles = all[i];
      tiles.numStages = numStages;
      const TileDemand demand = flashAttentionDemand(kind, tiles);
      if (demand.isFeasible() && demand.numStages == numStages)
        all.push_back(tiles);
    }
  return all;
}
