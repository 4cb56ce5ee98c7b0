//===- DistributedLayout.h - Tiles spread over a thread block -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one layout concept of the GPU target: where each element of a tile lives
// among the registers, lanes and warps of a thread block. Every hardware index
// is a mixed-radix number; one unit of a digit moves by a fixed step in the
// tile. Tensor-core fragments, blocked loads, row slices and replicated values
// are all instances, and extents need not be powers of two.
//
// Plain arithmetic: this folder knows nothing of MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_ANALYSIS_LAYOUT_DISTRIBUTEDLAYOUT_H
#define FLASHTILE_COMPILER_ANALYSIS_LAYOUT_DISTRIBUTEDLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace flashtile::gpu {

constexpr int64_t lanesPerWarp = 32;

/// One entry for each dimension of the tile.
using Coordinates = llvm::SmallVector<int64_t, 4>;

/// One digit of a hardware index: it counts from 0 to extent - 1, and each
/// unit moves by `step` in the tile. A step of zeros replicates.
struct Digit {
  int64_t extent = 1;
  Coordinates step;

  bool replicates() const;
  /// Moves along `dim`, possibly along others too.
  bool movesAlong(unsigned dim) const { return step[dim] != 0; }
  bool operator==(const Digit &other) const {
    return std::tie(extent, step) == std::tie(other.extent, other.step);
  }
  bool operator!=(const Digit &other) const { return !(*this == other); }
};

/// Least significant first.
using DigitList = llvm::SmallVector<Digit, 4>;

enum class HardwareIndex { Register, Lane, Warp };

/// Where one copy of an element lives.
struct Owner {
  int64_t registerIndex = 0;
  int64_t lane = 0;
  int64_t warp = 0;
  bool operator==(const Owner &other) const {
    return std::tie(registerIndex, lane, warp) ==
           std::tie(other.registerIndex, other.lane, other.warp);
  }
  bool operator!=(const Owner &other) const { return !(*this == other); }
};

/// Part of an index: (index / stride) mod extent.
struct DigitPosition {
  int64_t stride = 1;
  int64_t extent = 1;
  bool operator==(const DigitPosition &other) const {
    return std::tie(stride, extent) == std::tie(other.stride, other.extent);
  }
  bool operator!=(const DigitPosition &other) const {
    return !(*this == other);
  }
};

class DistributedLayout {
public:
  DistributedLayout() = default;
  DistributedLayout(llvm::ArrayRef<int64_t> shape, DigitList registers,
                    DigitList lanes, DigitList warps);

  llvm::ArrayRef<int64_t> shape() const { return tileShape; }
  unsigned rank() const { return tileShape.size(); }
  const DigitList &digits(HardwareIndex index) const {
    return digitLists[static_cast<unsigned>(index)];
  }
  const DigitList &registers() const { return digits(HardwareIndex::Register); }
  const DigitList &lanes() const { return digits(HardwareIndex::Lane); }
  const DigitList &warps() const { return digits(HardwareIndex::Warp); }

  /// The number of values of an index: the product of its digits' extents.
  int64_t size(HardwareIndex index) const;
  int64_t registersPerThread() const { return size(HardwareIndex::Register); }
  int64_t warpCount() const { return size(HardwareIndex::Warp); }
  int64_t threadCount() const { return lanesPerWarp * warpCount(); }

  /// The element held; past the tile's shape for a register of padding, whose
  /// value is undefined.
  Coordinates coordinates(int64_t registerIndex, int64_t lane,
                          int64_t warp) const;
  /// What one index contributes to the coordinates (they add up).
  Coordinates offset(HardwareIndex index, int64_t value) const;
  bool isInBounds(llvm::ArrayRef<int64_t> coordinates) const;

  /// The digits cover this much: at least the shape, more where padded.
  Coordinates paddedShape() const;
  bool isPadded() const;
  bool isPaddedAlong(unsigned dim) const;

  /// Some element has more than one owner.
  bool isReplicated() const;
  /// The replicating digits of an index. A thread is the first of its copies
  /// iff these parts of its lane and of its warp are all zero.
  llvm::SmallVector<DigitPosition> replication(HardwareIndex index) const;
  /// Threads hold copies that no replicating digit explains: two different
  /// combinations of moving digits meet at one element.
  bool hasOverlap() const;

  /// The first owner, counting warps, then lanes, then registers; none if the
  /// coordinates are outside the tile. Searches: use `inverse` for many.
  std::optional<Owner> owner(llvm::ArrayRef<int64_t> coordinates) const;
  /// All first owners, row-major over the tile. Every element must be owned.
  std::vector<Owner> inverse() const;

  /// Says what is wrong: steps of wrong rank or negative, extents below one,
  /// lanes that do not multiply to 32, elements that nobody owns.
  std::optional<std::string> verify() const;

  /// Adjacent digits that continue each other merged, extents of 1 dropped.
  /// Two layouts that place every element alike have equal canonical forms.
  DistributedLayout canonical() const;
  bool operator==(const DistributedLayout &other) const;
  bool operator!=(const DistributedLayout &other) const {
    return !(*this == other);
  }

  /// `<[64, 128], reg = [2:(0,1), 2:(8,0), 16:(0,8)],
  ///   lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>` (on one line).
  std::string str() const;
  /// Reads `str()` back; blanks are free. None with `error` set otherwise. The
  /// result has been verified.
  static std::optional<DistributedLayout> parse(llvm::StringRef text,
                                                std::string &error);

private:
  Coordinates tileShape;
  std::array<DigitList, 3> digitLists;
};

