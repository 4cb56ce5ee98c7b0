//===- ConversionTest.cpp - Conversions between element types -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounding is to nearest, ties to even, once; fp8 saturates; f16 overflows.
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/MapKernel.h"

#include <cmath>
#include <limits>
#include <random>

using namespace flashtile;
using namespace flashtile::cputest;

namespace {
class Conversion : public OnEachProcessor {};

const std::vector<ElementType> kFloats = {
    ElementType::F64,  ElementType::F32,      ElementType::F16,
    ElementType::BF16, ElementType::F8E4M3FN, ElementType::F8E5M2};
} // namespace

FLASHTILE_ON_EACH_PROCESSOR(Conversion);

/// All values of a narrow type, the points half-way between neighbours, and
/// what lies just beside those; then random numbers and edges.
static std::vector<double> interestingFor(ElementType target) {
  std::vector<double> values = {
      0.0,   -0.0,   HUGE_VAL, -HUGE_VAL, std::nan(""), 464.0,   480.0,
      448.0, 1e6,    -1e6,     61440.0,   57344.0,      65504.0, 65519.9,
      65520, 3.5e38, 1e-320,   -1e300,    3.4028236e38};
  if (elementSize(target) <= 2) {
    Memory all(target, 1);
    std::vector<double> finite;
    int64_t stride = elementSize(target) == 1 ? 1 : 37;
    for (int64_t pattern = 0; pattern < (1 << (8 * elementSize(target) - 1));
         pattern += stride) {
      for (int64_t next : {int64_t(0), int64_t(1)}) {
        all.setBits(0, pattern + next);
        if (std::isfinite(all.get(0)))
          finite.push_back(all.get(0));
      }
    }
    for (size_t i = 0; i + 1 < finite.size(); ++i) {
      double half = (finite[i] + finite[i + 1]) / 2;
      for (double x : {finite[i], half, std::nextafter(half, 1e300),
                       std::nextafter(half, -1e300),
                       double(std::nextafterf(float(half), 1e30f)),
                       double(std::nextafterf(float(half), -1e30f))}) {
        values.push_back(x);
        values.push_back(-x);
      }
    }
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i)
    values.push_back((random() % 2 ? 1 : -1) *
                     std::ldexp(1.0 + double(random() % 4096) / 4096,
                                int(random() % 60) - 40));
  return values;
}

TEST_P(Conversion, FloatToFloatRoundsOnceToNearestEven) {
  for (ElementType to : kFloats)
    for (ElementType from : kFloats) {
      if (from == to && to != ElementType::F8E5M2)
        continue;
      SCOPED_TRACE(std::string(elementTypeName(from)) + " to " +
                   std::string(elementTypeName(to)));
      Program program(mapKernel({from}, to, "  %r = tile.cast %x0 : $T0 -> $R"),
                      GetParam());
      std::vector<double> values = interestingFor(to);
      Memory in =
          make(from, values.size(), [&](int64_t i) { return values[i]; });
      if (elementSize(from) == 1)
        for (int64_t i = 0; i < 256; ++i)
          in.setBits(i, i);
      Memory out = runMap(program, to, {&in});
      for (int64_t i = 0; i < in.size(); ++i)
        ASSERT_EQ(canonicalBits(to, out.get(i)), canonicalBits(to, in.get(i)))
            << in.get(i) << " became " << out.get(i);
    }
}

TEST_P(Conversion, ExtendAndTruncateAreCasts) {
  for (ElementType narrow : {ElementType::F16, ElementType::BF16}) {
    Program program(mapKernel({ElementType::F32}, narrow,
                              "  %r = arith.truncf %x0 : $T0 to $R", "down") +
                        mapKernel({narrow}, ElementType::F64,
                                  "  %r = arith.extf %x0 : $T0 to $R", "up"),
                    GetParam());
    std::vector<double> values = interestingFor(narrow);
    Memory in = make(ElementType::F32, values.size(),
                     [&](int64_t i) { return values[i]; });
    Memory down = runMap(program, narrow, {&in}, "down");
    Memory up = runMap(program, ElementType::F64, {&down}, "up");
    for (int64_t i = 0; i < in.size(); ++i) {
      ASSERT_EQ(canonicalBits(narrow, down.get(i)),
                canonicalBits(narrow, in.get(i)));
      ASSERT_EQ(canonicalBits(ElementType::F64, up.get(i)),
                canonicalBits(ElementType::F64, down.get(i)));
    }
  }
}

