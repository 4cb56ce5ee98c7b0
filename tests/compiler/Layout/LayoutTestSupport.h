//===- LayoutTestSupport.h - Layouts to try -------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enumeration of threads, random layouts, and a machine that plays conversions
// on every thread.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_COMPILER_LAYOUT_LAYOUTTESTSUPPORT_H
#define FLASHTILE_TESTS_COMPILER_LAYOUT_LAYOUTTESTSUPPORT_H

#include "compiler/Analysis/Layout/LayoutConversion.h"

#include "gtest/gtest.h"

#include <map>
#include <ostream>
#include <random>

namespace flashtile::gpu {

inline void PrintTo(const DistributedLayout &layout, std::ostream *out) {
  *out << layout.str();
}

/// A value of a tile stands for its coordinates; -1 is anything.
using Value = int64_t;

inline Value valueOf(llvm::ArrayRef<int64_t> coordinates) {
  Value value = 0;
  for (int64_t coordinate : coordinates)
    value = value * 1024 + coordinate;
  return value;
}

/// Calls visit(register, lane, warp) for all of a layout's.
template <typename Visit>
void forEachThreadRegister(const DistributedLayout &layout, Visit visit) {
  for (int64_t warp = 0; warp < layout.warpCount(); ++warp)
    for (int64_t lane = 0; lane < lanesPerWarp; ++lane)
      for (int64_t index = 0; index < layout.registersPerThread(); ++index)
        visit(index, lane, warp);
}

/// Registers of all threads: [warp][lane][register].
using RegisterFile = std::vector<std::vector<std::vector<Value>>>;

/// What the threads hold under a layout; padding holds junk of its own.
RegisterFile fill(const DistributedLayout &layout);

/// The registers after a conversion, the moves made one after the other.
/// Fails the test where a move names a lane, register or address that is not.
RegisterFile play(const LayoutConversion &conversion,
                  const RegisterFile &before, const DistributedLayout &from,
                  const DistributedLayout &to);

/// Every thread holds what `layout` says.
void expectHolds(const RegisterFile &registers,
                 const DistributedLayout &layout);

/// A layout whose digits are shuffled pieces of the tile: primes of the extents
/// spread over registers, lanes and warps, with replication where something is
/// left. Not padded.
DistributedLayout randomLayout(std::mt19937 &random,
                               llvm::ArrayRef<int64_t> shape, int64_t warps);

} // namespace flashtile::gpu

#endif // FLASHTILE_TESTS_COMPILER_LAYOUT_LAYOUTTESTSUPPORT_H
