//===- ReductionTest.cpp - Sums, maxima, reductions and scans -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/MapKernel.h"

#include <cmath>
#include <limits>

using namespace flashtile;
using namespace flashtile::cputest;

namespace {
class Reduction : public OnEachProcessor {};

std::string shapeText(const std::vector<int64_t> &shape,
                      const std::string &element) {
  std::string text;
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + element;
}

/// Text that makes a window %name of a whole dense tensor at %pointer.
std::string denseWindow(const std::string &name, const std::string &pointer,
                        const std::vector<int64_t> &shape,
                        const std::string &element) {
  std::string text, extents, strides, zeros;
  int64_t stride = 1;
  std::vector<int64_t> steps(shape.size());
  for (size_t dim = shape.size(); dim-- > 0; stride *= shape[dim])
    steps[dim] = stride;
  auto constant = [&](const std::string &suffix, int64_t value) {
    std::string id = "%" + name + suffix;
    text +=
        "  " + id + " = arith.constant " + std::to_string(value) + " : i64\n";
    return id;
  };
  std::string zero = constant("_zero", 0);
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    std::string comma = dim ? ", " : "", n = std::to_string(dim);
    extents += comma + constant("_e" + n, shape[dim]);
    strides += comma + constant("_s" + n, steps[dim]);
    zeros += comma + zero;
  }
  return text + "  %" + name + " = tile.make_block_ptr %" + pointer +
         " shape [" + extents + "] strides [" + strides + "] offsets [" +
         zeros + "] : !tile.ptr<" + element + "> -> !tile.block_ptr<" +
         shapeText(shape, element) + ">\n";
}

/// Loads a tile %t of `shape` from %x, runs `body`, and stores a tile %r of
/// `result` (or a scalar, where that is empty) to %y.
std::string tileKernel(const std::vector<int64_t> &shape, ElementType element,
                       const std::vector<int64_t> &result, ElementType to,
                       const std::string &body) {
  std::string e(elementTypeName(element)), r(elementTypeName(to));
  std::string text = "tile.kernel @k(%x: !tile.ptr<" + e + ">, %y: !tile.ptr<" +
                     r + ">) grid() -> (1) {\n" +
                     denseWindow("w", "x", shape, e) +
                     "  %t = tile.load %w : !tile.block_ptr<" +
                     shapeText(shape, e) + ">\n" + body;
  if (result.empty())
    return text + "  tile.store %y, %r : !tile.ptr<" + r +
           ">\n  tile.return\n}\n";
  return text + denseWindow("v", "y", result, r) +
         "  tile.store %v, %r : !tile.block_ptr<" + shapeText(result, r) +
         ">\n  tile.return\n}\n";
}

std::string reduceLine(const std::string &op, const std::string &from,
                       const std::string &to, int64_t axis,
                       const std::vector<int64_t> &shape,
                       const std::string &element) {
  std::vector<int64_t> inner = shape;
  inner.erase(inner.begin() + axis);
  std::string result =
      inner.empty() ? element : "tensor<" + shapeText(inner, element) + ">";
  return "  %" + to + " = tile." + op + " %" + from + " axis " +
         std::to_string(axis) + " : tensor<" + shapeText(shape, element) +
         "> -> " + result + "\n";
}

const std::vector<ElementType> kNumbers = {
    ElementType::F64, ElementType::F32, ElementType::F16, ElementType::BF16,
    ElementType::I64, ElementType::I32, ElementType::I16, ElementType::I8};
} // namespace

FLASHTILE_ON_EACH_PROCESSOR(Reduction);

