//===- MathTest.cpp - Exponentials and logarithms -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contract: 2 units in the last place; with afn, 2^-21 relative, and for
// exp |x| 2^-23 more. Results below the smallest normal number may be zero.
// Other functions: 4 units.
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/MapKernel.h"

#include <cfloat>
#include <cmath>

using namespace flashtile;
using namespace flashtile::cputest;

namespace {
class Math : public OnEachProcessor {};

using Function = long double (*)(long double);
const std::tuple<const char *, Function, bool> kFunctions[] = {
    {"exp", [](long double x) { return std::exp(x); }, true},
    {"exp2", [](long double x) { return std::exp2(x); }, true},
    {"log", [](long double x) { return std::log(x); }, false},
    {"log2", [](long double x) { return std::log2(x); }, false}};

int mantissaBits(ElementType type) {
  return type == ElementType::F64   ? 52
         : type == ElementType::F32 ? 23
         : type == ElementType::F16 ? 10
                                    : 7;
}

int smallestExponent(ElementType type) {
  return type == ElementType::F64   ? -1022
         : type == ElementType::F16 ? -14
                                    : -126;
}

/// Distance in units in the last place of the exact value.
double ulps(ElementType type, double value, long double exact) {
  int exponent;
  std::frexp(static_cast<double>(exact), &exponent);
  exponent = std::max(exponent - 1, smallestExponent(type));
  return static_cast<double>(std::fabs(value - exact) /
                             std::ldexp(1.0L, exponent - mantissaBits(type)));
}

void check(ElementType type, const std::string &name, Function function,
           bool isExp, bool afn, double x, double y) {
  long double exact = function(static_cast<long double>(x));
  auto where = [&] {
    return name + "(" + std::to_string(x) + ") = " + std::to_string(y);
  };
  if (std::isnan(x) || std::isnan(exact)) {
    ASSERT_TRUE(std::isnan(y)) << where();
    return;
  }
  double rounded = roundTo(type, static_cast<double>(exact));
  bool subnormal = std::fabs(exact) < std::ldexp(1.0L, smallestExponent(type));
  if (isExp && subnormal && y == 0)
    return;
  if (!isExp && std::fabs(x) < std::ldexp(1.0, smallestExponent(type)) &&
      std::isinf(y) && y < 0)
    return; // a subnormal operand may be taken as zero
  if (std::isinf(rounded) || std::isinf(y)) {
    ASSERT_EQ(y, rounded) << where();
    return;
  }
  if (afn && isExp && type == ElementType::F32) {
    double limit = 0x1p-21 + (name == "exp" ? std::fabs(x) * 0x1p-23 : 0);
    ASSERT_LE(std::fabs(y - exact) / exact, limit) << where();
    return;
  }
  ASSERT_LE(ulps(type, y, exact), 2.0) << where();
}
} // namespace

FLASHTILE_ON_EACH_PROCESSOR(Math);

TEST_P(Math, EdgesAndAccuracy) {
  for (ElementType type : {ElementType::F64, ElementType::F32, ElementType::F16,
                           ElementType::BF16})
    for (bool afn : {false, true}) {
      std::string text;
      for (auto [name, function, isExp] : kFunctions)
        text += mapKernel({type}, type,
                          "  %r = tile." + std::string(name) + " %x0 " +
                              (afn ? "fastmath<afn> " : "") + ": $R",
                          "t_" + std::string(name));
      Program program(text, GetParam());
      std::vector<double> values = {
          -HUGE_VAL, HUGE_VAL, std::nan(""), 0.0,    -0.0,   1,
          -1,        1e-40,    -150,         -149,   -127,   -126,
          127,       128,      88.8,         709.78, 709.79, -745,
          1024,      1023.99,  -1e30,        1e30,   5e-324};
      for (float edge : {88.7228391f, -87.3365447f, 128.0f, -126.0f, -127.0f,
                         -103.97f, 11.0898f, 16.0f, -9.7f, -14.0f, 1.0f}) {
        float up = edge, down = edge;
        for (int i = 0; i < 20; ++i) {
          values.push_back(up);
          values.push_back(down);
          up = std::nextafterf(up, HUGE_VALF);
          down = std::nextafterf(down, -HUGE_VALF);
        }
      }
      for (int i = 0; i < 12000; i += unlessInterpreted(1, 37)) {
        values.push_back(-130 + i * 0.0223); // across the range of exp
        values.push_back(std::ldexp(1 + i % 100 * 0.01, i / 100 - 60));
      }
      Memory in =
          make(type, values.size(), [&](int64_t i) { return values[i]; });
      for (auto [name, function, isExp] : kFunctions) {
        Memory out = runMap(program, type, {&in}, "t_" + std::string(name));
        for (int64_t i = 0; i < in.size(); ++i)
          ASSERT_NO_FATAL_FAILURE(
              check(type, name, function, isExp, afn, in.get(i), out.get(i)))
              << elementTypeName(type);
      }
    }
}

