//===- LayoutConstructorsTest.cpp - Blocked and fragments -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fragments are compared with the formulas of the PTX ISA, register by
// register.
//
//===----------------------------------------------------------------------===//

#include "LayoutTestSupport.h"

using namespace flashtile::gpu;

namespace {

TEST(Blocked, CoversAnyTileWithAnyNumberOfWarps) {
  const int64_t extents[] = {1, 2, 3, 7, 16, 33, 80, 100, 128};
  for (int64_t rows : extents) {
    for (int64_t columns : extents) {
      for (int64_t warps : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16}) {
        for (int64_t vector : {1, 4, 8}) {
          for (bool rowMajor : {true, false}) {
            llvm::SmallVector<unsigned> order = {rowMajor ? 1u : 0u,
                                                 rowMajor ? 0u : 1u};
            DistributedLayout layout =
                blocked({rows, columns}, vector, order, warps);
            ASSERT_FALSE(layout.verify()) << layout.str();
            EXPECT_EQ(layout.warpCount(), warps);
            EXPECT_FALSE(layout.hasOverlap()) << layout.str();
            // Never more than twice the registers that an even spread takes.
            int64_t even = (rows * columns + 32 * warps - 1) / (32 * warps);
            EXPECT_LE(layout.registersPerThread(), 2 * (even + vector))
                << layout.str();
          }
        }
      }
    }
  }
}

