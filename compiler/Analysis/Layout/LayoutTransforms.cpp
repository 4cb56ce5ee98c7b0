//===- LayoutTransforms.cpp - Layouts from layouts ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Layout/OffsetTables.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>

using namespace flashtile::gpu;

/// The layout with `change` applied to every step.
template <typename Change>
static DistributedLayout mapSteps(const DistributedLayout &layout,
                                  llvm::ArrayRef<int64_t> shape,
                                  Change change) {
  auto apply = [&](const DigitList &digits) {
    DigitList result;
    for (const Digit &digit : digits)
      result.push_back({digit.extent, change(digit.step)});
    return result;
  };
  return {shape, apply(layout.registers()), apply(layout.lanes()),
          apply(layout.warps())};
}

static DistributedLayout withRegisters(const DistributedLayout &layout,
                                       DigitList registers) {
  return {layout.shape(), std::move(registers), layout.lanes(), layout.warps()};
}

DistributedLayout
flashtile::gpu::replicateWarps(const DistributedLayout &layout, int64_t count) {
  if (count == 1)
    return layout;
  DigitList warps = layout.warps();
  warps.push_back({count, Coordinates(layout.rank(), 0)});
  return {layout.shape(), layout.registers(), layout.lanes(), std::move(warps)};
}

/// A new most significant register digit.
static DistributedLayout appendRegister(const DistributedLayout &layout,
                                        unsigned dim, int64_t extent,
                                        int64_t step) {
  DigitList registers = layout.registers();
  registers.push_back({extent, Coordinates(layout.rank(), 0)});
  registers.back().step[dim] = step;
  return withRegisters(layout, std::move(registers));
}

static bool movesOnlyAlong(const Digit &digit, unsigned dim) {
  for (unsigned other = 0; other < digit.step.size(); ++other)
    if (digit.movesAlong(other) != (other == dim))
      return false;
  return true;
}

DistributedLayout flashtile::gpu::slice(const DistributedLayout &layout,
                                        unsigned dim) {
  assert(dim < layout.rank() && "no such dimension");
  DigitList kept;
  for (const Digit &digit : layout.registers())
    if (!movesOnlyAlong(digit, dim))
      kept.push_back(digit);
  Coordinates shape(layout.shape());
  shape.erase(shape.begin() + dim);
  return mapSteps(withRegisters(layout, kept), shape, [&](Coordinates step) {
    step.erase(step.begin() + dim);
    return step;
  });
}

DistributedLayout flashtile::gpu::expandDims(const DistributedLayout &layout,
                                             unsigned dim) {
  assert(dim <= layout.rank() && "no such place");
  Coordinates shape(layout.shape());
  shape.insert(shape.begin() + dim, 1);
  return mapSteps(layout, shape, [&](Coordinates step) {
    step.insert(step.begin() + dim, 0);
    return step;
  });
}

DistributedLayout flashtile::gpu::spread(const DistributedLayout &layout,
                                         unsigned dim, int64_t extent,
                                         int64_t vectorWidth) {
  DistributedLayout rows = expandDims(layout, dim);
  Coordinates shape(rows.shape());
  shape[dim] = extent;
  int64_t copies = 1;
  for (const Digit &digit : rows.lanes())
    copies *= digit.replicates() ? digit.extent : 1;
  while (vectorWidth > 1 && vectorWidth * copies > extent)
    vectorWidth /= 2;
  auto along = [&](int64_t count, int64_t step) {
    Digit digit = {count, Coordinates(rows.rank(), 0)};
    digit.step[dim] = step;
    return digit;
  };
  DigitList registers = {along(vectorWidth, 1)}, lanes = rows.lanes();
  int64_t reach = vectorWidth;
  for (Digit &digit : lanes)
    if (digit.replicates()) {
      digit = along(digit.extent, reach);
      reach *= digit.extent;
    }
  llvm::append_range(registers, rows.registers());
  registers.push_back(along((extent + reach - 1) / reach, reach));
  return {shape, std::move(registers), std::move(lanes), rows.warps()};
}

DistributedLayout flashtile::gpu::broadcast(const DistributedLayout &layout,
                                            unsigned dim, int64_t extent) {
  assert(layout.shape()[dim] == 1 && "only extent 1 can be broadcast");
  // Padding beyond the single element would overlap the new elements.
  Coordinates shape(layout.shape());
  shape[dim] = extent;
  DigitList registers;
  for (const Digit &digit : layout.registers())
    if (!movesOnlyAlong(digit, dim))
      registers.push_back(digit);
  DistributedLayout still =
      mapSteps(withRegisters(layout, registers), shape, [&](Coordinates step) {
        step[dim] = 0;
        return step;
      });
  return appendRegister(still, dim, extent, 1);
}

