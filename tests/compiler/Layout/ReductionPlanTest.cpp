//===- ReductionPlanTest.cpp - Reductions, played -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutTestSupport.h"

#include <set>

using namespace flashtile::gpu;

namespace {

/// Sums along `axis` as the plan says and compares with plain sums. Elements
/// are random; a value counted twice or not at all shows.
void expectReduces(const DistributedLayout &layout, unsigned axis) {
  SCOPED_TRACE(layout.str() + " along " + std::to_string(axis));
  std::optional<ReductionPlan> plan = planReduction(layout, axis);
  ASSERT_TRUE(plan);
  ASSERT_FALSE(plan->result.verify());
  auto element = [](const Coordinates &at) {
    return valueOf(at) * 2654435761 % 1000003;
  };
  int64_t warps = layout.warpCount();
  int64_t results = plan->registers.size();
  ASSERT_EQ(results, plan->result.registersPerThread());
  RegisterFile sums(warps, std::vector<std::vector<Value>>(
                               lanesPerWarp, std::vector<Value>(results, 0)));
  for (int64_t warp = 0; warp < warps; ++warp)
    for (int64_t lane = 0; lane < lanesPerWarp; ++lane)
      for (int64_t r = 0; r < results; ++r)
        for (int64_t index : plan->registers[r]) {
          Coordinates at = layout.coordinates(index, lane, warp);
          EXPECT_TRUE(plan->isPadded || at[axis] < layout.shape()[axis]);
          if (at[axis] < layout.shape()[axis])
            sums[warp][lane][r] += element(at);
        }
  for (int64_t mask : plan->laneMasks) {
    RegisterFile before = sums;
    for (int64_t warp = 0; warp < warps; ++warp)
      for (int64_t lane = 0; lane < lanesPerWarp; ++lane)
        for (int64_t r = 0; r < results; ++r)
          sums[warp][lane][r] += before[warp][lane ^ mask][r];
  }
  for (const DigitPosition &digit : plan->warpDigits) {
    RegisterFile before = sums;
    for (int64_t warp = 0; warp < warps; ++warp)
      for (int64_t other = 1; other < digit.extent; ++other) {
        int64_t own = warp / digit.stride % digit.extent;
        int64_t partner =
            warp + ((own + other) % digit.extent - own) * digit.stride;
        for (int64_t lane = 0; lane < lanesPerWarp; ++lane)
          for (int64_t r = 0; r < results; ++r)
            sums[warp][lane][r] += before[partner][lane][r];
      }
  }
  forEachThreadRegister(plan->result, [&](int64_t r, int64_t l, int64_t w) {
    Coordinates at = plan->result.coordinates(r, l, w);
    if (!plan->result.isInBounds(at))
      return;
    Value expected = 0;
    at.insert(at.begin() + axis, 0);
    for (; at[axis] < layout.shape()[axis]; ++at[axis])
      expected += element(at);
    EXPECT_EQ(sums[w][l][r], expected);
  });
}

TEST(ReductionPlan, RowsOfTheAccumulatorReduceInTheQuad) {
  DistributedLayout layout = wgmmaAccumulator(128, 176, 2);
  ReductionPlan plan = *planReduction(layout, 1);
  EXPECT_EQ(plan.laneMasks, (llvm::SmallVector<int64_t>{1, 2}));
  EXPECT_TRUE(plan.warpDigits.empty());
  EXPECT_EQ(plan.registers.size(), 2u);
  EXPECT_EQ(plan.registers[0].size(), 44u);
  EXPECT_EQ(plan.result, slice(layout, 1));
  ReductionPlan columns = *planReduction(layout, 0);
  EXPECT_EQ(columns.laneMasks, (llvm::SmallVector<int64_t>{4, 8, 16}));
  EXPECT_EQ(columns.warpPartials, 8);
}

TEST(ReductionPlan, SumsOnEveryKindOfLayout) {
  expectReduces(wgmmaAccumulator(192, 80, 3), 1);
  expectReduces(wgmmaAccumulator(192, 80, 3), 0);
  expectReduces(mmaAccumulator(40, 20, 2, 3), 0);
  expectReduces(mmaAccumulator(40, 20, 2, 3), 1);
  std::mt19937 random(9);
  for (int trial = 0; trial < 60; ++trial) {
    Coordinates shape = {int64_t(1 + random() % 30),
                         int64_t(1 + random() % 30)};
    int64_t warps = 1 + random() % 8;
    for (unsigned axis : {0, 1}) {
      expectReduces(blocked(shape, 4, {1, 0}, warps), axis);
      expectReduces(randomLayout(random, shape, warps), axis);
    }
  }
  expectReduces(blocked({100}, 4, {0}, 5), 0);
  expectReduces(randomLayout(random, {3, 5, 8}, 6), 1);
}

TEST(ReductionPlan, RefusesWhatWouldCountTwice) {
  DistributedLayout overlapping({33, 1}, {{2, {1, 0}}}, {{32, {1, 0}}}, {});
  EXPECT_FALSE(planReduction(overlapping, 0));
  DistributedLayout diagonal({32, 32}, {{32, {0, 1}}}, {{32, {1, 1}}}, {});
  EXPECT_FALSE(planReduction(diagonal, 1));
}

} // namespace
