//===- KernelTest.cpp - Grids, assertions, printing, names, compile time --===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/KernelRunner.h"

#include <cmath>

using namespace flashtile;
using namespace flashtile::cputest;

namespace {
class Kernels : public OnTheTarget {};
} // namespace

TEST_F(Kernels, ProgramsKnowTheirPlaceInTheGrid) {
  const std::pair<const char *, std::array<int32_t, 3>> grids[] = {
      {"(n)", {5, 1, 1}}, {"(n, 3)", {5, 3, 1}}, {"(2, n, 3)", {2, 5, 3}}};
  for (auto [grid, extent] : grids) {
    Program program(fill(R"(
tile.kernel @k(%y: !tile.ptr<i32>, %n: i32) grid(n) -> $grid {
  %x = tile.program_id x
  %yy = tile.program_id y
  %z = tile.program_id z
  %nx = tile.num_programs x
  %ny = tile.num_programs y
  %nz = tile.num_programs z
  %a = arith.muli %z, %ny : i32
  %b = arith.addi %a, %yy : i32
  %c = arith.muli %b, %nx : i32
  %at = arith.addi %c, %x : i32
  %p = tile.addptr %y, %at : !tile.ptr<i32>, i32
  %ab = arith.muli %nx, %ny : i32
  %all = arith.muli %ab, %nz : i32
  %v = arith.addi %at, %all : i32
  tile.store %p, %v : !tile.ptr<i32>
  tile.return
})",
                         {{"grid", grid}}));
    int64_t count = int64_t(extent[0]) * extent[1] * extent[2];
    Memory y(ElementType::I32, count);
    program.run({y, int32_t(5)});
    for (int64_t i = 0; i < count; ++i)
      EXPECT_EQ(y.getInteger(i), i + count) << grid;
  }
}

TEST_F(Kernels, ArgumentsOfEveryType) {
  Program program(R"(
tile.kernel @k(%y: !tile.ptr<f64>, %a: i1, %b: i8, %c: i16, %d: i32, %e: i64,
               %f: f32, %g: f64) grid(a, b, c, d, e) -> (1) {
  %a1 = arith.uitofp %a : i1 to f64
  %b1 = arith.sitofp %b : i8 to f64
  %c1 = arith.sitofp %c : i16 to f64
  %d1 = arith.sitofp %d : i32 to f64
  %e1 = arith.sitofp %e : i64 to f64
  %f1 = arith.extf %f : f32 to f64
  %s1 = arith.addf %a1, %b1 : f64
  %s2 = arith.addf %s1, %c1 : f64
  %s3 = arith.addf %s2, %d1 : f64
  %s4 = arith.addf %s3, %e1 : f64
  %s5 = arith.addf %s4, %f1 : f64
  %s6 = arith.addf %s5, %g : f64
  tile.store %y, %s6 : !tile.ptr<f64>
  tile.return
})");
  Memory y(ElementType::F64, 1);
  program.run({y, true, int8_t(-2), int16_t(-300), int32_t(70000),
               int64_t(1) << 40, 0.5f, 0.25});
  EXPECT_EQ(y.get(0), 1.0 - 2 - 300 + 70000 + 0x1p40 + 0.75);
}

TEST_F(Kernels, SeveralInOneModuleAndNamesOfTheCLibrary) {
  const char *kernel = R"(
tile.kernel @$name(%x: !tile.ptr<f64>, %y: !tile.ptr<f64>) grid() -> (1) {
  %v = tile.load %x : !tile.ptr<f64>
  %e = tile.exp %v : f64
  %l = tile.log %e : f64
  %r = math.$name %v : f64
  %s = arith.addf %l, %r : f64
  tile.store %y, %s : !tile.ptr<f64>
  tile.return
})";
  std::string text;
  for (const char *name : {"sin", "cos", "tanh"})
    text += fill(kernel, {{"name", name}});
  Program program(text);
  Memory x = make(ElementType::F64, 1, [](int64_t) { return 0.75; });
  Memory y(ElementType::F64, 1);
  program.run("sin", {x, y});
  EXPECT_NEAR(y.get(0), 0.75 + std::sin(0.75), 1e-14);
  program.run("cos", {x, y});
  EXPECT_NEAR(y.get(0), 0.75 + std::cos(0.75), 1e-14);
  program.run("tanh", {x, y});
  EXPECT_NEAR(y.get(0), 0.75 + std::tanh(0.75), 1e-14);
}

