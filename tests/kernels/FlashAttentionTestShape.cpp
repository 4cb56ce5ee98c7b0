//===- FlashAttentionTestShape.cpp - Lengths, heads, head dims and tiles --===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every shape that is allowed, at the edges of tiles above all, judged head by
// head. The heavy sweeps are split so that ctest -j runs them side by side.
//
//===----------------------------------------------------------------------===//

#include "FlashAttentionTestSupport.h"

using namespace flashtile;
using ::testing::HasSubstr;

//===----------------------------------------------------------------------===//
// Sequence lengths
//===----------------------------------------------------------------------===//

namespace {
/// Element type, causal.
class FlashAttentionLength
    : public ::testing::TestWithParam<std::tuple<DType, bool>> {};
} // namespace

static std::string lengthName(
    const ::testing::TestParamInfo<FlashAttentionLength::ParamType> &info) {
  auto [dtype, causal] = info.param;
  return toString(dtype) + (causal ? "_causal" : "_full");
}

INSTANTIATE_TEST_SUITE_P(
    Types, FlashAttentionLength,
    ::testing::Combine(::testing::Values(DType::F32, DType::F16, DType::BF16),
                       ::testing::Bool()),
    lengthName);

// Three heads, since what runs over a ragged end lands in the next one.
TEST_P(FlashAttentionLength, AroundTileEdges) {
  auto [dtype, causal] = GetParam();
  for (int64_t n : {1, 2, 7, 15, 16, 17, 31, 33, 63, 64, 65, 97, 127, 128, 129,
                    193, 257, 441}) {
    auto problem =
        randomProblem({1, 3, n, 64}, {1, 3, n, 64}, dtype, causal, n);
    SCOPED_TRACE(caseName(problem));
    expectAccurate(problem);
  }
}

TEST_P(FlashAttentionLength, Long) {
  auto [dtype, causal] = GetParam();
  expectAccurate(
      randomProblem({1, 3, 1025, 64}, {1, 3, 1025, 64}, dtype, causal));
}

TEST_P(FlashAttentionLength, QueriesAndKeysDiffer) {
  auto [dtype, causal] = GetParam();
  for (auto [n, m] : {std::pair(1, 300), std::pair(2, 64), std::pair(17, 129),
                      std::pair(129, 17), std::pair(64, 65), std::pair(65, 64),
                      std::pair(300, 1)}) {
    auto problem = randomProblem({2, 3, n, 32}, {2, 3, m, 32}, dtype, causal);
    SCOPED_TRACE(caseName(problem));
    expectAccurate(problem);
  }
}

TEST(FlashAttentionShape, OneKeyReturnsItsValue) {
  Problem problem = randomProblem({1, 1, 1, 16}, {1, 1, 1, 16}, DType::F16);
  for (Tensor *tensor : {&problem.q, &problem.k, &problem.v})
    for (int64_t i = 0; i < 16; ++i)
      tensor->set({0, 0, 0, i}, 3 * double(tensor->at<Float16>({0, 0, 0, i})));
  for (bool causal : {false, true}) {
    problem.options.causal = causal;
    EXPECT_TRUE(sameBits(expectAccurate(problem).o, problem.v));
  }
}

TEST(FlashAttentionShape, OneQueryOfManyHeads) {
  for (bool causal : {false, true})
    expectAccurate(
        randomProblem({4, 32, 1, 128}, {4, 32, 20, 128}, DType::F16, causal));
}

TEST(FlashAttentionShape, EmptyExtents) {
  for (bool causal : {false, true}) {
    for (auto [q, kv] : {std::pair<Shape, Shape>{{0, 16}, {5, 16}},
                         {{2, 3, 0, 16}, {2, 3, 5, 16}},
                         {{2, 3, 0, 16}, {2, 3, 0, 16}},
                         {{0, 3, 4, 16}, {0, 3, 5, 16}},
                         {{2, 0, 4, 16}, {2, 0, 5, 16}},
                         {{0, 2, 3, 4, 16}, {0, 2, 3, 5, 16}}}) {
      auto problem = randomProblem(q, kv, DType::F32, causal);
      SCOPED_TRACE(caseName(problem));
      auto result = attend(problem);
      EXPECT_EQ(result.o.shape(), q);
    }
    auto result = attend(randomProblem({7, 16}, {0, 16}, DType::F32, causal));
    EXPECT_TRUE(isAll(result.o, 0));
    EXPECT_TRUE(isAll(result.lse, -infinity));
  }
}

