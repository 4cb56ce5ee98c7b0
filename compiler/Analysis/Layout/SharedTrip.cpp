//===- SharedTrip.cpp - Through shared memory -----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector accesses of a distributed layout to shared memory, and the choice of
// a memory layout that both sides of a conversion reach with few passes over
// the banks.
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Layout/LayoutConversion.h"
#include "compiler/Analysis/Layout/OffsetTables.h"

#include "llvm/ADT/DenseMap.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>

using namespace flashtile::gpu;

static constexpr int64_t maxVectorBytes = 16;

/// Every lane and warp keeps vectors of `width` aligned, and so do the rows.
static bool keepsAligned(const DistributedLayout &layout,
                         const SharedLayout &shared, int64_t width) {
  if (width == 1)
    return true;
  unsigned fastest = shared.order.front();
  for (const DigitList *digits : {&layout.lanes(), &layout.warps()})
    for (const Digit &digit : *digits)
      if (digit.extent > 1 && digit.step[fastest] % width != 0)
        return false;
  // A vector that begins in the tile may not leave its row.
  if (layout.paddedShape()[fastest] > shared.shape[fastest] &&
      shared.shape[fastest] % width != 0)
    return false;
  return shared.rowStride() % (width * shared.elementBytes) == 0;
}

/// Registers by what they hold, copies in the order of registers; those that
/// lie outside the memory in every thread are left out.
static std::vector<std::pair<int64_t, llvm::SmallVector<int64_t, 2>>>
holdersInMemory(const DistributedLayout &layout, const SharedLayout &shared,
                const Packing &packing) {
  std::vector<int64_t> offsets = packedOffsets(layout.registers(), packing);
  std::vector<std::pair<int64_t, llvm::SmallVector<int64_t, 2>>> holders;
  llvm::DenseMap<int64_t, size_t> place;
  for (size_t index = 0; index < offsets.size(); ++index) {
    Coordinates at = packing.unpack(offsets[index]);
    bool outside = false;
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      outside |= at[dim] >= shared.shape[dim];
    if (outside)
      continue;
    auto [entry, isNew] = place.try_emplace(offsets[index], holders.size());
    if (isNew)
      holders.push_back({offsets[index], {}});
    holders[entry->second].second.push_back(index);
  }
  return holders;
}

/// Groups of `width` registers, or none if some register has no neighbours.
static std::optional<std::vector<llvm::SmallVector<int64_t, 8>>>
groupRegisters(const DistributedLayout &layout, const SharedLayout &shared,
               int64_t width, bool isStore) {
  Packing packing(maxExtents(layout.paddedShape(), shared.shape));
  auto holders = holdersInMemory(layout, shared, packing);
  llvm::DenseMap<int64_t, size_t> place;
  for (size_t i = 0; i < holders.size(); ++i)
    place[holders[i].first] = i;
  int64_t neighbour = 0;
  if (width > 1) {
    Coordinates unit(layout.rank(), 0);
    unit[shared.order.front()] = 1;
    neighbour = packing.pack(unit);
  }
  std::vector<llvm::SmallVector<int64_t, 8>> groups;
  size_t grouped = 0;
  for (const auto &[offset, copies] : holders) {
    if (width > 1 && packing.unpack(offset)[shared.order.front()] % width != 0)
      continue;
    size_t count = isStore ? 1 : copies.size();
    for (size_t copy = 0; copy < count; ++copy) {
      llvm::SmallVector<int64_t, 8> group;
      for (int64_t i = 0; i < width; ++i) {
        auto found = place.find(offset + i * neighbour);
        if (found == place.end() ||
            holders[found->second].second.size() != copies.size())
          return std::nullopt;
        group.push_back(holders[found->second].second[copy]);
      }
      groups.push_back(group);
    }
    grouped += width;
  }
  if (grouped != holders.size())
    return std::nullopt;
  return groups;
}

/// Passes of one warp over all groups.
static int64_t countWavefronts(const DistributedLayout &layout,
                               const SharedLayout &shared,
                               const VectorAccess &access, int64_t warp) {
  Packing packing(maxExtents(layout.paddedShape(), shared.shape));
  OffsetTables tables(layout, packing);
  int64_t total = 0;
  for (const auto &group : access.groups) {
    std::array<int64_t, lanesPerWarp> offsets;
    for (int64_t lane = 0; lane < lanesPerWarp; ++lane) {
      Coordinates at = packing.unpack(tables.at(group.front(), lane, warp));
      bool inside = true;
      for (unsigned dim = 0; dim < layout.rank(); ++dim)
        inside &= at[dim] < shared.shape[dim];
      offsets[lane] = inside ? shared.offset(at) : -1;
    }
    total += wavefronts(offsets, access.width * shared.elementBytes);
  }
  return total;
}