TEST_P(Math, MathDialectAgreesOnExponentials) {
  Program program(mapKernel({ElementType::F32}, ElementType::F32,
                            "  %r = math.exp %x0 : $R", "t_exp") +
                      mapKernel({ElementType::F32}, ElementType::F32,
                                "  %r = math.exp2 %x0 : $R", "t_exp2"),
                  GetParam());
  Memory in =
      make(ElementType::F32, 4000, [](int64_t i) { return -140 + i * 0.071; });
  for (auto [name, function, isExp] : kFunctions) {
    if (!isExp)
      continue;
    Memory out =
        runMap(program, ElementType::F32, {&in}, "t_" + std::string(name));
    for (int64_t i = 0; i < in.size(); ++i)
      ASSERT_NO_FATAL_FAILURE(check(ElementType::F32, name, function, true,
                                    false, in.get(i), out.get(i)));
  }
}

TEST_P(Math, FunctionsOfTheMathDialect) {
  struct Case {
    const char *op;
    Function exact;
    double low, high;
  };
  const Case cases[] = {
      {"sin", [](long double x) { return std::sin(x); }, -40, 40},
      {"cos", [](long double x) { return std::cos(x); }, -40, 40},
      {"tan", [](long double x) { return std::tan(x); }, -40, 40},
      {"asin", [](long double x) { return std::asin(x); }, -1.01, 1.01},
      {"acos", [](long double x) { return std::acos(x); }, -1.01, 1.01},
      {"atan", [](long double x) { return std::atan(x); }, -30, 30},
      {"sinh", [](long double x) { return std::sinh(x); }, -80, 80},
      {"cosh", [](long double x) { return std::cosh(x); }, -80, 80},
      {"tanh", [](long double x) { return std::tanh(x); }, -25, 25},
      {"asinh", [](long double x) { return std::asinh(x); }, -1e4, 1e4},
      {"acosh", [](long double x) { return std::acosh(x); }, 0.9, 90},
      {"atanh", [](long double x) { return std::atanh(x); }, -1.01, 1.01},
      {"erf", [](long double x) { return std::erf(x); }, -7, 7},
      {"erfc", [](long double x) { return std::erfc(x); }, -7, 9},
      {"exp", [](long double x) { return std::exp(x); }, -80, 80},
      {"exp2", [](long double x) { return std::exp2(x); }, -120, 120},
      {"expm1", [](long double x) { return std::expm1(x); }, -50, 80},
      {"log", [](long double x) { return std::log(x); }, -0.5, 20},
      {"log2", [](long double x) { return std::log2(x); }, -0.5, 20},
      {"log10", [](long double x) { return std::log10(x); }, -0.5, 20},
      {"log1p", [](long double x) { return std::log1p(x); }, -1.1, 20},
      {"cbrt", [](long double x) { return std::cbrt(x); }, -30, 30},
      {"rsqrt", [](long double x) { return 1 / std::sqrt(x); }, 0.01, 30}};
  for (ElementType type : {ElementType::F64, ElementType::F32}) {
    std::string text;
    for (const Case &c : cases)
      text += mapKernel({type}, type,
                        "  %r = math." + std::string(c.op) + " %x0 : $R",
                        "t_" + std::string(c.op));
    Program program(text, GetParam());
    const int64_t count = unlessInterpreted(4000, 400);
    for (const Case &c : cases) {
      Memory in = make(type, count, [&](int64_t i) {
        if (i < 4)
          return i == 0 ? 0.0 : i == 1 ? -0.0 : i == 2 ? 1.0 : std::nan("");
        return i % 2 ? c.low + (c.high - c.low) * double(i) / double(count)
                     : std::ldexp(1.0, -int(i / 2) % 60);
      });
      Memory out = runMap(program, type, {&in}, "t_" + std::string(c.op));
      for (int64_t i = 0; i < count; ++i) {
        const long double exact = c.exact(static_cast<long double>(in.get(i)));
        if (std::isnan(exact))
          ASSERT_TRUE(std::isnan(out.get(i))) << c.op << " of " << in.get(i);
        else if (std::isinf(exact))
          ASSERT_EQ(out.get(i), exact) << c.op << " of " << in.get(i);
        else
          ASSERT_LE(ulps(type, out.get(i), exact), 4.0)
              << c.op << " of " << in.get(i) << " in " << elementTypeName(type)
              << " is " << out.get(i);
      }
    }
  }
}

