//===- FlashAttentionTestMask.cpp - What a row sees, and what it must not -===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The causal diagonal, rows without keys, and NaN and infinity: a position that
// a row does not see changes no bit of it, and what it sees reaches exactly the
// rows and columns that it should.
//
//===----------------------------------------------------------------------===//

#include "FlashAttentionTestSupport.h"

#include <cfloat>
#include <cmath>

using namespace flashtile;

//===----------------------------------------------------------------------===//
// The diagonal
//===----------------------------------------------------------------------===//

/// q = k = 0 and v[j][0] = 2^j: o names the visible keys.
static FlashAttentionResult visibleKeys(int64_t n, int64_t m,
                                        CausalAlignment alignment,
                                        int64_t blockM, int64_t blockN) {
  Problem problem{Tensor::zeros({1, 1, n, 16}, DType::F32),
                  Tensor::zeros({1, 1, m, 16}, DType::F32),
                  Tensor::zeros({1, 1, m, 16}, DType::F32),
                  {}};
  for (int64_t j = 0; j < m; ++j)
    problem.v.set({0, 0, j, 0}, std::ldexp(1.0, static_cast<int>(j)));
  problem.options.causal = true;
  problem.options.alignment = alignment;
  problem.options.blockM = blockM;
  problem.options.blockN = blockN;
  return attend(problem);
}

static void expectRows(const FlashAttentionResult &result,
                       const std::vector<double> &o,
                       const std::vector<double> &keys) {
  for (size_t i = 0; i < o.size(); ++i) {
    auto row = static_cast<int64_t>(i);
    EXPECT_FLOAT_EQ(result.o.at<float>({0, 0, row, 0}), float(o[i])) << i;
    EXPECT_FLOAT_EQ(result.lse.at<float>({0, 0, row}), float(std::log(keys[i])))
        << i;
    for (int64_t column = 1; column < 16; ++column)
      EXPECT_EQ(result.o.at<float>({0, 0, row, column}), 0) << i;
  }
}

TEST(FlashAttentionMask, AlignmentByHand) {
  for (auto [blockM, blockN] :
       {std::pair(0, 0), std::pair(1, 1), std::pair(2, 2), std::pair(3, 2)}) {
    SCOPED_TRACE(std::to_string(blockM) + "x" + std::to_string(blockN));
    auto bottomRight = CausalAlignment::BottomRight;
    expectRows(visibleKeys(2, 5, bottomRight, blockM, blockN), {3.75, 6.2},
               {4, 5});
    expectRows(visibleKeys(5, 2, bottomRight, blockM, blockN),
               {0, 0, 0, 1, 1.5}, {0, 0, 0, 1, 2});
    auto topLeft = CausalAlignment::TopLeft;
    expectRows(visibleKeys(2, 5, topLeft, blockM, blockN), {1, 1.5}, {1, 2});
    expectRows(visibleKeys(5, 2, topLeft, blockM, blockN),
               {1, 1.5, 1.5, 1.5, 1.5}, {1, 2, 2, 2, 2});
  }
}

TEST(FlashAttentionMask, AlignmentAcrossTiles) {
  for (auto [n, m] : {std::pair(113, 203), std::pair(203, 113),
                      std::pair(64, 256), std::pair(1, 20), std::pair(256, 64),
                      std::pair(20, 1), std::pair(65, 66)})
    for (auto alignment :
         {CausalAlignment::BottomRight, CausalAlignment::TopLeft})
      for (DType dtype : {DType::F32, DType::BF16}) {
        auto problem = randomProblem({2, 2, n, 16}, {2, 2, m, 16}, dtype, true);
        problem.options.alignment = alignment;
        SCOPED_TRACE(caseName(problem));
        expectAccurate(problem);
      }
}

//===----------------------------------------------------------------------===//
// Rows without keys
//===----------------------------------------------------------------------===//

