//===- BroadcastTest.cpp - How shapes and types meet ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FrontendTestSupport.h"

using namespace flashtile;
using namespace flashtile::dsl;
using testing::HasSubstr;
using testing::Not;

namespace {
struct BroadcastCase {
  Shape lhs, rhs;
  Shape result; ///< empty with two tiles: an error
};
} // namespace

TEST(FrontendBroadcast, Table) {
  const BroadcastCase cases[] = {
      {{4}, {4}, {4}},
      {{4}, {1}, {4}},
      {{1}, {4}, {4}},
      {{1}, {1}, {1}},
      {{3, 4}, {4}, {3, 4}},
      {{4}, {3, 4}, {3, 4}},
      {{3, 1}, {4}, {3, 4}},
      {{3, 1}, {1, 4}, {3, 4}},
      {{3, 4}, {3, 1}, {3, 4}},
      {{2, 3, 4}, {3, 1}, {2, 3, 4}},
      {{2, 1, 4}, {3, 1}, {2, 3, 4}},
      {{5}, {2, 3, 1}, {2, 3, 5}},
      {{7, 40}, {40}, {7, 40}},
      {{3, 4}, {3}, {}},
      {{3}, {3, 4}, {}},
      {{4}, {5}, {}},
      {{3, 4}, {4, 3}, {}},
      {{2, 3, 4}, {2, 4}, {}},
      {{2, 3, 4}, {2, 1, 3}, {}},
      {{2}, {3, 1, 4}, {}},
  };
  for (const BroadcastCase &test : cases) {
    KernelBuilder kernel("k");
    Value lhs = zeros(test.lhs, f32), rhs = full(test.rhs, 1, f32);
    SCOPED_TRACE(lhs.typeText() + " and " + rhs.typeText());
    if (test.result.empty()) {
      EXPECT_COMPILE_ERROR(lhs + rhs, "shapes that broadcast");
      EXPECT_COMPILE_ERROR(rhs < lhs, "shapes that broadcast");
      continue;
    }
    EXPECT_EQ((lhs + rhs).shape(), test.result);
    EXPECT_EQ((lhs < rhs).shape(), test.result);
    EXPECT_EQ(maximum(rhs, lhs).shape(), test.result);
    EXPECT_EQ(where(lhs > 0, rhs, 0.0).shape(), test.result);
    kernel.build();
  }
}

TEST(FrontendBroadcast, ScalarsFitEveryShape) {
  TestKernel k;
  EXPECT_EQ((k.tile * k.x).shape(), (Shape{16, 32}));
  EXPECT_EQ((k.x - k.row).shape(), Shape{32});
  EXPECT_TRUE((k.x + k.x).isScalar());
  EXPECT_EQ(where(k.flag, k.row, k.x).shape(), Shape{32});
  EXPECT_THAT(k.text(), HasSubstr("tile.splat %x : f32 -> tensor<16x32xf32>"));
}

// A boolean row and column keep their place (a column of one must not fill
// two).
TEST(FrontendBroadcast, BooleanRowAndColumn) {
  TestKernel k;
  Value lane = arange(0, 16);
  Value row = expandDims(lane == 1, 0), column = expandDims(lane == 1, 1);
  EXPECT_EQ((row & column).shape(), (Shape{16, 16}));
  std::string text = k.text();
  EXPECT_THAT(text, HasSubstr("tile.broadcast %7 : tensor<1x16xi1> -> "));
}

TEST(FrontendBroadcast, LeadingDimensionsAreAdded) {
  KernelBuilder kernel("k");
  Value lane = arange(0, 4);
  EXPECT_EQ((zeros({2, 3, 4}, i32) + lane).shape(), (Shape{2, 3, 4}));
  std::string text = kernel.build().text();
  EXPECT_THAT(text, HasSubstr("tensor<4xi32> -> tensor<1x4xi32>"));
  EXPECT_THAT(text, HasSubstr("tensor<1x4xi32> -> tensor<1x1x4xi32>"));
  EXPECT_THAT(text, HasSubstr("tensor<1x1x4xi32> -> tensor<2x3x4xi32>"));
}