TEST_P(Reduction, SumsOfATileInEveryOrder) {
  const std::pair<int64_t, int64_t> shapes[] = {
      {1, 1},  {2, 2},   {4, 4},    {8, 8}, {1, 64},
      {64, 1}, {16, 16}, {64, 128}, {3, 7}, {33, 48}};
  for (auto [m, n] : shapes)
    for (ElementType type : {ElementType::F32, ElementType::I32}) {
      std::string e(elementTypeName(type));
      std::vector<int64_t> shape = {m, n};
      Memory x = make(type, m * n, [](int64_t i) { return i; });
      for (int64_t first : {0, 1}) {
        Memory y(type, 1);
        Program(tileKernel(
                    shape, type, {}, type,
                    reduceLine("sum", "t", "s", first, shape, e) +
                        reduceLine("sum", "s", "r", 0, {shape[1 - first]}, e)),
                GetParam())
            .run({x, y});
        ASSERT_EQ(y.getInteger(0), m * n * (m * n - 1) / 2);
      }
      for (int64_t axis : {0, 1}) {
        Memory y(type, shape[1 - axis]);
        Program(tileKernel(shape, type, {shape[1 - axis]}, type,
                           reduceLine("sum", "t", "r", axis, shape, e)),
                GetParam())
            .run({x, y});
        for (int64_t i = 0; i < y.size(); ++i) {
          int64_t expected = 0;
          for (int64_t k = 0; k < shape[axis]; ++k)
            expected += axis == 0 ? k * n + i : i * n + k;
          ASSERT_EQ(y.getInteger(i), expected);
        }
      }
    }
}

TEST_P(Reduction, TwiceOnHigherRanks) {
  Memory x = make(ElementType::F32, 256, [](int64_t i) { return i; });
  Memory a(ElementType::F32, 2), b(ElementType::F32, 16);
  Program(tileKernel({2, 2, 32}, ElementType::F32, {2}, ElementType::F32,
                     reduceLine("sum", "t", "s", 2, {2, 2, 32}, "f32") +
                         reduceLine("sum", "s", "r", 1, {2, 2}, "f32")),
          GetParam())
      .run({x, a});
  EXPECT_EQ(a.get(0), 2016);
  EXPECT_EQ(a.get(1), 6112);
  Program(tileKernel({4, 4, 4, 4}, ElementType::F32, {4, 4}, ElementType::F32,
                     reduceLine("sum", "t", "s", 2, {4, 4, 4, 4}, "f32") +
                         reduceLine("sum", "s", "r", 2, {4, 4, 4}, "f32")),
          GetParam())
      .run({x, b});
  for (int64_t h = 0; h < 4; ++h)
    for (int64_t w = 0; w < 4; ++w)
      EXPECT_EQ(b.get(4 * h + w), 16 * (64 * h + 16 * w) + 120);
}

TEST_P(Reduction, EveryTypeAlongEveryAxis) {
  const std::vector<int64_t> shape = {5, 3, 17};
  for (ElementType type : kNumbers)
    for (const char *op : {"sum", "max", "min"})
      for (int64_t axis = 0; axis < 3; ++axis) {
        std::vector<int64_t> inner = shape;
        inner.erase(inner.begin() + axis);
        std::string e(elementTypeName(type));
        Memory x =
            make(type, 5 * 3 * 17, [](int64_t i) { return i * 37 % 15 - 7; });
        Memory y(type, inner[0] * inner[1]);
        Program(tileKernel(shape, type, inner, type,
                           reduceLine(op, "t", "r", axis, shape, e)),
                GetParam())
            .run({x, y});
        int64_t step = axis == 0 ? 51 : axis == 1 ? 17 : 1;
        for (int64_t i = 0; i < inner[0]; ++i)
          for (int64_t j = 0; j < inner[1]; ++j) {
            int64_t start = axis == 0   ? i * 17 + j
                            : axis == 1 ? i * 51 + j
                                        : (i * 3 + j) * 17;
            double expected = x.get(start);
            for (int64_t k = 1; k < shape[axis]; ++k) {
              double value = x.get(start + k * step);
              expected = *op == 's'     ? expected + value
                         : op[1] == 'a' ? std::max(expected, value)
                                        : std::min(expected, value);
            }
            ASSERT_EQ(y.get(i * inner[1] + j), expected)
                << op << " of " << e << " along " << axis;
          }
      }
}

