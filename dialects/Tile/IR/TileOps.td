//===----------------------------------------------------------------------===//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Base class of the operations; includes every family of them.
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILE_IR_TILEOPS_TD
#define FLASHTILE_DIALECTS_TILE_IR_TILEOPS_TD

include "TileKernelOps.td"
include "TileMemoryOps.td"
include "TileShapeOps.td"
include "TileDotReduceOps.td"
include "TileElementwiseOps.td"

#endif // FLASHTILE_DIALECTS_TILE_IR_TILEOPS_TD
