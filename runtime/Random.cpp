//===- Random.cpp - Reproducible random numbers ---------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Random.h"

#include <cmath>

using namespace flashtile;

double Random::uniform() {
  return static_cast<double>(engine() >> 11) * 0x1p-53;
}

double Random::normal() {
  if (hasSpare) {
    hasSpare = false;
    return spare;
  }
  // 1 - u is in (0, 1], where the logarithm is finite.
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  const double angle = 2 * 3.14159265358979323846 * uniform();
  spare = radius * std::sin(angle);
  hasSpare = true;
  return radius * std::cos(angle);
}