TEST(FrontendBroadcast, EqualShapesNeedNothing) {
  TestKernel k;
  store(k.window, k.tile + k.tile);
  std::string text = k.text();
  EXPECT_THAT(text, Not(HasSubstr("tile.broadcast")));
  EXPECT_THAT(text, Not(HasSubstr("tile.expand_dims")));
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

TEST(FrontendTypes, LiteralsTakeTheOthersType) {
  TestKernel k;
  EXPECT_EQ((k.row * 2).elementType(), f32);
  EXPECT_EQ((2.5 - k.row).elementType(), f32);
  EXPECT_EQ((zeros({4}, bf16) + 0.1f).elementType(), bf16);
  EXPECT_EQ((zeros({4}, i8) + 127).elementType(), i8);
  EXPECT_EQ((k.wide + (1L << 40)).elementType(), i64);
  EXPECT_EQ((k.mask & true).elementType(), i1);
  EXPECT_EQ(where(k.mask, 1.0, 0).elementType(), f32);
  EXPECT_EQ(where(k.mask, 1, 0).elementType(), i32);
  EXPECT_EQ(where(k.mask, true, false).elementType(), i1);
  EXPECT_EQ((-k.n).elementType(), i32);
  EXPECT_EQ((~k.n).elementType(), i32);
}

TEST(FrontendTypes, Int32MeetsInt64) {
  TestKernel k;
  EXPECT_EQ((k.n + k.wide).elementType(), i64);
  EXPECT_EQ((k.wide * k.index).elementType(), i64);
  EXPECT_EQ((k.index < k.wide).shape(), Shape{32});
  EXPECT_EQ(where(k.mask, k.index, k.wide).elementType(), i64);
  EXPECT_THAT(k.text(), HasSubstr("arith.extsi %n : i32 to i64"));
}

TEST(FrontendTypes, ComparisonsGiveBooleans) {
  TestKernel k;
  for (Value value : {k.row == 1, k.row != 1, k.row < 1, k.row <= 1, k.row > 1,
                      k.row >= 1, isNaN(k.row), isFinite(k.row)})
    EXPECT_EQ(value.elementType(), i1);
  std::string text = k.text();
  for (const char *predicate :
       {"oeq", "une", "olt", "ole", "ogt", "oge", "uno"})
    EXPECT_THAT(text, HasSubstr(std::string("arith.cmpf ") + predicate));
}

// Every pair of types converts, by operations that verify.
TEST(FrontendTypes, CastTable) {
  const ElementType types[] = {f64, f32, f16, bf16, f8E4M3FN, f8E5M2,
                               i1,  i8,  i16, i32,  i64};
  KernelBuilder kernel("k");
  for (ElementType from : types)
    for (ElementType to : types) {
      Value tile = cast(zeros({4}, from), to);
      EXPECT_EQ(tile.elementType(), to);
      EXPECT_EQ(tile.shape(), Shape{4});
    }
  kernel.build();
}

TEST(FrontendTypes, CastsByKind) {
  TestKernel k;
  cast(k.row, bf16);
  cast(k.index, f32);
  cast(k.mask, f32);
  cast(k.mask, i32);
  cast(k.row, i32);
  cast(k.index, i8);
  cast(k.row, i1);
  std::string text = k.text();
  for (const char *op :
       {"tile.cast", "arith.sitofp", "arith.select", "arith.extui",
        "arith.fptosi", "arith.trunci", "arith.cmpf une"})
    EXPECT_THAT(text, HasSubstr(op));
}

TEST(FrontendTypes, DotAccumulates) {
  KernelBuilder kernel("k");
  auto product = [](ElementType a, ElementType b) {
    return dot(zeros({16, 32}, a), zeros({32, 24}, b));
  };
  EXPECT_EQ(product(f32, f32).elementType(), f32);
  EXPECT_EQ(product(bf16, bf16).elementType(), f32);
  EXPECT_EQ(product(f64, f64).elementType(), f64);
  EXPECT_EQ(product(f8E4M3FN, f8E5M2).elementType(), f32);
  EXPECT_EQ(product(i8, i8).elementType(), i32);
  EXPECT_EQ(product(f16, f16).shape(), (Shape{16, 24}));
  dot(zeros({16, 32}, f32), zeros({32, 16}, f32), Precision::TF32x3);
  EXPECT_THAT(kernel.build().text(), HasSubstr("precision tf32x3"));
}
