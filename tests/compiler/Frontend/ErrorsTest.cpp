//===- ErrorsTest.cpp - Wrong calls and the line they name ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FrontendTestSupport.h"

#include <cmath>

using namespace flashtile;
using namespace flashtile::dsl;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

TEST(FrontendErrors, MixedElementTypes) {
  TestKernel k;
  Value half = zeros({32}, f16);
  EXPECT_COMPILE_ERROR(k.row + half, "one element type, but got f32 and f16");
  EXPECT_COMPILE_ERROR(half * k.row, "but got f16 and f32; cast one of them");
  EXPECT_COMPILE_ERROR(k.row < k.index, "but got f32 and i32");
  EXPECT_COMPILE_ERROR(k.index + cast(k.index, i8), "but got i32 and i8");
  EXPECT_COMPILE_ERROR(maximum(k.row, half), "but got f32 and f16");
  EXPECT_COMPILE_ERROR(where(k.mask, k.row, half), "but got f32 and f16");
  EXPECT_COMPILE_ERROR(k.row += half, "but got f32 and f16");
}

TEST(FrontendErrors, Literals) {
  TestKernel k;
  Value small = zeros({4}, i8), half = zeros({4}, f16);
  EXPECT_COMPILE_ERROR(small + 300, "expected a literal that fits i8");
  EXPECT_COMPILE_ERROR(k.n + 3000000000, "fits i32, but got 3000000000");
  EXPECT_COMPILE_ERROR(k.index * 0.5, "an integer literal beside i32");
  EXPECT_COMPILE_ERROR(half + 1.0e6, "expected a literal that fits f16");
  EXPECT_COMPILE_ERROR(k.mask & 1, "expected true or false beside i1");
  EXPECT_COMPILE_ERROR(k.row + true, "beside f32, but got the literal true");
  EXPECT_COMPILE_ERROR(k.n + false, "beside i32, but got the literal false");
  EXPECT_COMPILE_ERROR(full({4}, INFINITY, f8E4M3FN), "has no infinity");
  EXPECT_COMPILE_ERROR(full({4}, k.x, f16), "of f16, but got f32");
  EXPECT_COMPILE_ERROR(full({4}, k.row, f32), "expected a scalar to fill");
  EXPECT_COMPILE_ERROR(maximum(1, 2), "but got two literals");
  EXPECT_COMPILE_ERROR(rsqrt(1.0), "but got a literal");
}

