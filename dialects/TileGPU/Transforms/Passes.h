//===- Passes.h - Passes on tiles with layouts ----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declarations of the passes; the contract of each is in Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILEGPU_TRANSFORMS_PASSES_H
#define FLASHTILE_DIALECTS_TILEGPU_TRANSFORMS_PASSES_H

#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "mlir/Pass/Pass.h"

namespace flashtile::tilegpu {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "dialects/TileGPU/Transforms/Passes.h.inc"

} // namespace flashtile::tilegpu

#endif // FLASHTILE_DIALECTS_TILEGPU_TRANSFORMS_PASSES_H
