//===- MatmulTest.cpp - Products of matrices on the cpu -------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/Matmul.h"

#include "kernels/MatmulKernel.h"
#include "kernels/Reference/Matmul.h"
#include "tests/kernels/FlashAttentionTestSupport.h"

using namespace flashtile;
using testing::HasSubstr;

/// Judges `c`, by what a plain product in f32 gives in the type of c.
static ::testing::AssertionResult isProduct(const Tensor &c, const Tensor &a,
                                            const Tensor &b) {
  const Tensor truth = reference::matmul(a, b);
  const Tensor plain = reference::matmul(a, b, DType::F32).to(c.dtype());
  return accepted(reference::judge(c, truth, plain));
}

static std::string matmulRefusal(const Tensor &a, const Tensor &b,
                                 const MatmulOptions &options = {}) {
  return refusalOf([&] { matmul(a, b, options); });
}

TEST(MatmulTest, AnySizeAndType) {
  for (DType type : {DType::F64, DType::F32, DType::F16, DType::BF16,
                     DType::F8E4M3FN, DType::F8E5M2})
    for (auto [m, n, k] : {std::tuple(1, 1, 1), std::tuple(65, 130, 70),
                           std::tuple(128, 64, 64), std::tuple(3, 200, 513)}) {
      const Tensor a = Tensor::randn({m, k}, type, 1);
      const Tensor b = Tensor::randn({k, n}, type, 2);
      const Tensor c = matmul(a, b);
      EXPECT_TRUE(isProduct(c, a, b)) << a.describe() << " " << b.describe();
      const bool isFp8 = elementSize(type) == 1;
      EXPECT_EQ(c.dtype(), isFp8 ? DType::BF16 : type);
    }
}

TEST(MatmulTest, IntegersAreExact) {
  const Tensor a =
      Tensor::uniform({70, 200}, DType::F32, 1, -128, 128).to(DType::I8);
  const Tensor b =
      Tensor::uniform({200, 33}, DType::F32, 2, -128, 128).to(DType::I8);
  const Tensor c = matmul(a, b);
  EXPECT_EQ(c.dtype(), DType::I32);
  EXPECT_EQ(c.toVector<double>(), reference::matmul(a, b).toVector<double>());
}

TEST(MatmulTest, EveryOrderOfEveryOperand) {
  constexpr int64_t m = 70, n = 90, k = 50;
  auto operand = [](int64_t rows, int64_t columns, int order, uint64_t seed) {
    if (order == 0)
      return Tensor::randn({rows, columns}, DType::F32, seed);
    if (order == 1)
      return Tensor::randn({columns, rows}, DType::F32, seed).transpose(0, 1);
    return Tensor::randn({rows, 2 * columns}, DType::F32, seed)
        .slice(1, 0, 2 * columns, 2);
  };
  for (int orderA : {0, 1, 2})
    for (int orderB : {0, 1, 2})
      for (int orderC : {0, 1, 2}) {
        const Tensor a = operand(m, k, orderA, 1), b = operand(k, n, orderB, 2);
        GuardedTensor c({m, n}, DType::F32, orderC == 1 ? Shape{1, 0} : Shape{},
                        0, orderC == 2 ? 3 : 1);
        matmul(a, b, {}, c.tensor());
        EXPECT_TRUE(isProduct(c.tensor(), a, b)) << orderA << orderB << orderC;
        EXPECT_TRUE(c.isIntact()) << orderA << orderB << orderC;
      }
}

TEST(MatmulTest, LeadingDimensionsBroadcast) {
  for (auto [shapeA, shapeB] :
       {std::pair(Shape{3, 20, 8}, Shape{3, 8, 5}),
        std::pair(Shape{2, 3, 20, 8}, Shape{2, 3, 8, 5}),
        std::pair(Shape{2, 3, 20, 8}, Shape{8, 5}),
        std::pair(Shape{20, 8}, Shape{4, 8, 5}),
        std::pair(Shape{2, 1, 20, 8}, Shape{1, 3, 8, 5}),
        std::pair(Shape{2, 1, 2, 9, 8}, Shape{3, 1, 8, 5})}) {
    const Tensor a = Tensor::randn(shapeA, DType::F32, 1);
    const Tensor b = Tensor::randn(shapeB, DType::F32, 2);
    EXPECT_TRUE(isProduct(matmul(a, b), a, b))
        << a.describe() << " " << b.describe();
  }
}