TEST_F(Kernels, AssertionsStopTheProgram) {
  Program program(R"(
tile.kernel @k(%y: !tile.ptr<i32>, %n: i32) grid(n) -> (1) {
  %i = tile.arange 0 to 37 : tensor<37xi32>
  %ns = tile.splat %n : i32 -> tensor<37xi32>
  %c = arith.cmpi ne, %i, %ns : tensor<37xi32>
  tile.assert %c, "n in range" : tensor<37xi1>
  %zero = arith.constant 0 : i32
  %p = arith.cmpi sge, %n, %zero : i32
  tile.assert %p, "n negative" : i1
  tile.store %y, %n : !tile.ptr<i32>
  tile.return
})");
  for (auto [n, message] : {std::pair(40, ""),
                            {36, "n in range"},
                            {0, "n in range"},
                            {-1, "n negative"}}) {
    if (*message != 0 && !seesAssertions())
      continue;
    Memory y(ElementType::I32, 1);
    Outcome outcome = program.run({y, int32_t(n)});
    if (*message == 0) {
      EXPECT_EQ(outcome.failure, "");
      EXPECT_EQ(y.getInteger(0), n);
    } else {
      EXPECT_NE(outcome.failure.find(message), std::string::npos);
      EXPECT_TRUE(y.isUntouched(0));
    }
  }
}

TEST_F(Kernels, PrintingShowsEveryElementInOrder) {
  Program program(R"(
tile.kernel @k(%n: i32, %f: f32) grid(n) -> (1) {
  %t = arith.constant dense<[[1.5, -2.0], [0.25, 8.0], [3.0, 4.0]]> : tensor<3x2xbf16>
  %i = tile.arange -1 to 2 : tensor<3xi32>
  %z = arith.constant dense<0> : tensor<3xi32>
  %b = arith.cmpi slt, %i, %z : tensor<3xi32>
  tile.print "values", %t, %i, %b, %n, %f : tensor<3x2xbf16>, tensor<3xi32>, tensor<3xi1>, i32, f32
  tile.print "here"
  tile.return
})");
  Outcome outcome = program.run({int32_t(-7), 0.5f});
  const std::vector<std::string> expected = {
      "values|tensor<3x2xbf16>| 1.5 -2 0.25 8 3 4",
      "values|tensor<3xi32>| -1 0 1",
      "values|tensor<3xi1>| 1 0 0",
      "values|i32| -7",
      "values|f32| 0.5",
      "here||"};
  if (seesAssertions())
    EXPECT_EQ(outcome.printed, expected);
}

TEST_F(Kernels, OneColumnOfABooleanRow) {
  for (auto [m, n] : {std::pair(16, 16), {32, 8}, {4, 64}})
    for (int column : {0, 1, n - 1}) {
      Program program(fill(R"(
tile.kernel @k(%y: !tile.ptr<f32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %m = arith.constant $m : i64
  %n = arith.constant $n : i64
  %i = tile.arange 0 to $n : tensor<$nxi32>
  %c = arith.constant dense<$c> : tensor<$nxi32>
  %e = arith.cmpi eq, %i, %c : tensor<$nxi32>
  %x = tile.expand_dims %e axis 0 : tensor<$nxi1> -> tensor<1x$nxi1>
  %b = tile.broadcast %x : tensor<1x$nxi1> -> tensor<$mx$nxi1>
  %f = arith.uitofp %b : tensor<$mx$nxi1> to tensor<$mx$nxf32>
  %w = tile.make_block_ptr %y shape [%m, %n] strides [%n, %one] offsets [%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<$mx$nxf32>
  tile.store %w, %f : !tile.block_ptr<$mx$nxf32>
  tile.return
})",
                           {{"m", std::to_string(m)},
                            {"n", std::to_string(n)},
                            {"c", std::to_string(column)}}));
      Memory y(ElementType::F32, int64_t(m) * n);
      program.run({y});
      for (int64_t i = 0; i < y.size(); ++i)
        ASSERT_EQ(y.get(i), i % n == column);
    }
}

static std::string softmax(int64_t rows, int64_t n) {
  return fill(R"(
tile.kernel @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %m = arith.constant $m : i64
  %n = arith.constant $n : i64
  %w = tile.make_block_ptr %x shape [%m, %n] strides [%n, %one] offsets [%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<$T>
  %v = tile.make_block_ptr %y shape [%m, %n] strides [%n, %one] offsets [%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<$T>
  %t = tile.load %w : !tile.block_ptr<$T>
  %a = tile.max %t axis 1 : tensor<$T> -> tensor<$mxf32>
  %b = tile.expand_dims %a axis 1 : tensor<$mxf32> -> tensor<$mx1xf32>
  %c = tile.broadcast %b : tensor<$mx1xf32> -> tensor<$T>
  %d = arith.subf %t, %c : tensor<$T>
  %e = tile.exp %d : tensor<$T>
  %s = tile.sum %e axis 1 : tensor<$T> -> tensor<$mxf32>
  %f = tile.expand_dims %s axis 1 : tensor<$mxf32> -> tensor<$mx1xf32>
  %g = tile.broadcast %f : tensor<$mx1xf32> -> tensor<$T>
  %r = arith.divf %e, %g : tensor<$T>
  tile.store %v, %r : !tile.block_ptr<$T>
  tile.return
})",
              {{"m", std::to_string(rows)},
               {"n", std::to_string(n)},
               {"T", std::to_string(rows) + "x" + std::to_string(n) + "xf32"}});
}