TEST(FlashAttentionShape, RanksAreViewsOfOneProblem) {
  for (bool causal : {false, true}) {
    auto problem =
        randomProblem({6, 1, 37, 16}, {6, 1, 41, 16}, DType::BF16, causal);
    auto expected = expectAccurate(problem);
    for (const Shape &lead :
         {Shape{6}, Shape{1, 6}, Shape{2, 3}, Shape{6, 1}, Shape{3, 2, 1},
          Shape{3, 1, 2, 1}, Shape{1, 1, 1, 1, 6}}) {
      auto shaped = [&](const Tensor &tensor, int64_t rows) {
        Shape shape = lead;
        shape.insert(shape.end(), {rows, 16});
        return tensor.view(shape);
      };
      Problem other{shaped(problem.q, 37), shaped(problem.k, 41),
                    shaped(problem.v, 41), problem.options};
      SCOPED_TRACE(caseName(other));
      auto result = attend(other);
      EXPECT_EQ(result.o.shape(), other.q.shape());
      EXPECT_TRUE(sameBits(result.o.view({6, 1, 37, 16}), expected.o));
      EXPECT_TRUE(sameBits(result.lse.view({6, 1, 37}), expected.lse));
    }
    for (int64_t head = 0; head < 6; ++head) {
      Problem one{problem.q.select(0, head).select(0, 0),
                  problem.k.select(0, head).select(0, 0),
                  problem.v.select(0, head).select(0, 0), problem.options};
      auto result = attend(one);
      EXPECT_TRUE(sameBits(result.o, expected.o.select(0, head).select(0, 0)));
    }
  }
}

TEST(FlashAttentionShape, HeadsDoNotDependOnTheirCompany) {
  auto all = randomProblem({4, 3, 45, 32}, {4, 3, 45, 32}, DType::F16, true);
  auto expected = attend(all);
  for (int64_t begin : {0, 2}) {
    Problem half{all.q.narrow(0, begin, 2), all.k.narrow(0, begin, 2),
                 all.v.narrow(0, begin, 2), all.options};
    auto result = attend(half);
    EXPECT_TRUE(sameBits(result.o, expected.o.narrow(0, begin, 2)));
    EXPECT_TRUE(sameBits(result.lse, expected.lse.narrow(0, begin, 2)));
  }
}

// The launch flattens nothing to 16 bits.
TEST(FlashAttentionShape, MoreHeadsThan65535) {
  constexpr int64_t kHeads = 65537;
  auto few = randomProblem({1, 1, 3, 8}, {1, 1, 3, 8}, DType::F16);
  auto expected = expectAccurate(few);
  for (bool inBatch : {false, true}) {
    Shape shape = inBatch ? Shape{kHeads, 1, 3, 8} : Shape{1, kHeads, 3, 8};
    Problem many{few.q.expand(shape), few.k.expand(shape), few.v.expand(shape),
                 few.options};
    auto result = attend(many);
    EXPECT_TRUE(sameBits(result.o, expected.o.expand(shape)));
  }
}

//===----------------------------------------------------------------------===//
// Groups of heads
//===----------------------------------------------------------------------===//

/// k or v with each head repeated `group` times.
static Tensor repeatHeads(const Tensor &tensor, int64_t group) {
  return tensor.unsqueeze(2)
      .expand({tensor.size(0), tensor.size(1), group, tensor.size(2),
               tensor.size(3)})
      .reshape({tensor.size(0), tensor.size(1) * group, tensor.size(2),
                tensor.size(3)});
}

TEST(FlashAttentionShape, GroupsOfHeads) {
  for (auto [heads, shared] :
       {std::pair(6, 2), std::pair(9, 3), std::pair(12, 2), std::pair(7, 1),
        std::pair(8, 8)})
    for (bool causal : {false, true}) {
      auto problem = randomProblem({2, heads, 50, 64}, {2, shared, 50, 64},
                                   DType::BF16, causal);
      SCOPED_TRACE(caseName(problem));
      auto grouped = expectAccurate(problem);
      problem.k = repeatHeads(problem.k, heads / shared);
      problem.v = repeatHeads(problem.v, heads / shared);
      expectSameBits(attend(problem), grouped);
    }
}

TEST(FlashAttentionShape, HeadsThatDoNotDivideAreRefused) {
  for (auto [heads, shared] :
       {std::pair(3, 2), std::pair(33, 2), std::pair(2, 3), std::pair(2, 4),
        std::pair(3, 0)}) {
    std::string message = refusal(
        randomProblem({1, heads, 4, 16}, {1, shared, 4, 16}, DType::F32));
    EXPECT_THAT(message, HasSubstr("heads"));
    EXPECT_THAT(message, HasSubstr(std::to_string(heads) + " and " +
                                   std::to_string(shared)));
  }
}

