//===- WidenDots.h - Products of formats without an instruction -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_CONVERSION_TILETOTILEGPU_WIDENDOTS_H
#define FLASHTILE_COMPILER_CONVERSION_TILETOTILEGPU_WIDENDOTS_H

#include "dialects/Tile/IR/TileDialect.h"

namespace flashtile::gpu {

/// Casts fp8 operands of dots to f16, which holds both formats exactly: sm_80
/// multiplies no fp8, and sm_90a adds its products imprecisely.
void widenFp8Dots(tile::KernelOp kernel);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_CONVERSION_TILETOTILEGPU_WIDENDOTS_H
