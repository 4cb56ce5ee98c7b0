//===- ArithmeticTest.cpp - Elementwise arithmetic, by the contract -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Narrow floats are compared with the exact result rounded once; f64 holds
// sums and products of them without error. Integers wrap.
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/MapKernel.h"

#include <cfenv>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

using namespace flashtile;
using namespace flashtile::cputest;

namespace {
class Arithmetic : public OnEachProcessor {};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const std::vector<ElementType> kComputeFloats = {
    ElementType::F64, ElementType::F32, ElementType::F16, ElementType::BF16};
const std::vector<ElementType> kIntegers = {ElementType::I8, ElementType::I16,
                                            ElementType::I32, ElementType::I64};

/// Values of the type: edges, and random patterns.
Memory patterns(ElementType type, int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  const double edges[] = {0.0,        -0.0,  1.0,     -1.0, kInfinity,
                          -kInfinity, kNaN,  65504.0, 6e-8, -6e-8,
                          3.4e38,     1e-40, 0.5,     2.0};
  Memory memory(type, count);
  for (int64_t i = 0; i < count; ++i) {
    if (isFloat(type) && random() % 4 == 0)
      memory.set(i, edges[random() % std::size(edges)]);
    else
      memory.setBits(i, random() >> (random() % 8));
  }
  if (type == ElementType::I1)
    for (int64_t i = 0; i < count; ++i)
      memory.setBits(i, random() & 1);
  return memory;
}

void checkSame(const Memory &result, int64_t i, double expected,
               const std::string &what) {
  ElementType type = result.type();
  ASSERT_EQ(canonicalBits(type, result.get(i)), canonicalBits(type, expected))
      << what << " at " << i << ": " << result.get(i) << ", expected "
      << expected;
}
} // namespace

// The first difference ends the test.
#define EXPECT_SAME(...) ASSERT_NO_FATAL_FAILURE(checkSame(__VA_ARGS__))

FLASHTILE_ON_EACH_PROCESSOR(Arithmetic);

TEST_P(Arithmetic, FloatsRoundTheExactResultOnce) {
  struct Case {
    const char *op;
    std::function<double(double, double)> exact; ///< in double; f64: the result
  };
  const Case cases[] = {
      {"arith.addf", [](double a, double b) { return a + b; }},
      {"arith.subf", [](double a, double b) { return a - b; }},
      {"arith.mulf", [](double a, double b) { return a * b; }},
      {"arith.divf", [](double a, double b) { return a / b; }}};
  for (ElementType type : kComputeFloats) {
    std::string text;
    for (const Case &c : cases)
      text += mapKernel({type, type}, type,
                        "  %r = " + std::string(c.op) + " %x0, %x1 : $R",
                        std::string(c.op).substr(6));
    Program program(text, GetParam());
    Memory a = patterns(type, 3000, 1), b = patterns(type, 3000, 2);
    for (const Case &c : cases) {
      Memory r = runMap(program, type, {&a, &b}, std::string(c.op).substr(6));
      for (int64_t i = 0; i < r.size(); ++i) {
        // Two roundings, to f64 and on, are as one: f64 has more than twice
        // the bits of the others.
        double expected = c.exact(a.get(i), b.get(i));
        EXPECT_SAME(r, i, roundTo(type, expected), c.op);
      }
    }
  }
}

