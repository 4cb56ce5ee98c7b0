// RUN: fa-opt %s --split-input-file --verify-diagnostics --remarks --pass-pipeline='builtin.module(tile.kernel(tile-normalize-block-ptrs))' | FileCheck %s

// Two buffers that change places: no one window describes the pointer.
// CHECK-LABEL: tile.kernel @swapped
// CHECK: scf.for {{.*}} -> (!tile.block_ptr<16xf32>, !tile.block_ptr<16xf32>)
tile.kernel @swapped(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<16xf32>
  %b = tile.make_block_ptr %y shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<16xf32>
  // expected-remark @below {{carried value 0 stays a block pointer: the body replaces it by another window instead of advancing it}}
  // expected-remark @below {{carried value 1 stays a block pointer: the body replaces it}}
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%p = %a, %q = %b)
      -> (!tile.block_ptr<16xf32>, !tile.block_ptr<16xf32>) : i64 {
    %v = tile.load %p : !tile.block_ptr<16xf32>
    tile.store %q, %v : !tile.block_ptr<16xf32>
    scf.yield %q, %p : !tile.block_ptr<16xf32>, !tile.block_ptr<16xf32>
  }
  tile.return
}

// -----

// Triangular walk: every move is longer than the one before.
// CHECK-LABEL: tile.kernel @growing_distance
// CHECK: scf.for {{.*}} -> (!tile.block_ptr<16xf32>)
tile.kernel @growing_distance(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %v = arith.constant dense<1.0> : tensor<16xf32>
  %a = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<16xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%p = %a) -> (!tile.block_ptr<16xf32>) : i64 {
    tile.store %p, %v : !tile.block_ptr<16xf32>
    // expected-remark @below {{carried value 0 stays a block pointer: the distance it is advanced by changes in the loop}}
    %q = tile.advance %p, [%i] : !tile.block_ptr<16xf32>
    scf.yield %q : !tile.block_ptr<16xf32>
  }
  tile.return
}

// -----

// Windows of two tensors are not one window with a choice of offsets.
// CHECK-LABEL: tile.kernel @two_tensors
// CHECK: scf.if {{.*}} -> (!tile.block_ptr<16xf32>)
tile.kernel @two_tensors(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %flag: i1, %n: i64) grid(f, n) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %v = arith.constant dense<1.0> : tensor<16xf32>
  // expected-remark @below {{block pointer stays conditional: the choice is not between windows of one tensor}}
  %p = scf.if %flag -> (!tile.block_ptr<16xf32>) {
    tile.print "yes"
    %q = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%zero]
        : !tile.ptr<f32> -> !tile.block_ptr<16xf32>
    scf.yield %q : !tile.block_ptr<16xf32>
  } else {
    %q = tile.make_block_ptr %y shape [%n] strides [%one] offsets [%zero]
        : !tile.ptr<f32> -> !tile.block_ptr<16xf32>
    scf.yield %q : !tile.block_ptr<16xf32>
  }
  tile.store %p, %v : !tile.block_ptr<16xf32>
  tile.return
}
