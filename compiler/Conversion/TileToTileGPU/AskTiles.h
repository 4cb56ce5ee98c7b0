//===- AskTiles.h - Questions about all elements of a tile ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_CONVERSION_TILETOTILEGPU_ASKTILES_H
#define FLASHTILE_COMPILER_CONVERSION_TILETOTILEGPU_ASKTILES_H

#include "dialects/Tile/IR/TileDialect.h"

namespace flashtile::gpu {

/// Maxima of i1 along one axis after the other, down to a scalar, become one
/// `tilegpu.any`, which costs one barrier; minima its negation. The operands
/// have no layouts yet.
void askWholeTiles(tile::KernelOp kernel);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_CONVERSION_TILETOTILEGPU_ASKTILES_H
