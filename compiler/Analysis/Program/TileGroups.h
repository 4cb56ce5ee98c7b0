//===- TileGroups.h - Tiles that are arranged alike -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Targets choose an arrangement (a layout, a dimension for the lanes of
// vectors) for groups of tiles: what elementwise operations, sums and loops tie
// together. Which operations tie is the target's choice; how values flow
// through regions is the same for all.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_ANALYSIS_PROGRAM_TILEGROUPS_H
#define FLASHTILE_COMPILER_ANALYSIS_PROGRAM_TILEGROUPS_H

#include "dialects/Tile/IR/TileDialect.h"

#include "llvm/ADT/EquivalenceClasses.h"

namespace flashtile::tile {

/// A union-find over the tiles of a kernel.
class TileGroups {
public:
  /// A group for each tile.
  explicit TileGroups(KernelOp kernel);

  /// All tiles, in program order.
  llvm::ArrayRef<mlir::Value> values() const { return all; }
  /// The name of a tile's group.
  void *of(mlir::Value value) const {
    return groups.getLeaderValue(value.getAsOpaquePointer());
  }
  void unite(mlir::Value a, mlir::Value b) {
    groups.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  }

  /// Where a tile that flows into or out of a region of `op`, or to the next
  /// iteration, is tied to what it becomes: `ties(from, isInit)`, where
  /// `isInit` says that it is what a counted loop begins with.
  using Ties = llvm::function_ref<bool(mlir::Value from, bool isInit)>;
  void uniteCarried(mlir::Operation *op, Ties ties);

private:
  llvm::SmallVector<mlir::Value> all;
  llvm::EquivalenceClasses<void *> groups;
};

} // namespace flashtile::tile

#endif // FLASHTILE_COMPILER_ANALYSIS_PROGRAM_TILEGROUPS_H