/// Exact conversion of an integer to the type, to nearest even.
static double roundInteger(ElementType type, __int128 value) {
  bool negative = value < 0;
  unsigned __int128 magnitude = negative ? -value : value;
  int digits = type == ElementType::F64   ? 53
               : type == ElementType::F32 ? 24
               : type == ElementType::F16 ? 11
                                          : 8;
  int drop = 0;
  while (magnitude >> drop >> digits)
    ++drop;
  unsigned __int128 kept = magnitude >> drop, lost = magnitude - (kept << drop);
  unsigned __int128 half = drop ? (unsigned __int128)1 << (drop - 1) : 0;
  if (drop && (lost > half || (lost == half && kept % 2)))
    ++kept;
  double result = std::ldexp(double(uint64_t(kept)), drop);
  if (type == ElementType::F16 && result > 65504)
    result = HUGE_VAL;
  return negative ? -result : result;
}

TEST_P(Conversion, IntegersToFloatsRoundOnce) {
  for (ElementType to : {ElementType::F64, ElementType::F32, ElementType::F16,
                         ElementType::BF16})
    for (ElementType from : {ElementType::I8, ElementType::I16,
                             ElementType::I32, ElementType::I64}) {
      Program program(
          mapKernel({from}, to, "  %r = arith.sitofp %x0 : $T0 to $R", "s") +
              mapKernel({from}, to, "  %r = arith.uitofp %x0 : $T0 to $R", "u"),
          GetParam());
      std::mt19937_64 random(2);
      Memory in(from, 2000);
      for (int64_t i = 0; i < in.size(); ++i)
        in.setBits(i, random() >> (random() % 64));
      if (from == ElementType::I64)
        for (int64_t i = 0; i < 200; ++i) // half-way, and just beside
          in.setInteger(i, (i % 2 ? -1 : 1) *
                               ((int64_t(257 + 2 * (i / 8)) << (28 + i / 8)) +
                                i % 4 - 1));
      Memory s = runMap(program, to, {&in}, "s"),
             u = runMap(program, to, {&in}, "u");
      for (int64_t i = 0; i < in.size(); ++i) {
        ASSERT_EQ(s.get(i), roundInteger(to, in.getInteger(i)))
            << in.getInteger(i) << " to " << elementTypeName(to);
        ASSERT_EQ(u.get(i), roundInteger(to, in.bits(i)))
            << in.bits(i) << " to " << elementTypeName(to);
      }
    }
}

TEST_P(Conversion, FloatsToIntegersTruncate) {
  for (ElementType from : {ElementType::F64, ElementType::F32, ElementType::F16,
                           ElementType::BF16})
    for (ElementType to : {ElementType::I8, ElementType::I16, ElementType::I32,
                           ElementType::I64}) {
      Program program(
          mapKernel({from}, to, "  %r = arith.fptosi %x0 : $T0 to $R", "s") +
              mapKernel({from}, to, "  %r = arith.fptoui %x0 : $T0 to $R", "u"),
          GetParam());
      Memory in = make(from, 500, [](int64_t i) { return (i - 250) * 0.49; });
      Memory s = runMap(program, to, {&in}, "s"),
             u = runMap(program, to, {&in}, "u");
      for (int64_t i = 0; i < in.size(); ++i) {
        ASSERT_EQ(s.getInteger(i), int64_t(in.get(i)));
        if (in.get(i) > -1)
          ASSERT_EQ(u.getInteger(i), int64_t(in.get(i)));
      }
    }
}

TEST_P(Conversion, IntegersWidenAndNarrow) {
  const std::vector<ElementType> integers = {ElementType::I1, ElementType::I8,
                                             ElementType::I16, ElementType::I32,
                                             ElementType::I64};
  for (size_t a = 0; a < integers.size(); ++a)
    for (size_t b = a + 1; b < integers.size(); ++b) {
      ElementType narrow = integers[a], wide = integers[b];
      Program program(
          mapKernel({narrow}, wide, "  %r = arith.extsi %x0 : $T0 to $R", "s") +
              mapKernel({narrow}, wide, "  %r = arith.extui %x0 : $T0 to $R",
                        "u") +
              mapKernel({wide}, narrow, "  %r = arith.trunci %x0 : $T0 to $R",
                        "t"),
          GetParam());
      std::mt19937_64 random(3);
      Memory in(narrow, 300), large(wide, 300);
      for (int64_t i = 0; i < in.size(); ++i) {
        in.setInteger(i, int64_t(random()));
        large.setInteger(i, int64_t(random()));
      }
      Memory s = runMap(program, wide, {&in}, "s"),
             u = runMap(program, wide, {&in}, "u"),
             t = runMap(program, narrow, {&large}, "t");
      for (int64_t i = 0; i < in.size(); ++i) {
        int64_t value = in.getInteger(i);
        ASSERT_EQ(s.getInteger(i), narrow == ElementType::I1 ? -value : value);
        ASSERT_EQ(u.bits(i), in.bits(i));
        ASSERT_EQ(t.getInteger(i), wrapTo(narrow, large.getInteger(i)));
      }
    }
}