TEST(MatmulTest, GroupsShareAMatrix) {
  const Tensor a = Tensor::randn({2, 6, 20, 8}, DType::F32, 1);
  const Tensor b = Tensor::randn({2, 2, 8, 5}, DType::F32, 2);
  MatmulOptions options;
  options.group = 3;
  const Tensor c = matmul(a, b, options);
  const Tensor spread =
      b.unsqueeze(2).expand({2, 2, 3, 8, 5}).reshape({2, 6, 8, 5});
  EXPECT_TRUE(isProduct(c, a, spread));
}

TEST(MatmulTest, AnyTile) {
  const Tensor a = Tensor::randn({100, 77}, DType::BF16, 1);
  const Tensor b = Tensor::randn({77, 45}, DType::BF16, 2);
  for (auto [blockM, blockN, blockK] :
       {std::tuple(16, 16, 16), std::tuple(7, 5, 3), std::tuple(128, 8, 96)}) {
    MatmulOptions options;
    options.tiles = {blockM, blockN, blockK, 0, 0};
    EXPECT_TRUE(isProduct(matmul(a, b, options), a, b)) << blockM;
    const MatmulTiles used = matmulTiles(a, b, options);
    EXPECT_EQ(used.blockM, blockM);
    EXPECT_EQ(used.blockK, blockK);
  }
}

/// More tiles down than a group has, and not a multiple.
TEST(MatmulTest, ManyRowsOfTiles) {
  const Tensor a = Tensor::randn({16 * 19 + 3, 20}, DType::F32, 1);
  const Tensor b = Tensor::randn({20, 16 * 3 + 1}, DType::F32, 2);
  MatmulOptions options;
  options.tiles = {16, 16, 32, 0, 0};
  EXPECT_TRUE(isProduct(matmul(a, b, options), a, b));
}

TEST(MatmulTest, OutputTypes) {
  const Tensor a = Tensor::randn({40, 30}, DType::BF16, 1);
  const Tensor b = Tensor::randn({30, 20}, DType::BF16, 2);
  for (DType type : {DType::F64, DType::F32, DType::F16, DType::F8E5M2}) {
    MatmulOptions options;
    options.outputType = type;
    const Tensor c = matmul(a, b, options);
    EXPECT_EQ(c.dtype(), type);
    EXPECT_TRUE(isProduct(c, a, b)) << toString(type);
  }
}

TEST(MatmulTest, NothingToDo) {
  auto zeros = [](const Shape &shape) {
    return Tensor::zeros(shape, DType::F32);
  };
  EXPECT_EQ(matmul(zeros({0, 4}), zeros({4, 5})).shape(), Shape({0, 5}));
  EXPECT_EQ(matmul(zeros({0, 3, 4}), zeros({0, 4, 5})).numel(), 0);
  EXPECT_EQ(matmul(zeros({3, 0}), zeros({0, 2})).toVector<float>(),
            std::vector<float>(6, 0.0f));
}

TEST(MatmulTest, NaNStaysInItsRowAndColumn) {
  Tensor a = Tensor::full({70, 70}, 1, DType::F32);
  a.set({3, 69}, notANumber);
  const Tensor b = Tensor::full({70, 70}, 1, DType::F32);
  const Tensor c = matmul(surrounded(a), surrounded(b));
  for (int64_t row = 0; row < 70; ++row)
    EXPECT_TRUE(isAll(c.select(0, row), row == 3 ? notANumber : 70)) << row;
}