TEST(FlashAttentionMask, RowsWithoutKeysAreZero) {
  // The last shape has whole query tiles without keys.
  for (auto [n, m] : {std::pair(8, 4), std::pair(70, 3), std::pair(300, 50)})
    for (DType dtype : {DType::F32, DType::F16, DType::BF16}) {
      auto problem = randomProblem({1, 2, n, 8}, {1, 2, m, 8}, dtype, true, 13);
      SCOPED_TRACE(caseName(problem));
      auto result = expectAccurate(problem);
      EXPECT_TRUE(isAll(rowsOf(result.o, 0, n - m), 0));
      EXPECT_TRUE(isAll(lseOf(result.lse, 0, n - m), -infinity));

      // Nor does what they do not see change them.
      problem.k.fill(notANumber);
      problem.v.fill(infinity);
      result = attend(problem);
      EXPECT_TRUE(isAll(rowsOf(result.o, 0, n - m), 0));
      EXPECT_TRUE(isAll(lseOf(result.lse, 0, n - m), -infinity));
      EXPECT_TRUE(isAll(rowsOf(result.o, n - m, n), notANumber));
    }
}

TEST(FlashAttentionMask, RowsWithoutKeysEqualThoseOfAShorterProblem) {
  auto tall = randomProblem({1, 1, 90, 32}, {1, 1, 40, 32}, DType::F32, true);
  auto square = tall;
  square.q = rowsOf(tall.q, 50, 90);
  Judgement judgement(square);
  auto result = attend(tall);
  judgement.expectAccurate(
      {rowsOf(result.o, 50, 90), lseOf(result.lse, 50, 90)});
}

TEST(FlashAttentionMask, NoKeysAtAll) {
  for (bool causal : {false, true}) {
    auto problem =
        randomProblem({2, 3, 70, 16}, {2, 3, 0, 16}, DType::F16, causal);
    auto result = attend(problem);
    EXPECT_TRUE(isAll(result.o, 0));
    EXPECT_TRUE(isAll(result.lse, -infinity));
  }
}

//===----------------------------------------------------------------------===//
// NaN and infinity
//===----------------------------------------------------------------------===//

static constexpr int64_t kRows = 130;

static Problem causalProblem(DType dtype, int64_t headDim = 64) {
  return randomProblem({1, 2, kRows, headDim}, {1, 2, kRows, headDim}, dtype,
                       true, 7);
}

static void setRow(const Tensor &tensor, int64_t row, double value) {
  Tensor target = rowsOf(tensor, row, row + 1);
  target.fill(value);
  if (!std::isinf(value) || tensor.dtype() != DType::F8E5M2)
    return;
  // Conversion to fp8 saturates; memory may hold infinity all the same.
  auto bits = Float8E5M2::fromBits(value > 0 ? 0x7C : 0xFC);
  for (int64_t head = 0; head < target.size(1); ++head)
    for (int64_t column = 0; column < target.size(3); ++column)
      target.data<Float8E5M2>()[head * target.stride(1) + column] = bits;
}

/// A non-finite key, value or both at `key`: the rows before it keep the bits
/// that they have when 0 stands there.
static void expectHiddenFromEarlierRows(DType dtype, int64_t key, double inK,
                                        double inV) {
  SCOPED_TRACE(toString(dtype) + " key " + std::to_string(key) + ": k " +
               std::to_string(inK) + ", v " + std::to_string(inV));
  auto problem = causalProblem(dtype);
  if (inK != 0)
    setRow(problem.k, key, 0);
  if (inV != 0)
    setRow(problem.v, key, 0);
  auto clean = attend(problem);
  if (inK != 0)
    setRow(problem.k, key, inK);
  if (inV != 0)
    setRow(problem.v, key, inV);
  auto dirty = attend(problem);
  EXPECT_TRUE(sameBits(rowsOf(dirty.o, 0, key), rowsOf(clean.o, 0, key)));
  EXPECT_TRUE(sameBits(lseOf(dirty.lse, 0, key), lseOf(clean.lse, 0, key)));
  // An infinite key gives scores of either sign: the reference says which.
  if (std::isnan(inK) || std::isnan(inV))
    EXPECT_TRUE(isAll(rowsOf(dirty.o, key, kRows), notANumber));
  if (std::isnan(inK))
    EXPECT_TRUE(isAll(lseOf(dirty.lse, key, kRows), notANumber));
  if (inK == 0 && std::isinf(inV))
    EXPECT_TRUE(isAll(rowsOf(dirty.o, key, kRows), inV));
  if (inK == 0)
    EXPECT_TRUE(sameBits(dirty.lse, clean.lse));
}