TEST_P(Reduction, IntegerSumsWrap) {
  Memory x = make(ElementType::I8, 33, [](int64_t) { return 100; });
  Memory y(ElementType::I8, 1);
  Program(tileKernel({33}, ElementType::I8, {}, ElementType::I8,
                     reduceLine("sum", "t", "r", 0, {33}, "i8")),
          GetParam())
      .run({x, y});
  EXPECT_EQ(y.getInteger(0), int8_t(3300));
}

TEST_P(Reduction, NarrowSumsRoundOnce) {
  // 256 + 255 ones: rounding each sum to bf16 would stay at 256.
  for (int64_t axis : {0, 1}) {
    std::vector<int64_t> shape = {axis == 0 ? 256 : 3, axis == 0 ? 3 : 256};
    Memory x = make(ElementType::BF16, 768, [&](int64_t i) {
      int64_t k = axis == 0 ? i / 3 : i % 256;
      return k == 0 ? 256 : 1;
    });
    Memory y(ElementType::BF16, 3);
    Program(tileKernel(shape, ElementType::BF16, {3}, ElementType::BF16,
                       reduceLine("sum", "t", "r", axis, shape, "bf16")),
            GetParam())
        .run({x, y});
    for (int64_t i = 0; i < 3; ++i)
      EXPECT_EQ(y.get(i), 512.0); // 511 rounds to even
  }
}

TEST_P(Reduction, BooleansAreFalseBelowTrue) {
  Memory x = make(ElementType::I1, 19 * 3, [](int64_t i) {
    return int64_t(i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : i == 2);
  });
  for (const char *op : {"max", "min"}) {
    Memory y(ElementType::I1, 3);
    Program(tileKernel({19, 3}, ElementType::I1, {3}, ElementType::I1,
                       reduceLine(op, "t", "r", 0, {19, 3}, "i1")),
            GetParam())
        .run({x, y});
    EXPECT_EQ(y.bits(0), 0u);
    EXPECT_EQ(y.bits(1), 1u);
    EXPECT_EQ(y.bits(2), uint64_t(op[1] == 'a'));
  }
}

TEST_P(Reduction, WhetherAnyOrAllOfATileAreFinite) {
  const double huge[] = {INFINITY, -INFINITY, NAN};
  const std::pair<int64_t, int64_t> shapes[] = {
      {1, 1}, {3, 7}, {33, 48}, {16, 16}, {64, 128}};
  for (auto extents : shapes)
    for (ElementType type :
         {ElementType::F32, ElementType::F16, ElementType::BF16}) {
      const int64_t m = extents.first, n = extents.second;
      std::vector<int64_t> shape = {m, n};
      std::string e(elementTypeName(type)), tile = shapeText(shape, e);
      const char *infinity = type == ElementType::F32   ? "0x7F800000"
                             : type == ElementType::F16 ? "0x7C00"
                                                        : "0x7F80";
      std::string finite = "  %size = math.absf %t : tensor<" + tile +
                           ">\n  %inf = arith.constant dense<" + infinity +
                           "> : tensor<" + tile +
                           ">\n  %b = arith.cmpf olt, %size, %inf : tensor<" +
                           tile + ">\n";
      std::string bools = shapeText(shape, "i1");
      Program all(tileKernel(shape, type, {}, ElementType::I1,
                             finite +
                                 reduceLine("min", "b", "s", 0, shape, "i1") +
                                 reduceLine("min", "s", "r", 0, {n}, "i1")),
                  GetParam());
      Program any(
          tileKernel(
              shape, type, {}, ElementType::I1,
              finite + "  %yes = arith.constant dense<true> : tensor<" + bools +
                  ">\n  %not = arith.xori %b, %yes : " + "tensor<" + bools +
                  ">\n" + reduceLine("max", "not", "s", 1, shape, "i1") +
                  reduceLine("max", "s", "r", 0, {m}, "i1")),
          GetParam());
      auto expect = [&](Memory &x, bool isFinite) {
        Memory y(ElementType::I1, 1), z(ElementType::I1, 1);
        all.run({x, y});
        any.run({x, z});
        ASSERT_EQ(y.bits(0), uint64_t(isFinite)) << e << " " << m << "x" << n;
        ASSERT_EQ(z.bits(0), uint64_t(!isFinite)) << e << " " << m << "x" << n;
      };
      // The largest finite numbers of either sign.
      uint64_t sign = uint64_t(1) << (8 * int(elementSize(type)) - 1);
      Memory x = make(type, m * n, [&](int64_t) { return 0.0; });
      x.set(0, INFINITY);
      uint64_t largest = x.bits(0) - 1;
      for (int64_t i = 0; i < m * n; ++i)
        x.setBits(i, largest | (i % 2 ? sign : 0));
      expect(x, true);
      for (int64_t at : {int64_t(0), m * n / 3, m * n / 2, m * n - 1}) {
        uint64_t before = x.bits(at);
        x.set(at, huge[at % 3]);
        expect(x, false);
        x.setBits(at, before);
      }
    }
}

