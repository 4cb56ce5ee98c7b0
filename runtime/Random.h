//===- Random.h - Reproducible random numbers -----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C++ standard fixes the numbers of std::mt19937_64 but not those of its
// distributions, so a test that draws from std::normal_distribution sees other
// inputs with another library. These two distributions are spelled out.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_RANDOM_H
#define FLASHTILE_RUNTIME_RANDOM_H

#include <cstdint>
#include <random>

namespace flashtile {

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  /// A multiple of 2^-53 in [0, 1).
  double uniform();
  /// Mean 0, variance 1, by the method of Box and Muller.
  double normal();

private:
  std::mt19937_64 engine;
  double spare = 0; ///< the second number of a pair
  bool hasSpare = false;
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_RANDOM_H
