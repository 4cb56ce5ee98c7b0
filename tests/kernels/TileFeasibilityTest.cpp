//===- TileFeasibilityTest.cpp - Which tiles a kernel can have ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Support/RegisterBudget.h"
#include "kernels/FlashAttentionBackwardConfigs.h"
#include "kernels/MatmulConfigs.h"

#include <algorithm>
#include <gmock/gmock.h>

using namespace flashtile;
using testing::HasSubstr;

static constexpr DeviceClass allDevices[] = {
    DeviceClass::Cpu, DeviceClass::Sm80, DeviceClass::Sm90a};

static TileDemand demandOn(DeviceClass device, const TileShape &shape) {
  return tileDemand(TileLimits::of(device), shape);
}

/// Of attention in bf16 on Hopper, with a warpgroup for each 64 rows.
static TileDemand attention(int64_t headDim, int64_t rows, int64_t columns,
                            int64_t numStages = 2) {
  return demandOn(DeviceClass::Sm90a, {TileWork::Attention, DType::BF16, rows,
                                       columns, headDim, rows / 16, numStages});
}

//===----------------------------------------------------------------------===//
// Registers of roles
//===----------------------------------------------------------------------===//

TEST(RegisterBudget, IsWhatTheBlockStartsWith) {
  for (int64_t warpgroups = 1; warpgroups <= 7; ++warpgroups) {
    const RegisterBudget budget = registersOfRoles(warpgroups);
    const int64_t start = 65536 / ((warpgroups + 1) * 128) / 8 * 8;
    EXPECT_LE(warpgroups * budget.consumer + budget.producer,
              (warpgroups + 1) * start);
    EXPECT_EQ(budget.consumer % 8, 0);
    EXPECT_EQ(budget.producer % 8, 0);
    EXPECT_GE(budget.producer, 24);
  }
  // Those that are in use elsewhere.
  const int64_t known[][3] = {
      {1, 56, 256}, {2, 24, 240}, {3, 32, 160}, {4, 32, 112}};
  for (const auto &[warpgroups, producer, consumer] : known) {
    EXPECT_EQ(registersOfRoles(warpgroups).producer, producer);
    EXPECT_EQ(registersOfRoles(warpgroups).consumer, consumer);
  }
}

//===----------------------------------------------------------------------===//
// Defaults
//===----------------------------------------------------------------------===//

namespace {
/// Calls `body` for every class of attention whose kernels are in use.
template <typename Body>
void forEachClass(const std::vector<DType> &types, Body body) {
  for (const DeviceClass device : allDevices)
    for (const DType type : types)
      for (int64_t headDim = 8; headDim <= 256; headDim += 8)
        for (const bool causal : {false, true})
          body(FlashAttentionClass{device, type, headDim, causal});
}
} // namespace

static std::string describe(const FlashAttentionClass &kind,
                            const FlashAttentionTiles &tiles) {
  return toString(kind.dtype) + " d=" + std::to_string(kind.headDim) +
         (kind.causal ? " causal" : "") + " on class " +
         std::to_string(static_cast<int>(kind.device)) + ": " +
         std::to_string(tiles.blockM) + "x" + std::to_string(tiles.blockN) +
         " warps=" + std::to_string(tiles.numWarps);
}

TEST(TileFeasibility, EveryDefaultOfTheForwardIsFeasible) {
  forEachClass({DType::F32, DType::F16, DType::BF16, DType::F8E4M3FN},
               [](const FlashAttentionClass &kind) {
                 const auto tiles = defaultFlashAttentionTiles(kind);
                 EXPECT_EQ(flashAttentionDemand(kind, tiles).whyNot, "")
                     << describe(kind, tiles);
               });
}

TEST(TileFeasibility, EveryDefaultOfTheBackwardIsFeasible) {
  using Form = FlashAttentionBackwardForm;
  forEachClass({DType::F32, DType::BF16}, [](const FlashAttentionClass &kind) {
    const auto fused = defaultFlashAttentionBackwardTiles(kind, Form::Fused);
    const auto other =
        defaultFlashAttentionBackwardTiles(kind, Form::FusedDeterministic);
    for (auto [what, tiles, work] :
         {std::tuple("keys and dq", fused.keys, TileWork::KeyGradientsAndDq),
          std::tuple("keys", other.keys, TileWork::KeyGradients),
          std::tuple("queries", other.queries, TileWork::QueryGradients)})
      EXPECT_EQ(flashAttentionDemand(kind, tiles, work).whyNot, "")
          << what << " of " << describe(kind, tiles);
  });
}