TEST_P(Reduction, NaNAtEachPositionAndSignedZeros) {
  for (ElementType type : {ElementType::F64, ElementType::F32, ElementType::F16,
                           ElementType::BF16})
    for (const char *op : {"max", "min"})
      for (int64_t axis : {0, 1}) {
        // Line k has NaN at k; the last one has zeros of both signs only.
        constexpr int64_t length = 64, lines = 65;
        std::vector<int64_t> shape = {axis == 0 ? length : lines,
                                      axis == 0 ? lines : length};
        Memory x = make(type, length * lines, [&](int64_t i) {
          int64_t line = axis == 0 ? i % lines : i / length;
          int64_t at = axis == 0 ? i / lines : i % length;
          if (line == length)
            return at % 2 ? -0.0 : 0.0;
          return line == at ? std::nan("") : double(at % 7);
        });
        Memory y(type, lines);
        Program(tileKernel(shape, type, {lines}, type,
                           reduceLine(op, "t", "r", axis, shape,
                                      std::string(elementTypeName(type)))),
                GetParam())
            .run({x, y});
        for (int64_t line = 0; line < length; ++line)
          ASSERT_TRUE(std::isnan(y.get(line)));
        ASSERT_EQ(y.get(length), 0.0);
        ASSERT_EQ(std::signbit(y.get(length)), op[1] == 'i');
      }
}

static std::string argMax(const std::string &result, int64_t axis,
                          const std::string &from, const std::string &to) {
  return fill(R"(
  %m, %$r = tile.reduce(%t, %at) axis $axis {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %gt = arith.cmpf ogt, %a, %b : f32
    %eq = arith.cmpf oeq, %a, %b : f32
    %first = arith.cmpi slt, %ai, %bi : i32
    %tie = arith.andi %eq, %first : i1
    %take = arith.ori %gt, %tie : i1
    %s = arith.select %take, %a, %b : f32
    %si = arith.select %take, %ai, %bi : i32
    tile.yield %s, %si : f32, i32
  } : (tensor<$fromxf32>, tensor<$fromxi32>) -> ($tof32$end, $toi32$end)
)",
              {{"r", result},
               {"axis", std::to_string(axis)},
               {"from", from},
               {"to", to.empty() ? "" : "tensor<" + to + "x"},
               {"end", to.empty() ? "" : ">"}});
}

