// RUN: fa-opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-normalize-block-ptrs,canonicalize,cse))' | FileCheck %s

// A window moved by the step of the loop: its offset is the induction variable
// plus where it started, and the loop carries nothing but the sum.
// CHECK-LABEL: tile.kernel @step_distance
// CHECK-SAME: %x: !tile.ptr<f32>, %n: i32, %first: i64
tile.kernel @step_distance(%x: !tile.ptr<f32>, %n: i32, %first: i64) grid(n, f) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 16 : i64
  %rows = arith.extsi %n : i32 to i64
  %sum0 = tile.full 0.0 : f32 -> tensor<16x8xf32>
  %d = arith.constant 8 : i64
  %p0 = tile.make_block_ptr %x shape [%rows, %d] strides [%d, %one] offsets [%first, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<16x8xf32>
  // CHECK: scf.for %[[I:.*]] = %c0_i32 to %n step %c16_i32 iter_args(%{{[a-z0-9]*}} = %cst) -> (tensor<16x8xf32>)
  // CHECK: %[[I64:.*]] = arith.extsi %[[I]] : i32 to i64
  // CHECK: %[[AT:.*]] = arith.addi %first, %[[I64]]
  // CHECK: tile.make_block_ptr %x shape[%{{.*}}, %c8_i64] strides[%c8_i64, %c1_i64] offsets[%[[AT]], %c0_i64]
  // CHECK-NOT: tile.advance
  %sum, %p1 = scf.for %i = %c0 to %n step %c16 iter_args(%s = %sum0, %p = %p0)
      -> (tensor<16x8xf32>, !tile.block_ptr<16x8xf32>) : i32 {
    %v = tile.load %p : !tile.block_ptr<16x8xf32>
    %t = arith.addf %s, %v : tensor<16x8xf32>
    %q = tile.advance %p, [%step, %zero] : !tile.block_ptr<16x8xf32>
    scf.yield %t, %q : tensor<16x8xf32>, !tile.block_ptr<16x8xf32>
  }
  tile.store %p0, %sum : !tile.block_ptr<16x8xf32>
  tile.return
}

// -----

// Several advances add up; a distance that is no multiple of the step divides
// by it; the pointer after the loop has moved once for every iteration.
// CHECK-LABEL: tile.kernel @used_after
tile.kernel @used_after(%x: !tile.ptr<f32>, %lo: i64, %hi: i64, %by: i64) grid(l, h, b) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %three = arith.constant 3 : i64
  %n = arith.constant 4096 : i64
  %p0 = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<16xf32>
  %v = tile.full 1.0 : f32 -> tensor<16xf32>
  // CHECK: %[[SUM:.*]] = arith.addi %by, %c1_i64
  // CHECK: scf.for %[[I:.*]] = %lo to %hi step %c3_i64
  // CHECK: %[[GONE:.*]] = arith.subi %[[I]], %lo
  // CHECK: %[[COUNT:.*]] = arith.divsi %[[GONE]], %c3_i64
  // CHECK: %[[AT:.*]] = arith.muli %[[COUNT]], %[[SUM]]
  // CHECK: tile.make_block_ptr %x shape[%c4096_i64] strides[%c1_i64] offsets[%[[AT]]]
  // CHECK: }
  // CHECK: %[[SPAN:.*]] = arith.subi %hi, %lo
  // CHECK: %[[POS:.*]] = arith.maxsi %[[SPAN]], %c0_i64
  // CHECK: %[[UP:.*]] = arith.addi %[[POS]], %c2_i64
  // CHECK: %[[TRIPS:.*]] = arith.divsi %[[UP]], %c3_i64
  // CHECK: %[[END:.*]] = arith.muli %[[TRIPS]], %[[SUM]]
  // CHECK: tile.make_block_ptr %x shape[%c4096_i64] strides[%c1_i64] offsets[%[[END]]]
  %p1 = scf.for %i = %lo to %hi step %three iter_args(%p = %p0) -> (!tile.block_ptr<16xf32>) : i64 {
    tile.store %p, %v : !tile.block_ptr<16xf32>
    %q = tile.advance %p, [%by] : !tile.block_ptr<16xf32>
    %r = tile.advance %q, [%one] : !tile.block_ptr<16xf32>
    scf.yield %r : !tile.block_ptr<16xf32>
  }
  tile.store %p1, %v : !tile.block_ptr<16xf32>
  tile.return
}

// -----

// A nest that carries one pointer through both loops.
// CHECK-LABEL: tile.kernel @nest
tile.kernel @nest(%x: !tile.ptr<f32>) grid() -> (1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %big = arith.constant 4096 : i64
  %step = arith.constant 16 : i64
  %v = tile.full 1.0 : f32 -> tensor<16xf32>
  %p0 = tile.make_block_ptr %x shape [%big] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<16xf32>
  // 4 iterations of 16: 64 for one of the outer loop.
  // CHECK: scf.for %[[I:.*]] = %c0 to %{{.*}} step %c1 {
  // CHECK: %[[IW:.*]] = arith.index_cast %[[I]] : index to i64
  // CHECK: %[[OUTER:.*]] = arith.muli %[[IW]], %c64_i64
  // CHECK: scf.for %[[J:.*]] = %c0 to %c4 step %c1 {
  // CHECK: %[[JW:.*]] = arith.index_cast %[[J]] : index to i64
  // CHECK: %[[INNER:.*]] = arith.muli %[[JW]], %c16_i64
  // CHECK: %[[AT:.*]] = arith.addi %[[OUTER]], %[[INNER]]
  // CHECK: tile.make_block_ptr %x shape[%c4096_i64] strides[%c1_i64] offsets[%[[AT]]]
  %p1 = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %p0) -> (!tile.block_ptr<16xf32>) {
    %p2 = scf.for %j = %c0 to %c4 step %c1 iter_args(%q = %p) -> (!tile.block_ptr<16xf32>) {
      tile.store %q, %v : !tile.block_ptr<16xf32>
      %r = tile.advance %q, [%step] : !tile.block_ptr<16xf32>
      scf.yield %r : !tile.block_ptr<16xf32>
    }
    scf.yield %p2 : !tile.block_ptr<16xf32>
  }
  tile.return
}

// -----

// Windows of one tensor, chosen by a condition: their offsets are chosen.
// CHECK-LABEL: tile.kernel @conditional
tile.kernel @conditional(%x: !tile.ptr<f32>, %flag: i1, %a: i64, %n: i64) grid(f, a, n) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %v = tile.full 1.0 : f32 -> tensor<16xf32>
  // CHECK: %[[AT:.*]] = scf.if %flag -> (i64)
  // CHECK: %[[B:.*]] = arith.muli %a, %a
  // CHECK: scf.yield %[[B]]
  // CHECK: scf.yield %a
  // CHECK: %[[P:.*]] = tile.make_block_ptr %x shape[%n] strides[%c1_i64] offsets[%[[AT]]]
  // CHECK: tile.store %[[P]]
  %p = scf.if %flag -> (!tile.block_ptr<16xf32>) {
    tile.print "yes"
    %b = arith.muli %a, %a : i64
    %q = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%b]
        : !tile.ptr<f32> -> !tile.block_ptr<16xf32>
    scf.yield %q : !tile.block_ptr<16xf32>
  } else {
    %q = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%a]
        : !tile.ptr<f32> -> !tile.block_ptr<16xf32>
    scf.yield %q : !tile.block_ptr<16xf32>
  }
  tile.store %p, %v : !tile.block_ptr<16xf32>
  tile.return
}