TEST(Blocked, CoalescesLanesAlongTheContiguousDimension) {
  DistributedLayout layout = blocked({64, 128}, 8, {1, 0}, 4);
  for (int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(layout.coordinates(i, 0, 0), (Coordinates{0, i}));
  for (int64_t lane = 0; lane < 16; ++lane)
    EXPECT_EQ(layout.coordinates(0, lane, 0), (Coordinates{0, 8 * lane}));
  EXPECT_EQ(layout.coordinates(0, 16, 0), (Coordinates{1, 0}));
  EXPECT_EQ(layout.coordinates(0, 0, 1), (Coordinates{2, 0}));
  EXPECT_EQ(layout.registersPerThread(), 64);
  EXPECT_EQ(blocked({128, 64}, 8, {0, 1}, 4),
            transpose(blocked({64, 128}, 8, {1, 0}, 4), {1, 0}));
}

TEST(Blocked, PutsOddFactorsIntoRegisters) {
  DistributedLayout layout = blocked({64, 80}, 1, {1, 0}, 4);
  EXPECT_FALSE(layout.isPadded());
  EXPECT_FALSE(layout.isReplicated());
  EXPECT_EQ(layout.registersPerThread(), 64 * 80 / 128);
  // Three warps along 96 rows need no padding.
  EXPECT_FALSE(blocked({96, 64}, 8, {1, 0}, 3).isPadded());
  EXPECT_FALSE(blocked({96, 64}, 8, {1, 0}, 6).isPadded());
}

TEST(Blocked, PadsAndReplicates) {
  DistributedLayout odd = blocked({7, 7}, 4, {1, 0}, 4);
  EXPECT_TRUE(odd.isPadded());
  EXPECT_EQ(odd.paddedShape(), (Coordinates{8, 8}));
  DistributedLayout small = blocked({4}, 1, {0}, 4);
  EXPECT_EQ(small.registersPerThread(), 1);
  EXPECT_TRUE(small.isReplicated());
  EXPECT_FALSE(small.isPadded());
  // A narrow odd row keeps rows of lanes together at little padding.
  DistributedLayout row = blocked({64, 100}, 4, {1, 0}, 4);
  EXPECT_TRUE(row.isPaddedAlong(1));
  EXPECT_LE(row.paddedShape()[1], 112);
  EXPECT_FALSE(blocked({}, 1, {}, 4).verify());
}

TEST(Fragments, MmaAccumulatorIsM16N8) {
  DistributedLayout layout = mmaAccumulator(16, 8, 1, 1);
  ASSERT_FALSE(layout.verify());
  EXPECT_EQ(layout.registersPerThread(), 4);
  forEachThreadRegister(layout, [&](int64_t r, int64_t lane, int64_t warp) {
    int64_t group = lane / 4, inGroup = lane % 4;
    EXPECT_EQ(layout.coordinates(r, lane, warp),
              (Coordinates{r < 2 ? group : group + 8, inGroup * 2 + (r & 1)}));
  });
}

TEST(Fragments, MmaAccumulatorRepeatsByWarp) {
  DistributedLayout layout = mmaAccumulator(96, 80, 3, 2);
  ASSERT_FALSE(layout.verify());
  EXPECT_FALSE(layout.isPadded());
  EXPECT_FALSE(layout.isReplicated());
  forEachThreadRegister(layout, [&](int64_t r, int64_t lane, int64_t warp) {
    int64_t inTile = r % 4, columnTile = r / 4 % 5, rowTile = r / 20;
    EXPECT_EQ(layout.coordinates(r, lane, warp),
              (Coordinates{
                  warp % 3 * 32 + rowTile * 16 + lane / 4 + 8 * (inTile / 2),
                  warp / 3 * 40 + columnTile * 8 + lane % 4 * 2 + inTile % 2}));
  });
  DistributedLayout padded = mmaAccumulator(40, 12, 1, 1);
  EXPECT_FALSE(padded.verify());
  EXPECT_EQ(padded.paddedShape(), (Coordinates{48, 16}));
}

/// Row and column of element i of the A fragment.
Coordinates operandA(unsigned bits, int64_t i, int64_t lane) {
  int64_t group = lane / 4, inGroup = lane % 4;
  switch (bits) {
  case 32: // m16n8k8, tf32
    return {i == 0 || i == 2 ? group : group + 8,
            i < 2 ? inGroup : inGroup + 4};
  case 16: // m16n8k16
    return {(i >= 0 && i < 2) || (i >= 4 && i < 6) ? group : group + 8,
            inGroup * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
  default: // m16n8k32, 8 bits
    return {(i >= 0 && i < 4) || (i >= 8 && i < 12) ? group : group + 8,
            inGroup * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
  }
}

/// Row (k) and column of element i of the B fragment.
Coordinates operandB(unsigned bits, int64_t i, int64_t lane) {
  int64_t group = lane / 4, inGroup = lane % 4;
  switch (bits) {
  case 32:
    return {i == 0 ? inGroup : inGroup + 4, group};
  case 16:
    return {inGroup * 2 + (i & 1) + (i >= 2 ? 8 : 0), group};
  default:
    return {inGroup * 4 + (i & 3) + (i >= 4 ? 16 : 0), group};
  }
}

TEST(Fragments, MmaOperandsFollowThePtxIsa) {
  for (unsigned bits : {8, 16, 32}) {
    int64_t k = 256 / bits;
    DistributedLayout a = mmaOperandA(16, k, bits, 1, 1);
    DistributedLayout b = mmaOperandB(k, 8, bits, 1, 1);
    ASSERT_FALSE(a.verify());
    ASSERT_FALSE(b.verify());
    EXPECT_EQ(a.registersPerThread(), 16 * k / 32);
    EXPECT_EQ(b.registersPerThread(), 8 * k / 32);
    forEachThreadRegister(a, [&](int64_t i, int64_t lane, int64_t warp) {
      EXPECT_EQ(a.coordinates(i, lane, warp), operandA(bits, i, lane)) << bits;
    });
    forEachThreadRegister(b, [&](int64_t i, int64_t lane, int64_t warp) {
      EXPECT_EQ(b.coordinates(i, lane, warp), operandB(bits, i, lane)) << bits;
    });
  }
}

TEST(Fragments, MmaOperandsRepeatAlongKThenOutward) {
  DistributedLayout a = mmaOperandA(96, 48, 16, 3, 2);
  ASSERT_FALSE(a.verify());
  forEachThreadRegister(a, [&](int64_t r, int64_t lane, int64_t warp) {
    Coordinates at = operandA(16, r % 8, lane);
    at[0] += r / 24 * 16 + warp % 3 * 32;
    at[1] += r / 8 % 3 * 16;
    EXPECT_EQ(a.coordinates(r, lane, warp), at);
  });
  DistributedLayout b = mmaOperandB(48, 80, 16, 3, 2);
  ASSERT_FALSE(b.verify());
  forEachThreadRegister(b, [&](int64_t r, int64_t lane, int64_t warp) {
    Coordinates at = operandB(16, r % 4, lane);
    at[0] += r / 4 % 3 * 16;
    at[1] += r / 12 * 8 + warp / 3 * 40;
    EXPECT_EQ(b.coordinates(r, lane, warp), at);
  });
}

TEST(Fragments, WgmmaAccumulatorForEveryMultipleOfEight) {
  for (int64_t n = 8; n <= 256; n += 8) {
    for (int64_t warpgroups : {1, 2, 3}) {
      DistributedLayout layout =
          wgmmaAccumulator(64 * warpgroups, n, warpgroups);
      ASSERT_FALSE(layout.verify());
      EXPECT_FALSE(layout.isPadded());
      EXPECT_EQ(layout.registersPerThread(), n / 2);
      forEachThreadRegister(layout, [&](int64_t r, int64_t l, int64_t w) {
        ASSERT_EQ(layout.coordinates(r, l, w),
                  (Coordinates{16 * w + l / 4 + 8 * ((r / 2) % 2),
                               8 * (r / 4) + 2 * (l % 4) + r % 2}));
      });
    }
  }
  EXPECT_EQ(wgmmaAccumulator(192, 100, 3).paddedShape(),
            (Coordinates{192, 104}));
  DistributedLayout two = wgmmaAccumulator(256, 8, 2);
  EXPECT_EQ(two.coordinates(4, 0, 0), (Coordinates{64, 0}));
  EXPECT_EQ(two.coordinates(0, 0, 4), (Coordinates{128, 0}));
}

TEST(Fragments, WgmmaOperandAOf16BitsIsTheAccumulator) {
  for (int64_t k : {16, 48, 80, 176})
    EXPECT_EQ(wgmmaOperandA(128, k, 16, 2), wgmmaAccumulator(128, k, 2));
  DistributedLayout narrow = wgmmaOperandA(64, 32, 8, 1);
  EXPECT_NE(narrow, wgmmaAccumulator(64, 32, 1));
  forEachThreadRegister(narrow, [&](int64_t i, int64_t lane, int64_t warp) {
    Coordinates at = operandA(8, i, lane);
    at[0] += 16 * warp;
    EXPECT_EQ(narrow.coordinates(i, lane, warp), at);
  });
}

} // namespace