TEST_P(Reduction, ArgMaxTakesTheFirstOfEquals) {
  const std::string positions = R"(
  %i = tile.arange 0 to 21 : tensor<21xi32>
  %e = tile.expand_dims %i axis $axis : tensor<21xi32> -> tensor<$onexi32>
  %at = tile.broadcast %e : tensor<$onexi32> -> tensor<$fullxi32>
)";
  for (int64_t axis : {0, 1}) {
    std::vector<int64_t> shape = {axis == 0 ? 21 : 6, axis == 0 ? 6 : 21};
    Memory x = make(ElementType::F32, 126, [&](int64_t i) {
      int64_t line = axis == 0 ? i % 6 : i / 21, k = axis == 0 ? i / 6 : i % 21;
      return k == line + 3 || k == line + 9 ? 5.0 : double(k % 4);
    });
    Memory y(ElementType::I32, 6);
    Program(
        tileKernel(shape, ElementType::F32, {6}, ElementType::I32,
                   fill(positions, {{"axis", std::to_string(1 - axis)},
                                    {"one", axis == 0 ? "21x1" : "1x21"},
                                    {"full", axis == 0 ? "21x6" : "6x21"}}) +
                       argMax("r", axis, axis == 0 ? "21x6" : "6x21", "6")),
        GetParam())
        .run({x, y});
    for (int64_t line = 0; line < 6; ++line)
      EXPECT_EQ(y.getInteger(line), line + 3);
  }
  Memory x = make(ElementType::F32, 21, [](int64_t i) { return i % 9; });
  Memory y(ElementType::I32, 1);
  Program(tileKernel({21}, ElementType::F32, {}, ElementType::I32,
                     "  %at = tile.arange 0 to 21 : tensor<21xi32>\n" +
                         argMax("r", 0, "21", "")),
          GetParam())
      .run({x, y});
  EXPECT_EQ(y.getInteger(0), 8);
}

TEST_P(Reduction, CombinersUseConstantsAndOuterValues) {
  for (int64_t axis : {0, 1}) {
    std::vector<int64_t> shape = {9, 17};
    Memory x = make(ElementType::BF16, 153, [](int64_t i) { return i % 5; });
    Memory y(ElementType::BF16, shape[1 - axis]);
    Program(tileKernel(shape, ElementType::BF16, {shape[1 - axis]},
                       ElementType::BF16,
                       fill(R"(
  %two = arith.constant 2.0 : bf16
  %r = tile.reduce(%t) axis $axis {
  ^bb0(%a: bf16, %b: bf16):
    %limit = arith.constant 3.0 : bf16
    %m = arith.maximumf %a, %b : bf16
    %l = arith.minimumf %m, %limit : bf16
    %u = arith.maximumf %l, %two : bf16
    tile.yield %u : bf16
  } : (tensor<9x17xbf16>) -> (tensor<$nxbf16>)
)",
                            {{"axis", std::to_string(axis)},
                             {"n", std::to_string(shape[1 - axis])}})),
            GetParam())
        .run({x, y});
    for (int64_t i = 0; i < y.size(); ++i)
      EXPECT_EQ(y.get(i), 3.0);
    // A combiner that ignores the elements.
    Program(tileKernel(shape, ElementType::BF16, {shape[1 - axis]},
                       ElementType::BF16,
                       fill(R"(
  %two = arith.constant 2.0 : bf16
  %r = tile.reduce(%t) axis $axis {
  ^bb0(%a: bf16, %b: bf16):
    tile.yield %two : bf16
  } : (tensor<9x17xbf16>) -> (tensor<$nxbf16>)
)",
                            {{"axis", std::to_string(axis)},
                             {"n", std::to_string(shape[1 - axis])}})),
            GetParam())
        .run({x, y});
    for (int64_t i = 0; i < y.size(); ++i)
      EXPECT_EQ(y.get(i), 2.0);
  }
}

static std::string scanLine(const std::string &shape, int64_t axis,
                            bool reverse, const std::string &element) {
  return "  %r = tile.scan(%t) axis " + std::to_string(axis) +
         (reverse ? " reverse" : "") + " {\n  ^bb0(%a: " + element +
         ", %b: " + element + "):\n    %s = arith.addf %a, %b : " + element +
         "\n    tile.yield %s : " + element + "\n  } : tensor<" + shape + ">\n";
}

