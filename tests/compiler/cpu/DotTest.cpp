//===- DotTest.cpp - Matrix products --------------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On small integers, so that every order of additions gives the same bits.
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/MapKernel.h"

#include <cmath>

using namespace flashtile;
using namespace flashtile::cputest;

namespace {
class Dot : public OnEachProcessor {};

ElementType accumulatorOf(ElementType type) {
  return type == ElementType::F64  ? ElementType::F64
         : type == ElementType::I8 ? ElementType::I32
                                   : ElementType::F32;
}

struct DotCase {
  int64_t m, n, k;
  ElementType a, b;
  bool transposeA = false, transposeB = false;
};

/// z = a * b + z, and zt = its transpose, of dense row-major memories; a
/// transposed operand lies transposed in memory.
std::string dotKernel(const DotCase &c, const std::string &name) {
  auto number = [](int64_t value) { return std::to_string(value); };
  std::string text = R"(
tile.kernel @$name(%a: !tile.ptr<$A>, %b: !tile.ptr<$B>, %z: !tile.ptr<$C>,
                   %zt: !tile.ptr<$C>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %m = arith.constant $m : i64
  %n = arith.constant $n : i64
  %k = arith.constant $k : i64
  %wz = tile.make_block_ptr %z shape [%m, %n] strides [%n, %one]
      offsets [%zero, %zero] : !tile.ptr<$C> -> !tile.block_ptr<$mx$nx$C>
  %wt = tile.make_block_ptr %zt shape [%n, %m] strides [%m, %one]
      offsets [%zero, %zero] : !tile.ptr<$C> -> !tile.block_ptr<$nx$mx$C>
)";
  auto operand = [&](const std::string &id, bool transposed,
                     const std::string &rows, const std::string &columns) {
    std::string first = transposed ? columns : rows,
                second = transposed ? rows : columns;
    std::string type = "$" + first + "x$" + second + "x$" +
                       std::string(1, char(std::toupper(id[0])));
    text += "  %w" + id + " = tile.make_block_ptr %" + id + " shape [%" +
            first + ", %" + second + "] strides [%" + second +
            ", %one] offsets [%zero, %zero] : !tile.ptr<$" +
            std::string(1, char(std::toupper(id[0]))) +
            "> -> !tile.block_ptr<" + type + ">\n  %l" + id +
            " = tile.load %w" + id + " : !tile.block_ptr<" + type + ">\n";
    if (transposed)
      text += "  %t" + id + " = tile.trans %l" + id +
              " order [1, 0] : tensor<" + type + "> -> tensor<$" + rows + "x$" +
              columns + "x$" + std::string(1, char(std::toupper(id[0]))) +
              ">\n";
    return (transposed ? "%t" : "%l") + id;
  };
  std::string a = operand("a", c.transposeA, "m", "k");
  std::string b = operand("b", c.transposeB, "k", "n");
  text += "  %c = tile.load %wz : !tile.block_ptr<$mx$nx$C>\n"
          "  %d = tile.dot " +
          a + ", " + b +
          ", %c : tensor<$mx$kx$A>, tensor<$kx$nx$B>, tensor<$mx$nx$C>\n"
          "  tile.store %wz, %d : !tile.block_ptr<$mx$nx$C>\n"
          "  %dt = tile.trans %d order [1, 0] : tensor<$mx$nx$C> -> "
          "tensor<$nx$mx$C>\n"
          "  tile.store %wt, %dt : !tile.block_ptr<$nx$mx$C>\n"
          "  tile.return\n}\n";
  return fill(text, {{"name", name},
                     {"A", std::string(elementTypeName(c.a))},
                     {"B", std::string(elementTypeName(c.b))},
                     {"C", std::string(elementTypeName(accumulatorOf(c.a)))},
                     {"m", number(c.m)},
                     {"n", number(c.n)},
                     {"k", number(c.k)}});
}

void checkDot(const Program &program, const DotCase &c,
              const std::string &name) {
  ElementType sum = accumulatorOf(c.a);
  Memory a = make(c.a, c.m * c.k, [](int64_t i) { return i * 7 % 5 - 2; });
  Memory b = make(c.b, c.k * c.n, [](int64_t i) { return i * 3 % 7 - 3; });
  auto initial = [](int64_t i) { return i % 11 - 5; };
  Memory z = make(sum, c.m * c.n, initial), zt(sum, c.m * c.n);
  program.run(name, {a, b, z, zt});
  for (int64_t i = 0; i < c.m; ++i)
    for (int64_t j = 0; j < c.n; ++j) {
      double expected = initial(i * c.n + j);
      for (int64_t k = 0; k < c.k; ++k)
        expected += a.get(c.transposeA ? k * c.m + i : i * c.k + k) *
                    b.get(c.transposeB ? j * c.k + k : k * c.n + j);
      ASSERT_EQ(z.get(i * c.n + j), expected)
          << name << " " << c.m << "x" << c.n << "x" << c.k << " of "
          << elementTypeName(c.a) << " at " << i << ", " << j;
      ASSERT_EQ(zt.get(j * c.m + i), expected) << "transposed";
    }
}

void checkAll(const std::vector<DotCase> &cases, const std::string &cpu) {
  std::string text;
  for (size_t i = 0; i < cases.size(); ++i)
    text += dotKernel(cases[i], "k" + std::to_string(i));
  Program program(text, cpu);
  for (size_t i = 0; i < cases.size(); ++i)
    ASSERT_NO_FATAL_FAILURE(
        checkDot(program, cases[i], "k" + std::to_string(i)));
}
} // namespace

