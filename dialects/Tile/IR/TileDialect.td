//===----------------------------------------------------------------------===//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tile dialect itself: what it is for and how its values are typed.
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILE_IR_TILEDIALECT_TD
#define FLASHTILE_DIALECTS_TILE_IR_TILEDIALECT_TD

include "mlir/IR/DialectBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::flashtile::tile";
  let summary = "programs on tiles: block pointers, dots, reductions";
  let description = [{
    A kernel is one program, run once for every point of a launch grid. Its
    values are scalars and *tiles*: builtin ranked tensors of static shape
    (`tensor<128x64xbf16>`) that are written whole, with value semantics, and
    whose extents need not be powers of two. Nothing here speaks of threads,
    layouts or on-chip memory: the compiler chooses them.

    `arith`, `math` and `scf` operations apply to tiles as they are. Elements
    are f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32, i64, or
    pointers `!tile.ptr<T>`; a tile has between 1 and 2^20 elements.

    Memory is reached through `!tile.ptr<T>` (one element), tiles of pointers,
    or `!tile.block_ptr<MxNxT>` (a tile-shaped window of a strided tensor).
    Within one program, memory operations take effect in program order: a load
    sees what an earlier store wrote to the same place.

    Numbers: `tile.max` and `tile.min` propagate NaN; masks use true
    infinities; offsets and strides are 64-bit; integer division truncates;
    a loop that runs zero times leaves its initial values.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let extraClassDeclaration = [{
    /// Largest number of elements of one tile.
    static constexpr int64_t kMaxTileElements = int64_t(1) << 20;
    void registerTypes();
    void registerAttributes();
  }];
}

#endif // FLASHTILE_DIALECTS_TILE_IR_TILEDIALECT_TD
