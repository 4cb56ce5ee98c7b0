//===- GridTest.cpp - Grids as expressions over arguments -----------------===//
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

TEST(FrontendGrid, DefaultsToOneProgram) {
  KernelBuilder kernel("k");
  kernel.i32("n");
  EXPECT_THAT(kernel.build().text(), HasSubstr("grid(d0) -> (1)"));
}

TEST(FrontendGrid, ReadsExpressions) {
  KernelBuilder kernel("k");
  kernel.pointer("p", f32);
  Value n = kernel.i32("n");
  kernel.f32("x");
  Value heads = kernel.i32("heads"), wide = kernel.i64("wide");
  kernel.grid({ceilDiv(n, 64), heads * 2 + 1, floorDiv(n - 4, 8) + wide});
  std::string text = kernel.build().text();
  EXPECT_THAT(text, HasSubstr("(d0 ceildiv 64, d1 * 2 + 1, "
                              "(d0 - 4) floordiv 8 + d2)"));
  EXPECT_THAT(text, Not(HasSubstr("arith.ceildivsi")));
  EXPECT_THAT(text, Not(HasSubstr("arith.extsi")));
  EXPECT_THAT(text, Not(HasSubstr("arith.constant")));
}

TEST(FrontendGrid, LiteralsAndArguments) {
  KernelBuilder kernel("k");
  Value n = kernel.i32("n");
  kernel.grid({n, 4});
  Value later = kernel.i32("later");
  (void)later;
  EXPECT_THAT(kernel.build().text(), HasSubstr("(d0, d1) -> (d0, 4)"));
}

TEST(FrontendGrid, AnExpressionThatTheKernelUsesStays) {
  TestKernel k;
  Value tiles = ceilDiv(k.n, 64);
  k.builder.grid({tiles});
  store(k.pointer + tiles, 1.0);
  EXPECT_THAT(k.text(), HasSubstr("arith.ceildivsi"));
}

TEST(FrontendGrid, Facts) {
  TestKernel k;
  k.builder.grid({assume(k.n, Facts().min(1)) * 3});
  EXPECT_THAT(k.text(), HasSubstr("(d0 * 3)"));
}

TEST(FrontendGrid, Modulo) {
  TestKernel k;
  k.builder.grid({floorMod(k.n, 8) + 1});
  EXPECT_THAT(k.text(), HasSubstr("(d0 mod 8 + 1)"));
}

TEST(FrontendGrid, NotAffine) {
  KernelBuilder kernel("k");
  Value batch = kernel.i32("batch"), heads = kernel.i32("heads_q");
  Value x = kernel.f32("x");
  EXPECT_COMPILE_ERROR(kernel.grid({batch * heads}),
                       "'(batch * heads_q)' is a product of arguments");
  EXPECT_COMPILE_ERROR(
      kernel.grid({1, (batch + 1) * heads}),
      "grid extent 1 to be affine, but '((batch + 1) * heads_q)'");
  EXPECT_COMPILE_ERROR(kernel.grid({ceilDiv(batch, heads)}),
                       "'(batch ceilDiv heads_q)' divides by");
  EXPECT_COMPILE_ERROR(kernel.grid({ceilDiv(batch, -2)}),
                       "'(batch ceilDiv -2)' divides by");
  EXPECT_COMPILE_ERROR(kernel.grid({batch / 2}),
                       "say how '(batch / 2)' rounds");
  EXPECT_COMPILE_ERROR(kernel.grid({batch % 2}),
                       "say how '(batch % 2)' rounds: use 'floorMod'");
  EXPECT_COMPILE_ERROR(kernel.grid({maximum(batch, heads)}),
                       "but got 'arith.maxsi'");
  EXPECT_COMPILE_ERROR(kernel.grid({programId(0)}),
                       "but got 'tile.program_id'");
  EXPECT_COMPILE_ERROR(kernel.grid({x}),
                       "grid extent 0 to be an integer, but got f32");
  EXPECT_COMPILE_ERROR(kernel.grid({arange(0, 4)}), "but got tensor<4xi32>");
  EXPECT_COMPILE_ERROR(kernel.grid({2.5}), "a literal integer of 0 or more");
  EXPECT_COMPILE_ERROR(kernel.grid({-1}), "a literal integer of 0 or more");
}

TEST(FrontendGrid, WrongCount) {
  TestKernel k;
  EXPECT_COMPILE_ERROR(k.builder.grid({}), "one to three extents, but got 0");
  EXPECT_COMPILE_ERROR(k.builder.grid({1, 1, 1, 1}), "but got 4");
  k.builder.grid({k.n});
  EXPECT_COMPILE_ERROR(k.builder.grid({k.n}), "'k' has one already");
}

TEST(FrontendGrid, ValueOfALoop) {
  TestKernel k;
  forRange(0, 4, 1, [&](Value i) {
    EXPECT_COMPILE_ERROR(k.builder.grid({i}), "a value of a loop");
  });
}
