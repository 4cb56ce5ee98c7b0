//===- ShapeTest.cpp - Arithmetic on shapes -------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Shape.h"

#include "tests/runtime/ExpectError.h"

#include <limits>

using namespace flashtile;

static constexpr int64_t huge = std::numeric_limits<int64_t>::max();

TEST(ShapeTest, CountsElements) {
  EXPECT_EQ(checkedElementCount({}, ElementType::F32), 1);
  EXPECT_EQ(checkedElementCount({2, 3}, ElementType::F32), 6);
  EXPECT_EQ(checkedElementCount({2, 0, 3}, ElementType::F32), 0);
  EXPECT_EQ(checkedElementCount({huge}, ElementType::I8), huge);
}

TEST(ShapeTest, NegativeExtentIsNamed) {
  EXPECT_ERROR(InvalidArgument, "got -3 for dimension 1 of [2, -3]",
               checkedElementCount({2, -3}, ElementType::F32));
  // Also beside an extent of 0.
  EXPECT_ERROR(InvalidArgument, "got -1",
               checkedElementCount({0, -1}, ElementType::F32));
}

TEST(ShapeTest, OverflowIsAnError) {
  EXPECT_ERROR(InvalidArgument, "exceeds 63 bits",
               checkedElementCount({huge}, ElementType::F16));
  EXPECT_ERROR(InvalidArgument, "exceeds 63 bits",
               checkedElementCount({1 << 30, 1 << 30, 16}, ElementType::I8));
  EXPECT_ERROR(InvalidArgument, "exceeds 63 bits",
               checkedElementCount({0, huge, huge}, ElementType::I8));
}

TEST(ShapeTest, ByteSpanReachesTheLastElement) {
  EXPECT_EQ(checkedByteSpan({2, 3}, {3, 1}, ElementType::F32), 24);
  EXPECT_EQ(checkedByteSpan({2, 3}, {10, 2}, ElementType::F16), 30);
  EXPECT_EQ(checkedByteSpan({5}, {0}, ElementType::F64), 8);
  EXPECT_EQ(checkedByteSpan({}, {}, ElementType::F64), 8);
  EXPECT_EQ(checkedByteSpan({0, 4}, {4, 1}, ElementType::F64), 0);
}

TEST(ShapeTest, ByteSpanRefusesBadStrides) {
  EXPECT_ERROR(InvalidArgument,
               "expected 2 strides for shape [2, 3], but got 1",
               checkedByteSpan({2, 3}, {1}, ElementType::F32));
  EXPECT_ERROR(InvalidArgument, "got -1 for dimension 0",
               checkedByteSpan({2}, {-1}, ElementType::F32));
  EXPECT_ERROR(InvalidArgument, "exceeds 63 bits",
               checkedByteSpan({3}, {huge / 2 + 1}, ElementType::I8));
  EXPECT_ERROR(InvalidArgument, "exceeds 63 bits",
               checkedByteSpan({2, 2}, {huge, 1}, ElementType::I8));
  EXPECT_ERROR(InvalidArgument, "exceeds 63 bits",
               checkedByteSpan({2}, {huge / 2}, ElementType::F32));
}

TEST(ShapeTest, RowMajorStrides) {
  EXPECT_EQ(rowMajorStrides({2, 3, 4}), (Shape{12, 4, 1}));
  EXPECT_EQ(rowMajorStrides({2, 0, 4}), (Shape{4, 4, 1}));
  EXPECT_EQ(rowMajorStrides({}), Shape{});
}

TEST(ShapeTest, Prints) {
  EXPECT_EQ(toString(Shape{}), "[]");
  EXPECT_EQ(toString(Shape{2, 3}), "[2, 3]");
}
