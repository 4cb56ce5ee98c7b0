//===- LayoutTransformsTest.cpp - Layouts from layouts --------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutTestSupport.h"
#include "compiler/Analysis/Layout/LayoutConversion.h"
#include "compiler/Analysis/Layout/LayoutPart.h"

using namespace flashtile::gpu;

namespace {

TEST(LayoutTransforms, SliceDropsTheDimension) {
  DistributedLayout layout = wgmmaAccumulator(128, 80, 2);
  DistributedLayout rows = slice(layout, 1);
  ASSERT_FALSE(rows.verify());
  EXPECT_EQ(rows.registersPerThread(), 2);
  EXPECT_EQ(rows.replication(HardwareIndex::Lane)[0], (DigitPosition{1, 4}));
  forEachThreadRegister(rows, [&](int64_t r, int64_t lane, int64_t warp) {
    EXPECT_EQ(rows.coordinates(r, lane, warp)[0],
              layout.coordinates(2 * r, lane, warp)[0]);
  });
  DistributedLayout columns = slice(layout, 0);
  ASSERT_FALSE(columns.verify());
  EXPECT_EQ(columns.registersPerThread(), 20);
  EXPECT_FALSE(slice(rows, 0).verify());
}

TEST(LayoutTransforms, SliceOfExpandDimsIsTheLayout) {
  std::mt19937 random(4);
  for (int trial = 0; trial < 50; ++trial) {
    DistributedLayout layout = randomLayout(random, {6, 10}, 1 + trial % 8);
    for (unsigned dim : {0, 1, 2}) {
      DistributedLayout expanded = expandDims(layout, dim);
      ASSERT_FALSE(expanded.verify());
      EXPECT_EQ(expanded.shape()[dim], 1);
      EXPECT_EQ(slice(expanded, dim), layout);
    }
  }
}

TEST(LayoutTransforms, RowStatisticsBroadcastBackInPlace) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 50; ++trial) {
    Coordinates shape = {int64_t(1 + random() % 40),
                         int64_t(1 + random() % 40)};
    int64_t warps = 1 + random() % 8;
    DistributedLayout layout = trial % 2 ? randomLayout(random, shape, warps)
                                         : blocked(shape, 2, {1, 0}, warps);
    for (unsigned dim : {0, 1}) {
      DistributedLayout column = expandDims(slice(layout, dim), dim);
      auto map = broadcastRegisters(column, layout);
      ASSERT_TRUE(map) << layout.str();
      forEachThreadRegister(layout, [&](int64_t r, int64_t l, int64_t w) {
        Coordinates at = layout.coordinates(r, l, w);
        if (!layout.isInBounds(at))
          return;
        at[dim] = 0;
        ASSERT_GE((*map)[r], 0);
        EXPECT_EQ(column.coordinates((*map)[r], l, w), at);
      });
      DistributedLayout wide = broadcast(column, dim, shape[dim]);
      EXPECT_FALSE(wide.verify());
      EXPECT_TRUE(broadcastRegisters(column, wide));
    }
  }
}

TEST(LayoutTransforms, BroadcastNeedsTheValueInTheThread) {
  // The column's rows are spread over lanes that the tile's are not.
  DistributedLayout column = blocked({32, 1}, 1, {1, 0}, 1);
  DistributedLayout tile = blocked({32, 32}, 1, {1, 0}, 1);
  EXPECT_FALSE(broadcastRegisters(column, tile));
}

TEST(LayoutTransforms, TransposeSwapsCoordinates) {
  DistributedLayout layout = mmaAccumulator(48, 24, 3, 1);
  DistributedLayout turned = transpose(layout, {1, 0});
  EXPECT_EQ(turned.shape(), llvm::ArrayRef<int64_t>({24, 48}));
  forEachThreadRegister(layout, [&](int64_t r, int64_t l, int64_t w) {
    Coordinates at = layout.coordinates(r, l, w);
    EXPECT_EQ(turned.coordinates(r, l, w), (Coordinates{at[1], at[0]}));
  });
  EXPECT_EQ(transpose(turned, {1, 0}), layout);
  // P^T of the accumulator is no B operand, but its A operand's rows agree.
  EXPECT_EQ(transpose(mmaOperandB(16, 16, 16, 1, 1), {1, 0}).shape()[0], 16);
}

/// Compares linear positions element by element.
void expectSamePositions(const DistributedLayout &a,
                         const DistributedLayout &b) {
  auto position = [](const DistributedLayout &layout, Coordinates at) {
    int64_t linear = 0;
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      linear = linear * layout.shape()[dim] + at[dim];
    return linear;
  };
  ASSERT_EQ(a.registersPerThread(), b.registersPerThread());
  forEachThreadRegister(a, [&](int64_t r, int64_t l, int64_t w) {
    Coordinates at = b.coordinates(r, l, w);
    EXPECT_TRUE(b.isInBounds(at));
    EXPECT_EQ(position(a, a.coordinates(r, l, w)), position(b, at));
  });
}

