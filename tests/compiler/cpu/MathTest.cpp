//===- MathTest.cpp - Exponentials and logarithms -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contract: 2 units in the last place; with afn, 2^-21 relative, and for
// exp |x| 2^-23 more. Results below the smallest normal number may be zero.
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
