//===- DistributedLayout.cpp - Tiles over a thread block ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Layout/DistributedLayout.h"
#include "compiler/Analysis/Layout/OffsetTables.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>

using namespace flashtile::gpu;

/// Far above anything a thread block can hold; keeps malformed text from
/// exhausting the compiler.
static constexpr int64_t maxCells = int64_t(1) << 24;

static constexpr HardwareIndex allIndices[] = {
    HardwareIndex::Register, HardwareIndex::Lane, HardwareIndex::Warp};

bool Digit::replicates() const {
  return llvm::all_of(step, [](int64_t s) { return !s; });
}

int64_t flashtile::gpu::digitProduct(llvm::ArrayRef<Digit> digits) {
  int64_t product = 1;
  for (const Digit &digit : digits)
    product *= digit.extent;
  return product;
}

/// step * factor
static Coordinates scaled(llvm::ArrayRef<int64_t> step, int64_t factor) {
  Coordinates result(step);
  for (int64_t &s : result)
    s *= factor;
  return result;
}

DigitList flashtile::gpu::canonicalDigits(llvm::ArrayRef<Digit> digits) {
  DigitList result;
  for (const Digit &digit : digits) {
    if (digit.extent == 1)
      continue;
    if (!result.empty() &&
        scaled(result.back().step, result.back().extent) == digit.step)
      result.back().extent *= digit.extent;
    else
      result.push_back(digit);
  }
  return result;
}

std::optional<DigitList> flashtile::gpu::splitAt(llvm::ArrayRef<Digit> digits,
                                                 int64_t stride) {
  DigitList result;
  int64_t position = 1;
  for (const Digit &digit : digits) {
    int64_t next = position * digit.extent;
    if (position < stride && next > stride) {
      if (stride % position != 0 || next % stride != 0)
        return std::nullopt;
      int64_t low = stride / position;
      result.push_back({low, digit.step});
      result.push_back({digit.extent / low, scaled(digit.step, low)});
    } else {
      result.push_back(digit);
    }
    position = next;
  }
  return position % stride == 0 ? std::optional(result) : std::nullopt;
}

DistributedLayout::DistributedLayout(llvm::ArrayRef<int64_t> shape,
                                     DigitList registers, DigitList lanes,
                                     DigitList warps)
    : tileShape(shape),
      digitLists{std::move(registers), std::move(lanes), std::move(warps)} {}

int64_t DistributedLayout::size(HardwareIndex index) const {
  return digitProduct(digits(index));
}

Coordinates DistributedLayout::offset(HardwareIndex index,
                                      int64_t value) const {
  Coordinates result(rank(), 0);
  for (const Digit &digit : digits(index)) {
    int64_t count = value % digit.extent;
    value /= digit.extent;
    for (unsigned dim = 0; dim < rank(); ++dim)
      result[dim] += count * digit.step[dim];
  }
  return result;
}

Coordinates DistributedLayout::coordinates(int64_t registerIndex, int64_t lane,
                                           int64_t warp) const {
  Coordinates result = offset(HardwareIndex::Register, registerIndex);
  Coordinates ofLane = offset(HardwareIndex::Lane, lane);
  Coordinates ofWarp = offset(HardwareIndex::Warp, warp);
  for (unsigned dim = 0; dim < rank(); ++dim)
    result[dim] += ofLane[dim] + ofWarp[dim];
  return result;
}

bool DistributedLayout::isInBounds(llvm::ArrayRef<int64_t> coordinates) const {
  for (unsigned dim = 0; dim < rank(); ++dim)
    if (coordinates[dim] < 0 || coordinates[dim] >= tileShape[dim])
      return false;
  return true;
}

Coordinates DistributedLayout::paddedShape() const {
  Coordinates covered(rank(), 1);
  for (HardwareIndex index : allIndices)
    for (const Digit &digit : digits(index))
      for (unsigned dim = 0; dim < rank(); ++dim)
        covered[dim] += (digit.extent - 1) * digit.step[dim];
  return maxExtents(covered, tileShape);
}

bool DistributedLayout::isPaddedAlong(unsigned dim) const {
  return paddedShape()[dim] > tileShape[dim];
}

bool DistributedLayout::isPadded() const { return paddedShape() != tileShape; }

