//===- LayoutConversionTest.cpp - Conversions, played ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every plan is played on all threads, move by move.
//
//===----------------------------------------------------------------------===//

#include "LayoutTestSupport.h"

using namespace flashtile::gpu;
using Kind = LayoutConversion::Kind;

namespace {

void expectConverts(const LayoutConversion &plan, const DistributedLayout &from,
                    const DistributedLayout &to) {
  SCOPED_TRACE("from " + from.str());
  expectHolds(play(plan, fill(from), from, to), to);
}

Kind convert(const DistributedLayout &from, const DistributedLayout &to,
             int64_t elementBytes = 4) {
  LayoutConversion plan = planConversion(from, to, elementBytes);
  expectConverts(plan, from, to);
  return plan.kind;
}

TEST(LayoutConversion, AccumulatorToOperandMovesNothing) {
  EXPECT_EQ(
      convert(wgmmaAccumulator(128, 176, 2), wgmmaOperandA(128, 176, 16, 2)),
      Kind::None);
  EXPECT_EQ(
      convert(mmaAccumulator(64, 80, 4, 1), mmaOperandA(64, 80, 16, 4, 1)),
      Kind::None);
  EXPECT_EQ(
      convert(mmaAccumulator(128, 64, 4, 1), mmaOperandA(128, 64, 16, 4, 1)),
      Kind::None);
}

TEST(LayoutConversion, RenamesRegisters) {
  DistributedLayout from = wgmmaAccumulator(64, 48, 1);
  DigitList registers = {from.registers()[2], from.registers()[0],
                         from.registers()[1]};
  DistributedLayout to(from.shape(), registers, from.lanes(), from.warps());
  LayoutConversion plan = planConversion(from, to, 4);
  EXPECT_EQ(plan.kind, Kind::Registers);
  EXPECT_EQ(plan.registerMap[1], 4);
  expectConverts(plan, from, to);
  // Selecting among copies, and copying.
  DistributedLayout twice({32}, {{2, {0}}}, {{32, {1}}}, {});
  DistributedLayout once({32}, {}, {{32, {1}}}, {});
  EXPECT_EQ(convert(twice, once), Kind::Registers);
  EXPECT_EQ(convert(once, twice), Kind::Registers);
}

TEST(LayoutConversion, PaddingIsNotMoved) {
  // 40 rows over 48: the last registers are padding in half of the lanes.
  DistributedLayout padded = mmaAccumulator(40, 8, 1, 1);
  DigitList registers = {{2, {0, 1}}, {5, {8, 0}}};
  DistributedLayout exact({40, 8}, registers, padded.lanes(), padded.warps());
  EXPECT_EQ(convert(padded, exact), Kind::Registers);
  LayoutConversion back = planConversion(exact, padded, 4);
  EXPECT_EQ(back.kind, Kind::Registers);
  EXPECT_EQ(back.registerMap.back(), -1);
  expectConverts(back, exact, padded);
}

TEST(LayoutConversion, EightBitOperandTakesShufflesInTheQuad) {
  DistributedLayout from = wgmmaAccumulator(64, 128, 1);
  DistributedLayout to = wgmmaOperandA(64, 128, 8, 1);
  std::optional<LayoutConversion> plan = planShuffles(from, to, 4);
  ASSERT_TRUE(plan);
  expectConverts(*plan, from, to);
  for (const ShuffleRound &round : plan->rounds)
    for (int64_t lane = 0; lane < lanesPerWarp; ++lane)
      EXPECT_EQ(round.source.evaluate(lane, 0) / 4, lane / 4);
  // Rounds that read alike are adjacent: few changes of source.
  int64_t changes = 0;
  for (size_t i = 1; i < plan->rounds.size(); ++i)
    changes += plan->rounds[i].source != plan->rounds[i - 1].source;
  EXPECT_LT(changes, 4);
  // Four packed bytes go in one shuffle, which beats the shared memory.
  LayoutConversion bytes = planConversion(from, to, 1);
  EXPECT_EQ(bytes.kind, Kind::Lanes);
  EXPECT_EQ(4 * bytes.cost, plan->cost);
}

TEST(LayoutConversion, TransposesWithinAWarpByButterflies) {
  DistributedLayout from({32, 8}, {{8, {0, 1}}}, {{32, {1, 0}}}, {});
  DistributedLayout to({32, 8}, {{8, {1, 0}}}, {{8, {0, 1}}, {4, {8, 0}}}, {});
  std::optional<LayoutConversion> plan = planShuffles(from, to, 4);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->rounds.size(), 8u);
  expectConverts(*plan, from, to);
  convert(from, to);
}

