//===- Fragments.cpp - Layouts of the tensor cores ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fragments of mma.sync and wgmma as the PTX ISA draws them, repeated over
// a tile.
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Layout/DistributedLayout.h"

#include <cassert>

using namespace flashtile::gpu;

static int64_t divideCeil(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

/// Elements of one 32-bit register.
static int64_t packedElements(unsigned elementBits) {
  assert((elementBits == 8 || elementBits == 16 || elementBits == 32) &&
         "no such operand fragment");
  return 32 / elementBits;
}

DistributedLayout flashtile::gpu::mmaAccumulator(int64_t m, int64_t n,
                                                 int64_t warpsM,
                                                 int64_t warpsN) {
  int64_t rowTiles = divideCeil(m, 16 * warpsM);
  int64_t columnTiles = divideCeil(n, 8 * warpsN);
  return {
      {m, n},
      {{2, {0, 1}}, {2, {8, 0}}, {columnTiles, {0, 8}}, {rowTiles, {16, 0}}},
      {{4, {0, 2}}, {8, {1, 0}}},
      {{warpsM, {16 * rowTiles, 0}}, {warpsN, {0, 8 * columnTiles}}}};
}

DistributedLayout flashtile::gpu::mmaOperandA(int64_t m, int64_t k,
                                              unsigned elementBits,
                                              int64_t warpsM, int64_t warpsN) {
  int64_t packed = packedElements(elementBits);
  int64_t rowTiles = divideCeil(m, 16 * warpsM);
  int64_t steps = divideCeil(k, 8 * packed);
  return {{m, k},
          {{packed, {0, 1}},
           {2, {8, 0}},
           {2, {0, 4 * packed}},
           {steps, {0, 8 * packed}},
           {rowTiles, {16, 0}}},
          {{4, {0, packed}}, {8, {1, 0}}},
          {{warpsM, {16 * rowTiles, 0}}, {warpsN, {0, 0}}}};
}

DistributedLayout flashtile::gpu::mmaOperandB(int64_t k, int64_t n,
                                              unsigned elementBits,
                                              int64_t warpsM, int64_t warpsN) {
  int64_t packed = packedElements(elementBits);
  int64_t columnTiles = divideCeil(n, 8 * warpsN);
  int64_t steps = divideCeil(k, 8 * packed);
  return {{k, n},
          {{packed, {1, 0}},
           {2, {4 * packed, 0}},
           {steps, {8 * packed, 0}},
           {columnTiles, {0, 8}}},
          {{4, {packed, 0}}, {8, {0, 1}}},
          {{warpsM, {0, 0}}, {warpsN, {0, 8 * columnTiles}}}};
}

/// Digits of the warps that hold an accumulator.
static DigitList wgmmaWarps(int64_t rowTiles, int64_t n, int64_t warpgroups,
                            int64_t columnGroups) {
  DigitList warps = {{4, {16, 0}},
                     {warpgroups / columnGroups, {64 * rowTiles, 0}}};
  if (columnGroups > 1)
    warps.push_back({columnGroups, {0, n / columnGroups}});
  return warps;
}

DistributedLayout flashtile::gpu::wgmmaAccumulator(int64_t m, int64_t n,
                                                   int64_t warpgroups,
                                                   int64_t columnGroups) {
  int64_t rowTiles = divideCeil(m, 64 * warpgroups / columnGroups);
  return {{m, n},
          {{2, {0, 1}},
           {2, {8, 0}},
           {divideCeil(n, 8 * columnGroups), {0, 8}},
           {rowTiles, {64, 0}}},
          {{4, {0, 2}}, {8, {1, 0}}},
          wgmmaWarps(rowTiles, n, warpgroups, columnGroups)};
}

DistributedLayout flashtile::gpu::wgmmaAccumulatorRuns(int64_t m, int64_t n,
                                                       int64_t warpgroups,
                                                       int64_t columnGroups) {
  int64_t rowTiles = divideCeil(m, 64 * warpgroups / columnGroups);
  return {{m, n},
          {{4, {0, 1}},
           {2, {8, 0}},
           {divideCeil(n, 16 * columnGroups), {0, 16}},
           {rowTiles, {64, 0}}},
          {{2, {0, 8}}, {2, {0, 4}}, {8, {1, 0}}},
          wgmmaWarps(rowTiles, n, warpgroups, columnGroups)};
}

DistributedLayout flashtile::gpu::wgmmaOperandA(int64_t m, int64_t k,
                                                unsigned elementBits,
                                                int64_t warpgroups) {
  int64_t packed = packedElements(elementBits);
  int64_t rowTiles = divideCeil(m, 64 * warpgroups);
  return {{m, k},
          {{packed, {0, 1}},
           {2, {8, 0}},
           {2, {0, 4 * packed}},
           {divideCeil(k, 8 * packed), {0, 8 * packed}},
           {rowTiles, {64, 0}}},
          {{4, {0, packed}}, {8, {1, 0}}},
          {{4, {16, 0}}, {warpgroups, {64 * rowTiles, 0}}}};
}
