//===----------------------------------------------------------------------===//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conversion of tile kernels to tiles with layouts.
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_CONVERSION_TILETOTILEGPU_PASSES_TD
#define FLASHTILE_COMPILER_CONVERSION_TILETOTILEGPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertTileToTileGPUPass
    : Pass<"convert-tile-to-tilegpu", "::flashtile::tile::KernelOp"> {
  let summary = "distribute the tiles of a kernel over threads";
  let description = [{
    Chooses a layout for every tile, from the dots outward, and makes the
    movement between layouts and through shared memory explicit.

    **Input:** a verified tile kernel, best after `--tile-optimize`.

    **Output:** every tile has a `#tilegpu.layout`; dots are `tilegpu.mma`, tiles
    are loaded and stored by `tilegpu.load` and `tilegpu.store` in coalesced
    layouts, and the kernel has `tilegpu.target` and `tilegpu.num_warps`.

    **Example:** tests/compiler/Conversion/TileToTileGPU/dot.mlir

    **Order:** after `--tile-optimize`.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"sm_80\"",
           "instruction family: sm_80 or sm_90a">,
    Option<"numWarps", "num-warps", "int64_t", /*default=*/"4",
           "warps of a program, 1 to 16; a kernel's `tilegpu.num_warps` goes "
           "first">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::flashtile::tilegpu::TileGPUDialect"];
}

#endif // FLASHTILE_COMPILER_CONVERSION_TILETOTILEGPU_PASSES_TD
