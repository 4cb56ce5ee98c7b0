//===- Passes.h - Passes on tile programs ---------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declarations of the passes; the contract of each is in Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILE_TRANSFORMS_PASSES_H
#define FLASHTILE_DIALECTS_TILE_TRANSFORMS_PASSES_H

#include "dialects/Tile/IR/TileDialect.h"

#include "mlir/Pass/Pass.h"

namespace flashtile::tile {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "dialects/Tile/Transforms/Passes.h.inc"

} // namespace flashtile::tile

#endif // FLASHTILE_DIALECTS_TILE_TRANSFORMS_PASSES_H
