//===- LayoutConversion.cpp - The least movement --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Layout/LayoutConversion.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>

using namespace flashtile::gpu;

int64_t ThreadFunction::evaluate(int64_t lane, int64_t warp) const {
  int64_t value = base;
  for (const Term &term : terms) {
    int64_t index = term.index == HardwareIndex::Lane ? lane : warp;
    value += term.coefficient *
             (index / term.position.stride % term.position.extent);
  }
  return value;
}

bool ThreadFunction::isLane() const {
  for (const Term &term : terms)
    if (term.index != HardwareIndex::Lane)
      return false;
  for (int64_t lane = 0; lane < lanesPerWarp; ++lane)
    if (evaluate(lane, 0) != lane)
      return false;
  return true;
}

std::optional<llvm::SmallVector<int64_t>>
flashtile::gpu::planRegisters(const DistributedLayout &from,
                              const DistributedLayout &to) {
  if (from.shape() != to.shape())
    return std::nullopt;
  return broadcastRegisters(from, to);
}

static bool isIdentity(const llvm::SmallVector<int64_t> &map,
                       const DistributedLayout &from) {
  if (static_cast<int64_t>(map.size()) != from.registersPerThread())
    return false;
  for (auto [index, source] : llvm::enumerate(map))
    if (source != static_cast<int64_t>(index) && source != -1)
      return false;
  return true;
}

LayoutConversion flashtile::gpu::planConversion(const DistributedLayout &from,
                                                const DistributedLayout &to,
                                                int64_t elementBytes) {
  assert(from.shape() == to.shape() && "layouts of different tiles");
  assert(from.warpCount() == to.warpCount() && "different thread blocks");
  if (from == to)
    return {};
  if (auto map = planRegisters(from, to)) {
    LayoutConversion conversion;
    if (!isIdentity(*map, from)) {
      conversion.kind = LayoutConversion::Kind::Registers;
      conversion.registerMap = std::move(*map);
    }
    return conversion;
  }
  LayoutConversion throughMemory = planSharedMemory(from, to, elementBytes);
  std::optional<LayoutConversion> shuffles =
      planShuffles(from, to, elementBytes);
  if (shuffles && shuffles->cost <= throughMemory.cost)
    return std::move(*shuffles);
  return throughMemory;
}
