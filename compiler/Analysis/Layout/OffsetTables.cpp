//===- OffsetTables.cpp - Additive offsets of a layout --------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Layout/OffsetTables.h"

#include <algorithm>
#include <cassert>

using namespace flashtile::gpu;

Packing::Packing(llvm::ArrayRef<int64_t> box)
    : extents(box), strides(box.size(), 1) {
  for (size_t dim = box.size(); dim-- > 0;) {
    strides[dim] = count;
    count *= box[dim];
  }
}

int64_t Packing::pack(llvm::ArrayRef<int64_t> coordinates) const {
  int64_t packed = 0;
  for (size_t dim = 0; dim < extents.size(); ++dim)
    packed += coordinates[dim] * strides[dim];
  return packed;
}

Coordinates Packing::unpack(int64_t packed) const {
  Coordinates coordinates;
  for (size_t dim = 0; dim < extents.size(); ++dim)
    coordinates.push_back(packed / strides[dim] % extents[dim]);
  return coordinates;
}

std::vector<int64_t> flashtile::gpu::packedOffsets(llvm::ArrayRef<Digit> digits,
                                                   const Packing &packing) {
  std::vector<int64_t> offsets = {0};
  for (const Digit &digit : digits) {
    int64_t step = packing.pack(digit.step);
    size_t lower = offsets.size();
    offsets.reserve(lower * digit.extent);
    for (int64_t value = 1; value < digit.extent; ++value)
      for (size_t i = 0; i < lower; ++i)
        offsets.push_back(offsets[i] + value * step);
  }
  return offsets;
}

OffsetTables::OffsetTables(const DistributedLayout &layout,
                           const Packing &packing)
    : registers(packedOffsets(layout.registers(), packing)),
      lanes(packedOffsets(layout.lanes(), packing)),
      warps(packedOffsets(layout.warps(), packing)) {}

Coordinates flashtile::gpu::maxExtents(llvm::ArrayRef<int64_t> a,
                                       llvm::ArrayRef<int64_t> b) {
  assert(a.size() == b.size() && "shapes of different rank");
  Coordinates extents(a);
  for (size_t dim = 0; dim < b.size(); ++dim)
    extents[dim] = std::max(extents[dim], b[dim]);
  return extents;
}