TEST(TileFeasibility, EveryDefaultOfProductsIsFeasible) {
  for (const DeviceClass device : allDevices)
    for (const DType type : {DType::F64, DType::F32, DType::F16, DType::BF16,
                             DType::F8E4M3FN, DType::I8}) {
      const MatmulTiles tiles = defaultMatmulTiles(device, type);
      EXPECT_EQ(matmulDemand(device, type, tiles).whyNot, "")
          << toString(type) << " on class " << static_cast<int>(device);
    }
}

TEST(TileFeasibility, ASmallerDeviceGetsFewerKeys) {
  FlashAttentionClass kind = {DeviceClass::Sm80, DType::BF16, 256, false};
  const FlashAttentionTiles large = defaultFlashAttentionTiles(kind);
  kind.sharedBytes = 99 * 1024; // of GPUs in workstations
  const FlashAttentionTiles small = defaultFlashAttentionTiles(kind);
  EXPECT_LT(small.blockN, large.blockN);
  EXPECT_GE(small.blockN, 16);
  EXPECT_TRUE(flashAttentionDemand(kind, small).isFeasible());
}

//===----------------------------------------------------------------------===//
// What is known of tiles on Hopper
//===----------------------------------------------------------------------===//

TEST(TileFeasibility, TilesOfTheFastestKernelsAreFeasible) {
  for (auto [headDim, rows, columns] :
       {std::tuple(64, 192, 128), std::tuple(64, 192, 112),
        std::tuple(96, 192, 96), std::tuple(128, 128, 176),
        std::tuple(128, 128, 128), std::tuple(128, 192, 80),
        std::tuple(192, 128, 112), std::tuple(256, 128, 80)}) {
    const TileDemand demand = attention(headDim, rows, columns);
    EXPECT_EQ(demand.whyNot, "") << headDim << " " << rows << "x" << columns;
    EXPECT_TRUE(demand.usesWarpgroups);
  }
}

/// They spill hundreds of bytes in their loops, and their products wait.
TEST(TileFeasibility, TilesThatSpillAreRefused) {
  for (auto [headDim, rows, columns] :
       {std::tuple(32, 192, 160), std::tuple(64, 192, 144),
        std::tuple(96, 192, 128), std::tuple(128, 192, 96),
        std::tuple(128, 192, 128), std::tuple(160, 192, 80),
        std::tuple(192, 192, 64), std::tuple(256, 192, 32)})
    EXPECT_THAT(attention(headDim, rows, columns).whyNot,
                HasSubstr("registers of tiles"))
        << headDim << " " << rows << "x" << columns;
}

TEST(TileFeasibility, TilesThatAreTooLargeForSharedMemoryAreRefused) {
  for (auto [headDim, rows, columns, numStages] :
       {std::tuple(192, 128, 128, 2), std::tuple(256, 128, 96, 2),
        std::tuple(160, 128, 160, 2), std::tuple(128, 128, 128, 4)})
    EXPECT_THAT(attention(headDim, rows, columns, numStages).whyNot,
                HasSubstr("bytes of shared memory, more than 232448"))
        << headDim << " " << rows << "x" << columns;
  // As much as an A100 lacks.
  EXPECT_THAT(demandOn(DeviceClass::Sm80,
                       {TileWork::Attention, DType::BF16, 64, 64, 256, 8, 2})
                  .whyNot,
              HasSubstr("172032 bytes of shared memory, more than 166912"));
}

TEST(TileFeasibility, SaysWhatIsWrong) {
  const auto whyNot = [](const TileShape &shape) {
    return demandOn(DeviceClass::Sm90a, shape).whyNot;
  };
  TileShape shape;
  shape.numWarps = 17;
  EXPECT_EQ(whyNot(shape), "expected 1 to 16 warps, but got 17");
  shape.numWarps = 4;
  shape.numStages = 0;
  EXPECT_EQ(whyNot(shape), "expected a stage or more, but got 0");
  shape.numStages = 2;
  shape.rows = 40;
  EXPECT_EQ(whyNot(shape), "expected rows in steps of 16, but got 40");
  EXPECT_EQ(demandOn(DeviceClass::Cpu, shape).whyNot, "");
  shape = {TileWork::Attention, DType::BF16, 192, 96, 128, 12, 2};
  EXPECT_EQ(whyNot(shape), "a thread holds 136 registers of tiles, more than "
                           "132 of 12 warps");
}

