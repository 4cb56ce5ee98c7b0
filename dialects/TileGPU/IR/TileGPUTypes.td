//===----------------------------------------------------------------------===//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts as attributes.
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILEGPU_IR_TILEGPUTYPES_TD
#define FLASHTILE_DIALECTS_TILEGPU_IR_TILEGPUTYPES_TD

include "TileGPUDialect.td"
include "dialects/Tile/IR/TileTypes.td"

def TileGPU_LayoutAttr : AttrDef<TileGPU_Dialect, "Layout",
    [DeclareAttrInterfaceMethods<Tile_LayoutAttrInterface>]> {
  let mnemonic = "layout";
  let summary = "which thread holds which elements of a tile";
  let description = [{
    A thread is a lane of a warp; it holds a tile's elements in registers. Each
    of the three indices is a mixed-radix number of *digits*, least significant
    first; a digit `extent:(step, ...)` moves by its step, in elements along each
    dimension of the tile, for each unit. Register r of lane l of warp w holds
    the element at the sum of all their moves. A digit whose step is all zero
    replicates. Register digits may have any extent; lane digits multiply to 32.
    Elements beyond the tile's extents are padding and undefined.

    The accumulator of `mma.m16n8` over a 64 x 16 tile and four warps (PTX ISA,
    section "Matrix Fragments for mma.m16n8k16"):

    ```mlir
    #accumulator = #tilegpu.layout<[64, 16], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8)],
        lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
    tile.kernel @k() grid() -> (1)
        attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 4 : i32} {
      %c = tile.full 0.0 : f32 -> tensor<64x16xf32, #accumulator>
      tile.return
    }
    ```
  }];
  // Digits are flattened: extent, then one step for each dimension.
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$shape,
    ArrayRefParameter<"int64_t">:$registers,
    ArrayRefParameter<"int64_t">:$lanes,
    ArrayRefParameter<"int64_t">:$warps);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TileGPU_SmemType : TypeDef<TileGPU_Dialect, "Smem"> {
  let mnemonic = "smem";
  let summary = "a tile in shared memory";
  let description = [{
    `!tilegpu.smem<64x64xbf16, swizzle = 128>`: row-major, the last dimension cut
    into boxes of the swizzle's span in bytes (0, 32, 64 or 128; 0 for plain
    rows), whose chunks of 16 bytes are permuted as `cp.async.bulk.tensor` and
    `wgmma` do (PTX ISA, "Tensor swizzling modes").
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "extents, elements">:$shape,
    "::mlir::Type":$elementType,
    "int64_t":$swizzle);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TileGPU_RingType : TypeDef<TileGPU_Dialect, "Ring"> {
  let mnemonic = "ring";
  let summary = "buffers in shared memory that a loop uses in turn";
  let description = [{
    `!tilegpu.ring<2 x 64x64xbf16, swizzle = 128>`: `count` tiles of the type
    `!tilegpu.smem<64x64xbf16, swizzle = 128>`, one after the other.
  }];
  let parameters = (ins
    "int64_t":$count,
    ArrayRefParameter<"int64_t", "extents of one buffer, elements">:$shape,
    "::mlir::Type":$elementType,
    "int64_t":$swizzle);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The type of one buffer.
    SmemType getSlotType();
  }];
}

#endif // FLASHTILE_DIALECTS_TILEGPU_IR_TILEGPUTYPES_TD
