//===----------------------------------------------------------------------===//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that build tiles and change their shape.
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILE_IR_TILESHAPEOPS_TD
#define FLASHTILE_DIALECTS_TILE_IR_TILESHAPEOPS_TD

include "TileOpBase.td"

def Tile_ArangeOp : Tile_Op<"arange", [Pure]> {
  let summary = "consecutive integers";
  let description = [{
    `result[i] = start + i` for `start <= start + i < end`.

    Example:

    ```mlir
    tile.kernel @k() grid() -> (1) {
      %i = tile.arange 0 to 48 : tensor<48xi32>
      tile.return
    }
    ```
  }];
  let arguments = (ins I32Attr:$start, I32Attr:$end);
  let results = (outs Res<TileOf<AnyTypeOf<[I32], "i32">>, "the integers, rank 1">:$result);
  let assemblyFormat = "$start `to` $end attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "int32_t":$start, "int32_t":$end), [{
    build($_builder, $_state, ::mlir::RankedTensorType::get(
        {int64_t(end) - start}, $_builder.getI32Type()), start, end);
  }]>];
  let hasVerifier = 1;
}

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "tile filled with a scalar";
  let description = [{
    Every element of the result is `value`.

    Example:

    ```mlir
    tile.kernel @k(%a: f32) grid() -> (1) {
      %t = tile.splat %a : f32 -> tensor<8x24xf32>
      tile.return
    }
    ```
  }];
  let arguments = (ins Arg<Tile_Element, "the scalar">:$value);
  let results = (outs Res<Tile_AnyTile, "the tile">:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_FullOp : Tile_Op<"full", [Pure]> {
  let summary = "tile filled with a constant";
  let description = [{
    Every element of the result is the attribute `value`. Folds to
    `arith.constant`.

    Example:

    ```mlir
    tile.kernel @k() grid() -> (1) {
      %minus_infinity = tile.full 0xFF800000 : f32 -> tensor<64xf32>
      tile.return
    }
    ```
  }];
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs Res<Tile_NumberTile, "the tile">:$result);
  let assemblyFormat = "$value attr-dict `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ExpandDimsOp : Tile_InferredOp<"expand_dims", [Pure]> {
  let summary = "inserts a dimension of extent 1";
  let description = [{
    The result has rank + 1 dimensions; dimension `axis` of the result has
    extent 1.

    Example:

    ```mlir
    tile.kernel @k() grid() -> (1) {
      %i = tile.arange 0 to 16 : tensor<16xi32>
      %column = tile.expand_dims %i axis 1 : tensor<16xi32> -> tensor<16x1xi32>
      tile.return
    }
    ```
  }];
  let arguments = (ins Arg<Tile_AnyTile, "the tile">:$operand, I32Attr:$axis);
  let results = (outs Res<Tile_AnyTile, "the same elements">:$result);
  let assemblyFormat = "$operand `axis` $axis attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "repeats along dimensions of extent 1";
  let description = [{
    Ranks are equal. Where the operand's extent is 1, the result repeats it;
    other extents are equal. (`tile.expand_dims` raises the rank.)

    Example:

    ```mlir
    tile.kernel @k() grid() -> (1) {
      %i = tile.arange 0 to 16 : tensor<16xi32>
      %column = tile.expand_dims %i axis 1 : tensor<16xi32> -> tensor<16x1xi32>
      %t = tile.broadcast %column : tensor<16x1xi32> -> tensor<16x40xi32>
      tile.return
    }
    ```
  }];
  let arguments = (ins Arg<Tile_AnyTile, "the tile">:$operand);
  let results = (outs Res<Tile_AnyTile, "the repeated tile">:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_TransOp : Tile_InferredOp<"trans", [Pure]> {
  let summary = "permutes dimensions";
  let description = [{
    `result[i[order[0]], i[order[1]], ...] = operand[i[0], i[1], ...]`:
    dimension d of the result is dimension `order[d]` of the operand.

    Example:

    ```mlir
    tile.kernel @k() grid() -> (1) {
      %t = tile.full 1.0 : f32 -> tensor<16x40xf32>
      %u = tile.trans %t order [1, 0] : tensor<16x40xf32> -> tensor<40x16xf32>
      tile.return
    }
    ```
  }];
  let arguments = (ins Arg<Tile_AnyTile, "the tile">:$operand,
                       DenseI32ArrayAttr:$order);
  let results = (outs Res<Tile_AnyTile, "the permuted tile">:$result);
  let assemblyFormat = "$operand `order` $order attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "same elements in row-major order, another shape";
  let description = [{
    The element with row-major position p of the operand has position p in the
    result.

    Example:

    ```mlir
    tile.kernel @k() grid() -> (1) {
      %i = tile.arange 0 to 24 : tensor<24xi32>
      %t = tile.reshape %i : tensor<24xi32> -> tensor<2x3x4xi32>
      tile.return
    }
    ```
  }];
  let arguments = (ins Arg<Tile_AnyTile, "the tile">:$operand);
  let results = (outs Res<Tile_AnyTile, "the reshaped tile">:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_CatOp : Tile_InferredOp<"cat", [Pure]> {
  let summary = "concatenates two tiles along a dimension";
  let description = [{
    Extents agree except along `axis`, where they add up.

    Example:

    ```mlir
    tile.kernel @k() grid() -> (1) {
      %a = tile.arange 0 to 8 : tensor<8xi32>
      %b = tile.arange 8 to 24 : tensor<16xi32>
      %t = tile.cat %a, %b axis 0 : tensor<8xi32>, tensor<16xi32> -> tensor<24xi32>
      tile.return
    }
    ```
  }];
  let arguments = (ins Arg<Tile_AnyTile, "first part">:$lhs,
                       Arg<Tile_AnyTile, "second part">:$rhs, I32Attr:$axis);
  let results = (outs Res<Tile_AnyTile, "both parts">:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `axis` $axis attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
}

def Tile_JoinOp : Tile_InferredOp<"join", [Pure]> {
  let summary = "pairs two tiles along a new last dimension";
  let description = [{
    `result[..., 0] = lhs[...]`, `result[..., 1] = rhs[...]`.

    Example:

    ```mlir
    tile.kernel @k() grid() -> (1) {
      %a = tile.arange 0 to 8 : tensor<8xi32>
      %b = tile.arange 8 to 16 : tensor<8xi32>
      %t = tile.join %a, %b : tensor<8xi32> -> tensor<8x2xi32>
      tile.return
    }
    ```
  }];
  let arguments = (ins Arg<Tile_AnyTile, "elements at 0">:$lhs,
                       Arg<Tile_AnyTile, "elements at 1">:$rhs);
  let results = (outs Res<Tile_AnyTile, "the pairs">:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<SameType>(type($lhs), type($rhs)) `->` type($result)
  }];
}

#endif // FLASHTILE_DIALECTS_TILE_IR_TILESHAPEOPS_TD