TEST_P(Arithmetic, FusedMultiplyAddRoundsOnce) {
  for (ElementType type : {ElementType::F16, ElementType::BF16}) {
    Program program(mapKernel({type, type, type}, type,
                              "  %r = math.fma %x0, %x1, %x2 : $R"),
                    GetParam());
    Memory a = patterns(type, 6000, 3), b = patterns(type, 6000, 4),
           c = patterns(type, 6000, 5);
    // A product half-way between two values, decided by what is added.
    for (int64_t i = 0; i < 100; ++i) {
      double half = type == ElementType::F16 ? 0x1p-6 : 0x1p-4;
      a.set(i, 1 + half);
      b.set(i, 1 + half);
      c.set(i, (i % 2 ? 1 : -1) * std::ldexp(1.0, -24 - int(i) / 2));
    }
    Memory r = runMap(program, type, {&a, &b, &c});
    for (int64_t i = 0; i < r.size(); ++i) {
      long double exact = static_cast<long double>(a.get(i)) * b.get(i);
      long double sum = exact + c.get(i);
      if (!std::isfinite(sum) || std::isnan(exact)) {
        EXPECT_SAME(r, i, std::fma(a.get(i), b.get(i), c.get(i)), "fma");
        continue;
      }
      // To odd from the exact sum, so that the last rounding decides alone.
      double nearest = std::fma(a.get(i), b.get(i), c.get(i));
      long double error = (exact - nearest) + c.get(i);
      uint64_t bits;
      std::memcpy(&bits, &nearest, sizeof(bits));
      if (error != 0 && nearest != 0 && bits % 2 == 0)
        bits += (error > 0) == (nearest > 0) ? 1 : -1;
      std::memcpy(&nearest, &bits, sizeof(bits));
      EXPECT_SAME(r, i, roundTo(type, nearest), "fma");
    }
  }
}

TEST_P(Arithmetic, MaximumAndMinimumPropagateNaNAndOrderZeros) {
  const double edges[] = {kNaN, -kInfinity, -1, -0.0, 0.0, 1, kInfinity};
  constexpr int64_t count = std::size(edges) * std::size(edges);
  for (ElementType type : kComputeFloats) {
    const char *ops[] = {"maximumf", "minimumf", "maxnumf", "minnumf"};
    std::string text;
    for (const char *op : ops)
      text +=
          mapKernel({type, type}, type,
                    "  %r = arith." + std::string(op) + " %x0, %x1 : $R", op);
    Program program(text, GetParam());
    Memory a = make(type, count,
                    [&](int64_t i) { return edges[i / std::size(edges)]; });
    Memory b = make(type, count,
                    [&](int64_t i) { return edges[i % std::size(edges)]; });
    for (const char *op : ops) {
      Memory r = runMap(program, type, {&a, &b}, op);
      bool isMax = op[1] == 'a',
           number = std::string(op).back() == 'f' && std::string(op)[3] == 'n';
      for (int64_t i = 0; i < count; ++i) {
        double x = a.get(i), y = b.get(i), expected;
        if (std::isnan(x) || std::isnan(y))
          expected = !number ? kNaN : std::isnan(x) ? y : x;
        else if (x == y) // zeros: +0 is the larger
          expected = std::signbit(x) == isMax ? y : x;
        else
          expected = (x > y) == isMax ? x : y;
        if (number && x == 0 && y == 0)
          ASSERT_EQ(r.get(i), 0.0); // either zero
        else
          EXPECT_SAME(r, i, expected, op);
      }
    }
  }
}

TEST_P(Arithmetic, IntegersWrap) {
  using Fn = std::function<int64_t(int64_t, int64_t)>;
  const std::pair<const char *, Fn> cases[] = {
      {"addi",
       [](int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }},
      {"subi",
       [](int64_t a, int64_t b) { return int64_t(uint64_t(a) - uint64_t(b)); }},
      {"muli",
       [](int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }},
      {"andi", [](int64_t a, int64_t b) { return a & b; }},
      {"ori", [](int64_t a, int64_t b) { return a | b; }},
      {"xori", [](int64_t a, int64_t b) { return a ^ b; }},
      {"maxsi", [](int64_t a, int64_t b) { return std::max(a, b); }},
      {"minsi", [](int64_t a, int64_t b) { return std::min(a, b); }}};
  for (ElementType type : kIntegers) {
    std::string text;
    for (const auto &[op, fn] : cases)
      text +=
          mapKernel({type, type}, type,
                    "  %r = arith." + std::string(op) + " %x0, %x1 : $R", op);
    Program program(text, GetParam());
    Memory a = patterns(type, 700, 6), b = patterns(type, 700, 7);
    for (const auto &[op, fn] : cases) {
      Memory r = runMap(program, type, {&a, &b}, op);
      for (int64_t i = 0; i < r.size(); ++i)
        ASSERT_EQ(r.getInteger(i),
                  wrapTo(type, fn(a.getInteger(i), b.getInteger(i))))
            << op;
    }
  }
}