/// Equal layouts have equal hashes, however their digits are split.
// NOLINTNEXTLINE(readability-identifier-naming): LLVM finds it by this name.
llvm::hash_code hash_value(const DistributedLayout &layout);

/// Merges and drops within one list.
DigitList canonicalDigits(llvm::ArrayRef<Digit> digits);
/// Splits digits so that a boundary falls at `stride`; none if it would cut a
/// digit unevenly.
std::optional<DigitList> splitAt(llvm::ArrayRef<Digit> digits, int64_t stride);
int64_t digitProduct(llvm::ArrayRef<Digit> digits);

//===----------------------------------------------------------------------===//
// Constructors
//===----------------------------------------------------------------------===//

/// Coalesced: `vectorWidth` consecutive registers, then consecutive lanes,
/// along order[0] (order: fastest dimension first). Any extents, any number
/// of warps. A vector is narrowed until it divides the contiguous extent;
/// tiles smaller than the threads replicate; where an extent does not divide
/// over lanes or warps, the layout is padded.
DistributedLayout blocked(llvm::ArrayRef<int64_t> shape, int64_t vectorWidth,
                          llvm::ArrayRef<unsigned> order, int64_t warps);

/// Fragments of mma.sync. Each warp has a contiguous block of rows and of
/// columns: warp = warpM + warpsM * warpN. Registers count within one
/// instruction's fragment, then along k (operands) or n, then along m.
/// Extents that are not multiples of the instruction's are padded.
///
/// D of m16n8, 32 bits an element.
DistributedLayout mmaAccumulator(int64_t m, int64_t n, int64_t warpsM,
                                 int64_t warpsN);
/// A [m, k] and B [k, n] of m16n8k8 (32 bits an element), k16 (16), k32 (8).
DistributedLayout mmaOperandA(int64_t m, int64_t k, unsigned elementBits,
                              int64_t warpsM, int64_t warpsN);
DistributedLayout mmaOperandB(int64_t k, int64_t n, unsigned elementBits,
                              int64_t warpsM, int64_t warpsN);

/// D of wgmma m64nN: 64 rows for each warpgroup and repetition, each
/// warpgroup's rows contiguous. `columnGroups` of the warpgroups share the
/// columns of the same rows.
DistributedLayout wgmmaAccumulator(int64_t m, int64_t n, int64_t warpgroups,
                                   int64_t columnGroups = 1);
/// The same elements, so that a lane has runs of four along a row: neighbouring
/// lanes exchange halves of two instructions' columns.
DistributedLayout wgmmaAccumulatorRuns(int64_t m, int64_t n, int64_t warpgroups,
                                       int64_t columnGroups = 1);
/// A of wgmma in registers. For 16 bits it equals the accumulator's layout.
DistributedLayout wgmmaOperandA(int64_t m, int64_t k, unsigned elementBits,
                                int64_t warpgroups);

/// Over `count` times as many warps, of which groups hold copies.
DistributedLayout replicateWarps(const DistributedLayout &layout,
                                 int64_t count);

/// Every thread holds the whole tile.
DistributedLayout replicated(llvm::ArrayRef<int64_t> shape, int64_t warps);

//===----------------------------------------------------------------------===//
// Layouts from layouts
//===----------------------------------------------------------------------===//

/// The layout of a reduction along `dim`: that dimension is gone, register
/// digits that moved only along it too, its lanes and warps replicate.
DistributedLayout slice(const DistributedLayout &layout, unsigned dim);
/// Rows with another dimension after `dim`, of `extent`, spread over the lanes
/// that held copies, `vectorWidth` elements to each in turn, and registers:
/// what a sum along it leaves where it is. slice(spread(l, ...), dim) places
/// values like l.
DistributedLayout spread(const DistributedLayout &layout, unsigned dim,
                         int64_t extent, int64_t vectorWidth);
/// A dimension of extent 1 before `dim`. slice(expandDims(l, d), d) == l.
DistributedLayout expandDims(const DistributedLayout &layout, unsigned dim);
/// Extent 1 becomes `extent`, held in new registers (the most significant).
/// Where `layout` is padded along `dim` (lanes without a value), the values
/// need a conversion first: broadcastRegisters tells.
DistributedLayout broadcast(const DistributedLayout &layout, unsigned dim,
                            int64_t extent);
/// Which register of `from` each register of `to` copies when dimensions of
/// extent 1 are broadcast; -1 for padding. None if some thread lacks a value.
std::optional<llvm::SmallVector<int64_t>>
broadcastRegisters(const DistributedLayout &from, const DistributedLayout &to);
/// Result dimension i is dimension order[i].
DistributedLayout transpose(const DistributedLayout &layout,
                            llvm::ArrayRef<unsigned> order);
/// Row-major reinterpretation, register by register in place. None where the
/// digits cannot say it, or the layout is padded.
std::optional<DistributedLayout> reshape(const DistributedLayout &layout,
                                         llvm::ArrayRef<int64_t> shape);
/// Two tiles of this layout joined along a new last dimension of extent 2:
/// registers of the first, then of the second.
DistributedLayout join(const DistributedLayout &layout);
/// Two tiles of this layout one after the other along `dim`: registers of the
/// first, then of the second. None where the first is padded along `dim`.
std::optional<DistributedLayout> cat(const DistributedLayout &layout,
                                     unsigned dim);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_ANALYSIS_LAYOUT_DISTRIBUTEDLAYOUT_H