TEST(LayoutTransforms, ReshapeKeepsLinearPositions) {
  std::mt19937 random(6);
  const std::vector<Coordinates> shapes = {
      {96}, {3, 32}, {32, 3}, {6, 16}, {2, 3, 16}, {1, 96, 1}, {8, 12}};
  int expressible = 0, tried = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const Coordinates &shape = shapes[random() % shapes.size()];
    DistributedLayout layout = randomLayout(random, shape, 1 + random() % 4);
    for (const Coordinates &target : shapes) {
      ++tried;
      auto reshaped = reshape(layout, target);
      if (!reshaped)
        continue;
      ++expressible;
      EXPECT_FALSE(reshaped->verify());
      expectSamePositions(layout, *reshaped);
    }
  }
  EXPECT_GT(expressible, tried / 3);
  // Splitting and merging along the shape's own factors always works.
  DistributedLayout layout = blocked({64, 48}, 4, {1, 0}, 3);
  auto split = reshape(layout, {4, 16, 3, 16});
  ASSERT_TRUE(split);
  EXPECT_EQ(*reshape(*split, {64, 48}), layout);
  EXPECT_FALSE(reshape(layout, {64, 47}));
  EXPECT_FALSE(reshape(blocked({7, 7}, 1, {1, 0}, 1), {49}));
}

TEST(LayoutTransforms, JoinAndCatAppendRegisters) {
  DistributedLayout half = wgmmaAccumulator(64, 40, 1);
  DistributedLayout joined = join(half);
  ASSERT_FALSE(joined.verify());
  auto whole = cat(half, 1);
  ASSERT_TRUE(whole && !whole->verify());
  EXPECT_EQ(*whole, wgmmaAccumulator(64, 80, 1));
  int64_t count = half.registersPerThread();
  forEachThreadRegister(half, [&](int64_t r, int64_t l, int64_t w) {
    Coordinates at = half.coordinates(r, l, w);
    EXPECT_EQ(joined.coordinates(r, l, w), (Coordinates{at[0], at[1], 0}));
    EXPECT_EQ(joined.coordinates(count + r, l, w),
              (Coordinates{at[0], at[1], 1}));
    EXPECT_EQ(whole->coordinates(count + r, l, w),
              (Coordinates{at[0], at[1] + 40}));
  });
  EXPECT_FALSE(cat(wgmmaAccumulator(64, 41, 1), 1));
}

TEST(LayoutTransforms, SpreadKeepsRowsWhereTheyAre) {
  for (int64_t extent : {8, 40, 64, 128}) {
    DistributedLayout rows = slice(wgmmaAccumulator(128, 64, 2), 1);
    DistributedLayout spreadRows = spread(rows, 1, extent, 8);
    ASSERT_FALSE(spreadRows.verify());
    EXPECT_FALSE(spreadRows.hasOverlap());
    // The sum along the new dimension moves nothing between warps, and its
    // result is where the rows are.
    auto plan = planReduction(spreadRows, 1);
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->warpDigits.empty());
    EXPECT_EQ(plan->result, rows);
  }
}

} // namespace

TEST(LayoutTransforms, PartsHoldTheSameElements) {
  const DistributedLayout layout = wgmmaAccumulator(256, 256, 2);
  for (int64_t first : {0, 64, 192}) {
    const auto part = lastDimPart(layout, first, 64);
    ASSERT_TRUE(part);
    ASSERT_FALSE(part->layout.verify());
    ASSERT_EQ(int64_t(part->registers.size()),
              part->layout.registersPerThread());
    forEachThreadRegister(part->layout, [&](int64_t r, int64_t l, int64_t w) {
      Coordinates at = part->layout.coordinates(r, l, w);
      at[1] += first;
      EXPECT_EQ(at, layout.coordinates(part->registers[r], l, w));
    });
  }
  EXPECT_EQ(lastDimPart(layout, 0, 128)->layout, wgmmaAccumulator(256, 128, 2));
}

TEST(LayoutTransforms, PartsAreOfRegisters) {
  const DistributedLayout layout = wgmmaAccumulator(64, 128, 1);
  EXPECT_TRUE(lastDimPart(layout, 8, 16));
  EXPECT_FALSE(lastDimPart(layout, 4, 16));   // not a step of registers
  EXPECT_FALSE(lastDimPart(layout, 120, 16)); // beyond the end
  // Warps hold the columns.
  EXPECT_FALSE(lastDimPart(mmaAccumulator(16, 128, 1, 4), 0, 64));
  EXPECT_FALSE(lastDimPart(replicated({}, 4), 0, 1));
}