/// With afn: tanh to 2^-21, or 2^-10 where it is rounded to f16, and
/// reciprocals to 2^-22, where results that are not normal numbers may be zero.
TEST_P(Math, ApproximateTanhAndReciprocals) {
  const std::string tanh = "  %r = math.tanh %x0 fastmath<afn> : $R";
  const std::string reciprocal =
      "  %unit = arith.constant dense<1.0> : $R\n"
      "  %r = arith.divf %unit, %x0 fastmath<afn> : $R";
  const ElementType f32 = ElementType::F32, f16 = ElementType::F16;
  Program program(mapKernel({f32}, f32, tanh, "t_wide") +
                      mapKernel({f16}, f16, tanh, "t_narrow") +
                      mapKernel({f32}, f32, reciprocal, "t_reciprocal"),
                  GetParam());
  const std::vector<double> edges = {HUGE_VAL, -HUGE_VAL, std::nan(""), 1e38,
                                     -1e38,    1e-37,     -30,          1e-4};
  auto value = [&](int64_t i) {
    return i < int64_t(edges.size()) ? edges[i] : -12 + double(i) * 0.0123;
  };
  Memory in = make(f32, 2000, value), narrowIn = make(f16, 2000, value);
  Memory wide = runMap(program, f32, {&in}, "t_wide");
  Memory narrow = runMap(program, f16, {&narrowIn}, "t_narrow");
  Memory reciprocals = runMap(program, f32, {&in}, "t_reciprocal");
  for (int64_t i = 0; i < in.size(); ++i) {
    const double x = in.get(i), y = narrowIn.get(i);
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(wide.get(i)) && std::isnan(narrow.get(i)) &&
                  std::isnan(reciprocals.get(i)));
      continue;
    }
    EXPECT_NEAR(wide.get(i), std::tanh(x), std::fabs(std::tanh(x)) * 0x1p-21)
        << x;
    EXPECT_NEAR(narrow.get(i), std::tanh(y), std::fabs(std::tanh(y)) * 0x1p-10)
        << y;
    EXPECT_NEAR(reciprocals.get(i), 1 / x,
                std::max(std::fabs(1 / x) * 0x1p-22, 0x1p-126))
        << x;
  }
}

TEST_P(Math, FunctionsOfTwoOperands) {
  for (ElementType type : {ElementType::F64, ElementType::F32}) {
    Program program(mapKernel({type, type}, type,
                              "  %r = math.atan2 %x0, %x1 : $R", "t_atan2") +
                        mapKernel({type, type}, type,
                                  "  %r = math.powf %x0, %x1 : $R", "t_powf") +
                        mapKernel({type, type}, type,
                                  "  %r = arith.remf %x0, %x1 : $R", "t_remf"),
                    GetParam());
    const double edges[] = {0.0,       -0.0,         1.0,  -1.0, 2.0,
                            -3.0,      0.75,         1e10, -7.5, HUGE_VAL,
                            -HUGE_VAL, std::nan(""), 1e-30};
    constexpr int64_t n = std::size(edges);
    const int64_t count = n * n + 600;
    auto value = [&](int64_t i, bool second) {
      if (i < n * n)
        return edges[second ? i % n : i / n];
      const int64_t k = i - n * n;
      return second ? (k % 41 - 20) * 0.375
                    : std::ldexp(1.0 + k % 7 * 0.125, int(k % 23) - 9);
    };
    Memory x = make(type, count, [&](int64_t i) { return value(i, false); });
    Memory y = make(type, count, [&](int64_t i) { return value(i, true); });
    Memory angle = runMap(program, type, {&x, &y}, "t_atan2");
    Memory power = runMap(program, type, {&x, &y}, "t_powf");
    Memory rest = runMap(program, type, {&x, &y}, "t_remf");
    auto check = [&](const Memory &out, int64_t i, long double exact,
                     double limit, const char *name) {
      const double narrow = roundTo(type, static_cast<double>(exact));
      if (std::isnan(narrow) || std::isinf(narrow) || narrow == 0)
        ASSERT_EQ(canonicalBits(type, out.get(i)), canonicalBits(type, narrow))
            << name << " of " << x.get(i) << ", " << y.get(i) << " is "
            << out.get(i);
      else
        ASSERT_LE(ulps(type, out.get(i), exact), limit)
            << name << " of " << x.get(i) << ", " << y.get(i) << " is "
            << out.get(i);
    };
    for (int64_t i = 0; i < count; ++i) {
      const long double a = x.get(i), b = y.get(i);
      double units = std::fabs(y.get(i) * std::log(std::fabs(x.get(i))));
      if (!std::isfinite(units))
        units = 0;
      ASSERT_NO_FATAL_FAILURE(check(angle, i, std::atan2(a, b), 3, "atan2"));
      ASSERT_NO_FATAL_FAILURE(
          check(power, i, std::pow(a, b),
                type == ElementType::F64 ? 4 + 2 * units : 2, "powf"));
      ASSERT_NO_FATAL_FAILURE(check(rest, i, std::fmod(a, b), 0, "remf"));
    }
  }
}