llvm::SmallVector<DigitPosition>
DistributedLayout::replication(HardwareIndex index) const {
  llvm::SmallVector<DigitPosition> positions;
  int64_t stride = 1;
  for (const Digit &digit : canonicalDigits(digits(index))) {
    if (digit.replicates())
      positions.push_back({stride, digit.extent});
    stride *= digit.extent;
  }
  return positions;
}

namespace {
/// Which cells of the padded shape the digits reach.
struct Reach {
  std::vector<bool> reached;
  int64_t cells = 0;
  /// Combinations of digits that move: more than `cells` where some meet.
  int64_t combinations = 1;
};
} // namespace

template <typename Step>
static Reach reach(const DistributedLayout &layout, int64_t size, Step stepOf) {
  std::vector<int64_t> cells = {0};
  Reach result;
  result.reached.resize(size);
  result.reached[0] = true;
  for (HardwareIndex index : allIndices) {
    for (const Digit &digit : layout.digits(index)) {
      int64_t step = stepOf(digit);
      if (step == 0)
        continue;
      result.combinations *= digit.extent;
      size_t before = cells.size();
      for (int64_t value = 1; value < digit.extent; ++value) {
        for (size_t i = 0; i < before; ++i) {
          int64_t cell = cells[i] + value * step;
          if (result.reached[cell])
            continue;
          result.reached[cell] = true;
          cells.push_back(cell);
        }
      }
    }
  }
  result.cells = cells.size();
  return result;
}

static Reach reachTile(const DistributedLayout &layout,
                       const Packing &packing) {
  return reach(layout, packing.size(),
               [&](const Digit &digit) { return packing.pack(digit.step); });
}

static Reach reachAlong(const DistributedLayout &layout, unsigned dim,
                        int64_t extent) {
  return reach(layout, extent,
               [&](const Digit &digit) { return digit.step[dim]; });
}

/// Every digit moves along one dimension at most: then so many numbers of one
/// dimension each describe the layout, and looking at them one by one is fast.
static bool isSeparable(const DistributedLayout &layout) {
  for (HardwareIndex index : allIndices)
    for (const Digit &digit : layout.digits(index))
      if (llvm::count_if(digit.step, [](int64_t s) { return s != 0; }) > 1)
        return false;
  return true;
}

bool DistributedLayout::hasOverlap() const {
  Coordinates padded = paddedShape();
  if (!isSeparable(*this)) {
    Reach tile = reachTile(*this, Packing(padded));
    return tile.combinations > tile.cells;
  }
  for (unsigned dim = 0; dim < rank(); ++dim) {
    Reach along = reachAlong(*this, dim, padded[dim]);
    if (along.combinations > along.cells)
      return true;
  }
  return false;
}

/// The first element, row-major, that nobody owns.
static std::optional<Coordinates> findUnowned(const DistributedLayout &layout,
                                              llvm::ArrayRef<int64_t> padded) {
  if (isSeparable(layout)) {
    // Zeros are reached, so the innermost gap is the first.
    for (unsigned dim = layout.rank(); dim-- > 0;) {
      Reach along = reachAlong(layout, dim, padded[dim]);
      auto end = along.reached.begin() + layout.shape()[dim];
      auto gap = std::find(along.reached.begin(), end, false);
      if (gap == end)
        continue;
      Coordinates at(layout.rank(), 0);
      at[dim] = gap - along.reached.begin();
      return at;
    }
    return std::nullopt;
  }
  Packing packing(padded);
  Reach tile = reachTile(layout, packing);
  for (int64_t cell = 0; cell < packing.size(); ++cell) {
    Coordinates at = packing.unpack(cell);
    if (!tile.reached[cell] && layout.isInBounds(at))
      return at;
  }
  return std::nullopt;
}

bool DistributedLayout::isReplicated() const {
  for (HardwareIndex index : allIndices)
    if (!replication(index).empty())
      return true;
  return hasOverlap();
}

std::optional<Owner>
DistributedLayout::owner(llvm::ArrayRef<int64_t> coordinates) const {
  if (!isInBounds(coordinates))
    return std::nullopt;
  Packing packing(paddedShape());
  OffsetTables tables(*this, packing);
  int64_t wanted = packing.pack(coordinates);
  for (int64_t warp = 0; warp < warpCount(); ++warp) {
    for (int64_t lane = 0; lane < lanesPerWarp; ++lane) {
      int64_t rest = wanted - tables.lanes[lane] - tables.warps[warp];
      auto found = llvm::find(tables.registers, rest);
      if (found != tables.registers.end())
        return Owner{found - tables.registers.begin(), lane, warp};
    }
  }
  return std::nullopt;
}

