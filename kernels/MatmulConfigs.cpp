//===- MatmulConfigs.cpp - Good tiles for products of matrices ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/MatmulConfigs.h"

#include <algorithm>

using namespace flashtile;

/// Whether tensor cores multiply this type as it is: f32 takes three products,
/// f64 multiply-adds.
static bool hasTensorCores(DType dtype) { return elementSize(dtype) <= 2; }

MatmulTiles flashtile::defaultMatmulTiles(DeviceClass device, DType dtype,
                                          Activation activation, bool hasBias) {
  if (device == DeviceClass::Cpu)
    return {128, 64, 64, 4, 2};
  if (!hasTensorCores(dtype))
    return dtype == DType::F64 ? MatmulTiles{32, 32, 16, 4, 2}
                               : MatmulTiles{64, 64, 32, 4, 2};
  // Sums fill the registers, and the longer functions need some.
  const bool isLong = activation == Activation::Gelu ||
                      (hasBias && activation != Activation::None &&
                       activation != Activation::Relu);
  if (device == DeviceClass::Sm80) {
    if (elementSize(dtype) == 1)
      return {128, 64, 32, 4, 2};
    // Four warps of 64 x 64, and two blocks on a multiprocessor.
    return {128, isLong ? 64 : 128, 32, 4, 3};
  }
  // Warpgroups multiply 16-bit types: wide tiles ask least of the L2 cache.
  if (elementSize(dtype) == 2)
    return {128, isLong ? 192 : 256, 64, 8, 4};
  return {128, 128, 64, 8, 2};
}

//===----------------------------------------------------------------------===//
// By the model
//===----------------------------------------------------------------------===//

static TileShape shapeOf(DType dtype, const MatmulTiles &tiles) {
  TileShape shape;
  shape.work = TileWork::Product;
  shape.dtype = dtype;
  shape.rows = tiles.blockM;
  shape.columns = tiles.blockN;
  shape.depth = tiles.blockK;
  shape.numWarps = tiles.numWarps;
  shape.numStages = tiles.numStages;
  return shape;
}

TileDemand flashtile::matmulDemand(const TileLimits &limits, DType dtype,
                                   const MatmulTiles &tiles) {
  return tileDemand(limits, shapeOf(dtype, tiles));
}

TileDemand flashtile::matmulDemand(DeviceClass device, DType dtype,
                                   const MatmulTiles &tiles) {
  return matmulDemand(TileLimits::of(device), dtype, tiles);
}

static const std::vector<MatmulTiles> candidatesOfCpu = {
    {64, 64, 64},  {64, 64, 128},  {64, 128, 64},
    {64, 256, 64}, {128, 128, 64}, {128, 128, 128}};

/// f32 and f64, where the operands of a tile take most registers.
static const std::vector<MatmulTiles> candidatesOfWide = {{32, 32, 32, 4, 2},
                                                          {64, 32, 16, 4, 2},
                                                          {64, 64, 16, 4, 2},
                                                          {128, 64, 32, 8, 2},
                                                          {128, 128, 32, 8, 2}};

/// As many buffers as there is room for beside the result, which a persistent
/// block stores while the next operands come.
static int64_t stagesFor(const TileLimits &limits, DType dtype,
                         MatmulTiles tiles) {
  constexpr int64_t kFewest = 2, kMost = 4;
  TileLimits free = limits;
  free.sharedBytes -=
      tiles.blockM * tiles.blockN * static_cast<int64_t>(elementSize(dtype));
  tiles.numStages = kMost;
  while (tiles.numStages > kFewest &&
         !matmulDemand(free, dtype, tiles).isFeasible())
    --tiles.numStages;
  return tiles.numStages;
}

/// Tiles that the instructions of a device can have.
static std::vector<TileShape> spaceOf(const TileLimits &limits, DType dtype) {
  struct Rows {
    int64_t rows, numWarps;
  };
  const bool isHopper =
      limits.device == DeviceClass::Sm90a && elementSize(dtype) == 2;
  const std::vector<Rows> all =
      isHopper
          ? std::vector<Rows>{{64, 4}, {128, 4}, {128, 8}, {192, 12}, {256, 8}}
          : std::vector<Rows>{{64, 4}, {128, 4}, {128, 8}, {256, 8}};
  std::vector<TileShape> space;
  for (const Rows &each : all)
    for (int64_t columns = 32; columns <= 256; columns += isHopper ? 16 : 32)
      for (const int64_t depth : {32, 64, 128}) {
        MatmulTiles tiles = {each.rows, columns, depth, each.numWarps, 2};
        tiles.numStages = stagesFor(limits, dtype, tiles);
        space.push_back(shapeOf(dtype, tiles));
      }
  return space;
}

std::vector<MatmulTiles> flashtile::matmulCandidates(const TileLimits &limits,
                                                     DType dtype,
                                                     const MatmulSize &size) {
  std::vector<MatmulTiles> all = {defaultMatmulTiles(limits.device, dtype)};
  const auto add = [&](const std::vector<MatmulTiles> &more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  if (limits.device == DeviceClass::Cpu)
    return add(candidatesOfCpu);
  if (!hasTensorCores(dtype))
    return add(candidatesOfWide);
  TileProblem problem;
  problem.rows = size.m;
  problem.columns = size.n;
  problem.depth = size.k;
  problem.batch = size.batch;
  problem.multiprocessors = size.multiprocessors;
  // Few enough for tuning to take seconds.
  constexpr size_t kMost = 12, kMostOfRows = 4, kWithOtherStages = 2;
  for (const TileShape &shape :
       bestShapes(limits, spaceOf(limits, dtype), problem, kMost, kMostOfRows))
    all.push_back({shape.rows, shape.columns, shape.depth, shape.numWarps,
                   shape.numStages});
  for (size_t i = 1; i < std::min(all.size(), kWithOtherStages + 1); ++i)
    for (const int64_t more : {-1, 1}) {
      MatmulTiles tiles = all[i];
      tiles.numStages += more;
      const TileDemand demand = matmulDemand(limits, dtype, tiles);
      if (tiles.numStages >= 2 && demand.isFeasible() &&
          demand.numStages == tiles.numStages)
        all.push_back(tiles);
    }
  return all;
}