TEST(FrontendErrors, OperatorsWithoutMeaning) {
  TestKernel k;
  Value fp8 = zeros({32}, f8E4M3FN);
  EXPECT_COMPILE_ERROR(fp8 + fp8, "but got f8E4M3FN; cast to f16");
  EXPECT_COMPILE_ERROR(fp8 < fp8, "a type with arithmetic");
  EXPECT_COMPILE_ERROR(-fp8, "a type with arithmetic");
  EXPECT_COMPILE_ERROR(max(fp8, 0), "operand of 'max'");
  EXPECT_COMPILE_ERROR(exp(fp8), "operand of 'exp'");
  EXPECT_COMPILE_ERROR(k.mask + k.mask, "operands of '+'");
  EXPECT_COMPILE_ERROR(k.mask < k.mask, "a type with an order");
  EXPECT_COMPILE_ERROR(k.row & k.row, "of an integer type, but got f32");
  EXPECT_COMPILE_ERROR(k.row << 1, "of an integer type");
  EXPECT_COMPILE_ERROR(!k.index, "operand of '!' to be i1, but got i32");
  EXPECT_COMPILE_ERROR(sqrt(k.index), "of a float type, but got i32");
  EXPECT_COMPILE_ERROR(ceilDiv(k.row, 2), "of an integer type");
  EXPECT_COMPILE_ERROR(abs(k.mask), "but got i1");
  EXPECT_COMPILE_ERROR(k.n / 0, "a divisor other than 0");
  EXPECT_COMPILE_ERROR(k.n % 0, "a divisor other than 0");
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

TEST(FrontendErrors, Shapes) {
  TestKernel k;
  Value odd = zeros({31}, f32), other = zeros({32, 16}, f32);
  EXPECT_COMPILE_ERROR(k.row + odd, "got 32 and 31: dimension 0");
  EXPECT_COMPILE_ERROR(k.tile * other, "got 16x32 and 32x16");
  EXPECT_COMPILE_ERROR(where(k.mask, odd, 0), "shapes that broadcast");
  EXPECT_COMPILE_ERROR(broadcastTo(k.row, {32, 16}), "broadcasts to 32x16");
  EXPECT_COMPILE_ERROR(broadcastTo(k.tile, {32}), "but got 16x32");
  EXPECT_COMPILE_ERROR(reshape(k.tile, {16, 31}), "a shape of 512 elements");
  EXPECT_COMPILE_ERROR(reshape(k.tile, {}), "rank 1 or more");
  EXPECT_COMPILE_ERROR(reshape(k.x, {1}), "expected a tile, but got f32");
  EXPECT_COMPILE_ERROR(zeros({0, 4}, f32), "positive extents, but got 0");
  EXPECT_COMPILE_ERROR(zeros({-4}, f32), "positive extents, but got -4");
  EXPECT_COMPILE_ERROR(zeros({2048, 1024}, f32), "at most 1048576 elements");
  EXPECT_COMPILE_ERROR(zeros({1L << 40, 1L << 40}, f32), "at most 1048576");
  EXPECT_COMPILE_ERROR(arange(5, 5), "start < end, but got 5 to 5");
  EXPECT_COMPILE_ERROR(arange(0, 1L << 40), "bounds of 32 bits");
  EXPECT_COMPILE_ERROR(cat(k.tile, k.row, 0), "one rank and element type");
  EXPECT_COMPILE_ERROR(cat(k.tile, other, 0), "dimension 1, but got 32 and 16");
  EXPECT_COMPILE_ERROR(join(k.tile, other), "expected tiles of one type");
}

TEST(FrontendErrors, BroadcastBeyondTheLargestTile) {
  TestKernel k;
  Value column = zeros({2048, 1}, f32), line = zeros({1024}, f32);
  EXPECT_COMPILE_ERROR(column * line, "at most 1048576 elements");
}

TEST(FrontendErrors, Axes) {
  TestKernel k;
  EXPECT_COMPILE_ERROR(max(k.tile, 2), "an axis between -2 and 1, but got 2");
  EXPECT_COMPILE_ERROR(sum(k.tile, -3), "but got -3");
  EXPECT_COMPILE_ERROR(sum(k.x, 0), "expected a tile, but got f32");
  EXPECT_COMPILE_ERROR(sum(k.mask, 0), "cast to i32 first");
  EXPECT_COMPILE_ERROR(expandDims(k.row, 2), "between -2 and 1, but got 2");
  EXPECT_COMPILE_ERROR(expandDims(k.x, 0), "expected a tile");
  EXPECT_COMPILE_ERROR(trans(k.row), "a tile of rank 2");
  EXPECT_COMPILE_ERROR(permute(k.tile, {0, 0}), "a permutation of the 2");
  EXPECT_COMPILE_ERROR(permute(k.tile, {0}), "an order of 2 dimensions");
  EXPECT_COMPILE_ERROR(cat(k.tile, k.tile, 2), "an axis between");
  EXPECT_COMPILE_ERROR(programId(3), "grid axis 0, 1 or 2, but got 3");
  EXPECT_COMPILE_ERROR(numPrograms(-1), "but got -1");
  EXPECT_COMPILE_ERROR(cumsum(k.row, 1), "but got 1");
  EXPECT_COMPILE_ERROR(argmax(k.tile, 5), "but got 5");
}

TEST(FrontendErrors, Dot) {
  TestKernel k;
  Value half = zeros({32, 16}, f16), b = zeros({32, 16}, f32);
  Value ints = zeros({32, 16}, i32);
  EXPECT_COMPILE_ERROR(dot(k.tile, k.row), "expected 'b' of rank 2");
  EXPECT_COMPILE_ERROR(dot(k.tile, k.tile), "rows of 'b' as 'a' has columns");
  EXPECT_COMPILE_ERROR(dot(k.tile, half), "but got f32 and f16");
  EXPECT_COMPILE_ERROR(dot(ints, trans(ints)), "a float type or i8, but got");
  EXPECT_COMPILE_ERROR(dot(k.tile, b, k.tile),
                       "accumulator of type tensor<16x");
  EXPECT_COMPILE_ERROR(dot(trans(half), half, Precision::TF32), "IEEE");
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(FrontendErrors, BlockPointers) {
  TestKernel k;
  EXPECT_COMPILE_ERROR(makeBlockPtr(k.x, {1}, {1}, {0}, {4}), "but got f32");
  EXPECT_COMPILE_ERROR(makeBlockPtr(k.pointer, {1}, {1, 1}, {0, 0}, {4, 4}),
                       "2 extents");
  EXPECT_COMPILE_ERROR(makeBlockPtr(k.pointer, {1}, {1}, {0, 0}, {4}),
                       "1 offsets");
  EXPECT_COMPILE_ERROR(makeBlockPtr(k.pointer, {k.x}, {1}, {0}, {4}),
                       "extents to be an i32 or i64");
  EXPECT_COMPILE_ERROR(makeBlockPtr(k.pointer, {1}, {1}, {0}, {0}),
                       "positive extents");
  EXPECT_COMPILE_ERROR(makeBlockPtr(k.pointer, {1}, {1}, {0}, {}),
                       "rank 1 or more");
  EXPECT_COMPILE_ERROR(
      makeBlockPtr(k.pointer, {1, 1}, {1, 1}, {0, 0}, {4, 4}, {1, 1}),
      "permutation");
  EXPECT_COMPILE_ERROR(makeBlockPtr(k.pointer, {1.5}, {1}, {0}, {4}),
                       "integer literal");
  EXPECT_COMPILE_ERROR(advance(k.pointer, {1}), "a block pointer, but got");
  EXPECT_COMPILE_ERROR(advance(k.window, {1}), "2 offsets");
  EXPECT_COMPILE_ERROR(k.window + 1, "'advance' moves a block pointer");
}

TEST(FrontendErrors, LoadsAndStores) {
  TestKernel k;
  Value pointers = k.pointer + k.index;
  EXPECT_COMPILE_ERROR(load(k.row), "expected a pointer or a block pointer");
  EXPECT_COMPILE_ERROR(load(k.window, k.mask), "no mask with a block pointer");
  EXPECT_COMPILE_ERROR(load(pointers, k.index), "a mask of i1");
  EXPECT_COMPILE_ERROR(load(pointers, zeros({31}, i1)), "broadcasts to 32");
  EXPECT_COMPILE_ERROR(load(pointers, k.mask, k.index),
                       "'other' of f32, but got i32");
  EXPECT_COMPILE_ERROR(load(pointers, Padding::NaN),
                       "only with a block pointer");
  EXPECT_COMPILE_ERROR(store(k.window, cast(k.tile, f16)),
                       "the value of f32, but got f16");
  EXPECT_COMPILE_ERROR(store(k.window, zeros({4, 32}, f32)),
                       "broadcasts to 16x32");
  EXPECT_COMPILE_ERROR(store(k.window, k.tile, k.mask),
                       "no mask with a block pointer");
  EXPECT_COMPILE_ERROR(store(k.pointer, k.row), "but got 32");
  EXPECT_COMPILE_ERROR(k.pointer + k.row,
                       "an offset of i32 or i64, but got f32");
  EXPECT_COMPILE_ERROR(k.pointer + k.pointer, "but got two pointers");
  EXPECT_COMPILE_ERROR(k.pointer * 2,
                       "expected numbers, but got !tile.ptr<f32>");
  EXPECT_COMPILE_ERROR(k.pointer + 0.5, "integer literal");
}

TEST(FrontendErrors, PaddingOfTypesWithoutTheValue) {
  KernelBuilder kernel("k");
  Value ints = makeBlockPtr(kernel.pointer("i", i32), {8}, {1}, {0}, {8});
  Value fp8 = makeBlockPtr(kernel.pointer("f", f8E4M3FN), {8}, {1}, {0}, {8});
  Value bytes = kernel.pointer("b", i8);
  EXPECT_COMPILE_ERROR(load(ints, Padding::NaN),
                       "padding zero for elements of i32");
  EXPECT_COMPILE_ERROR(load(fp8, Padding::NegInf), "which has no infinity");
  EXPECT_COMPILE_ERROR(atomicAdd(bytes, 1), "to add to, but got i8");
}

TEST(FrontendErrors, FactsAndAssertions) {
  TestKernel k;
  EXPECT_COMPILE_ERROR(assume(k.row, Facts().min(0)), "expected a scalar");
  EXPECT_COMPILE_ERROR(assume(k.x, Facts().divisibleBy(2)),
                       "on an integer, but got f32");
  EXPECT_COMPILE_ERROR(assume(k.n, Facts().divisibleBy(0)),
                       "positive 'divisibleBy', but got 0");
  EXPECT_COMPILE_ERROR(assume(k.n, Facts().min(2).max(1)), "'min' <= 'max'");
  EXPECT_COMPILE_ERROR(assume(k.x, Facts().min(2).max(1)), "'min' <= 'max'");
  EXPECT_COMPILE_ERROR(assume(k.x, Facts().min(NAN)), "but got NaN");
  EXPECT_COMPILE_ERROR(assume(k.n, Facts().min(k.n)),
                       "expected a literal as 'min'");
  EXPECT_COMPILE_ERROR(deviceAssert(k.n, "n"),
                       "a condition of i1, but got i32");
  EXPECT_COMPILE_ERROR(print("p", {k.pointer}), "expected numbers");
}

//===----------------------------------------------------------------------===//
// Kernels and their values
//===----------------------------------------------------------------------===//

TEST(FrontendErrors, Arguments) {
  TestKernel k;
  EXPECT_COMPILE_ERROR(k.builder.i32("n"), "'n' occurs twice");
  EXPECT_COMPILE_ERROR(k.builder.i32(""),
                       "letters, digits and '_', but got ''");
  EXPECT_COMPILE_ERROR(k.builder.i32("2x"), "but got '2x'");
  EXPECT_COMPILE_ERROR(k.builder.scalar("s", bf16), "f32 or f64, but got bf16");
  EXPECT_COMPILE_ERROR(KernelBuilder("a b"), "but got 'a b'");
}

TEST(FrontendErrors, ValuesOfNoOrAnotherKernel) {
  Value nothing;
  KernelBuilder first("first");
  Value a = first.i32("a");
  KernelBuilder second("second");
  Value b = second.i32("b");
  EXPECT_COMPILE_ERROR(a + b,
                       "of kernel 'first', but got one of kernel 'second'");
  EXPECT_COMPILE_ERROR(a + nothing, "but got an empty 'Value'");
  EXPECT_COMPILE_ERROR(nothing + a, "but got an empty 'Value'");
  EXPECT_COMPILE_ERROR(exp(nothing), "but got an empty 'Value'");
  EXPECT_COMPILE_ERROR(trans(nothing), "but got an empty 'Value'");
}

TEST(FrontendErrors, AfterTheEnd) {
  KernelModule module;
  Value n;
  {
    KernelBuilder kernel(module, "k");
    n = kernel.i32("n");
    kernel.build();
    EXPECT_COMPILE_ERROR(n + 1, "'k' has been built already");
    EXPECT_COMPILE_ERROR(kernel.build(), "'k' has been built already");
    EXPECT_COMPILE_ERROR(kernel.i32("m"), "'k' has been built already");
  }
  EXPECT_COMPILE_ERROR(n + 1, "'k' has been built already");
  EXPECT_COMPILE_ERROR(arange(0, 4), "a 'KernelBuilder' that is open on this");
  EXPECT_COMPILE_ERROR(KernelBuilder(module, "k"), "'k' exists already");
  EXPECT_THAT(module.kernelNames(), testing::ElementsAre("k"));
}

TEST(FrontendErrors, AbandonedKernel) {
  KernelModule module;
  Value n;
  {
    KernelBuilder kernel(module, "k");
    n = kernel.i32("n");
  }
  EXPECT_COMPILE_ERROR(n + 1, "'k' was given up");
  EXPECT_TRUE(module.kernelNames().empty());
}

TEST(FrontendErrors, AnErrorLeavesTheKernelUsable) {
  TestKernel k;
  EXPECT_COMPILE_ERROR(k.row + zeros({31}, f32), "shapes that broadcast");
  store(k.pointer + k.index, k.row * 2, k.mask);
  EXPECT_THAT(k.text(), testing::HasSubstr("tile.store"));
}

// An operator takes its line from its left operand, wherever the statement
// starts.
TEST(FrontendErrors, LineWithinALongExpression) {
  TestKernel k;
  Value odd = zeros({31}, f32);
  unsigned line = __LINE__;
  try {
    Value unused = exp(k.row) +     // line + 2
                   (k.row *         // line + 3
                    (k.row - odd)); // line + 4
    FAIL() << unused.typeText();
  } catch (const Error &error) {
    EXPECT_EQ(error.location().line, line + 4) << error.what();
  }
}
