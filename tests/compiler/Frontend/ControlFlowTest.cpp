//===- ControlFlowTest.cpp - Loops and branches ---------------------------===//
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

TEST(FrontendLoops, CarriesValuesAsATuple) {
  TestKernel k;
  auto [sum, count] =
      forRange(0, k.n, 4, {k.x, k.wide}, [&](Value i, Value sum, Value count) {
        EXPECT_EQ(i.elementType(), i32);
        return std::tuple(sum * 2, count + i);
      });
  EXPECT_EQ(sum.elementType(), f32);
  EXPECT_EQ(count.elementType(), i64);
  store(k.pointer, sum);
  std::string text = k.text();
  EXPECT_THAT(text, HasSubstr("scf.for"));
  EXPECT_THAT(text, HasSubstr("-> (f32, i64)  : i32"));
}

TEST(FrontendLoops, CarriesOneValueOrAList) {
  TestKernel k;
  auto [doubled] =
      forRange(0, 3, 1, {k.row}, [](Value, Value row) { return row + row; });
  EXPECT_EQ(doubled.shape(), Shape{32});
  Values list{k.x, k.row};
  Values results =
      forRange(0, 3, 1, list, [](const Value &, const Values &v) { return v; });
  EXPECT_EQ(results.size(), 2u);
  auto [first, second] =
      forRange(0, 3, 1, {k.x, k.row},
               [](Value, const Values &v) { return Values{v[0] + 1, v[1]}; });
  EXPECT_TRUE(first.isScalar());
  EXPECT_EQ(second.rank(), 1);
  k.text();
}

TEST(FrontendLoops, CarriesNothing) {
  TestKernel k;
  forRange(0, k.n, 1, [&](Value i) { store(k.pointer + i, 1.0); });
  EXPECT_THAT(k.text(), HasSubstr("tile.store"));
}

TEST(FrontendLoops, CounterWidens) {
  TestKernel k;
  forRange(0, k.wide, 1, [&](Value i) { EXPECT_EQ(i.elementType(), i64); });
  forRange(k.n, k.wide, 1, [&](Value i) { EXPECT_EQ(i.elementType(), i64); });
  forRange(0, 1L << 40, 1, [&](Value i) { EXPECT_EQ(i.elementType(), i64); });
  k.text();
}

// range(88, -1, -8) counts j = 0, 8, ... < 89 and gives 88 - j.
TEST(FrontendLoops, CountsDown) {
  KernelBuilder kernel("k");
  Value out = kernel.pointer("out", i32);
  forRange(88, -1, -8, [&](Value i) { store(out, i); });
  std::string text = kernel.build().text();
  EXPECT_THAT(text, HasSubstr("arith.subi %c88_i32, %c-1_i32 : i32"));
  EXPECT_THAT(text, HasSubstr("step %c8_i32"));
  EXPECT_THAT(text, HasSubstr("arith.subi %c88_i32, %arg"));
}

TEST(FrontendLoops, RuntimeStepIsAsserted) {
  TestKernel k;
  forRange(0, 100, k.n, [](Value) {});
  EXPECT_THAT(k.text(), HasSubstr("\"expected a positive step of a loop\""));
}

TEST(FrontendLoops, EvidentStepIsNot) {
  TestKernel k;
  forRange(0, 100, numPrograms(0), [](Value) {});
  forRange(0, 100, assume(k.n, Facts().min(1)), [](Value) {});
  EXPECT_THAT(k.text(), Not(HasSubstr("tile.assert")));
}

TEST(FrontendLoops, WrongBounds) {
  TestKernel k;
  auto nothing = [](Value) {};
  EXPECT_COMPILE_ERROR(forRange(0, 4, 0, nothing), "a step other than 0");
  EXPECT_COMPILE_ERROR(forRange(0, k.x, 1, nothing),
                       "i32 or i64 scalar, but got f32");
  EXPECT_COMPILE_ERROR(forRange(0, k.index, 1, nothing),
                       "but got tensor<32xi32>");
  EXPECT_COMPILE_ERROR(forRange(0, 4.5, 1, nothing),
                       "bounds of a loop to be integers");
  EXPECT_COMPILE_ERROR(forRange(0, k.n, k.x, nothing), "but got f32");
  EXPECT_COMPILE_ERROR(forRange(4, 0, -(1L << 40), nothing),
                       "a step of at least");
}