TEST(TileFeasibility, SaysWhyWarpgroupsDoNotMultiply) {
  const auto whyNo = [](const TileShape &shape) {
    const TileDemand demand = demandOn(DeviceClass::Sm90a, shape);
    EXPECT_NE(demand.usesWarpgroups, !demand.whyNoWarpgroups.empty());
    return demand.whyNoWarpgroups;
  };
  const TileShape good = {TileWork::Attention, DType::BF16, 128, 112, 72, 8, 2};
  EXPECT_EQ(whyNo(good), "");
  TileShape shape = good;
  shape.dtype = DType::F32;
  EXPECT_THAT(whyNo(shape), HasSubstr("16-bit types, and not f32"));
  shape = good;
  shape.rows = 64;
  EXPECT_EQ(whyNo(shape),
            "expected 64 rows for each of 2 warpgroups, but got 64");
  shape = good;
  shape.columns = 40;
  EXPECT_EQ(whyNo(shape),
            "expected at most 256 columns in steps of 16, but got 40");
  shape = good;
  shape.numWarps = 6;
  EXPECT_EQ(whyNo(shape), "expected a multiple of 4 warps, but got 6");
  shape = good;
  shape.numStages = 1;
  EXPECT_EQ(whyNo(shape), "expected two stages or more, but got 1");
  EXPECT_EQ(demandOn(DeviceClass::Sm80, good).whyNoWarpgroups,
            "the device has none");
}

//===----------------------------------------------------------------------===//
// What tuning tries
//===----------------------------------------------------------------------===//

TEST(TileFeasibility, CandidatesAreFeasibleFewAndNotPowersOfTwoOnly) {
  forEachClass({DType::F32, DType::BF16}, [](const FlashAttentionClass &kind) {
    const auto candidates = flashAttentionCandidates(kind);
    EXPECT_LE(candidates.size(), 15u);
    EXPECT_GE(candidates.size(), 4u) << describe(kind, candidates.front());
    for (const FlashAttentionTiles &tiles : candidates)
      EXPECT_EQ(flashAttentionDemand(kind, tiles).whyNot, "")
          << describe(kind, tiles);
  });
  const auto has = [](const FlashAttentionClass &kind, int64_t blockM,
                      int64_t blockN) {
    const auto candidates = flashAttentionCandidates(kind);
    return std::any_of(candidates.begin(), candidates.end(),
                       [&](const FlashAttentionTiles &tiles) {
                         return tiles.blockM == blockM &&
                                tiles.blockN == blockN;
                       });
  };
  FlashAttentionClass kind = {DeviceClass::Sm90a, DType::BF16, 128, false};
  kind.queries = kind.keys = 16384;
  EXPECT_TRUE(has(kind, 128, 176));
  EXPECT_TRUE(has(kind, 128, 128));
  EXPECT_TRUE(has(kind, 192, 80));
  kind.headDim = 64;
  EXPECT_TRUE(has(kind, 192, 128));
  EXPECT_TRUE(has(kind, 192, 112));
}

TEST(TileFeasibility, TheEstimatePrefersWhatWasMeasuredToBeFaster) {
  const TileLimits hopper = TileLimits::of(DeviceClass::Sm90a);
  const auto clocks = [&](int64_t headDim, int64_t rows, int64_t columns,
                          int64_t length) {
    TileProblem problem;
    problem.rows = problem.columns = length;
    problem.batch = 16384 / length * (2048 / headDim);
    return estimatedClocks(hopper,
                           {TileWork::Attention, DType::BF16, rows, columns,
                            headDim, rows / 16, 2},
                           problem);
  };
  // 518 against 459 TFLOP/s, 677 against 651, and 622.
  EXPECT_LT(clocks(64, 192, 128, 16384), clocks(64, 128, 128, 16384));
  EXPECT_LT(clocks(128, 128, 176, 16384), clocks(128, 128, 128, 16384));
  EXPECT_LT(clocks(128, 128, 128, 16384), clocks(128, 128, 96, 16384));
  // 1024 is no multiple of 176, and of 128 it is.
  EXPECT_LT(clocks(128, 128, 128, 1024), clocks(128, 128, 176, 1024));
}