TEST_P(Arithmetic, UnsignedAndShifts) {
  for (ElementType type : kIntegers) {
    int64_t width = 8 * elementSize(type);
    std::string text;
    const char *ops[] = {"shli",  "shrsi", "shrui", "maxui",
                         "minui", "divui", "remui"};
    for (const char *op : ops)
      text +=
          mapKernel({type, type}, type,
                    "  %r = arith." + std::string(op) + " %x0, %x1 : $R", op);
    Program program(text, GetParam());
    Memory a = patterns(type, 900, 8), b = patterns(type, 900, 9);
    Memory amounts = make(type, 900, [&](int64_t i) { return i % width; });
    for (const char *op : ops) {
      std::string name = op;
      bool shift = name[0] == 's';
      Memory &second = shift ? amounts : b;
      Memory r = runMap(program, type, {&a, &second}, op);
      for (int64_t i = 0; i < r.size(); ++i) {
        uint64_t x = a.bits(i), y = second.bits(i), expected;
        if (name == "shli")
          expected = x << y;
        else if (name == "shrsi")
          expected = a.getInteger(i) >> y;
        else if (name == "shrui")
          expected = x >> y;
        else if (name == "maxui")
          expected = std::max(x, y);
        else if (name == "minui")
          expected = std::min(x, y);
        else if (y == 0)
          continue; // undefined, but no trap
        else
          expected = name == "divui" ? x / y : x % y;
        ASSERT_EQ(r.getInteger(i), wrapTo(type, int64_t(expected))) << op;
      }
    }
  }
}

TEST_P(Arithmetic, DivisionTruncatesAndNeverTraps) {
  const char *ops[] = {"divsi", "remsi", "floordivsi", "ceildivsi"};
  for (ElementType type : kIntegers) {
    std::string text;
    for (const char *op : ops)
      text +=
          mapKernel({type, type}, type,
                    "  %r = arith." + std::string(op) + " %x0, %x1 : $R", op);
    Program program(text, GetParam());
    Memory a = patterns(type, 1500, 10), b = patterns(type, 1500, 11);
    int64_t smallest =
        std::numeric_limits<int64_t>::min() >> (64 - 8 * elementSize(type));
    for (int64_t i = 0; i < 60; ++i) {
      a.setInteger(i, i % 2 ? smallest : -7);
      b.setInteger(i, i % 3 - 1);
    }
    for (const char *op : ops) {
      std::string name = op;
      Memory r = runMap(program, type, {&a, &b}, op);
      for (int64_t i = 0; i < r.size(); ++i) {
        int64_t x = a.getInteger(i), y = b.getInteger(i);
        if (y == 0 || (x == smallest && y == -1))
          continue; // undefined, but no trap
        int64_t quotient = x / y, rest = x % y, expected = quotient;
        if (name == "remsi")
          expected = rest;
        else if (name == "floordivsi" && rest != 0 && (x < 0) != (y < 0))
          expected = quotient - 1;
        else if (name == "ceildivsi" && rest != 0 && (x < 0) == (y < 0))
          expected = quotient + 1;
        ASSERT_EQ(r.getInteger(i), expected) << op << " " << x << " by " << y;
      }
    }
  }
}

TEST_P(Arithmetic, ScalarDivisionDoesNotTrap) {
  Program program(R"(
tile.kernel @k(%a: i32, %b: i32, %out: !tile.ptr<i32>) grid(a, b) -> (1) {
  %q = arith.divsi %a, %b : i32
  %u = arith.divui %a, %b : i32
  %m = arith.remsi %a, %b : i32
  %s = arith.addi %q, %u : i32
  %t = arith.addi %s, %m : i32
  tile.store %out, %t : !tile.ptr<i32>
  tile.return
})",
                  GetParam());
  Memory out(ElementType::I32, 1);
  program.run({int32_t(7), int32_t(0), out});
  program.run({INT32_MIN, int32_t(-1), out});
  program.run({int32_t(7), int32_t(2), out});
  EXPECT_EQ(out.getInteger(0), 7);
}