TEST(FrontendLoops, CarriedTypeChanges) {
  TestKernel k;
  auto widen = [](Value, Value x) { return cast(x, f64); };
  EXPECT_COMPILE_ERROR(
      forRange(0, 4, 1, {k.x}, widen),
      "carried value 0 to keep its type f32, but the loop's body returns f64");
}

TEST(FrontendLoops, WrongNumberOfResults) {
  TestKernel k;
  auto drop = [](Value, const Values &v) { return Values{v[0]}; };
  EXPECT_COMPILE_ERROR(forRange(0, 4, 1, Values{k.x, k.n}, drop),
                       "to return 2 values, but got 1");
}

TEST(FrontendLoops, EmptyCarriedValue) {
  TestKernel k;
  auto keep = [](Value, Value x) { return x; };
  EXPECT_COMPILE_ERROR(forRange(0, 4, 1, {Value()}, keep), "an empty 'Value'");
}

// The classic mistake: assigning to an outer variable instead of carrying it.
TEST(FrontendLoops, ValueLeaksFromTheBody) {
  TestKernel k;
  Value total = k.x;
  forRange(0, 4, 1, [&](Value i) { total = total + cast(i, f32); });
  EXPECT_COMPILE_ERROR(total * 2, "from inside a loop, branch or combiner");
  EXPECT_COMPILE_ERROR(store(k.pointer, total), "return it from there");
}

TEST(FrontendLoops, ErrorInTheBodyGivesTheKernelUp) {
  TestKernel k;
  Value odd = zeros({31}, f32);
  EXPECT_COMPILE_ERROR(forRange(0, 4, 1, [&](Value) { k.row + odd; }),
                       "shapes that broadcast");
  EXPECT_COMPILE_ERROR(k.n + 1, "'k' was given up after an error");
  EXPECT_COMPILE_ERROR(arange(0, 4), "'k' was given up after an error");
  EXPECT_COMPILE_ERROR(k.builder.build(), "'k' was given up after an error");
}

TEST(FrontendLoops, ForeignExceptionPasses) {
  TestKernel k;
  auto thrower = [](Value) { throw std::runtime_error("mine"); };
  EXPECT_THROW(forRange(0, 4, 1, thrower), std::runtime_error);
  EXPECT_COMPILE_ERROR(k.n + 1, "was given up");
}