TEST(LayoutConversion, SelectsWithoutShuffleFromReplicatedLanes) {
  DistributedLayout whole = replicated({96}, 3);
  DistributedLayout spread({96}, {}, {{32, {1}}}, {{3, {32}}});
  std::optional<LayoutConversion> plan = planShuffles(whole, spread, 4);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->rounds.size(), 1u);
  EXPECT_TRUE(plan->rounds[0].source.isLane());
  expectConverts(*plan, whole, spread);
  // And back: each warp lacks what the others hold.
  EXPECT_FALSE(planShuffles(spread, whole, 4));
  EXPECT_EQ(convert(spread, whole), Kind::SharedMemory);
}

TEST(LayoutConversion, RowStatisticsToABlockedVector) {
  DistributedLayout rows = slice(wgmmaAccumulator(192, 80, 3), 1);
  convert(rows, blocked({192}, 1, {0}, 12));
  convert(blocked({192}, 1, {0}, 12), rows);
  DistributedLayout column = slice(mmaAccumulator(64, 80, 4, 1), 0);
  convert(column, blocked({80}, 1, {0}, 4));
}

TEST(LayoutConversion, EpilogueToCoalescedRows) {
  for (int64_t n : {64, 80, 96, 128, 176}) {
    DistributedLayout from = wgmmaAccumulator(128, n, 2);
    DistributedLayout to = blocked({128, n}, 8, {1, 0}, 8);
    convert(from, to, 2);
    LayoutConversion plan = planSharedMemory(from, to, 2);
    expectConverts(plan, from, to);
    const SharedMemoryTrip &trip = *plan.trip;
    EXPECT_EQ(trip.store.width, 2);
    EXPECT_EQ(trip.load.width, 8) << n;
    // No bank conflicts: four bytes a lane in one pass, sixteen in four.
    EXPECT_EQ(trip.store.wavefronts, int64_t(trip.store.groups.size())) << n;
    EXPECT_EQ(trip.load.wavefronts, int64_t(trip.load.groups.size()) * 4) << n;
  }
}

TEST(LayoutConversion, RandomPairs) {
  std::mt19937 random(7);
  const std::vector<Coordinates> shapes = {{64},     {96},    {16, 16},
                                           {12, 40}, {7, 32}, {5, 6, 8},
                                           {1, 64},  {3, 3},  {32, 24}};
  std::map<Kind, int> kinds;
  int shuffled = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Coordinates &shape = shapes[random() % shapes.size()];
    int64_t warps = 1 + random() % 6;
    DistributedLayout from = randomLayout(random, shape, warps);
    DistributedLayout to = randomLayout(random, shape, warps);
    if (random() % 4 == 0)
      to = DistributedLayout(shape, to.registers(), to.lanes(), from.warps());
    if (to.verify())
      continue;
    ++kinds[convert(from, to, int64_t(1) << (random() % 4))];
    expectConverts(planSharedMemory(from, to, 2), from, to);
    if (auto plan = planShuffles(from, to, 4)) {
      ++shuffled;
      expectConverts(*plan, from, to);
    }
    EXPECT_EQ(convert(from, from), Kind::None);
  }
  EXPECT_GT(shuffled, 30);
  EXPECT_GT(kinds[Kind::Lanes], 10);
  EXPECT_GT(kinds[Kind::SharedMemory], 10);
}

TEST(LayoutConversion, RandomPaddedTiles) {
  std::mt19937 random(8);
  for (int trial = 0; trial < 120; ++trial) {
    Coordinates shape = {int64_t(1 + random() % 50),
                         int64_t(1 + random() % 50)};
    int64_t warps = 1 + random() % 7;
    DistributedLayout layouts[] = {
        blocked(shape, 4, {1, 0}, warps), blocked(shape, 2, {0, 1}, warps),
        mmaAccumulator(shape[0], shape[1], warps, 1),
        mmaOperandA(shape[0], shape[1], 16, 1, warps)};
    const DistributedLayout &from = layouts[random() % 4];
    const DistributedLayout &to = layouts[random() % 4];
    int64_t bytes = int64_t(1) << (random() % 3);
    convert(from, to, bytes);
    expectConverts(planSharedMemory(from, to, bytes), from, to);
  }
}

TEST(LayoutConversion, ScalarTiles) {
  EXPECT_EQ(convert(replicated({}, 4), replicated({}, 4)), Kind::None);
  expectConverts(planSharedMemory(replicated({}, 2), replicated({}, 2), 4),
                 replicated({}, 2), replicated({}, 2));
}

} // namespace
