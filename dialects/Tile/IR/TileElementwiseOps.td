//===----------------------------------------------------------------------===//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise operations that arith and math do not fix tightly enough.
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILE_IR_TILEELEMENTWISEOPS_TD
#define FLASHTILE_DIALECTS_TILE_IR_TILEELEMENTWISEOPS_TD

include "TileOpBase.td"
include "mlir/Dialect/Arith/IR/ArithBase.td"
include "mlir/Dialect/Arith/IR/ArithOpsInterfaces.td"

class Tile_UnaryFloatOp<string mnemonic> : Tile_Op<mnemonic, [Pure,
    SameOperandsAndResultType, DeclareOpInterfaceMethods<ArithFastMathInterface>]
    # ElementwiseMappable.traits> {
  let arguments = (ins Arg<Tile_ComputeFloatOrTile, "argument">:$operand,
    DefaultValuedAttr<Arith_FastMathAttr,
        "::mlir::arith::FastMathFlags::none">:$fastmath);
  let results = (outs Res<Tile_ComputeFloatOrTile, "value">:$result);
  let assemblyFormat = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($operand)";
  let hasFolder = 1;
}

def Tile_ExpOp : Tile_UnaryFloatOp<"exp"> {
  let summary = "natural exponential";
  let description = [{
    exp(-inf) = +0, exp(+inf) = +inf, NaN gives NaN. Results below the smallest
    normal number may be flushed to zero. With `afn`, relative error up to
    2^-21 + |x| * 2^-23 for an operand x, which may be rounded once more (exp by
    `tile.exp2`); else within 2 units in the last place.

    Example:

    ```mlir
    tile.kernel @k() grid() -> (1) {
      %t = tile.full 1.0 : f32 -> tensor<40xf32>
      %e = tile.exp %t fastmath<afn> : tensor<40xf32>
      tile.return
    }
    ```
  }];
}

def Tile_Exp2Op : Tile_UnaryFloatOp<"exp2"> {
  let summary = "power of two";
  let description = [{
    2 to the operand; edges as for `tile.exp`. With `afn`, relative error up to
    2^-21; else within 2 units in the last place.

    Example:

    ```mlir
    tile.kernel @k(%x: f32) grid() -> (1) {
      %e = tile.exp2 %x : f32
      tile.return
    }
    ```
  }];
}

def Tile_LogOp : Tile_UnaryFloatOp<"log"> {
  let summary = "natural logarithm";
  let description = [{
    log(+-0) = -inf, log of a negative number is NaN, log(+inf) = +inf, NaN
    gives NaN. Subnormal operands may be taken as zero.

    Example:

    ```mlir
    tile.kernel @k(%x: f32) grid() -> (1) {
      %l = tile.log %x : f32
      tile.return
    }
    ```
  }];
}

def Tile_Log2Op : Tile_UnaryFloatOp<"log2"> {
  let summary = "binary logarithm";
  let description = [{
    Edges as for `tile.log`.

    Example:

    ```mlir
    tile.kernel @k(%x: f32) grid() -> (1) {
      %l = tile.log2 %x : f32
      tile.return
    }
    ```
  }];
}

def Tile_CastOp : Tile_Op<"cast", [Pure, SameOperandsAndResultShape]
    # ElementwiseMappable.traits> {
  let summary = "conversion between float types";
  let description = [{
    Rounds to nearest, ties to even. To an fp8 type, finite values beyond the
    range and infinities become the largest finite value of their sign
    (saturation); NaN stays NaN. To f16, values beyond the range become
    infinities.

    Example:

    ```mlir
    tile.kernel @k() grid() -> (1) {
      %t = tile.full 1.0 : f32 -> tensor<40xf32>
      %h = tile.cast %t : tensor<40xf32> -> tensor<40xbf16>
      %q = tile.cast %h : tensor<40xbf16> -> tensor<40xf8E4M3FN>
      tile.return
    }
    ```
  }];
  let arguments = (ins Arg<Tile_FloatOrTile, "value">:$operand);
  let results = (outs Res<Tile_FloatOrTile, "the value in another type">:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
}

#endif // FLASHTILE_DIALECTS_TILE_IR_TILEELEMENTWISEOPS_TD
