//===- StorePlan.h - Results that TMA can store ---------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile that a program stores, converted from the layout of a product, can go
// through shared memory instead and from there to the tensor by TMA: as a
// whole, or some of its columns after the others through one smaller buffer.
// Whoever counts shared memory asks before that is done.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_SCHEDULE_STOREPLAN_H
#define FLASHTILE_COMPILER_SCHEDULE_STOREPLAN_H

#include "compiler/Schedule/TmaWindow.h"

#include <optional>
#include <string>

namespace flashtile::gpu {

struct StorePlan {
  /// Of the tile. Stores of one tile to several tensors have one conversion,
  /// and one buffer.
  tilegpu::ConvertLayoutOp convert;
  TmaWindow window;
  /// Columns that can go at a time: all of them, then fewer and fewer.
  llvm::SmallVector<int64_t> widths;
  /// The kernel's argument that has to be a multiple of `divisor`, so that rows
  /// of the tensor end with a chunk of 16 bytes: TMA writes whole ones.
  std::optional<unsigned> rowLength;
  int64_t divisor = 1;

  /// The form of a buffer for so many rows and columns.
  tilegpu::SmemType buffer(int64_t rows, int64_t columns) const;
  /// Bytes of a buffer for all rows.
  int64_t bytes(int64_t columns) const;
};

/// How TMA stores the tile, or why it cannot.
std::optional<StorePlan> planStore(tilegpu::StoreOp store,
                                   tile::KernelOp kernel, std::string &whyNot);

/// Lets launches take the kernel only where `plan.rowLength` is what it has to
/// be.
void requireRowLength(tile::KernelOp kernel, const StorePlan &plan);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_SCHEDULE_STOREPLAN_H