//===----------------------------------------------------------------------===//
// Head dimensions
//===----------------------------------------------------------------------===//

namespace {
class FlashAttentionHeadDim : public ::testing::TestWithParam<int64_t> {};
} // namespace

INSTANTIATE_TEST_SUITE_P(From, FlashAttentionHeadDim,
                         ::testing::Values(8, 72, 136, 200),
                         ::testing::PrintToStringParamName());

// Unread padding is NaN here, and repeated runs see whatever lies in scratch.
TEST_P(FlashAttentionHeadDim, EveryStepOfEight) {
  for (int64_t headDim = GetParam(); headDim < GetParam() + 64; headDim += 8) {
    if (headDim > 256)
      break;
    for (DType dtype : {DType::F16, DType::F32}) {
      auto problem = randomProblem({1, 2, 70, headDim}, {1, 2, 70, headDim},
                                   dtype, dtype == DType::F32);
      SCOPED_TRACE(caseName(problem));
      auto first = expectAccurate(problem);
      problem.q = surrounded(problem.q);
      problem.k = surrounded(problem.k);
      problem.v = surrounded(problem.v);
      for (int run = 1; run < 4; ++run)
        expectSameBits(attend(problem), first);
    }
  }
}

TEST(FlashAttentionShape, LongHeadsOfOddHeadDims) {
  for (int64_t headDim : {24, 72, 112, 192, 256}) {
    auto problem =
        randomProblem({1, 512, 2, headDim}, {1, 512, 2, headDim}, DType::F16);
    for (Tensor *tensor : {&problem.q, &problem.k, &problem.v})
      *tensor = tensor->transpose(1, 2);
    SCOPED_TRACE(caseName(problem));
    auto first = expectAccurate(problem);
    for (int run = 1; run < 4; ++run)
      expectSameBits(attend(problem), first);
  }
}

TEST(FlashAttentionShape, OtherHeadDimsAreRefused) {
  for (int64_t headDim : {0, 1, 4, 7, 9, 12, 63, 65, 100, 250, 257, 264, 512}) {
    std::string message = refusal(
        randomProblem({1, 1, 4, headDim}, {1, 1, 4, headDim}, DType::BF16));
    EXPECT_THAT(message, HasSubstr("head dimension between 8 and 256"));
    EXPECT_THAT(message, HasSubstr("got " + std::to_string(headDim)));
  }
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {
class FlashAttentionTile
    : public ::testing::TestWithParam<std::pair<int64_t, int64_t>> {};
} // namespace

static std::string
tileName(const ::testing::TestParamInfo<std::pair<int64_t, int64_t>> &info) {
  return std::to_string(info.param.first) + "x" +
         std::to_string(info.param.second);
}

INSTANTIATE_TEST_SUITE_P(Sizes, FlashAttentionTile,
                         ::testing::Values(std::pair(48, 80), std::pair(7, 5),
                                           std::pair(100, 36), std::pair(1, 1),
                                           std::pair(1, 64), std::pair(64, 1),
                                           std::pair(128, 64),
                                           std::pair(33, 17),
                                           std::pair(200, 256)),
                         tileName);

TEST_P(FlashAttentionTile, AnySize) {
  auto [blockM, blockN] = GetParam();
  for (bool causal : {false, true})
    for (DType dtype : {DType::F32, DType::BF16})
      // Tiles larger than the problem, an exact fit at times, and ragged.
      for (auto [n, m] :
           {std::pair(3, 4), std::pair(100, 80), std::pair(131, 163)}) {
        auto problem =
            randomProblem({1, 2, n, 40}, {1, 2, m, 40}, dtype, causal);
        problem.options.blockM = blockM;
        problem.options.blockN = blockN;
        SCOPED_TRACE(caseName(problem));
        expectAccurate(problem);
      }
}

TEST(FlashAttentionShape, TilesOutOfRangeAreRefused) {
  for (auto [blockM, blockN] :
       {std::pair(-1, 64), std::pair(64, -5), std::pair(1 << 20, 64),
        std::pair(64, 1 << 20)}) {
    auto problem = randomProblem({1, 1, 4, 16}, {1, 1, 4, 16}, DType::F32);
    problem.options.blockM = blockM;
    problem.options.blockN = blockN;
    EXPECT_THAT(refusal(problem),
                HasSubstr(blockM == 64 ? "blockN" : "blockM"));
  }
}
