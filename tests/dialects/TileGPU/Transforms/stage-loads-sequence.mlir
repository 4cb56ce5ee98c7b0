// Loops that follow each other share a ring of two buffers: the last iteration
// of one copies for the first of the next.
//
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu,cse,loop-invariant-code-motion,tilegpu-stage-loads{num-stages=2},canonicalize,cse))' \
// RUN:   | FileCheck %s
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu,cse,loop-invariant-code-motion,tilegpu-stage-loads{num-stages=3},canonicalize,cse))' \
// RUN:   | FileCheck %s --check-prefix=THREE

// CHECK-LABEL: tile.kernel @sequence
// CHECK: %[[RING:.*]] = tilegpu.alloc : <2 x 32x64xbf16, swizzle = 128>
// CHECK-NOT: tilegpu.alloc : <2 x
// The first tile of whichever loop runs first.
// CHECK: %[[FIRST:.*]] = arith.cmpi sgt, %m, %c0_i32
// CHECK: scf.if %[[FIRST]] {
// CHECK: tilegpu.slot %[[RING]][%c0_i32]
// CHECK: } else {
// CHECK: %[[SECOND:.*]] = arith.cmpi slt, %m, %n
// CHECK: scf.if %[[SECOND]] {
// CHECK: tilegpu.slot %[[RING]][%c0_i32]
// CHECK: tilegpu.commit_copies
// CHECK: %[[LOOP:.*]]:3 = scf.for %{{.*}} = %c0_i32 to %m step %c32_i32 iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[NOW:.*]] = %c0_i32)
// CHECK-NEXT: tilegpu.wait_copies {pending = 0 : i32}
// CHECK-NEXT: tilegpu.barrier
// CHECK: %[[FREE:.*]] = arith.select
// CHECK: scf.if
// CHECK: tilegpu.slot %[[RING]][%[[FREE]]]
// CHECK: } else {
// CHECK: arith.cmpi slt, %m, %n
// CHECK: scf.if
// CHECK: tilegpu.slot %[[RING]][%[[FREE]]]
// CHECK: tilegpu.commit_copies
// CHECK: tilegpu.slot %[[RING]][%[[NOW]]]
// CHECK: scf.yield
// Nothing is copied or waited for between them.
// CHECK-NOT: tilegpu.barrier
// CHECK-NOT: tilegpu.copy_async
// CHECK: scf.for %{{.*}} = %m to %n step %c32_i32 iter_args(%{{.*}} = %[[LOOP]]#0, %{{.*}} = %[[LOOP]]#1, %{{.*}} = %[[LOOP]]#2)
// CHECK-NEXT: tilegpu.wait_copies {pending = 0 : i32}
// CHECK-NEXT: tilegpu.barrier
// CHECK: scf.if
// CHECK-NOT: else
// CHECK: tilegpu.commit_copies

// Longer rings are each loop's own.
// THREE-LABEL: tile.kernel @sequence
// THREE-COUNT-2: tilegpu.alloc : <3 x 32x64xbf16, swizzle = 128>
tile.kernel @sequence(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>, %m: i32, %n: i32) grid(m, n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 64 : i64
  %stride = arith.constant 4096 : i64
  %n64 = arith.extsi %n : i32 to i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %a0 = tile.make_block_ptr %x shape[%rows, %n64] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x32xbf16>
  %b0 = tile.make_block_ptr %y shape[%n64, %rows] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<32x64xbf16>
  %c = tile.make_block_ptr %z shape[%rows, %rows] strides[%rows, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %a = tile.load %a0 : !tile.block_ptr<64x32xbf16>
  %first:2 = scf.for %k = %c0 to %m step %c32 iter_args(%acc = %zeros, %most = %none) -> (tensor<64x64xf32>, tensor<64xf32>) : i32 {
    %k64 = arith.extsi %k : i32 to i64
    %b_at = tile.advance %b0, [%k64, %zero] : !tile.block_ptr<32x64xbf16>
    %b = tile.load %b_at : !tile.block_ptr<32x64xbf16>
    %next = tile.dot %a, %b, %acc : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    %max = tile.max %next axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    scf.yield %next, %max : tensor<64x64xf32>, tensor<64xf32>
  }
  %second:2 = scf.for %k = %m to %n step %c32 iter_args(%acc = %first#0, %most = %first#1) -> (tensor<64x64xf32>, tensor<64xf32>) : i32 {
    %k64 = arith.extsi %k : i32 to i64
    %b_at = tile.advance %b0, [%k64, %zero] : !tile.block_ptr<32x64xbf16>
    %b = tile.load %b_at : !tile.block_ptr<32x64xbf16>
    %next = tile.dot %a, %b, %acc : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    %min = tile.min %next axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    scf.yield %next, %min : tensor<64x64xf32>, tensor<64xf32>
  }
  %last = tile.expand_dims %second#1 axis 1 : tensor<64xf32> -> tensor<64x1xf32>
  %wide = tile.broadcast %last : tensor<64x1xf32> -> tensor<64x64xf32>
  %sum = arith.addf %second#0, %wide : tensor<64x64xf32>
  tile.store %c, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// What is written between them may be what the second one reads.
// CHECK-LABEL: tile.kernel @written
// CHECK: scf.for
// CHECK-NOT: else
// CHECK: tilegpu.store
// CHECK: tilegpu.barrier
// CHECK: tilegpu.copy_async
// CHECK: scf.for
tile.kernel @written(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>, %m: i32, %n: i32) grid(m, n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 64 : i64
  %stride = arith.constant 4096 : i64
  %n64 = arith.extsi %n : i32 to i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %a0 = tile.make_block_ptr %x shape[%rows, %n64] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x32xbf16>
  %b0 = tile.make_block_ptr %y shape[%n64, %rows] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<32x64xbf16>
  %c = tile.make_block_ptr %z shape[%rows, %rows] strides[%rows, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %a = tile.load %a0 : !tile.block_ptr<64x32xbf16>
  %first:2 = scf.for %k = %c0 to %m step %c32 iter_args(%acc = %zeros, %most = %none) -> (tensor<64x64xf32>, tensor<64xf32>) : i32 {
    %k64 = arith.extsi %k : i32 to i64
    %b_at = tile.advance %b0, [%k64, %zero] : !tile.block_ptr<32x64xbf16>
    %b = tile.load %b_at : !tile.block_ptr<32x64xbf16>
    %next = tile.dot %a, %b, %acc : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    %max = tile.max %next axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    scf.yield %next, %max : tensor<64x64xf32>, tensor<64xf32>
  }
  tile.store %c, %first#0 : !tile.block_ptr<64x64xf32>
  %second:2 = scf.for %k = %m to %n step %c32 iter_args(%acc = %first#0, %most = %first#1) -> (tensor<64x64xf32>, tensor<64xf32>) : i32 {
    %k64 = arith.extsi %k : i32 to i64
    %b_at = tile.advance %b0, [%k64, %zero] : !tile.block_ptr<32x64xbf16>
    %b = tile.load %b_at : !tile.block_ptr<32x64xbf16>
    %next = tile.dot %a, %b, %acc : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    %min = tile.min %next axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    scf.yield %next, %min : tensor<64x64xf32>, tensor<64xf32>
  }
  %last = tile.expand_dims %second#1 axis 1 : tensor<64xf32> -> tensor<64x1xf32>
  %wide = tile.broadcast %last : tensor<64x1xf32> -> tensor<64x64xf32>
  %sum = arith.addf %second#0, %wide : tensor<64x64xf32>
  tile.store %c, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}
