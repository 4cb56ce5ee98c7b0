//===- MatmulConfigs.cpp - Good tiles for products of matrices ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/MatmulConfigs.h"

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
  if (device == DeviceClass::Sm80)
    return {128, 64, 32, 4, 2};
  // Warpgroups multiply 16-bit types: wide tiles ask least of the L2 cache.
  // Sums fill the registers, and the longer functions need some.
  const bool isLong = activation == Activation::Gelu ||
                      (hasBias && activation != Activation::None &&
                       activation != Activation::Relu);
  if (elementSize(dtype) == 2)
    return {128, isLong ? 192 : 256, 64, 8, 3};
  return {128, 128, 64, 8, 2};
}

std::vector<MatmulTiles> flashtile::matmulCandidates(DeviceClass device,
                                                     DType dtype) {
  std::vector<MatmulTiles> all = {defaultMatmulTiles(device, dtype)};
  if (device == DeviceClass::Cpu) {
    for (const MatmulTiles &tiles :
         {MatmulTiles{64, 64, 64}, MatmulTiles{64, 64, 128},
          MatmulTiles{64, 128, 64}, MatmulTiles{64, 256, 64},
          MatmulTiles{128, 128, 64}, MatmulTiles{128, 128, 128}})
      all.push_back(tiles);
    return all;
  }
  if (!hasTensorCores(dtype)) {
    for (const MatmulTiles &tiles :
         {MatmulTiles{32, 32, 32}, MatmulTiles{64, 32, 16},
          MatmulTiles{64, 64, 16}, MatmulTiles{128, 64, 32, 8},
          MatmulTiles{128, 128, 32, 8}})
      all.push_back(tiles);
    return all;
  }
  struct Tile {
    int64_t blockM, blockN, numWarps;
  };
  for (const Tile tile :
       {Tile{64, 64, 4}, Tile{128, 64, 4}, Tile{64, 128, 4}, Tile{128, 128, 4},
        Tile{128, 128, 8}, Tile{128, 256, 8}, Tile{256, 128, 8}})
    for (int64_t blockK : {32, 64})
      for (int64_t numStages : {2, 3, 4})
        all.push_back(
            {tile.blockM, tile.blockN, blockK, tile.numWarps, numStages});
  return all;
}