TEST_P(Arithmetic, DivisionOfIndices) {
  Program program(R"(
tile.kernel @k(%x: !tile.ptr<i64>, %a: i64, %b: i64) grid(a, b) -> (1) {
  %ai = arith.index_cast %a : i64 to index
  %bi = arith.index_cast %b : i64 to index
  %q = arith.divsi %ai, %bi : index
  %r = arith.remsi %ai, %bi : index
  %q64 = arith.index_cast %q : index to i64
  %r64 = arith.index_cast %r : index to i64
  %one = arith.constant 1 : i64
  %next = tile.addptr %x, %one : !tile.ptr<i64>, i64
  tile.store %x, %q64 : !tile.ptr<i64>
  tile.store %next, %r64 : !tile.ptr<i64>
  tile.return
})",
                  GetParam());
  Memory x(ElementType::I64, 2);
  program.run({x, int64_t(-17), int64_t(5)});
  EXPECT_EQ(x.getInteger(0), -3);
  EXPECT_EQ(x.getInteger(1), -2);
}

TEST_P(Arithmetic, Comparisons) {
  const char *orderedFloat[] = {"oeq", "ogt", "oge", "olt", "ole",
                                "one", "ord", "ueq", "ugt", "uge",
                                "ult", "ule", "une", "uno"};
  for (ElementType type : kComputeFloats) {
    std::string text;
    for (const char *p : orderedFloat)
      text += mapKernel(
          {type, type}, ElementType::I1,
          "  %r = arith.cmpf " + std::string(p) + ", %x0, %x1 : $T0", p);
    Program program(text, GetParam());
    Memory a = patterns(type, 600, 12), b = patterns(type, 600, 13);
    for (int64_t i = 0; i < 100; ++i)
      b.setBits(i, a.bits(i));
    for (const char *p : orderedFloat) {
      std::string name = p;
      Memory r = runMap(program, ElementType::I1, {&a, &b}, p);
      for (int64_t i = 0; i < r.size(); ++i) {
        double x = a.get(i), y = b.get(i);
        bool unordered = std::isnan(x) || std::isnan(y), expected;
        std::string relation = name.substr(1);
        if (name == "ord" || name == "uno")
          expected = unordered == (name == "uno");
        else if (unordered)
          expected = name[0] == 'u';
        else
          expected = relation == "eq"   ? x == y
                     : relation == "ne" ? x != y
                     : relation == "gt" ? x > y
                     : relation == "ge" ? x >= y
                     : relation == "lt" ? x < y
                                        : x <= y;
        ASSERT_EQ(r.bits(i), uint64_t(expected)) << p << " " << x << " " << y;
      }
    }
  }
}

TEST_P(Arithmetic, SelectWithScalarAndTileConditions) {
  std::vector<ElementType> all = kComputeFloats;
  all.insert(all.end(), kIntegers.begin(), kIntegers.end());
  for (ElementType type : all) {
    Program program(
        mapKernel({ElementType::I1, type, type}, type,
                  "  %r = arith.select %x0, %x1, %x2 : $T0, $R", "tiled") +
            mapKernel({type, type}, type,
                      "  %two = arith.constant 2 : i64\n"
                      "  %rest = arith.remsi %id, %two : i64\n"
                      "  %zero = arith.constant 0 : i64\n"
                      "  %even = arith.cmpi eq, %rest, %zero : i64\n"
                      "  %r = arith.select %even, %x0, %x1 : $R",
                      "scalar"),
        GetParam());
    Memory c = patterns(ElementType::I1, 400, 14), a = patterns(type, 400, 15),
           b = patterns(type, 400, 16);
    Memory r = runMap(program, type, {&c, &a, &b}, "tiled");
    Memory s = runMap(program, type, {&a, &b}, "scalar");
    for (int64_t i = 0; i < r.size(); ++i) {
      EXPECT_SAME(r, i, c.bits(i) ? a.get(i) : b.get(i), "select");
      EXPECT_SAME(s, i, i / kMapTile % 2 == 0 ? a.get(i) : b.get(i), "scalar");
    }
  }
}