FLASHTILE_ON_EACH_PROCESSOR(Dot);

TEST_P(Dot, ManyShapes) {
  const int64_t extents[] = {1, 3, 7, 8, 16, 24, 33, 64, 100};
  // Every pair of extents at each two of m, n, k, the third one varying.
  std::vector<DotCase> cases;
  int64_t third = 0;
  for (int64_t x : extents)
    for (int64_t y : extents) {
      int64_t z = extents[third++ % std::size(extents)];
      DotCase c{x, y, z, ElementType::F32, ElementType::F32};
      if (third % 3 == 0)
        c = {x, z, y, ElementType::F32, ElementType::F32};
      c.transposeA = third % 4 == 1;
      c.transposeB = third % 5 == 2;
      cases.push_back(c);
    }
  checkAll(cases, GetParam());
}

TEST_P(Dot, EveryTypeAndTranspose) {
  const std::pair<ElementType, ElementType> types[] = {
      {ElementType::F64, ElementType::F64},
      {ElementType::F16, ElementType::F16},
      {ElementType::BF16, ElementType::BF16},
      {ElementType::F8E4M3FN, ElementType::F8E4M3FN},
      {ElementType::F8E5M2, ElementType::F8E4M3FN},
      {ElementType::I8, ElementType::I8}};
  std::vector<DotCase> cases;
  for (auto [a, b] : types)
    for (int flags = 0; flags < 4; ++flags)
      cases.push_back({17, 33, 20, a, b, (flags & 1) != 0, (flags & 2) != 0});
  checkAll(cases, GetParam());
}

TEST_P(Dot, Int8Extremes) {
  DotCase c{33, 32, 256, ElementType::I8, ElementType::I8};
  Program program(dotKernel(c, "k"), GetParam());
  for (auto [x, y, expected] :
       {std::tuple(-128, -128, 4194304), std::tuple(127, -128, -4161536)}) {
    Memory a =
        make(ElementType::I8, c.m * c.k, [&, x = x](int64_t) { return x; });
    Memory b =
        make(ElementType::I8, c.k * c.n, [&, y = y](int64_t) { return y; });
    Memory z = make(ElementType::I32, c.m * c.n, [](int64_t) { return 0; }),
           zt(ElementType::I32, c.m * c.n);
    program.run({a, b, z, zt});
    for (int64_t i = 0; i < z.size(); ++i)
      ASSERT_EQ(z.getInteger(i), expected);
  }
}

TEST_P(Dot, InputPrecisionIsOfF32ButForTf32OnGpus) {
  for (const char *precision :
       {"", "precision ieee", "precision tf32", "precision tf32x3"}) {
    // 1 + 2^-11 is half-way between two numbers of tf32.
    bool rounds = runsGpuCode() && precision == std::string("precision tf32");
    Program program(fill(R"(
tile.kernel @k(%z: !tile.ptr<f32>) grid() -> (1) {
  %a = tile.full 1.0 : f32 -> tensor<16x16xf32>
  %b = tile.full 1.00048828125 : f32 -> tensor<16x16xf32>
  %c = tile.full 0.0 : f32 -> tensor<16x16xf32>
  %d = tile.dot %a, %b, %c $p
      : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  %s = tile.max %d axis 0 : tensor<16x16xf32> -> tensor<16xf32>
  %m = tile.max %s axis 0 : tensor<16xf32> -> f32
  tile.store %z, %m : !tile.ptr<f32>
  tile.return
})",
                         {{"p", precision}}),
                    GetParam());
    Memory z(ElementType::F32, 1);
    program.run({z});
    EXPECT_EQ(z.get(0), rounds ? 16.015625 : 16.0078125) << precision;
  }
}

