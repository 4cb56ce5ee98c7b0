//===- LayoutChoice.h - A layout for every tile of a kernel ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts are chosen from the dots outward. Values tied by elementwise
// operations, accumulators and loop carries form groups that share one:
//  - a group with a dot result has the accumulator layout of the instruction;
//  - a group of reduced values has the slice of what it was reduced from;
//  - a group that only broadcasts into another has the slice of that;
//  - everything else is blocked: coalesced, vectorised accesses.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_CONVERSION_TILETOTILEGPU_LAYOUTCHOICE_H
#define FLASHTILE_COMPILER_CONVERSION_TILETOTILEGPU_LAYOUTCHOICE_H

#include "compiler/Analysis/Layout/DistributedLayout.h"
#include "dialects/Tile/IR/TileDialect.h"

#include "llvm/ADT/DenseMap.h"

#include <string>

namespace flashtile::gpu {

/// How the warps of a program share a dot's result.
struct WarpGrid {
  int64_t m = 1, n = 1;
};

/// Warps along rows first: each then needs all of b, which the others share,
/// and its own rows of a.
WarpGrid warpGrid(int64_t rows, int64_t columns, int64_t warps);
/// How they share a result that has this layout: as above, or evenly, where no
/// row has to be in one warp.
WarpGrid warpGridOf(const DistributedLayout &layout, int64_t warps);

/// How f32 operands are multiplied: without a wish by three products of tf32.
tile::InputPrecision precisionOf(tile::DotOp dot);

/// Whether matrix instructions compute this dot. Others are done by
/// multiply-adds of the threads.
bool usesMatrixInstructions(tile::DotOp dot);
/// Whether warpgroups multiply, by wgmma. Of kernels as they were written, as
/// they look at all products.
bool usesWarpgroups(tile::DotOp dot, int64_t warps);
/// Why they do not, in a kernel for sm_90a that is not plain.
std::string whyNoWarpgroups(tile::DotOp dot, int64_t warps);
/// How many of the warpgroups share the columns of the same rows. More than one
/// where rows are too few for all, and the left operand is read from shared
/// memory in any case, as a transpose of what was computed; or where warpgroups
/// could multiply nothing otherwise. What was computed then goes through shared
/// memory to be a left operand.
int64_t columnGroupsOf(tile::DotOp dot, int64_t warps);

/// The layout of every tile value of the kernel.
llvm::DenseMap<mlir::Value, DistributedLayout>
chooseLayouts(tile::KernelOp kernel, int64_t warps);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_CONVERSION_TILETOTILEGPU_LAYOUTCHOICE_H