TEST_P(Arithmetic, BitcastKeepsEveryPattern) {
  const std::pair<ElementType, ElementType> pairs[] = {
      {ElementType::F32, ElementType::I32},
      {ElementType::F64, ElementType::I64},
      {ElementType::F16, ElementType::I16},
      {ElementType::BF16, ElementType::I16},
      {ElementType::F16, ElementType::BF16},
      {ElementType::F8E4M3FN, ElementType::I8},
      {ElementType::F8E5M2, ElementType::I8}};
  for (auto [one, other] : pairs)
    for (auto [from, to] : {std::pair(one, other), std::pair(other, one)}) {
      Program program(
          mapKernel({from}, to, "  %r = arith.bitcast %x0 : $T0 to $R"),
          GetParam());
      Memory a = patterns(from, 1000, 17);
      Memory r = runMap(program, to, {&a});
      for (int64_t i = 0; i < r.size(); ++i) {
        if (std::isnan(isFloat(from) ? a.get(i) : r.get(i)))
          continue; // which NaN is open
        ASSERT_EQ(r.bits(i), a.bits(i))
            << elementTypeName(from) << " to " << elementTypeName(to);
      }
    }
}

TEST_P(Arithmetic, UnaryMath) {
  const std::pair<const char *, double (*)(double)> cases[] = {
      {"math.absf", [](double x) { return std::fabs(x); }},
      {"arith.negf", [](double x) { return -x; }},
      {"math.sqrt", [](double x) { return std::sqrt(x); }},
      {"math.floor", [](double x) { return std::floor(x); }},
      {"math.ceil", [](double x) { return std::ceil(x); }},
      {"math.trunc", [](double x) { return std::trunc(x); }},
      {"math.round", [](double x) { return std::round(x); }},
      {"math.roundeven", [](double x) { return std::nearbyint(x); }}};
  std::vector<ElementType> types = kComputeFloats;
  types.push_back(ElementType::F8E4M3FN);
  types.push_back(ElementType::F8E5M2);
  for (ElementType type : types) {
    std::string text;
    for (const auto &[op, fn] : cases)
      text += mapKernel({type}, type, "  %r = " + std::string(op) + " %x0 : $R",
                        "k_" + std::string(op).substr(5));
    Program program(text, GetParam());
    Memory a = patterns(type, 1500, 18);
    for (int64_t i = 0; i < 200; ++i)
      a.set(i, (i - 100) * 0.25);
    for (const auto &[op, fn] : cases) {
      Memory r = runMap(program, type, {&a}, "k_" + std::string(op).substr(5));
      for (int64_t i = 0; i < r.size(); ++i)
        EXPECT_SAME(r, i, fn(a.get(i)), op);
    }
  }
}

TEST_P(Arithmetic, KindsOfFloats) {
  std::vector<ElementType> types = kComputeFloats;
  types.push_back(ElementType::F8E4M3FN);
  types.push_back(ElementType::F8E5M2);
  // The smallest normal number of each.
  const double least[] = {0x1p-1022, 0x1p-126, 0x1p-14,
                          0x1p-126,  0x1p-6,   0x1p-14};
  for (size_t number = 0; number < types.size(); ++number) {
    const ElementType type = types[number];
    const std::pair<const char *, std::function<bool(double)>> cases[] = {
        {"isinf", [](double x) { return std::isinf(x); }},
        {"isnan", [](double x) { return std::isnan(x); }},
        {"isfinite", [](double x) { return std::isfinite(x); }},
        {"isnormal", [&](double x) {
           return std::isfinite(x) && std::fabs(x) >= least[number];
         }}};
    std::string text;
    for (const auto &[op, fn] : cases)
      text += mapKernel({type}, ElementType::I1,
                        "  %r = math." + std::string(op) + " %x0 : $T0", op);
    Program program(text, GetParam());
    Memory a = patterns(type, 600, 21);
    a.set(0, least[number]);
    a.set(1, -least[number]);
    a.set(2, least[number] / 2);
    for (const auto &[op, fn] : cases) {
      Memory r = runMap(program, ElementType::I1, {&a}, op);
      for (int64_t i = 0; i < r.size(); ++i)
        ASSERT_EQ(r.bits(i), fn(a.get(i)))
            << op << " of " << elementTypeName(type) << " " << a.get(i);
    }
  }
}

