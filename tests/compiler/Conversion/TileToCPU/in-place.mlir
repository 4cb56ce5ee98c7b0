// RUN: fa-opt --convert-tile-to-cpu="lanes=8 registers=16" --split-input-file %s | FileCheck %s

// The sum is computed into the buffer that carries it: each vector of the
// carried value is read once and written once, and nothing is copied at the
// end of an iteration.
// CHECK-LABEL: func.func private @accumulate.body
// CHECK: %[[SUM:.*]] = memref.view
// CHECK: scf.for
// CHECK: %[[OLD:.*]] = vector.load %[[SUM]]
// CHECK: %[[X:.*]] = vector.load
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[X]]
// CHECK-NEXT: vector.store %[[NEW]], %[[SUM]]
// CHECK-NEXT: }
tile.kernel @accumulate(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = arith.constant 8 : i64
  %xp = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<8xf32>
  %yp = tile.make_block_ptr %y shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<8xf32>
  %start = arith.constant dense<0.0> : tensor<8xf32>
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %start) -> (tensor<8xf32>) {
    %v = tile.load %xp {in_bounds = array<i1: true>} : !tile.block_ptr<8xf32>
    %next = arith.addf %acc, %v : tensor<8xf32>
    scf.yield %next : tensor<8xf32>
  }
  tile.store %yp, %sum {in_bounds = array<i1: true>} : !tile.block_ptr<8xf32>
  tile.return
}

// -----

// The old value is stored after the new one was computed: it must not be
// overwritten before, so the new value has a buffer of its own and is copied.
// CHECK-LABEL: func.func private @read_later.body
// CHECK: scf.for
// CHECK: %[[NEW:.*]] = arith.addf
// CHECK-NEXT: vector.store %[[NEW]], %[[OWN:[a-z_0-9]+]]
// CHECK: llvm.store
// CHECK: %[[COPY:.*]] = vector.load %[[OWN]]
// CHECK: vector.store %[[COPY]]
// CHECK: }
tile.kernel @read_later(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = arith.constant 8 : i64
  %xp = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<8xf32>
  %yp = tile.make_block_ptr %y shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<8xf32>
  %start = arith.constant dense<0.0> : tensor<8xf32>
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %start) -> (tensor<8xf32>) {
    %v = tile.load %xp {in_bounds = array<i1: true>} : !tile.block_ptr<8xf32>
    %next = arith.addf %acc, %v : tensor<8xf32>
    tile.store %yp, %acc {in_bounds = array<i1: true>} : !tile.block_ptr<8xf32>
    scf.yield %next : tensor<8xf32>
  }
  tile.store %yp, %sum {in_bounds = array<i1: true>} : !tile.block_ptr<8xf32>
  tile.return
}
