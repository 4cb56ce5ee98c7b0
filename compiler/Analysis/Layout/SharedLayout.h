//===- SharedLayout.h - Tiles in shared memory ----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a tile's elements lie in shared memory, in the forms that TMA writes
// and wgmma reads (swizzles of 32, 64 and 128 bytes) or with padded rows; how
// many passes over the banks an access takes; and which accesses ldmatrix and
// stmatrix can do.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_ANALYSIS_LAYOUT_SHAREDLAYOUT_H
#define FLASHTILE_COMPILER_ANALYSIS_LAYOUT_SHAREDLAYOUT_H

#include "compiler/Analysis/Layout/DistributedLayout.h"

#include <tuple>

namespace flashtile::gpu {

/// The value is the span in bytes: how much of a row one box holds.
enum class Swizzle { None = 0, Bytes32 = 32, Bytes64 = 64, Bytes128 = 128 };

/// Without swizzle: rows one after the other, each followed by `rowPadding`
/// bytes. With a swizzle: the contiguous dimension is cut into boxes of the
/// swizzle's span; a box holds all rows, `span` bytes each; boxes follow each
/// other at multiples of eight rows, so that each starts a new pattern. In a
/// box, chunks of 16 bytes are permuted by the address: bits 4-6 ^= bits 7-9
/// (128 B), 4-5 ^= 7-8 (64 B), 4 ^= 7 (32 B).
struct SharedLayout {
  Coordinates shape;
  int64_t elementBytes = 1;
  /// Fastest dimension first. Rows count through order[1], order[2], ...
  llvm::SmallVector<unsigned, 4> order;
  Swizzle swizzle = Swizzle::None;
  int64_t rowPadding = 0;

  SharedLayout() = default;
  SharedLayout(llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
               llvm::ArrayRef<unsigned> order, Swizzle swizzle = Swizzle::None,
               int64_t rowPadding = 0);

  std::optional<std::string> verify() const;
  int64_t rowCount() const;
  /// Bytes from one row to the next within a box.
  int64_t rowStride() const;
  /// Bytes from one box to the next; the whole size without swizzle.
  int64_t boxStride() const;
  int64_t boxCount() const;
  int64_t bytes() const;
  /// What the base address has to be a multiple of.
  int64_t alignment() const;

  /// Bytes from the base, which is aligned.
  int64_t offset(llvm::ArrayRef<int64_t> coordinates) const;
  /// The permutation of a box, on an unswizzled byte offset.
  int64_t applySwizzle(int64_t byteOffset) const;
  bool operator==(const SharedLayout &other) const {
    return std::tie(shape, elementBytes, order, swizzle, rowPadding) ==
           std::tie(other.shape, other.elementBytes, other.order, other.swizzle,
                    other.rowPadding);
  }
  bool operator!=(const SharedLayout &other) const { return !(*this == other); }
};

/// Passes over the banks that one access of a warp takes (lanes of -1 do not
/// take part): `bytes` is 1, 2, 4, 8 or 16 for each lane, at a multiple of it.
/// 8 bytes go by half warps and 16 by quarters; a word read by many counts
/// once.
int64_t wavefronts(llvm::ArrayRef<int64_t> laneOffsets, int64_t bytes);

/// Registers of a distributed layout that lie next to each other in shared
/// memory, in each thread, at a multiple of their size.
struct VectorAccess {
  /// Elements per access.
  int64_t width = 1;
  /// Groups of `width` registers, in the order of addresses. Copies of a
  /// register within the thread appear in the groups of loads and not in
  /// those of stores; registers that are padding in every thread in neither.
  std::vector<llvm::SmallVector<int64_t, 8>> groups;
  /// Over all groups, for the worst warp.
  int64_t wavefronts = 0;
};
/// The widest access up to `maxBytes` (16 at most). `shared` must cover the
/// layout's padded shape, or the registers past it are left out where that is
/// the same in all threads and a group is inside or outside as a whole in each
/// (the caller then predicates by its first element). `isStore` drops copies.
VectorAccess planVectorAccess(const DistributedLayout &layout,
                              const SharedLayout &shared, bool isStore,
                              int64_t maxBytes = 16);

/// ldmatrix or stmatrix (8 rows of 16 bytes to a matrix).
struct MatrixAccess {
  int64_t count = 1; ///< matrices an instruction: .x1, .x2, .x4
  bool transposed = false;
  /// Elements packed into one 32-bit register: 4 / elementBytes.
  int64_t elementsPerRegister = 2;
  /// Row addresses: instruction g of a thread takes the address of element
  /// rows.coordinates(g, lane, warp). Its result register i, for i < count,
  /// packs registers (g * count + i) * elementsPerRegister onwards of the
  /// fragment. Lanes beyond 8 * count replicate.
  DistributedLayout rows;
};
/// None where the fragment or the memory does not fit: a row that is not 16
/// contiguous, aligned bytes; .trans for anything but 16 bits; padding that
/// the memory does not cover.
std::optional<MatrixAccess> planMatrixAccess(const DistributedLayout &fragment,
                                             const SharedLayout &shared);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_ANALYSIS_LAYOUT_SHAREDLAYOUT_H
