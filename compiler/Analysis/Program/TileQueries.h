//===- TileQueries.h - Questions about tile programs ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What targets ask of a tile program before they decide how to compute it.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_ANALYSIS_PROGRAM_TILEQUERIES_H
#define FLASHTILE_COMPILER_ANALYSIS_PROGRAM_TILEQUERIES_H

#include "dialects/Tile/IR/TileDialect.h"

namespace flashtile {

inline mlir::RankedTensorType tileType(mlir::Value value) {
  return mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
}

/// Bytes in memory: of a pointer those of an address, and of less than a byte
/// one.
int64_t bytesOfElement(mlir::Type element);
int64_t bytesOfTile(llvm::ArrayRef<int64_t> shape, mlir::Type element);

/// Operation of arith, math or tile that maps elements to elements.
bool isElementwise(mlir::Operation *op);
/// View of a tile: trans, expand_dims, broadcast, reshape, cat, join.
bool isView(mlir::Operation *op);
/// tile.max, tile.min, tile.sum.
bool isAxisReduce(mlir::Operation *op);
/// Elementwise operations that cost many instructions for each element.
bool isHeavy(mlir::Operation *op);
/// Whether re-evaluating `value` costs next to nothing: constants, splats and
/// integer arithmetic on them.
bool isCheap(mlir::Value value, unsigned depth = 0);

/// Inside a branch that elements of a tile decide ("some element is NaN"): it
/// is taken to run hardly ever.
bool isInRareBranch(mlir::Operation *op);

/// A dot operand seen through transposes: the value below them, and which of
/// its dimensions the operand's rows and columns are.
struct DotOperand {
  mlir::Value root;
  unsigned rowDim, columnDim;
};
DotOperand peelTranspose(mlir::Value operand);

/// The dimension that is contiguous in memory for an access through
/// `pointer`, as far as the program shows it; the last otherwise.
unsigned memoryLaneDim(mlir::Value pointer, unsigned rank);

} // namespace flashtile

#endif // FLASHTILE_COMPILER_ANALYSIS_PROGRAM_TILEQUERIES_H
