//===- RegisterNeeds.h - Registers that tiles take at least ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel with too few warps for its tiles is right and many times slower than
// it could be, since what does not fit into registers goes to local memory.
// That much is known before ptxas sees the code.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_CONVERSION_TILEGPUTOLLVM_REGISTERNEEDS_H
#define FLASHTILE_COMPILER_CONVERSION_TILEGPUTOLLVM_REGISTERNEEDS_H

#include "dialects/Tile/IR/TileDialect.h"

namespace flashtile::gpu {

/// Warns at the loop, of those whose carried tiles take more registers than a
/// thread has, that needs most. Other tiles and addresses come on top.
void warnOfTilesBeyondRegisters(tile::KernelOp kernel);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_CONVERSION_TILEGPUTOLLVM_REGISTERNEEDS_H
