//===----------------------------------------------------------------------===//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products, reductions and scans.
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILE_IR_TILEDOTREDUCEOPS_TD
#define FLASHTILE_DIALECTS_TILE_IR_TILEDOTREDUCEOPS_TD

include "TileOpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["c", "result"]>]> {
  let summary = "matrix product with accumulation";
  let description = [{
    `result[m, n] = c[m, n] + sum over k of a[m, k] * b[k, n]`

    Operands a and b have one element type: f32, f16, bf16, f64, an fp8 type
    (the two fp8 types may be mixed) or i8. The accumulator is f32 for floats
    (f64 for f64) and i32 for i8; the order of additions is open. A sum over no
    NaN and no infinity is exact to the accumulator's rounding.

    `precision` concerns f32 operands: `ieee` multiplies in f32; `tf32x3` reaches
    the same accuracy with three tf32 products; `tf32` rounds the operands to 10
    bits of mantissa first. Without it the target takes the faster of the first
    two. The cpu target multiplies in f32 for all.

    Example:

    ```mlir
    tile.kernel @k() grid() -> (1) {
      %a = tile.full 1.0 : bf16 -> tensor<64x32xbf16>
      %b = tile.full 1.0 : bf16 -> tensor<32x48xbf16>
      %c = tile.full 0.0 : f32 -> tensor<64x48xf32>
      %d = tile.dot %a, %b, %c : tensor<64x32xbf16>, tensor<32x48xbf16>, tensor<64x48xf32>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<Tile_NumberTile, "M x K">:$a,
    Arg<Tile_NumberTile, "K x N">:$b,
    Arg<Tile_NumberTile, "M x N, accumulator">:$c,
    OptionalAttr<Tile_InputPrecisionAttr>:$input_precision);
  let results = (outs Res<Tile_NumberTile, "M x N">:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $c (`precision` custom<PrecisionKeyword>($input_precision)^)? attr-dict
    `:` type($a) `,` type($b) `,` type($c)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b, "::mlir::Value":$c), [{
    build($_builder, $_state, c.getType(), a, b, c, InputPrecisionAttr());
  }]>];
  let hasVerifier = 1;
}

class Tile_AxisReduceOp<string mnemonic> : Tile_InferredOp<mnemonic, [Pure]> {
  let arguments = (ins Arg<Tile_NumberTile, "the tile">:$operand, I32Attr:$axis);
  let results = (outs Res<Tile_NumberOrTile,
      "rank - 1 dimensions; a scalar for an operand of rank 1">:$result);
  let assemblyFormat = "$operand `axis` $axis attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
}

def Tile_MaxOp : Tile_AxisReduceOp<"max"> {
  let summary = "maximum along a dimension";
  let description = [{
    Dimension `axis` disappears. Floats: NaN if any element is NaN, and
    +0 > -0. Integers compare as signed (i1 as false < true). Not for fp8.

    Example:

    ```mlir
    tile.kernel @k() grid() -> (1) {
      %t = tile.full 1.0 : f32 -> tensor<16x40xf32>
      %m = tile.max %t axis 1 : tensor<16x40xf32> -> tensor<16xf32>
      %all = tile.max %m axis 0 : tensor<16xf32> -> f32
      tile.return
    }
    ```
  }];
}

def Tile_MinOp : Tile_AxisReduceOp<"min"> {
  let summary = "minimum along a dimension";
  let description = [{
    As `tile.max`, for the minimum.

    Example:

    ```mlir
    tile.kernel @k() grid() -> (1) {
      %i = tile.arange 3 to 19 : tensor<16xi32>
      %m = tile.min %i axis 0 : tensor<16xi32> -> i32
      tile.return
    }
    ```
  }];
}

def Tile_SumOp : Tile_AxisReduceOp<"sum"> {
  let summary = "sum along a dimension";
  let description = [{
    Dimension `axis` disappears. Floats are added in f32 (f64 for f64) in an
    order that is open and rounded to the element type once; integers wrap.
    Not for fp8 and i1.

    Example:

    ```mlir
    tile.kernel @k() grid() -> (1) {
      %t = tile.full 1.0 : f32 -> tensor<16x40xf32>
      %s = tile.sum %t axis 0 : tensor<16x40xf32> -> tensor<40xf32>
      tile.return
    }
    ```
  }];
}

def Tile_ReduceOp : Tile_InferredOp<"reduce", [RecursiveMemoryEffects,
    SingleBlock]> {
  let summary = "reduction with a combiner";
  let description = [{
    Reduces tiles of one shape together along `axis`. The region combines two
    partial results, given as (x0, x1, ..., y0, y1, ...), into one. It has to
    be associative and commutative, since the order of combination is open; it
    may use scalar operations of `arith` and `math` and values from outside.

    Example:

    ```mlir
    tile.kernel @argmax(%x: !tile.ptr<f32>) grid() -> (1) {
      %i = tile.arange 0 to 16 : tensor<16xi32>
      %v = arith.sitofp %i : tensor<16xi32> to tensor<16xf32>
      %max, %at = tile.reduce(%v, %i) axis 0 {
      ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
        %gt = arith.cmpf ogt, %a, %b : f32
        %eq = arith.cmpf oeq, %a, %b : f32
        %first = arith.cmpi slt, %ai, %bi : i32
        %tie = arith.andi %eq, %first : i1
        %take = arith.ori %gt, %tie : i1
        %m = arith.select %take, %a, %b : f32
        %mi = arith.select %take, %ai, %bi : i32
        tile.yield %m, %mi : f32, i32
      } : (tensor<16xf32>, tensor<16xi32>) -> (f32, i32)
      tile.return
    }
    ```
  }];
  let arguments = (ins Arg<Variadic<Tile_NumberTile>, "tiles of one shape">:$operands,
                       I32Attr:$axis);
  let results = (outs Res<Variadic<Tile_NumberOrTile>, "one for each operand">:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    `(` $operands `)` `axis` $axis $combiner attr-dict `:` functional-type($operands, $results)
  }];
  let hasRegionVerifier = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "associative prefix with a combiner";
  let description = [{
    `result[i]` combines elements 0 to i along `axis`, or i to the last with
    `reverse`. The region is as for `tile.reduce`, but need not be
    commutative: the first half of its arguments stands for the elements that
    come first in scan order.

    Example:

    ```mlir
    tile.kernel @cumsum() grid() -> (1) {
      %ones = tile.full 1.0 : f32 -> tensor<8x32xf32>
      %sums = tile.scan(%ones) axis 1 {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        tile.yield %s : f32
      } : tensor<8x32xf32>
      tile.return
    }
    ```
  }];
  let arguments = (ins Arg<Variadic<Tile_NumberTile>, "tiles of one shape">:$operands,
                       I32Attr:$axis, UnitAttr:$reverse);
  let results = (outs Res<Variadic<Tile_NumberTile>, "of the operands' types">:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    `(` $operands `)` `axis` $axis (`reverse` $reverse^)? $combiner attr-dict
    `:` custom<SameTypes>(type($operands), type($results))
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // FLASHTILE_DIALECTS_TILE_IR_TILEDOTREDUCEOPS_TD
