//===----------------------------------------------------------------------===//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pointers, loads, stores and atomics.
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILE_IR_TILEMEMORYOPS_TD
#define FLASHTILE_DIALECTS_TILE_IR_TILEMEMORYOPS_TD

include "TileOpBase.td"

def Tile_MakeBlockPtrOp : Tile_Op<"make_block_ptr", [Pure,
    SameVariadicOperandSize]> {
  let summary = "window of a strided tensor";
  let description = [{
    The window's element (i, j, ...) is the tensor's element
    (offsets[0] + i, offsets[1] + j, ...), at
    `base + sum(index[d] * strides[d])`, in elements. It is in bounds where
    `0 <= index[d] < shape[d]` for every d.
    `order` lists the dimensions from the fastest in memory to the slowest; it
    is a hint about locality and never changes the result. The default is the
    last dimension first.

    Example:

    ```mlir
    tile.kernel @k(%x: !tile.ptr<bf16>, %n: i64, %stride: i64)
        grid(n, s) -> (n ceildiv 64) {
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %d = arith.constant 32 : i64
      %p = tile.make_block_ptr %x shape [%n, %d] strides [%stride, %one]
          offsets [%zero, %zero] {order = array<i32: 1, 0>}
          : !tile.ptr<bf16> -> !tile.block_ptr<64x32xbf16>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<Tile_PtrType, "element (0, 0, ...) of the tensor">:$base,
    Arg<Variadic<I64>, "extents of the tensor, elements">:$shape,
    Arg<Variadic<I64>, "distances between neighbours, elements">:$strides,
    Arg<Variadic<I64>, "position of the window, elements">:$offsets,
    OptionalAttr<DenseI32ArrayAttr>:$order);
  let results = (outs Res<Tile_BlockPtrType, "the window">:$result);
  let assemblyFormat = [{
    $base `shape` `[` $shape `]` `strides` `[` $strides `]`
    `offsets` `[` $offsets `]` attr-dict
    `:` qualified(type($base)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_AdvanceOp : Tile_Op<"advance", [Pure, AllTypesMatch<["pointer", "result"]>]> {
  let summary = "moves a window";
  let description = [{
    The same window with `offsets[d]` added to its position along each
    dimension. Positions may leave the tensor and come back.

    Example:

    ```mlir
    tile.kernel @k(%x: !tile.ptr<f16>, %n: i64) grid(n) -> (1) {
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %step = arith.constant 16 : i64
      %p = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%zero]
          : !tile.ptr<f16> -> !tile.block_ptr<16xf16>
      %q = tile.advance %p, [%step] : !tile.block_ptr<16xf16>
      tile.return
    }
    ```
  }];
  let arguments = (ins Arg<Tile_BlockPtrType, "window to move">:$pointer,
    Arg<Variadic<I64>, "distance along each dimension, elements">:$offsets);
  let results = (outs Res<Tile_BlockPtrType, "moved window">:$result);
  let assemblyFormat = "$pointer `,` `[` $offsets `]` attr-dict `:` qualified(type($pointer))";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_AddPtrOp : Tile_Op<"addptr", [Pure, AllTypesMatch<["pointer", "result"]>]> {
  let summary = "pointer arithmetic";
  let description = [{
    `pointer + offset` in elements. Offsets are sign-extended to 64 bits before
    they are scaled.

    Example:

    ```mlir
    tile.kernel @k(%x: !tile.ptr<f32>) grid() -> (1) {
      %i = arith.constant 5 : i64
      %p = tile.addptr %x, %i : !tile.ptr<f32>, i64
      %v = tile.load %p : !tile.ptr<f32>
      tile.return
    }
    ```
  }];
  let arguments = (ins Arg<Tile_PtrOrTile, "pointer or tile of pointers">:$pointer,
    Arg<Tile_IndexOrTile, "distance, elements; of the pointer's shape">:$offset);
  let results = (outs Res<Tile_PtrOrTile, "moved pointer">:$result);
  let assemblyFormat = "$pointer `,` $offset attr-dict `:` type($pointer) `,` type($offset)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<InferTypeOpInterface, ["refineReturnTypes"]>]> {
  let summary = "reads an element or a tile";
  let description = [{
    Through a block pointer: the elements of the window; those out of bounds
    are `padding` (zero, nan, neg_inf; the last two for floats) and touch no
    memory. `in_bounds` promises for each dimension that the window lies within
    the tensor.

    Through a pointer or a tile of pointers: `mask ? *pointer : other`. Where
    `mask` is false no memory is touched; without `other` the value is zero.

    Example:

    ```mlir
    tile.kernel @k(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %p = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%zero]
          : !tile.ptr<f32> -> !tile.block_ptr<16xf32>
      %window = tile.load %p padding neg_inf : !tile.block_ptr<16xf32>
      %lane = tile.arange 0 to 16 : tensor<16xi32>
      %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
      %q = tile.addptr %base, %lane : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
      %eight = arith.constant dense<8> : tensor<16xi32>
      %mask = arith.cmpi slt, %lane, %eight : tensor<16xi32>
      %other = arith.constant dense<7.0> : tensor<16xf32>
      %v = tile.load %q mask %mask other %other : tensor<16x!tile.ptr<f32>>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<Tile_AnyPtr, "where to read", [MemRead]>:$pointer,
    Arg<Optional<Tile_I1OrTile>, "which elements to read">:$mask,
    Arg<Optional<Tile_NumberOrTile>, "value of the others">:$other,
    DefaultValuedAttr<Tile_PaddingAttr, "::flashtile::tile::Padding::Zero">:$padding,
    OptionalAttr<DenseBoolArrayAttr>:$in_bounds);
  let results = (outs Res<Tile_NumberOrTile, "what was read">:$result);
  let assemblyFormat = [{
    $pointer (`mask` $mask^)? (`other` $other^)?
    (`padding` custom<PaddingKeyword>($padding)^)? attr-dict
    `:` custom<LoadTypes>(type($pointer), ref($mask), type($mask), ref($other), type($other))
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$pointer,
                   CArg<"::flashtile::tile::Padding", "Padding::Zero">:$padding), [{
      build($_builder, $_state, pointer, /*mask=*/{}, /*other=*/{}, padding, /*in_bounds=*/{});
    }]>,
    OpBuilder<(ins "::mlir::Value":$pointer, "::mlir::Value":$mask, "::mlir::Value":$other), [{
      build($_builder, $_state, pointer, mask, other, Padding::Zero, /*in_bounds=*/{});
    }]>];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_StoreOp : Tile_Op<"store"> {
  let summary = "writes an element or a tile";
  let description = [{
    Through a block pointer, elements out of bounds are not written; through
    pointers, those whose `mask` is false. Where two elements of one store go
    to the same place, one of them is written.

    Example:

    ```mlir
    tile.kernel @k(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %p = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%zero]
          : !tile.ptr<f32> -> !tile.block_ptr<16xf32>
      %v = tile.full 1.0 : f32 -> tensor<16xf32>
      tile.store %p, %v : !tile.block_ptr<16xf32>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<Tile_AnyPtr, "where to write", [MemWrite]>:$pointer,
    Arg<Tile_NumberOrTile, "what to write">:$value,
    Arg<Optional<Tile_I1OrTile>, "which elements to write">:$mask,
    OptionalAttr<DenseBoolArrayAttr>:$in_bounds);
  let assemblyFormat = [{
    $pointer `,` $value (`mask` $mask^)? attr-dict
    `:` custom<StoreTypes>(type($pointer), type($value), ref($mask), type($mask))
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$pointer, "::mlir::Value":$value,
                   CArg<"::mlir::Value", "{}">:$mask), [{
      build($_builder, $_state, pointer, value, mask, /*in_bounds=*/{});
    }]>];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_AtomicAddOp : Tile_Op<"atomic_add"> {
  let summary = "adds to memory, safely against other programs";
  let description = [{
    `old = *pointer; *pointer = old + value`, each element as one step that no
    other program comes between; relaxed, device-wide. Masked or out-of-bounds
    elements touch no memory and give zero. Floats round to nearest even; the
    order of additions by different programs is open, so float sums may differ
    between runs by rounding. An unused result costs nothing.

    Example:

    ```mlir
    tile.kernel @k(%count: !tile.ptr<i32>) grid() -> (16) {
      %one = arith.constant 1 : i32
      %old = tile.atomic_add %count, %one : !tile.ptr<i32>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<Tile_AnyPtr, "where to add", [MemRead, MemWrite]>:$pointer,
    Arg<Tile_AddendOrTile, "what to add">:$value,
    Arg<Optional<Tile_I1OrTile>, "which elements to add">:$mask);
  let results = (outs Res<Tile_NumberOrTile, "what was there before">:$result);
  let assemblyFormat = [{
    $pointer `,` $value (`mask` $mask^)? attr-dict
    `:` custom<AtomicTypes>(type($pointer), type($value), ref($mask), type($mask), type($result))
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$pointer, "::mlir::Value":$value,
                   CArg<"::mlir::Value", "{}">:$mask), [{
      build($_builder, $_state, value.getType(), pointer, value, mask);
    }]>];
  let hasVerifier = 1;
}

#endif // FLASHTILE_DIALECTS_TILE_IR_TILEMEMORYOPS_TD