TEST_F(Kernels, LargeTilesCompileInBoundedTime) {
  // On gpu targets a thread's share is unrolled: code grows with n.
  const bool unrolls = testTarget() != TestTarget::Cpu;
  for (int64_t rows : {1, 4})
    for (int64_t n = 1 << 10; n <= (unrolls ? 1 << 12 : 1 << 17); n *= 2) {
      Program program(softmax(rows, n));
      ASSERT_TRUE(program);
      RecordProperty("softmax_" + std::to_string(rows) + "_" +
                         std::to_string(n) + "_us",
                     int(1000 * program.report().totalMilliseconds()));
      EXPECT_LT(program.report().totalMilliseconds(), 10000);
      if (!unrolls)
        EXPECT_LT(program.report().codeBytes, 65536u); // no growth with n
      Memory x = make(ElementType::F32, rows * n,
                      [](int64_t i) { return i % 16 * 0.5; });
      Memory y(ElementType::F32, rows * n);
      program.run({x, y});
      double sum = 0;
      for (int64_t i = 0; i < 16; ++i)
        sum += std::exp(i * 0.5) * double(n / 16);
      for (int64_t i = 0; i < y.size(); i += 97)
        ASSERT_NEAR(y.get(i), std::exp(i % 16 * 0.5) / sum, 1e-5 / double(n))
            << n;
    }
}

TEST_F(Kernels, ALayerNormOfALongRowCompilesInBoundedTime) {
  Program program(R"(
tile.kernel @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 8192 : i64
  %w = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%zero] : !tile.ptr<f32> -> !tile.block_ptr<8192xf32>
  %v = tile.make_block_ptr %y shape [%n] strides [%one] offsets [%zero] : !tile.ptr<f32> -> !tile.block_ptr<8192xf32>
  %t = tile.load %w : !tile.block_ptr<8192xf32>
  %count = arith.constant 8192.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %sum = tile.sum %t axis 0 : tensor<8192xf32> -> f32
  %mean = arith.divf %sum, %count : f32
  %means = tile.splat %mean : f32 -> tensor<8192xf32>
  %d = arith.subf %t, %means : tensor<8192xf32>
  %d2 = arith.mulf %d, %d : tensor<8192xf32>
  %sum2 = tile.sum %d2 axis 0 : tensor<8192xf32> -> f32
  %variance = arith.divf %sum2, %count : f32
  %shifted = arith.addf %variance, %epsilon : f32
  %scale = math.rsqrt %shifted : f32
  %scales = tile.splat %scale : f32 -> tensor<8192xf32>
  %r = arith.mulf %d, %scales : tensor<8192xf32>
  tile.store %v, %r : !tile.block_ptr<8192xf32>
  tile.return
})");
  ASSERT_TRUE(program);
  EXPECT_LT(program.report().totalMilliseconds(), 10000);
  // Halves of -1 and 3: mean 1, variance 4.
  Memory x = make(ElementType::F32, 8192,
                  [](int64_t i) { return i % 2 ? 3.0 : -1.0; });
  Memory y(ElementType::F32, 8192);
  program.run({x, y});
  for (int64_t i = 0; i < 8192; ++i)
    ASSERT_NEAR(y.get(i), (i % 2 ? 2 : -2) / std::sqrt(4 + 1e-5), 1e-6);
}

TEST_F(Kernels, SixtyFourDotsInARowCompileInBoundedTime) {
  std::string text = R"(
tile.kernel @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 16 : i64
  %w = tile.make_block_ptr %x shape [%n, %n] strides [%n, %one] offsets [%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<16x16xf32>
  %v = tile.make_block_ptr %y shape [%n, %n] strides [%n, %one] offsets [%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<16x16xf32>
  %t = tile.load %w : !tile.block_ptr<16x16xf32>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  %d0 = tile.dot %t, %t, %c : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
)";
  for (int i = 1; i < 64; ++i)
    text +=
        fill("  %d$next = tile.dot %t, %d$last, %c : tensor<16x16xf32>, "
             "tensor<16x16xf32>, tensor<16x16xf32>\n",
             {{"next", std::to_string(i)}, {"last", std::to_string(i - 1)}});
  Program program(text + "  tile.store %v, %d63 : !tile.block_ptr<16x16xf32>\n"
                         "  tile.return\n}\n");
  ASSERT_TRUE(program);
  RecordProperty("dots_us", int(1000 * program.report().totalMilliseconds()));
  EXPECT_LT(program.report().totalMilliseconds(), 10000);
  // A permutation of order 16, to the 65th power.
  Memory x = make(ElementType::F32, 256, [](int64_t i) {
    return int64_t(i % 16 == (i / 16 + 1) % 16);
  });
  Memory y(ElementType::F32, 256);
  program.run({x, y});
  for (int64_t i = 0; i < 256; ++i)
    ASSERT_EQ(y.get(i), x.get(i)); // 65 = 1 modulo 16
}
