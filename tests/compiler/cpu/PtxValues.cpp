//===- PtxValues.cpp - Registers of PTX as numbers
//--------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/PtxValues.h"

#include "runtime/Float16.h"

#include <cmath>
#include <cstring>

using namespace flashtile;
using namespace flashtile::cputest;

bool cputest::parseType(const std::string &word, PtxType &type) {
  if (word == "pred") {
    type = {'p', 1};
    return true;
  }
  if (word == "bf16") {
    type = {'h', 16};
    return true;
  }
  if (word.size() < 2 || !std::strchr("bsuf", word[0]) ||
      !std::isdigit(word[1]) || word.find('x') != std::string::npos)
    return false;
  type = {word[0], std::stoi(word.substr(1))};
  return true;
}

std::vector<PtxType> cputest::typesOf(const PtxWords &words) {
  std::vector<PtxType> types;
  for (size_t i = 1; i < words.opcode.size(); ++i) {
    PtxType type;
    if (parseType(words.opcode[i], type))
      types.push_back(type);
  }
  return types;
}

uint64_t cputest::masked(uint64_t value, int bits) {
  return bits >= 64 ? value : value & ((uint64_t(1) << bits) - 1);
}
int64_t cputest::extended(uint64_t value, int bits) {
  return int64_t(value << (64 - bits)) >> (64 - bits);
}

double cputest::toReal(uint64_t bits, PtxType type) {
  if (type.kind == 'h')
    return BFloat16::fromBits(uint16_t(bits));
  if (type.bits == 16)
    return Float16::fromBits(uint16_t(bits));
  if (type.bits == 32) {
    float value;
    uint32_t low = uint32_t(bits);
    std::memcpy(&value, &low, 4);
    return value;
  }
  double value;
  std::memcpy(&value, &bits, 8);
  return value;
}

uint64_t cputest::fromReal(double value, PtxType type) {
  // The canonical NaN of the hardware.
  if (std::isnan(value))
    return type.bits == 16   ? 0x7FFF
           : type.bits == 32 ? 0x7FFFFFFF
                             : 0x7FF8000000000000;
  if (type.kind == 'h')
    return BFloat16(value).bits();
  if (type.bits == 16)
    return Float16(value).bits();
  if (type.bits == 32) {
    float narrow = float(value);
    uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    return bits;
  }
  uint64_t bits;
  std::memcpy(&bits, &value, 8);
  return bits;
}

double cputest::flushed(double value) {
  return std::fabs(value) < 0x1p-126 ? std::copysign(0.0, value) : value;
}

double cputest::fusedReal(double a, double b, double c, PtxType type) {
  if (type.bits == 64)
    return std::fma(a, b, c);
  if (type.bits == 32)
    return std::fmaf(float(a), float(b), float(c));
  // To odd in f64, so that the rounding to come is the only one.
  double nearest = std::fma(a, b, c);
  double product = a * b; // exact
  if (!std::isfinite(nearest) || nearest == 0)
    return nearest;
  long double error = (static_cast<long double>(product) - nearest) + c;
  uint64_t bits;
  std::memcpy(&bits, &nearest, 8);
  if (error != 0 && bits % 2 == 0)
    bits += (error > 0) == (nearest > 0) ? 1 : -1;
  std::memcpy(&nearest, &bits, 8);
  return nearest;
}