std::vector<Owner> DistributedLayout::inverse() const {
  Packing padded(paddedShape()), tile(tileShape);
  OffsetTables tables(*this, padded);
  std::vector<Owner> owners(tile.size(), Owner{-1, -1, -1});
  int64_t registers = registersPerThread(), warps = warpCount();
  for (int64_t warp = 0; warp < warps; ++warp) {
    for (int64_t lane = 0; lane < lanesPerWarp; ++lane) {
      for (int64_t index = 0; index < registers; ++index) {
        Coordinates at = padded.unpack(tables.at(index, lane, warp));
        if (!isInBounds(at))
          continue;
        Owner &owner = owners[tile.pack(at)];
        if (owner.warp < 0)
          owner = {index, lane, warp};
      }
    }
  }
  return owners;
}

static std::string inBrackets(llvm::ArrayRef<int64_t> values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

/// Ranks, signs and sizes: what the arithmetic relies on.
static std::optional<std::string>
verifyDigits(const DistributedLayout &layout) {
  static const char *const names[] = {"reg", "lane", "warp"};
  for (int64_t extent : layout.shape())
    if (extent < 1 || extent > maxCells)
      return "expected positive extents, but got shape " +
             inBrackets(layout.shape());
  for (HardwareIndex index : allIndices) {
    std::string name = names[static_cast<unsigned>(index)];
    int64_t product = 1;
    for (const Digit &digit : layout.digits(index)) {
      if (digit.extent < 1 || digit.extent > maxCells)
        return "'" + name + "' has a digit of extent " +
               std::to_string(digit.extent);
      product *= digit.extent;
      if (product > maxCells)
        return "'" + name + "' has more than " + std::to_string(maxCells) +
               " values";
      if (digit.step.size() != layout.rank())
        return "expected steps of rank " + std::to_string(layout.rank()) +
               " in '" + name + "', but got " + inBrackets(digit.step);
      for (int64_t step : digit.step)
        if (step < 0 || step > maxCells)
          return "expected steps that are not negative in '" + name +
                 "', but got " + inBrackets(digit.step);
    }
  }
  return std::nullopt;
}

std::optional<std::string> DistributedLayout::verify() const {
  if (std::optional<std::string> fault = verifyDigits(*this))
    return fault;
  if (size(HardwareIndex::Lane) != lanesPerWarp)
    return "expected 'lane' digits that multiply to 32, but got " +
           std::to_string(size(HardwareIndex::Lane));
  if (warpCount() > 32)
    return "expected at most 32 warps, but got " + std::to_string(warpCount());
  Coordinates padded = paddedShape();
  int64_t cells = 1;
  for (int64_t extent : padded) {
    if (extent > maxCells / cells)
      return "the layout spreads over " + inBrackets(padded) +
             ", more than a thread block can hold";
    cells *= extent;
  }
  if (std::optional<Coordinates> unowned = findUnowned(*this, padded))
    return "nobody owns element " + inBrackets(*unowned);
  return std::nullopt;
}

DistributedLayout DistributedLayout::canonical() const {
  return {tileShape, canonicalDigits(registers()), canonicalDigits(lanes()),
          canonicalDigits(warps())};
}

bool DistributedLayout::operator==(const DistributedLayout &other) const {
  if (tileShape != other.tileShape)
    return false;
  for (HardwareIndex index : allIndices)
    if (canonicalDigits(digits(index)) != canonicalDigits(other.digits(index)))
      return false;
  return true;
}

llvm::hash_code flashtile::gpu::hash_value(const DistributedLayout &layout) {
  llvm::hash_code hash =
      llvm::hash_combine_range(layout.shape().begin(), layout.shape().end());
  for (HardwareIndex index : allIndices)
    for (const Digit &digit : canonicalDigits(layout.digits(index)))
      hash = llvm::hash_combine(
          hash, index, digit.extent,
          llvm::hash_combine_range(digit.step.begin(), digit.step.end()));
  return hash;
}
