//===- Reduction.cpp - Reductions along a dimension -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Layout/LayoutConversion.h"

#include <algorithm>
#include <cassert>

using namespace flashtile::gpu;

/// Moves along `axis`, and whether it does so alone.
static bool movesAlone(const Digit &digit, unsigned axis) {
  for (unsigned dim = 0; dim < digit.step.size(); ++dim)
    if (dim != axis && digit.movesAlong(dim))
      return false;
  return true;
}

/// Sorts registers by the register of slice(layout, axis) they contribute to.
static std::vector<llvm::SmallVector<int64_t>>
groupByResult(const DistributedLayout &layout, unsigned axis) {
  int64_t extent = layout.shape()[axis];
  std::vector<llvm::SmallVector<int64_t>> groups;
  for (int64_t index = 0; index < layout.registersPerThread(); ++index) {
    int64_t rest = index, result = 0, stride = 1, along = 0;
    for (const Digit &digit : layout.registers()) {
      int64_t value = rest % digit.extent;
      rest /= digit.extent;
      along += value * digit.step[axis];
      if (digit.movesAlong(axis))
        continue;
      result += value * stride;
      stride *= digit.extent;
    }
    if (result >= static_cast<int64_t>(groups.size()))
      groups.resize(result + 1);
    // What is past the tile in lane 0 of warp 0 is so in all threads.
    if (along < extent)
      groups[result].push_back(index);
  }
  return groups;
}

std::optional<ReductionPlan>
flashtile::gpu::planReduction(const DistributedLayout &layout, unsigned axis) {
  assert(axis < layout.rank() && "no such dimension");
  for (HardwareIndex index :
       {HardwareIndex::Register, HardwareIndex::Lane, HardwareIndex::Warp})
    for (const Digit &digit : layout.digits(index))
      if (digit.extent > 1 && digit.movesAlong(axis) &&
          !movesAlone(digit, axis))
        return std::nullopt;
  if (layout.hasOverlap())
    return std::nullopt;

  ReductionPlan plan;
  plan.result = slice(layout, axis);
  plan.registers = groupByResult(layout, axis);
  plan.isPadded = layout.isPaddedAlong(axis);
  int64_t stride = 1;
  for (const Digit &digit : layout.lanes()) {
    // Digits of a lane are powers of two, for they multiply to 32.
    if (digit.movesAlong(axis))
      for (int64_t mask = 1; mask < digit.extent; mask *= 2)
        plan.laneMasks.push_back(stride * mask);
    stride *= digit.extent;
  }
  stride = 1;
  for (const Digit &digit : layout.warps()) {
    if (digit.movesAlong(axis) && digit.extent > 1) {
      plan.warpDigits.push_back({stride, digit.extent});
      plan.warpPartials *= digit.extent;
    }
    stride *= digit.extent;
  }
  return plan;
}
