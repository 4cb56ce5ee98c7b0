// Masks of loops with many products stay as they are where that is asked for.
//
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-combine-bounds{most-products=1},canonicalize,cse))' | FileCheck %s --check-prefix=FEW
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-combine-bounds{most-products=2},canonicalize,cse))' | FileCheck %s --check-prefix=MANY
// RUN: not fa-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-combine-bounds{most-products=-1}))' 2>&1 | FileCheck %s --check-prefix=LESS

// LESS: error: expected 'most-products' to be at least 0, but got -1

// FEW: arith.andi
// MANY-NOT: arith.andi
tile.kernel @products(%p: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %none = arith.constant dense<0.0> : tensor<16x16xf32>
  %some = arith.constant dense<1.0> : tensor<16x16xbf16>
  %iota = tile.arange 0 to 16 : tensor<16xi32>
  %rows = tile.expand_dims %iota axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %r = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %none) -> (tensor<16x16xf32>) : i32 {
    %x = tile.dot %some, %some, %none : tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xf32>
    %s = tile.splat %j : i32 -> tensor<16xi32>
    %k = arith.addi %s, %iota : tensor<16xi32>
    %columns = tile.expand_dims %k axis 0 : tensor<16xi32> -> tensor<1x16xi32>
    %m = tile.splat %n : i32 -> tensor<1x16xi32>
    %inside = arith.cmpi slt, %columns, %m : tensor<1x16xi32>
    %in = tile.broadcast %inside : tensor<1x16xi1> -> tensor<16x16xi1>
    %c = tile.broadcast %columns : tensor<1x16xi32> -> tensor<16x16xi32>
    %row = tile.broadcast %rows : tensor<16x1xi32> -> tensor<16x16xi32>
    %seen = arith.cmpi sle, %c, %row : tensor<16x16xi32>
    %mask = arith.andi %in, %seen : tensor<16x16xi1>
    %y = arith.select %mask, %x, %none : tensor<16x16xi1>, tensor<16x16xf32>
    %w = tile.cast %y : tensor<16x16xf32> -> tensor<16x16xbf16>
    %next = tile.dot %w, %some, %acc : tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xf32>
    scf.yield %next : tensor<16x16xf32>
  }
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %size = arith.constant 16 : i64
  %o = tile.make_block_ptr %p shape[%size, %size] strides[%size, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<16x16xf32>
  tile.store %o, %r : !tile.block_ptr<16x16xf32>
  tile.return
}