TEST_P(Arithmetic, PowersOfIntegers) {
  auto power = [](int64_t base, int64_t exponent) -> int64_t {
    if (exponent < 0)
      return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    uint64_t result = 1, square = uint64_t(base);
    for (; exponent; exponent /= 2, square *= square)
      if (exponent % 2)
        result *= square;
    return int64_t(result);
  };
  for (ElementType type : kIntegers) {
    Program program(
        mapKernel({type, type}, type, "  %r = math.ipowi %x0, %x1 : $R"),
        GetParam());
    Memory a = patterns(type, 400, 22), b = patterns(type, 400, 23);
    for (int64_t i = 0; i < 300; ++i) {
      a.set(i, double(i % 15 - 7));
      b.set(i, double(i / 15 - 4));
    }
    Memory r = runMap(program, type, {&a, &b});
    for (int64_t i = 0; i < r.size(); ++i)
      ASSERT_EQ(r.getInteger(i),
                wrapTo(type, power(a.getInteger(i), b.getInteger(i))))
          << a.getInteger(i) << " to the power of " << b.getInteger(i);
  }
}

TEST_P(Arithmetic, ClampsAndSinesWithCosines) {
  for (ElementType type : kComputeFloats) {
    Program program(mapKernel({type, type, type}, type,
                              "  %r = math.clampf %x0 to [%x1, %x2] : $R",
                              "clamp") +
                        mapKernel({type}, type,
                                  "  %s, %c = math.sincos %x0 : $R\n"
                                  "  %s1 = math.sin %x0 : $R\n"
                                  "  %c1 = math.cos %x0 : $R\n"
                                  "  %s2 = arith.subf %s, %s1 : $R\n"
                                  "  %c2 = arith.subf %c, %c1 : $R\n"
                                  "  %r = arith.addf %s2, %c2 : $R",
                                  "sines"),
                    GetParam());
    Memory a = patterns(type, 300, 24), low(type, 300), high(type, 300);
    for (int64_t i = 0; i < 300; ++i) {
      low.set(i, -double(i % 4));
      high.set(i, double(i % 7));
    }
    Memory r = runMap(program, type, {&a, &low, &high}, "clamp");
    for (int64_t i = 0; i < r.size(); ++i) {
      const double x = a.get(i);
      ASSERT_EQ(std::isnan(r.get(i)), std::isnan(x));
      if (!std::isnan(x))
        ASSERT_EQ(r.get(i), std::min(std::max(x, low.get(i)), high.get(i)));
    }
    for (int64_t i = 0; i < 300; ++i)
      a.set(i, (i - 150) * 0.125);
    Memory difference = runMap(program, type, {&a}, "sines");
    for (int64_t i = 0; i < 300; ++i)
      ASSERT_EQ(difference.get(i), 0) << a.get(i);
  }
}

TEST_P(Arithmetic, OperationsWithSeveralResults) {
  Program program(
      mapKernel({ElementType::I32, ElementType::I32}, ElementType::I32,
                "  %low, %r = arith.mulsi_extended %x0, %x1 : $R", "high") +
          mapKernel({ElementType::I32, ElementType::I32}, ElementType::I1,
                    "  %sum, %r = arith.addui_extended %x0, %x1 : $T0, $R",
                    "carry"),
      GetParam());
  Memory a = patterns(ElementType::I32, 300, 19),
         b = patterns(ElementType::I32, 300, 20);
  Memory high = runMap(program, ElementType::I32, {&a, &b}, "high");
  Memory carry = runMap(program, ElementType::I1, {&a, &b}, "carry");
  for (int64_t i = 0; i < high.size(); ++i) {
    ASSERT_EQ(high.getInteger(i), a.getInteger(i) * b.getInteger(i) >> 32);
    ASSERT_EQ(carry.bits(i), (a.bits(i) + b.bits(i)) >> 32);
  }
}
