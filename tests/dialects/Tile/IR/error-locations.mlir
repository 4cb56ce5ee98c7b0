// What a user sees first is file:line:column of the wrong operation, or of the
// token that the parser could not take, and then what was found and what wanted.
// Columns are part of the test: they are what an editor jumps to.

// RUN: not fa-opt %s --split-input-file 2>&1 | FileCheck %s

// CHECK: error-locations.mlir:[[@LINE+2]]:19: error: use of undeclared SSA value name
tile.kernel @undefined_value() grid() -> (1) {
  %t = tile.splat %nowhere : f32 -> tensor<16xf32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+2]]:19: error: use of value '%n' expects different type than prior uses: 'f32' vs 'i64'
tile.kernel @type_of_use_differs(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %t = tile.splat %n : f32 -> tensor<16xf32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+2]]:8: error: custom op 'tile.matmul' is unknown
tile.kernel @unknown_operation() grid() -> (1) {
  %t = tile.matmul
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+2]]:24: error: custom op 'tile.program_id' expected axis x, y or z, but got 'w'
tile.kernel @unknown_axis() grid() -> (1) {
  %p = tile.program_id w
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+3]]:20: error: custom op 'tile.max' expected 'axis'
tile.kernel @missing_keyword() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %m = tile.max %t : tensor<6x7xf32> -> tensor<7xf32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+3]]:8: error: 'tile.max' op expected 'axis' between 0 and 1, but got 2
tile.kernel @axis_out_of_range() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %m = tile.max %t axis 2 : tensor<6x7xf32> -> tensor<7xf32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+3]]:8: error: 'tile.sum' op expected result of type 'tensor<7xf32>', but got 'tensor<6xf32>'
tile.kernel @result_differs() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %m = tile.sum %t axis 0 : tensor<6x7xf32> -> tensor<6xf32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+2]]:8: error: 'tile.full' op result #0 must be a tile (ranked tensor of static shape) of f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64, but got 'tensor<?xf32>'
tile.kernel @dynamic_tile() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<?xf32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+2]]:31: error: custom op 'tile.full' invalid kind of type specified: expected builtin.tensor, but found 'tensor<*xf32>'
tile.kernel @unranked_tile() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<*xf32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+2]]:8: error: 'tile.full' op expected tiles of rank 1 or more, but got 'tensor<f32>'; use a scalar
tile.kernel @rank_0_tile() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<f32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+2]]:8: error: 'tile.full' op expected tiles with elements, but got 'tensor<0xf32>'
tile.kernel @empty_tile() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<0xf32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+2]]:8: error: 'tile.full' op expected tiles of at most 1048576 elements, but got 'tensor<2147483648xf32>'
tile.kernel @huge_tile() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<2147483648xf32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+2]]:8: error: 'tile.arange' op expected a result of 24 elements and rank 1, but got 'tensor<25xi32>'
tile.kernel @arange_extent() grid() -> (1) {
  %t = tile.arange 0 to 24 : tensor<25xi32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+3]]:8: error: 'tile.trans' op expected 'order' to be a permutation of the 2 dimensions of 'tensor<6x7xf32>', but got [0, 0]
tile.kernel @order_repeats() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.trans %t order [0, 0] : tensor<6x7xf32> -> tensor<6x6xf32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+3]]:8: error: 'tile.reshape' op expected 42 elements, but 'tensor<41xf32>' has 41
tile.kernel @reshape_loses() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.reshape %t : tensor<6x7xf32> -> tensor<41xf32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+3]]:8: error: 'tile.broadcast' op expected extent 1 or 12 in dimension 0, but got 6
tile.kernel @broadcast_grows() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.broadcast %t : tensor<6x7xf32> -> tensor<12x7xf32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+4]]:8: error: 'tile.dot' op expected 'b' to have the 5 rows that 'a' has columns, but got 'tensor<24x5xf32>'
tile.kernel @dot_extents() grid() -> (1) {
  %a = tile.full 1.0 : f32 -> tensor<24x5xf32>
  %c = tile.full 1.0 : f32 -> tensor<24x24xf32>
  %d = tile.dot %a, %a, %c : tensor<24x5xf32>, tensor<24x5xf32>, tensor<24x24xf32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+3]]:8: error: 'tile.make_block_ptr' op expected 2 extents, strides and offsets for '!tile.block_ptr<24x40xf32>', but got 1
tile.kernel @block_rank(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z]
      : !tile.ptr<f32> -> !tile.block_ptr<24x40xf32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+4]]:42: error: expected positive block extents, but got 0
tile.kernel @block_extent(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z]
      : !tile.ptr<f32> -> !tile.block_ptr<0xf32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+5]]:8: error: 'tile.load' op expected no 'mask' with a block pointer: its bounds are the mask
tile.kernel @mask_of_a_window(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  %m = arith.constant dense<true> : tensor<24xi1>
  %v = tile.load %p mask %m : !tile.block_ptr<24xf32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+4]]:29: error: custom op 'tile.load' expected padding zero, nan or neg_inf, but got 'one'
tile.kernel @unknown_padding(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  %v = tile.load %p padding one : !tile.block_ptr<24xf32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+5]]:3: error: 'tile.store' op expected 'value' of type 'tensor<24xf32>', but got 'tensor<25xf32>'
tile.kernel @store_of_another_shape(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  %v = tile.full 1.0 : f32 -> tensor<25xf32>
  "tile.store"(%p, %v) : (!tile.block_ptr<24xf32>, tensor<25xf32>) -> ()
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+6]]:5: error: 'tile.yield' op expected value 0 of type 'f32', but got 'i1'
tile.kernel @combiner_yields_another_type() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.reduce(%t) axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf ogt, %a, %b : f32
    tile.yield %c : i1
  } : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+5]]:5: error: 'tile.print' op expected operations without side effects and regions in the combiner of 'tile.scan'
tile.kernel @combiner_prints() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.scan(%t) axis 0 {
  ^bb0(%a: f32, %b: f32):
    tile.print "a", %a : f32
    tile.yield %a : f32
  } : tensor<6x7xf32>
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+4]]:10: error: 'arith.constant' op expected tiles to be ranked tensors, but got 'vector<4xf32>'
tile.kernel @vector_in_a_loop(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = arith.constant 1 : index
  scf.for %j = %i to %i step %i {
    %v = arith.constant dense<1.0> : vector<4xf32>
  }
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+2]]:8: error: 'tile.assume' op expected 'min' <= 'max', but got 2 > 1
tile.kernel @min_above_max(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %a = tile.assume %n {min = 2 : i64, max = 1 : i64} : i64
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+1]]:1: error: 'tile.kernel' op expected argument 'x' to be a !tile.ptr, an integer (i1, i8, i16, i32, i64), f32 or f64, but got 'tensor<4xf32>'
tile.kernel @argument_type(%x: tensor<4xf32>) grid() -> (1) {
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+1]]:1: error: 'tile.kernel' op expected a grid of one to three extents, but got 4
tile.kernel @grid_of_four(%n: i32)
    grid(n) -> (n, n, n, n) {
  tile.return
}

// -----

// CHECK: error-locations.mlir:[[@LINE+2]]:14: error: expected operation name in quotes
tile.kernel @missing_brace() grid() -> (1) {
  tile.return

// -----

// CHECK: error-locations.mlir:[[@LINE+8]]:1: error: redefinition of symbol named 'right'
// The second kernel of the file is wrong, not the first.
tile.kernel @right() grid() -> (1) {
  tile.return
}
tile.kernel @wrong() grid() -> (1) {
  tile.return
}
tile.kernel @right() grid() -> (1) {
  tile.return
}
