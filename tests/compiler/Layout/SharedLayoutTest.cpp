//===- SharedLayoutTest.cpp - Addresses, banks, ldmatrix ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutTestSupport.h"

#include <set>

using namespace flashtile::gpu;

namespace {

constexpr Swizzle allSwizzles[] = {Swizzle::None, Swizzle::Bytes32,
                                   Swizzle::Bytes64, Swizzle::Bytes128};

TEST(SharedLayout, RowsOfTheHardwareSwizzles) {
  // The tables of the PTX ISA: which chunk of 16 bytes holds chunk c of row r.
  SharedLayout wide({8, 64}, 2, {1, 0}, Swizzle::Bytes128);
  for (int64_t row = 0; row < 8; ++row)
    for (int64_t chunk = 0; chunk < 8; ++chunk)
      EXPECT_EQ(wide.offset({row, chunk * 8}), row * 128 + (chunk ^ row) * 16);
  SharedLayout middle({8, 32}, 2, {1, 0}, Swizzle::Bytes64);
  for (int64_t row = 0; row < 8; ++row)
    for (int64_t chunk = 0; chunk < 4; ++chunk)
      EXPECT_EQ(middle.offset({row, chunk * 8}),
                row * 64 + (chunk ^ (row / 2)) * 16);
  SharedLayout narrow({8, 16}, 2, {1, 0}, Swizzle::Bytes32);
  for (int64_t row = 0; row < 8; ++row)
    for (int64_t chunk = 0; chunk < 2; ++chunk)
      EXPECT_EQ(narrow.offset({row, chunk * 8}),
                row * 32 + (chunk ^ (row / 4)) * 16);
  EXPECT_EQ(wide.alignment(), 1024);
  EXPECT_EQ(middle.alignment(), 512);
  EXPECT_EQ(narrow.alignment(), 256);
}

TEST(SharedLayout, BoxesOfTheContiguousDimension) {
  // K of [keys, 128] in bf16: two boxes of 64 columns, keys * 128 bytes apart.
  SharedLayout keys({176, 128}, 2, {1, 0}, Swizzle::Bytes128);
  EXPECT_EQ(keys.boxCount(), 2);
  EXPECT_EQ(keys.boxStride(), 176 * 128);
  EXPECT_EQ(keys.offset({0, 64}), 176 * 128);
  EXPECT_EQ(keys.bytes(), 176 * 256);
  // Seven rows: the next box starts a new pattern.
  SharedLayout few({7, 80}, 2, {1, 0}, Swizzle::Bytes128);
  EXPECT_EQ(few.boxStride(), 1024);
  EXPECT_EQ(few.bytes(), 2048);
}

TEST(SharedLayout, EveryElementHasItsOwnPlace) {
  for (Swizzle swizzle : allSwizzles)
    for (int64_t bytes : {1, 2, 4, 8})
      for (bool rowMajor : {true, false})
        for (Coordinates shape :
             {Coordinates{7, 48}, Coordinates{33, 80}, Coordinates{100, 3}}) {
          llvm::SmallVector<unsigned> order = {rowMajor ? 1u : 0u,
                                               rowMajor ? 0u : 1u};
          SharedLayout layout(shape, bytes, order, swizzle);
          std::set<int64_t> taken;
          for (int64_t i = 0; i < shape[0]; ++i)
            for (int64_t j = 0; j < shape[1]; ++j) {
              int64_t at = layout.offset({i, j});
              EXPECT_TRUE(taken.insert(at).second);
              EXPECT_EQ(at % bytes, 0);
              EXPECT_LE(at + bytes, layout.bytes());
            }
        }
  SharedLayout three({2, 3, 4}, 4, {2, 0, 1});
  EXPECT_EQ(three.offset({1, 2, 3}), ((2 * 2 + 1) * 4 + 3) * 4);
}

TEST(SharedLayout, SaysWhatIsWrong) {
  SharedLayout layout({8, 8}, 2, {1, 0});
  EXPECT_FALSE(layout.verify());
  layout.order = {1, 1};
  EXPECT_EQ(layout.verify(), "the order lacks dimension 0");
  layout.order = {1, 0};
  layout.elementBytes = 3;
  EXPECT_EQ(layout.verify(),
            "expected elements of 1, 2, 4 or 8 bytes, but got 3");
  layout.elementBytes = 2;
  layout.rowPadding = 16;
  layout.swizzle = Swizzle::Bytes64;
  EXPECT_EQ(layout.verify(), "swizzled rows cannot be padded");
}

std::vector<int64_t> strided(int64_t stride) {
  std::vector<int64_t> offsets;
  for (int64_t lane = 0; lane < lanesPerWarp; ++lane)
    offsets.push_back(lane * stride);
  return offsets;
}

TEST(Wavefronts, CountsPassesOverTheBanks) {
  EXPECT_EQ(wavefronts(strided(4), 4), 1);
  EXPECT_EQ(wavefronts(strided(8), 4), 2);
  EXPECT_EQ(wavefronts(strided(128), 4), 32);
  EXPECT_EQ(wavefronts(strided(132), 4), 1);
  EXPECT_EQ(wavefronts(strided(0), 4), 1);
  EXPECT_EQ(wavefronts(strided(2), 2), 1);
  EXPECT_EQ(wavefronts(strided(8), 8), 2);
  EXPECT_EQ(wavefronts(strided(16), 16), 4);
  EXPECT_EQ(wavefronts(strided(128), 16), 32);
  EXPECT_EQ(wavefronts(strided(144), 16), 4);
  std::vector<int64_t> few(lanesPerWarp, -1);
  EXPECT_EQ(wavefronts(few, 4), 0);
  few[3] = 12;
  EXPECT_EQ(wavefronts(few, 4), 1);
}

TEST(VectorAccess, WidthFollowsAlignment) {
  DistributedLayout rows = blocked({64, 64}, 8, {1, 0}, 4);
  VectorAccess wide =
      planVectorAccess(rows, {{64, 64}, 2, {1, 0}, Swizzle::Bytes128}, true);
  EXPECT_EQ(wide.width, 8);
  EXPECT_EQ(wide.wavefronts, int64_t(wide.groups.size()) * 4);
  EXPECT_EQ(planVectorAccess(rows, {{64, 64}, 2, {1, 0}}, true, 4).width, 2);
  // Two bytes of padding break the alignment of rows.
  EXPECT_EQ(
      planVectorAccess(rows, {{64, 64}, 2, {1, 0}, Swizzle::None, 2}, true)
          .width,
      1);
  // Across the registers' direction there are no vectors.
  EXPECT_EQ(planVectorAccess(rows, {{64, 64}, 2, {0, 1}}, true).width, 1);
  // Copies are loaded and not stored.
  DistributedLayout twice({32}, {{2, {0}}}, {{32, {1}}}, {});
  EXPECT_EQ(planVectorAccess(twice, {{32}, 4, {0}}, true).groups.size(), 1u);
  EXPECT_EQ(planVectorAccess(twice, {{32}, 4, {0}}, false).groups.size(), 2u);
}

/// Plays ldmatrix: memory holds, byte by byte, which element lies there.
void expectLoadsFragment(const DistributedLayout &fragment,
                         const SharedLayout &memory, int64_t count,
                         bool transposed) {
  SCOPED_TRACE(fragment.str());
  std::optional<MatrixAccess> access = planMatrixAccess(fragment, memory);
  ASSERT_TRUE(access);
  EXPECT_EQ(access->count, count);
  EXPECT_EQ(access->transposed, transposed);
  std::map<int64_t, Value> bytes;
  for (int64_t i = 0; i < memory.shape[0]; ++i)
    for (int64_t j = 0; j < memory.shape[1]; ++j)
      bytes[memory.offset({i, j})] = valueOf({i, j});
  int64_t packed = access->elementsPerRegister;
  ASSERT_EQ(access->rows.registersPerThread() * count * packed,
            fragment.registersPerThread());
  for (int64_t group = 0; group < access->rows.registersPerThread(); ++group) {
    for (int64_t warp = 0; warp < fragment.warpCount(); ++warp) {
      for (int64_t lane = 0; lane < lanesPerWarp; ++lane) {
        for (int64_t matrix = 0; matrix < count; ++matrix) {
          for (int64_t part = 0; part < packed; ++part) {
            int64_t row = transposed ? 2 * (lane % 4) + part : lane / 4;
            int64_t byte = transposed
                               ? lane / 4 * 2
                               : lane % 4 * 4 + part * memory.elementBytes;
            int64_t at = memory.offset(
                access->rows.coordinates(group, 8 * matrix + row, warp));
            ASSERT_EQ(at % 16, 0);
            int64_t index = (group * count + matrix) * packed + part;
            EXPECT_EQ(bytes.at(at + byte),
                      valueOf(fragment.coordinates(index, lane, warp)));
          }
        }
      }
    }
  }
}

TEST(MatrixAccess, LoadsOperandsOfMma) {
  for (Swizzle swizzle : allSwizzles) {
    // A [m, k] and B [k, n] with k contiguous: plain.
    expectLoadsFragment(mmaOperandA(64, 64, 16, 4, 1),
                        {{64, 64}, 2, {1, 0}, swizzle}, 4, false);
    expectLoadsFragment(mmaOperandB(64, 80, 16, 4, 1),
                        {{64, 80}, 2, {0, 1}, swizzle}, 4, false);
    // The other dimension contiguous: transposed.
    expectLoadsFragment(mmaOperandB(64, 80, 16, 4, 1),
                        {{64, 80}, 2, {1, 0}, swizzle}, 4, true);
    expectLoadsFragment(mmaOperandA(64, 64, 16, 2, 2),
                        {{64, 64}, 2, {0, 1}, swizzle}, 4, true);
    // Single matrices of k: pairs of 16 rows, an odd number of k-steps.
    expectLoadsFragment(mmaOperandB(48, 24, 16, 1, 1),
                        {{48, 24}, 2, {0, 1}, swizzle}, 2, false);
    expectLoadsFragment(mmaOperandA(32, 64, 8, 2, 1),
                        {{32, 64}, 1, {1, 0}, swizzle}, 4, false);
    expectLoadsFragment(mmaOperandA(32, 24, 32, 2, 1),
                        {{32, 24}, 4, {1, 0}, swizzle}, 4, false);
  }
  // stmatrix of an accumulator's 16-bit values.
  expectLoadsFragment(wgmmaAccumulator(64, 80, 1),
                      {{64, 80}, 2, {1, 0}, Swizzle::Bytes32}, 4, false);
}

TEST(MatrixAccess, IsFreeOfConflictsUnderSwizzles) {
  SharedLayout memory({64, 64}, 2, {1, 0}, Swizzle::Bytes128);
  MatrixAccess access =
      *planMatrixAccess(mmaOperandA(64, 64, 16, 4, 1), memory);
  std::array<int64_t, lanesPerWarp> offsets;
  for (int64_t lane = 0; lane < lanesPerWarp; ++lane)
    offsets[lane] = memory.offset(access.rows.coordinates(0, lane, 0));
  EXPECT_EQ(wavefronts(offsets, 16), 4);
}

TEST(MatrixAccess, RefusesWhatDoesNotFit) {
  DistributedLayout a = mmaOperandA(64, 64, 16, 4, 1);
  // Rows that are not multiples of 16 bytes.
  EXPECT_FALSE(planMatrixAccess(a, {{64, 64}, 2, {1, 0}, Swizzle::None, 8}));
  // Wider than 16 bits cannot be transposed.
  EXPECT_FALSE(
      planMatrixAccess(mmaOperandA(64, 64, 32, 4, 1), {{64, 64}, 4, {0, 1}}));
  EXPECT_FALSE(
      planMatrixAccess(mmaOperandA(64, 64, 8, 4, 1), {{64, 64}, 1, {0, 1}}));
  // Padding that the memory lacks.
  EXPECT_FALSE(
      planMatrixAccess(mmaOperandA(60, 64, 16, 4, 1), {{60, 64}, 2, {1, 0}}));
  EXPECT_FALSE(
      planMatrixAccess(blocked({64, 64}, 8, {1, 0}, 4), {{64, 64}, 2, {1, 0}}));
}

} // namespace