TEST(MatmulTest, TunesOnce) {
  const Tensor a = Tensor::randn({200, 64}, DType::F32, 1);
  const Tensor b = Tensor::randn({64, 200}, DType::F32, 2);
  MatmulOptions options;
  options.tune = true;
  options.tiles.blockK = 32;
  EXPECT_TRUE(isProduct(matmul(a, b, options), a, b));
  const MatmulTiles tiles = matmulTiles(a, b, options);
  EXPECT_EQ(tiles.blockK, 32);
  EXPECT_EQ(matmulTiles(a, b, options).blockM, tiles.blockM);
  const TuningResult result = matmulTuning(a, b, options);
  EXPECT_TRUE(result.fromCache);
  EXPECT_EQ(result.best.at("block_m"), tiles.blockM);
  EXPECT_GT(result.trials.size(), 1u);
  EXPECT_THAT(refusalOf([&] { matmulTuning(a.narrow(0, 0, 0), b, options); }),
              HasSubstr("expected a product to measure"));
}

TEST(MatmulTest, RefusesWhatDoesNotFit) {
  const Tensor a = Tensor::zeros({4, 8}, DType::F32);
  EXPECT_THAT(matmulRefusal(a, Tensor()), HasSubstr("'b' is undefined"));
  EXPECT_THAT(matmulRefusal(Tensor::zeros({8}, DType::F32), a),
              HasSubstr("expected 'a' to be [..., m, k], but got f32[8]"));
  EXPECT_THAT(matmulRefusal(a, Tensor::zeros({9, 2}, DType::F32)),
              HasSubstr("expected 'b' with 8 rows"));
  EXPECT_THAT(matmulRefusal(a, Tensor::zeros({8, 2}, DType::BF16)),
              HasSubstr("expected 'b' of type f32, as 'a', but got bf16"));
  EXPECT_THAT(matmulRefusal(Tensor::zeros({2, 2}, DType::I32),
                            Tensor::zeros({2, 2}, DType::I32)),
              HasSubstr("float type or i8, but got i32"));
  EXPECT_THAT(matmulRefusal(Tensor::zeros({2, 4, 8}, DType::F32),
                            Tensor::zeros({3, 8, 2}, DType::F32)),
              HasSubstr("leading dimensions that broadcast"));
  MatmulOptions grouped;
  grouped.group = 2;
  EXPECT_THAT(matmulRefusal(Tensor::zeros({3, 4, 8}, DType::F32),
                            Tensor::zeros({2, 8, 2}, DType::F32), grouped),
              HasSubstr("and group 2"));
  MatmulOptions integer;
  integer.outputType = DType::I32;
  EXPECT_THAT(matmulRefusal(a, Tensor::zeros({8, 2}, DType::F32), integer),
              HasSubstr("expected outputType to be a float type for dtype f32, "
                        "but got i32"));
  MatmulOptions huge;
  huge.tiles.blockM = 1 << 21;
  EXPECT_THAT(matmulRefusal(a, Tensor::zeros({8, 2}, DType::F32), huge),
              HasSubstr("expected blockM between 1 and 1048576, but got "
                        "2097152"));
  Tensor c = Tensor::zeros({4, 3}, DType::F32);
  EXPECT_THAT(
      refusalOf([&] { matmul(a, Tensor::zeros({8, 2}, DType::F32), {}, c); }),
      HasSubstr("expected 'c' to be f32[4, 2], but got f32[4, 3]"));
}

TEST(MatmulKernelTest, RefusesConfigurations) {
  kernels::MatmulKernelConfig config;
  config.groupM = 0;
  EXPECT_THAT(refusalOf([&] { buildMatmulKernel(config); }),
              HasSubstr("expected groupM between 1 and"));
  config = {};
  config.dtype = ElementType::I8;
  config.outputType = ElementType::F32;
  EXPECT_THAT(refusalOf([&] { buildMatmulKernel(config); }),
              HasSubstr("expected outputType to be i32 for dtype i8"));
}