TEST_P(Reduction, ScansForwardAndReverseAlongEachAxis) {
  const std::vector<int64_t> shape = {6, 4, 19};
  for (int64_t axis = 0; axis < 3; ++axis)
    for (bool reverse : {false, true}) {
      Memory x =
          make(ElementType::F32, 456, [](int64_t i) { return i * 7 % 11; });
      Memory y(ElementType::F32, 456);
      Program(tileKernel(shape, ElementType::F32, shape, ElementType::F32,
                         scanLine("6x4x19xf32", axis, reverse, "f32")),
              GetParam())
          .run({x, y});
      int64_t step = axis == 0 ? 76 : axis == 1 ? 19 : 1;
      for (int64_t p = 0; p < 456; ++p) {
        int64_t at = p / step % shape[axis];
        double expected = 0;
        for (int64_t k = 0; k < shape[axis]; ++k)
          if (reverse ? k >= at : k <= at)
            expected += x.get(p + (k - at) * step);
        ASSERT_EQ(y.get(p), expected) << axis << reverse << " at " << p;
      }
    }
}

TEST_P(Reduction, ReverseScanKeepsSmallTails) {
  Memory x =
      make(ElementType::F32, 64, [](int64_t i) { return i < 32 ? 1e8 : 1.0; });
  Memory y(ElementType::F32, 64);
  Program(tileKernel({64}, ElementType::F32, {64}, ElementType::F32,
                     scanLine("64xf32", 0, true, "f32")),
          GetParam())
      .run({x, y});
  for (int64_t i = 32; i < 64; ++i)
    EXPECT_EQ(y.get(i), 64 - i);
}

TEST_P(Reduction, ScanInALoopOfOneTrip) {
  for (int64_t n : {8, 32, 64}) {
    std::string tile = std::to_string(n) + "xf32";
    Memory x = make(ElementType::F32, n, [](int64_t) { return 1; });
    Memory y(ElementType::F32, n);
    Program program(tileKernel({n}, ElementType::F32, {n}, ElementType::F32,
                               fill(R"(
  %lb = arith.constant 0 : i32
  %ub = arith.constant 1 : i32
  %r = scf.for %i = %lb to %ub step %ub iter_args(%c = %t) -> (tensor<$T>) : i32 {
    %s = tile.scan(%c) axis 0 {
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %a, %b : f32
      tile.yield %sum : f32
    } : tensor<$T>
    scf.yield %s : tensor<$T>
  }
)",
                                    {{"T", tile}})),
                    GetParam());
    program.run({x, y});
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(y.get(i), i + 1);
  }
}

TEST_P(Reduction, ScansNeedNotCommute) {
  // f(x) = a x + b composed in order; pairs (a, b) with small integers.
  Memory x = make(ElementType::I32, 23, [](int64_t i) { return i % 3 + 1; });
  for (bool reverse : {false, true}) {
    Memory y(ElementType::I32, 23);
    Program(tileKernel({23}, ElementType::I32, {23}, ElementType::I32,
                       fill(R"(
  %i = tile.arange 0 to 23 : tensor<23xi32>
  %f, %r = tile.scan(%t, %i) axis 0 $dir {
  ^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
    %ca = arith.muli %c, %a : i32
    %cb = arith.muli %c, %b : i32
    %e = arith.addi %cb, %d : i32
    tile.yield %ca, %e : i32, i32
  } : tensor<23xi32>, tensor<23xi32>
)",
                            {{"dir", reverse ? "reverse" : ""}})),
            GetParam())
        .run({x, y});
    uint32_t b = 0;
    for (int64_t k = 0; k < 23; ++k) {
      int64_t i = reverse ? 22 - k : k;
      b = k == 0 ? uint32_t(i) : uint32_t(x.getInteger(i)) * b + uint32_t(i);
      ASSERT_EQ(uint32_t(y.getInteger(i)), b) << reverse << i;
    }
  }
}