/// o = f16(q k^T) v, as attention chains them.
TEST_P(Dot, Chained) {
  for (int64_t s : {16, 32, 64}) {
    Program program(
        fill(R"(
tile.kernel @k(%q: !tile.ptr<f16>, %k: !tile.ptr<f16>, %v: !tile.ptr<f16>,
               %qk: !tile.ptr<f32>, %o: !tile.ptr<f32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %s = arith.constant $s : i64
  %wq = tile.make_block_ptr %q shape [%s, %s] strides [%s, %one] offsets [%zero, %zero] : !tile.ptr<f16> -> !tile.block_ptr<$T>
  %wk = tile.make_block_ptr %k shape [%s, %s] strides [%s, %one] offsets [%zero, %zero] : !tile.ptr<f16> -> !tile.block_ptr<$T>
  %wv = tile.make_block_ptr %v shape [%s, %s] strides [%s, %one] offsets [%zero, %zero] : !tile.ptr<f16> -> !tile.block_ptr<$T>
  %wp = tile.make_block_ptr %qk shape [%s, %s] strides [%s, %one] offsets [%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<$F>
  %wo = tile.make_block_ptr %o shape [%s, %s] strides [%s, %one] offsets [%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<$F>
  %lq = tile.load %wq : !tile.block_ptr<$T>
  %lk = tile.load %wk : !tile.block_ptr<$T>
  %lv = tile.load %wv : !tile.block_ptr<$T>
  %kt = tile.trans %lk order [1, 0] : tensor<$T> -> tensor<$T>
  %c = tile.full 0.0 : f32 -> tensor<$F>
  %d = tile.dot %lq, %kt, %c : tensor<$T>, tensor<$T>, tensor<$F>
  tile.store %wp, %d : !tile.block_ptr<$F>
  %p = tile.cast %d : tensor<$F> -> tensor<$T>
  %e = tile.dot %p, %lv, %c : tensor<$T>, tensor<$T>, tensor<$F>
  tile.store %wo, %e : !tile.block_ptr<$F>
  tile.return
})",
             {{"s", std::to_string(s)},
              {"T", std::to_string(s) + "x" + std::to_string(s) + "xf16"},
              {"F", std::to_string(s) + "x" + std::to_string(s) + "xf32"}}),
        GetParam());
    auto values = [&](int64_t seed) {
      return make(ElementType::F16, s * s,
                  [=](int64_t i) { return (i * 13 + seed) % 5 - 2; });
    };
    Memory q = values(0), k = values(1), v = values(2);
    Memory qk(ElementType::F32, s * s), o(ElementType::F32, s * s);
    program.run({q, k, v, qk, o});
    std::vector<double> scores(s * s);
    for (int64_t i = 0; i < s * s; ++i) {
      for (int64_t d = 0; d < s; ++d)
        scores[i] += q.get(i / s * s + d) * k.get(i % s * s + d);
      ASSERT_EQ(qk.get(i), scores[i]);
    }
    for (int64_t i = 0; i < s * s; ++i) {
      double expected = 0;
      for (int64_t j = 0; j < s; ++j)
        expected += scores[i / s * s + j] * v.get(j * s + i % s);
      ASSERT_EQ(o.get(i), expected);
    }
  }
}

/// Two products into one accumulator that a loop carries, with a constant and
/// a computed operand, and an accumulator that is an expression.
TEST_P(Dot, AccumulatorsThatLoopsCarry) {
  Program program(R"(
tile.kernel @k(%a: !tile.ptr<bf16>, %z: !tile.ptr<f32>, %trips: i32) grid(trips) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %m = arith.constant 19 : i64
  %k = arith.constant 24 : i64
  %n = arith.constant 10 : i64
  %lb = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %wa = tile.make_block_ptr %a shape [%m, %k] strides [%k, %one] offsets [%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<19x24xbf16>
  %wz = tile.make_block_ptr %z shape [%m, %n] strides [%n, %one] offsets [%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<19x10xf32>
  %la = tile.load %wa : !tile.block_ptr<19x24xbf16>
  %two = tile.full 2.0 : bf16 -> tensor<24x10xbf16>
  %negative = arith.negf %la : tensor<19x24xbf16>
  %half = tile.full 0.5 : f32 -> tensor<19x10xf32>
  %init = tile.full 4.0 : f32 -> tensor<19x10xf32>
  %r = scf.for %i = %lb to %trips step %step iter_args(%acc = %init) -> (tensor<19x10xf32>) : i32 {
    %c = arith.mulf %acc, %half : tensor<19x10xf32>
    %d = tile.dot %la, %two, %c : tensor<19x24xbf16>, tensor<24x10xbf16>, tensor<19x10xf32>
    %e = tile.dot %negative, %two, %d : tensor<19x24xbf16>, tensor<24x10xbf16>, tensor<19x10xf32>
    %f = tile.dot %la, %two, %e : tensor<19x24xbf16>, tensor<24x10xbf16>, tensor<19x10xf32>
    scf.yield %f : tensor<19x10xf32>
  }
  tile.store %wz, %r : !tile.block_ptr<19x10xf32>
  tile.return
})",
                  GetParam());
  for (int32_t trips : {0, 1, 3}) {
    Memory a =
        make(ElementType::BF16, 19 * 24, [](int64_t i) { return i % 4 - 1; });
    Memory z(ElementType::F32, 190);
    program.run({a, z, trips});
    for (int64_t i = 0; i < 190; ++i) {
      double row = 0, expected = 4;
      for (int64_t k = 0; k < 24; ++k)
        row += 2 * a.get(i / 10 * 24 + k);
      for (int32_t trip = 0; trip < trips; ++trip)
        expected = expected / 2 + row;
      ASSERT_EQ(z.get(i), expected) << trips;
    }
  }
}

/// The parts that tf32 multiplies must not make NaN of infinities, nor
/// infinities of the largest numbers.
TEST_P(Dot, SpecialNumbersOfF32) {
  DotCase c{16, 8, 8, ElementType::F32, ElementType::F32};
  Program program(dotKernel(c, "k"), GetParam());
  const float most = 3.4028235e38f;
  const double specials[] = {HUGE_VAL, -HUGE_VAL, std::nan(""), most,
                             -most,    1e-40,     0x1p-126,     0.0};
  for (double special : specials)
    for (double factor : {1.0, 0.0, 0.3}) {
      // One special number in row 3 meets factor in every column.
      Memory a = make(ElementType::F32, c.m * c.k, [&](int64_t i) {
        return i == 3 * 8 + 5 ? special : 0.5;
      });
      Memory b = make(ElementType::F32, c.k * c.n,
                      [&](int64_t i) { return i / 8 == 5 ? factor : 0.0; });
      Memory z = make(ElementType::F32, c.m * c.n, [](int64_t) { return 0.0; }),
             zt(ElementType::F32, c.m * c.n);
      program.run({a, b, z, zt});
      for (int64_t i = 0; i < z.size(); ++i) {
        const double exact = a.get(i / 8 * 8 + 5) * b.get(40 + i % 8);
        if (!std::isfinite(exact))
          ASSERT_EQ(canonicalBits(ElementType::F32, z.get(i)),
                    canonicalBits(ElementType::F32, exact))
              << special << " * " << factor;
        else
          ASSERT_NEAR(z.get(i), exact, std::fabs(exact) * 0x1p-21 + 1e-37)
              << special << " * " << factor;
      }
    }
}

/// As accurate as sums in f32: products of numbers that tf32 does not hold.
TEST_P(Dot, F32IsAccurate) {
  DotCase c{32, 24, 64, ElementType::F32, ElementType::F32};
  Program program(dotKernel(c, "k"), GetParam());
  auto number = [](int64_t i) {
    return std::sin(double(i) * 1.37) + 1.0 / 3.0;
  };
  Memory a = make(ElementType::F32, c.m * c.k, number);
  Memory b = make(ElementType::F32, c.k * c.n,
                  [&](int64_t i) { return number(7 * i + 3); });
  Memory z = make(ElementType::F32, c.m * c.n, [](int64_t) { return 0.0; }),
         zt(ElementType::F32, c.m * c.n);
  program.run({a, b, z, zt});
  double error = 0, norm = 0;
  for (int64_t i = 0; i < z.size(); ++i) {
    double exact = 0;
    for (int64_t k = 0; k < c.k; ++k)
      exact += a.get(i / c.n * c.k + k) * b.get(k * c.n + i % c.n);
    error += (z.get(i) - exact) * (z.get(i) - exact);
    norm += exact * exact;
  }
  EXPECT_LT(std::sqrt(error / norm), 5e-7);
}