std::optional<llvm::SmallVector<int64_t>>
flashtile::gpu::broadcastRegisters(const DistributedLayout &from,
                                   const DistributedLayout &to) {
  assert(from.rank() == to.rank() && "shapes of different rank");
  if (from.warpCount() != to.warpCount())
    return std::nullopt;
  Packing packing(maxExtents(from.paddedShape(), to.paddedShape()));
  // What a register of `to` needs from `from`: broadcast dimensions stay at 0.
  DistributedLayout wanted = mapSteps(to, to.shape(), [&](Coordinates step) {
    for (unsigned dim = 0; dim < to.rank(); ++dim)
      step[dim] = from.shape()[dim] == 1 ? 0 : step[dim];
    return step;
  });
  OffsetTables source(from, packing), needed(wanted, packing);
  OffsetTables target(to, packing);
  bool mayBePadding = to.isPadded();
  llvm::DenseMap<int64_t, llvm::SmallVector<int64_t, 2>> holders;
  for (size_t index = 0; index < source.registers.size(); ++index)
    holders[source.registers[index]].push_back(index);
  llvm::SmallVector<int64_t> result;
  for (int64_t index = 0; index < to.registersPerThread(); ++index) {
    bool started = false;
    llvm::SmallVector<int64_t, 2> candidates;
    for (int64_t warp = 0; warp < to.warpCount(); ++warp) {
      for (int64_t lane = 0; lane < lanesPerWarp; ++lane) {
        if (mayBePadding &&
            !to.isInBounds(packing.unpack(target.at(index, lane, warp))))
          continue;
        int64_t rest = needed.at(index, lane, warp) - source.lanes[lane] -
                       source.warps[warp];
        if (!started)
          candidates = holders.lookup(rest);
        else
          llvm::erase_if(candidates, [&](int64_t candidate) {
            return source.registers[candidate] != rest;
          });
        started = true;
        if (candidates.empty())
          return std::nullopt;
      }
    }
    // Among copies, rather the register that has its place already.
    bool inPlace = llvm::is_contained(candidates, index);
    result.push_back(!started ? -1 : inPlace ? index : candidates.front());
  }
  return result;
}

DistributedLayout flashtile::gpu::transpose(const DistributedLayout &layout,
                                            llvm::ArrayRef<unsigned> order) {
  assert(order.size() == layout.rank() && "order of another rank");
  auto permute = [&](llvm::ArrayRef<int64_t> values) {
    Coordinates result;
    for (unsigned dim : order)
      result.push_back(values[dim]);
    return result;
  };
  return mapSteps(layout, permute(layout.shape()),
                  [&](const Coordinates &step) { return permute(step); });
}

/// Cuts a digit of the linear index into digits that stay within one new
/// dimension each.
static bool unravelDigit(const Digit &digit, const Packing &from,
                         const Packing &to, llvm::ArrayRef<int64_t> shape,
                         DigitList &result) {
  int64_t step = from.pack(digit.step);
  int64_t extent = digit.extent;
  if (step == 0) {
    result.push_back({extent, Coordinates(shape.size(), 0)});
    return true;
  }
  // From the innermost dimension outward: `outer` is the linear step at which
  // the dimension is used up.
  int64_t outer = 1;
  for (size_t dim = shape.size(); dim-- > 0 && extent > 1;) {
    outer *= shape[dim];
    if (step >= outer)
      continue;
    int64_t fitting = extent;
    if ((extent - 1) * step >= outer) {
      fitting = outer / step;
      if (outer % step != 0 || extent % fitting != 0)
        return false;
    }
    result.push_back({fitting, to.unpack(step)});
    extent /= fitting;
    step *= fitting;
  }
  return extent == 1;
}

std::optional<DistributedLayout>
flashtile::gpu::reshape(const DistributedLayout &layout,
                        llvm::ArrayRef<int64_t> shape) {
  Packing from(layout.shape()), to(shape);
  if (from.size() != to.size() || layout.isPadded())
    return std::nullopt;
  std::array<DigitList, 3> lists;
  for (unsigned index = 0; index < 3; ++index)
    for (const Digit &digit :
         canonicalDigits(layout.digits(static_cast<HardwareIndex>(index))))
      if (!unravelDigit(digit, from, to, shape, lists[index]))
        return std::nullopt;
  DistributedLayout result(shape, canonicalDigits(lists[0]),
                           canonicalDigits(lists[1]),
                           canonicalDigits(lists[2]));
  // Carries between digits would leave the tile, or break the sums: without
  // them every linear position stays what it was. Linear steps are equal, so
  // staying within the shape is all there is to check.
  if (result.isPadded())
    return std::nullopt;
  return result;
}

DistributedLayout flashtile::gpu::join(const DistributedLayout &layout) {
  unsigned last = layout.rank();
  Coordinates shape(layout.shape());
  shape.push_back(2);
  DistributedLayout expanded = expandDims(layout, last);
  DistributedLayout reshaped(shape, expanded.registers(), expanded.lanes(),
                             expanded.warps());
  return appendRegister(reshaped, last, 2, 1);
}

std::optional<DistributedLayout>
flashtile::gpu::cat(const DistributedLayout &layout, unsigned dim) {
  if (layout.isPaddedAlong(dim))
    return std::nullopt;
  Coordinates shape(layout.shape());
  int64_t extent = shape[dim];
  shape[dim] *= 2;
  DistributedLayout longer(shape, layout.registers(), layout.lanes(),
                           layout.warps());
  return appendRegister(longer, dim, 2, extent);
}
