//===- OffsetTables.h - Additive offsets of a layout ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Coordinates are the sum of what register, lane and warp contribute. Packed
// into one number with room for every dimension, they are three small tables,
// which makes enumerating all threads cheap.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_ANALYSIS_LAYOUT_OFFSETTABLES_H
#define FLASHTILE_COMPILER_ANALYSIS_LAYOUT_OFFSETTABLES_H

#include "compiler/Analysis/Layout/DistributedLayout.h"

namespace flashtile::gpu {

/// Coordinates below `box` in each dimension, as one row-major number.
class Packing {
public:
  explicit Packing(llvm::ArrayRef<int64_t> box);

  int64_t pack(llvm::ArrayRef<int64_t> coordinates) const;
  Coordinates unpack(int64_t packed) const;
  int64_t size() const { return count; }

private:
  Coordinates extents;
  Coordinates strides;
  int64_t count = 1;
};

/// The packed contribution of each value of an index, value by value. `box`
/// covers the layout's padded shape.
std::vector<int64_t> packedOffsets(llvm::ArrayRef<Digit> digits,
                                   const Packing &packing);

struct OffsetTables {
  OffsetTables(const DistributedLayout &layout, const Packing &packing);

  int64_t at(int64_t registerIndex, int64_t lane, int64_t warp) const {
    return registers[registerIndex] + lanes[lane] + warps[warp];
  }

  std::vector<int64_t> registers, lanes, warps;
};

/// Elementwise maximum.
Coordinates maxExtents(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_ANALYSIS_LAYOUT_OFFSETTABLES_H