TEST(FlashAttentionNonFinite, HiddenKeysAndValuesChangeNoBit) {
  for (DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F8E5M2})
    for (int64_t key : {129, 64, 1})
      for (auto [inK, inV] :
           {std::pair(notANumber, notANumber), std::pair(notANumber, 0.0),
            std::pair(0.0, notANumber), std::pair(0.0, infinity),
            std::pair(0.0, -infinity), std::pair(infinity, 0.0),
            std::pair(infinity, notANumber)})
        expectHiddenFromEarlierRows(dtype, key, inK, inV);
  // This type has NaN and no infinity.
  expectHiddenFromEarlierRows(DType::F8E4M3FN, 129, notANumber, notANumber);
  expectHiddenFromEarlierRows(DType::F8E4M3FN, 65, 0, notANumber);
}

TEST(FlashAttentionNonFinite, HiddenFromTopLeftAlignedRows) {
  auto problem =
      randomProblem({1, 1, 40, 16}, {1, 1, 200, 16}, DType::BF16, true);
  problem.options.alignment = CausalAlignment::TopLeft;
  auto clean = attend(problem);
  rowsOf(problem.k, 40, 200).fill(notANumber);
  rowsOf(problem.v, 40, 200).fill(-infinity);
  expectSameBits(attend(problem), clean);
}

TEST(FlashAttentionNonFinite, QueryConcernsItsRowOnly) {
  for (bool causal : {false, true})
    for (double value : {notANumber, infinity})
      for (DType dtype : {DType::F32, DType::BF16}) {
        auto problem = causalProblem(dtype);
        problem.options.causal = causal;
        auto clean = attend(problem);
        // One element of the row is enough.
        problem.q.set({0, 1, 5, 3}, value);
        auto dirty = attend(problem);
        SCOPED_TRACE(caseName(problem) + " " + std::to_string(value));
        EXPECT_TRUE(sameBits(dirty.o.select(1, 0), clean.o.select(1, 0)));
        Tensor o = dirty.o.select(1, 1), expected = clean.o.select(1, 1);
        EXPECT_TRUE(sameBits(rowsOf(o, 0, 5), rowsOf(expected, 0, 5)));
        EXPECT_TRUE(isAll(rowsOf(o, 5, 6), notANumber));
        EXPECT_TRUE(sameBits(rowsOf(o, 6, kRows), rowsOf(expected, 6, kRows)));
        EXPECT_TRUE(std::isnan(dirty.lse.at<float>({0, 1, 5})) ||
                    dirty.lse.at<float>({0, 1, 5}) == infinity);
        EXPECT_TRUE(std::isfinite(dirty.lse.at<float>({0, 1, 6})));
      }
}

TEST(FlashAttentionNonFinite, ValueConcernsItsColumnOnly) {
  for (bool causal : {false, true})
    for (double value : {notANumber, infinity, -infinity})
      for (DType dtype : {DType::F32, DType::F16, DType::BF16}) {
        auto problem = causalProblem(dtype);
        problem.options.causal = causal;
        problem.v.set({0, 0, 70, 9}, 0.0);
        auto clean = attend(problem);
        const Judgement judgement(problem);
        problem.v.set({0, 0, 70, 9}, value);
        auto dirty = attend(problem);
        SCOPED_TRACE(caseName(problem) + " " + std::to_string(value));
        Tensor column = dirty.o.select(1, 0).narrow(2, 9, 1);
        int64_t first = causal ? 70 : 0;
        EXPECT_TRUE(isAll(rowsOf(column, first, kRows), value));
        // Everything else keeps its value, and its bits where nothing is
        // masked: masked tiles with such a v are added key by key.
        column.narrow(1, first, kRows - first)
            .copyFrom(clean.o.select(1, 0).narrow(2, 9, 1).narrow(
                1, first, kRows - first));
        if (causal)
          judgement.expectAccurate(dirty);
        else
          expectSameBits(dirty, clean);
      }
}

