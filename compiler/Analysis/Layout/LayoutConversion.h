//===- LayoutConversion.h - The least movement between layouts ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a tile gets from one distributed layout to another: not at all, by
// renaming registers, by shuffles within each warp, or through shared memory.
// And how a reduction along one dimension splits into a part in registers, a
// part by shuffles and a part across warps.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_ANALYSIS_LAYOUT_LAYOUTCONVERSION_H
#define FLASHTILE_COMPILER_ANALYSIS_LAYOUT_LAYOUTCONVERSION_H

#include "compiler/Analysis/Layout/DistributedLayout.h"
#include "compiler/Analysis/Layout/SharedLayout.h"

#include <tuple>

namespace flashtile::gpu {

/// base + sum over the terms of coefficient * ((index / stride) mod extent),
/// where index is the lane or the warp.
struct ThreadFunction {
  struct Term {
    HardwareIndex index = HardwareIndex::Lane;
    DigitPosition position;
    int64_t coefficient = 0;
    bool operator==(const Term &other) const {
      return std::tie(index, position, coefficient) ==
             std::tie(other.index, other.position, other.coefficient);
    }
    bool operator!=(const Term &other) const { return !(*this == other); }
  };
  int64_t base = 0;
  llvm::SmallVector<Term, 4> terms;

  int64_t evaluate(int64_t lane, int64_t warp) const;
  bool isConstant() const { return terms.empty(); }
  /// The lane itself.
  bool isLane() const;
  bool operator==(const ThreadFunction &other) const {
    return std::tie(base, terms) == std::tie(other.base, other.terms);
  }
  bool operator!=(const ThreadFunction &other) const {
    return !(*this == other);
  }
};

/// One shfl.sync.idx: the thread offers register `send` of the source layout,
/// reads what lane `source` offers, and stores it in register `receive` of the
/// result. Where source.isLane() no shuffle is needed: only selects.
struct ShuffleRound {
  ThreadFunction send;
  ThreadFunction source;
  ThreadFunction receive;

  /// The rounds differ in constants only: values narrower than 32 bits can be
  /// packed, selected and shuffled together.
  bool sharesWith(const ShuffleRound &other) const {
    return source == other.source && send.terms == other.send.terms &&
           receive.terms == other.receive.terms;
  }
};

/// Written with `store` by each thread of the old layout, a barrier, read with
/// `load` in the new one. Registers of padding have room of their own.
struct SharedMemoryTrip {
  SharedLayout memory;
  VectorAccess store;
  VectorAccess load;
};

struct LayoutConversion {
  enum class Kind { None, Registers, Lanes, SharedMemory };
  Kind kind = Kind::None;
  /// Registers: register i of the result is registerMap[i] of the source; -1
  /// for one that is padding in every thread.
  llvm::SmallVector<int64_t> registerMap;
  /// Lanes: in any order; rounds that share are adjacent.
  std::vector<ShuffleRound> rounds;
  /// SharedMemory.
  std::optional<SharedMemoryTrip> trip;
  /// Quarters of a clock of the whole SM for each warp, roughly: 4 for a
  /// shuffle or a pass over shared memory, 1 for a select, 120 for the barrier.
  int64_t cost = 0;
};

/// `from` and `to` have equal shapes and numbers of warps and are verified.
LayoutConversion planConversion(const DistributedLayout &from,
                                const DistributedLayout &to,
                                int64_t elementBytes);

/// The single ways, for callers that have to rule one out. None where it
/// cannot be done so; a plan returned has been checked on every thread.
std::optional<llvm::SmallVector<int64_t>>
planRegisters(const DistributedLayout &from, const DistributedLayout &to);
std::optional<LayoutConversion> planShuffles(const DistributedLayout &from,
                                             const DistributedLayout &to,
                                             int64_t elementBytes);
LayoutConversion planSharedMemory(const DistributedLayout &from,
                                  const DistributedLayout &to,
                                  int64_t elementBytes);

/// A reduction along one dimension. Partial results combine in registers,
/// then by shuffles, then across warps.
struct ReductionPlan {
  /// The layout of the result: slice(layout, axis).
  DistributedLayout result;
  /// For each register of the result, the registers to combine. Where the
  /// layout is padded along the axis, a register whose coordinate is out of
  /// bounds counts as the neutral element.
  std::vector<llvm::SmallVector<int64_t>> registers;
  bool isPadded = false;
  /// Combine with lane ^ mask, one mask after the other.
  llvm::SmallVector<int64_t> laneMasks;
  /// Parts of the warp index that move along the axis: their warps exchange
  /// partial results through shared memory. Empty: done after the shuffles.
  llvm::SmallVector<DigitPosition> warpDigits;
  /// Partial results an element: the product of warpDigits' extents.
  int64_t warpPartials = 1;
};
/// None where the layout counts an element twice or a lane or warp digit moves
/// along the axis and another dimension at once: convert the layout first.
std::optional<ReductionPlan> planReduction(const DistributedLayout &layout,
                                           unsigned axis);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_ANALYSIS_LAYOUT_LAYOUTCONVERSION_H