TEST(FrontendLoops, BuildInsideABody) {
  TestKernel k;
  EXPECT_COMPILE_ERROR(forRange(0, 4, 1, [&](Value) { k.builder.build(); }),
                       "'build' after the loops");
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

TEST(FrontendBranches, GiveValues) {
  TestKernel k;
  Value one = ifThenElse(k.n > 4, [&] { return k.x * 2; }, [&] { return k.x; });
  EXPECT_EQ(one.elementType(), f32);
  auto [a, b] = ifThenElse(
      k.flag, [&] { return std::tuple(k.row, one); },
      [&] { return std::tuple(k.row + 1, k.x); });
  EXPECT_EQ(a.rank(), 1);
  EXPECT_TRUE(b.isScalar());
  store(k.pointer, b);
  EXPECT_THAT(k.text(), HasSubstr("-> (tensor<32xf32>, f32)"));
}

TEST(FrontendBranches, GiveNothing) {
  TestKernel k;
  ifThen(k.flag, [&] { store(k.pointer, 1.0); });
  ifThenElse(
      k.flag, [&] { store(k.pointer, 1.0); }, [&] { store(k.pointer, 2.0); });
  std::string text = k.text();
  EXPECT_THAT(text, HasSubstr("} else {"));
}

TEST(FrontendBranches, WrongCondition) {
  TestKernel k;
  auto nothing = [] {};
  EXPECT_COMPILE_ERROR(ifThen(k.n, nothing), "type i1, but got i32");
  EXPECT_COMPILE_ERROR(ifThen(k.mask, nothing),
                       "'any', 'all' or 'where' may be meant");
  EXPECT_COMPILE_ERROR(ifThen(Value(), nothing), "an empty 'Value'");
}

TEST(FrontendBranches, DifferentTypes) {
  TestKernel k;
  auto row = [&] { return k.row; };
  auto scalar = [&] { return k.x; };
  EXPECT_COMPILE_ERROR(ifThenElse(k.flag, row, scalar),
                       "result 0 to keep its type tensor<32xf32>");
}

TEST(FrontendBranches, ValueLeaksFromABranch) {
  TestKernel k;
  Value inside;
  ifThen(k.flag, [&] { inside = k.x * 2; });
  EXPECT_COMPILE_ERROR(inside + 1, "from inside a loop, branch or combiner");
}

TEST(FrontendBranches, NestInLoops) {
  TestKernel k;
  auto [x] = forRange(0, k.n, 1, {k.x}, [&](Value i, Value x) {
    return ifThenElse(
        i % 2 == 0, [&] { return x + 1; }, [&] { return x * k.x; });
  });
  store(k.pointer, x);
  EXPECT_THAT(k.text(), HasSubstr("scf.if"));
}

//===----------------------------------------------------------------------===//
// Combiners
//===----------------------------------------------------------------------===//

TEST(FrontendCombiners, ReduceAndScan) {
  TestKernel k;
  Value product = reduce(k.tile, 1, [](Value a, Value b) { return a * b; });
  EXPECT_EQ(product.shape(), Shape{16});
  Value prefix = scan(
      k.tile, 0, [](Value a, Value b) { return a + b; }, Direction::Reverse);
  EXPECT_EQ(prefix.shape(), (Shape{16, 32}));
  auto [value, index] = argmax(k.tile, -1);
  EXPECT_EQ(value.elementType(), f32);
  EXPECT_EQ(index.elementType(), i32);
  EXPECT_EQ(index.shape(), Shape{16});
  EXPECT_EQ(argmin(k.mask, 0).value.elementType(), i1);
  EXPECT_TRUE(argmin(k.index, 0).index.isScalar());
  EXPECT_EQ(cumsum(cast(k.row, f16), 0).elementType(), f16);
  EXPECT_TRUE(any(k.tile > 0).isScalar());
  std::string text = k.text();
  EXPECT_THAT(text, HasSubstr("axis 0 reverse"));
  EXPECT_THAT(text, HasSubstr("tile.reduce"));
}

TEST(FrontendCombiners, Wrong) {
  auto add = [](Value a, Value b) { return a + b; };
  auto drop = [](const Values &a, const Values &) { return Values{a[0]}; };
  TestKernel k;
  EXPECT_COMPILE_ERROR(reduce(Values{}, 0, drop),
                       "a tile to reduce, but got none");
  EXPECT_COMPILE_ERROR(scan(Values{}, 0, drop), "a tile to scan, but got none");
  EXPECT_COMPILE_ERROR(reduce(k.x, 0, add), "expected a tile");
  EXPECT_COMPILE_ERROR(reduce(k.tile, 7, add), "but got 7");
  EXPECT_COMPILE_ERROR(reduce({k.tile, k.row}, 0, drop), "tiles of one shape");
  EXPECT_COMPILE_ERROR(any(k.row), "a tile of i1, but got tensor<32xf32>");
}

TEST(FrontendCombiners, WrongBodies) {
  auto widen = [](Value a, Value) { return cast(a, f64); };
  auto drop = [](const Values &a, const Values &) { return Values{a[0]}; };
  {
    TestKernel k;
    EXPECT_COMPILE_ERROR(reduce(k.row, 0, widen),
                         "value 0 to be of type f32, but got f64");
  }
  {
    TestKernel k;
    EXPECT_COMPILE_ERROR(reduce({k.row, k.index}, 0, drop),
                         "to return 2 values, but got 1");
  }
  {
    TestKernel k;
    EXPECT_COMPILE_ERROR(reduce(k.row, 0,
                                [&](Value a, Value) {
                                  store(k.pointer, 1.0);
                                  return a;
                                }),
                         "without side effects, but got 'tile.store'");
  }
}