TEST(FlashAttentionNonFinite, InfinitiesOfBothSignsMakeNaN) {
  auto problem = causalProblem(DType::F32);
  problem.v.set({0, 0, 20, 4}, infinity);
  problem.v.set({0, 0, 90, 4}, -infinity);
  auto result = attend(problem);
  Tensor column = result.o.select(1, 0).narrow(2, 4, 1);
  EXPECT_TRUE(isAll(rowsOf(column, 20, 90), infinity));
  EXPECT_TRUE(isAll(rowsOf(column, 90, kRows), notANumber));
  Judgement(problem).expectAccurate(result);
}

TEST(FlashAttentionNonFinite, NaNScoreWinsOverInfiniteValue) {
  for (bool causal : {false, true}) {
    auto problem = causalProblem(DType::F32);
    problem.options.causal = causal;
    problem.q.set({0, 0, 100, 0}, notANumber);
    setRow(problem.v, 20, infinity);
    auto result = attend(problem);
    EXPECT_TRUE(isAll(rowsOf(result.o.select(1, 0), 100, 101), notANumber));
    EXPECT_TRUE(isAll(rowsOf(result.o.select(1, 0), 20, 100), infinity));
    EXPECT_TRUE(isAll(rowsOf(result.o.select(1, 0), 101, kRows), infinity));
  }
}

TEST(FlashAttentionNonFinite, AgreesWithTheReferenceEverywhere) {
  // Sprinkled over keys, values and queries; the judge compares the places.
  for (DType dtype : {DType::F32, DType::BF16}) {
    auto problem = causalProblem(dtype, 16);
    problem.k.set({0, 0, 100, 3}, notANumber);
    problem.v.set({0, 0, 3, 2}, infinity);
    problem.v.set({0, 0, 66, 2}, -infinity);
    problem.v.set({0, 1, 80, 5}, notANumber);
    problem.v.set({0, 1, 81, 6}, infinity);
    problem.q.set({0, 1, 90, 0}, notANumber);
    SCOPED_TRACE(caseName(problem));
    // A yardstick with infinities gives no limit, so the places are compared
    // here and the finite elements by the kernel without them.
    auto result = attend(problem);
    Judgement judgement(problem);
    std::vector<double> actual = result.o.toVector<double>(),
                        expected = judgement.truth.o.toVector<double>();
    for (size_t i = 0; i < actual.size(); ++i) {
      ASSERT_EQ(std::isnan(actual[i]), std::isnan(expected[i])) << i;
      if (std::isinf(expected[i]))
        ASSERT_EQ(actual[i], expected[i]) << i;
      else if (!std::isnan(expected[i]))
        ASSERT_NEAR(actual[i], expected[i], dtype == DType::F32 ? 1e-5 : 0.05)
            << i;
    }
  }
}

TEST(FlashAttentionNonFinite, NothingIsReadBehindTheEnds) {
  for (double poison : {notANumber, infinity})
    for (bool causal : {false, true})
      for (auto [n, m] : {std::pair(33, 33), std::pair(1, 65), std::pair(65, 7),
                          std::pair(130, 193)})
        for (DType dtype : {DType::F32, DType::BF16}) {
          auto problem =
              randomProblem({2, 3, n, 24}, {2, 3, m, 24}, dtype, causal);
          auto clean = attend(problem);
          problem.q = surrounded(problem.q, poison);
          problem.k = surrounded(problem.k, poison);
          problem.v = surrounded(problem.v, poison);
          SCOPED_TRACE(caseName(problem));
          expectSameBits(attend(problem), clean);
        }
}