/// The widest access, its passes not yet counted.
static VectorAccess widestAccess(const DistributedLayout &layout,
                                 const SharedLayout &shared, bool isStore,
                                 int64_t maxBytes) {
  assert(layout.rank() == shared.shape.size() && "tiles of different rank");
  int64_t width =
      shared.order.empty()
          ? 1
          : std::max<int64_t>(1, std::min(maxBytes, maxVectorBytes) /
                                     shared.elementBytes);
  for (; width >= 1; width /= 2) {
    if (!keepsAligned(layout, shared, width))
      continue;
    if (auto groups = groupRegisters(layout, shared, width, isStore))
      return {width, std::move(*groups), 0};
  }
  return {};
}

VectorAccess flashtile::gpu::planVectorAccess(const DistributedLayout &layout,
                                              const SharedLayout &shared,
                                              bool isStore, int64_t maxBytes) {
  VectorAccess access = widestAccess(layout, shared, isStore, maxBytes);
  for (int64_t warp = 0; warp < layout.warpCount(); ++warp)
    access.wavefronts = std::max(access.wavefronts,
                                 countWavefronts(layout, shared, access, warp));
  return access;
}

/// Memory layouts worth trying: each dimension as the contiguous one, the
/// others row-major; plain, with a chunk of padding, or swizzled.
static std::vector<SharedLayout> candidates(llvm::ArrayRef<int64_t> shape,
                                            int64_t elementBytes) {
  if (shape.empty())
    return {SharedLayout(shape, elementBytes, {})};
  std::vector<SharedLayout> result;
  for (unsigned fastest = shape.size(); fastest-- > 0;) {
    if (shape[fastest] == 1 && fastest + 1 != shape.size())
      continue;
    llvm::SmallVector<unsigned, 4> order = {fastest};
    for (unsigned dim = shape.size(); dim-- > 0;)
      if (dim != fastest)
        order.push_back(dim);
    result.emplace_back(shape, elementBytes, order);
    if (result.back().rowCount() == 1)
      continue;
    result.emplace_back(shape, elementBytes, order, Swizzle::None,
                        maxVectorBytes);
    int64_t bytes = shape[fastest] * elementBytes;
    for (Swizzle swizzle :
         {Swizzle::Bytes32, Swizzle::Bytes64, Swizzle::Bytes128})
      if (bytes % static_cast<int64_t>(swizzle) == 0)
        result.emplace_back(shape, elementBytes, order, swizzle);
  }
  return result;
}

LayoutConversion flashtile::gpu::planSharedMemory(const DistributedLayout &from,
                                                  const DistributedLayout &to,
                                                  int64_t elementBytes) {
  Coordinates shape = maxExtents(from.paddedShape(), to.paddedShape());
  std::optional<SharedMemoryTrip> best;
  int64_t least = std::numeric_limits<int64_t>::max();
  // One warp stands for all while choosing: the others add a constant row.
  for (const SharedLayout &memory : candidates(shape, elementBytes)) {
    SharedMemoryTrip trip{
        memory, widestAccess(from, memory, /*isStore=*/true, maxVectorBytes),
        widestAccess(to, memory, /*isStore=*/false, maxVectorBytes)};
    int64_t passes = countWavefronts(from, memory, trip.store, 0) +
                     countWavefronts(to, memory, trip.load, 0);
    if (passes < least ||
        (passes == least && memory.bytes() < best->memory.bytes())) {
      least = passes;
      best = std::move(trip);
    }
  }
  best->store = planVectorAccess(from, best->memory, /*isStore=*/true);
  best->load = planVectorAccess(to, best->memory, /*isStore=*/false);
  LayoutConversion conversion;
  conversion.kind = LayoutConversion::Kind::SharedMemory;
  conversion.cost = 4 * (best->store.wavefronts + best->load.wavefronts) + 120;
  conversion.trip = std::move(best);
  return conversion;
}
