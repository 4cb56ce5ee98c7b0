// Products of warpgroups read shared memory by another proxy than copies write
// it: each thread fences its own before the barrier that tells the others.
//
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},cse,loop-invariant-code-motion,tilegpu-stage-loads{num-stages=2},canonicalize,cse))' | FileCheck %s
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_80},cse,loop-invariant-code-motion,tilegpu-stage-loads{num-stages=2},canonicalize,cse))' | FileCheck %s --check-prefix=OLDER

// OLDER-NOT: tilegpu.fence_proxy

// CHECK-LABEL: tile.kernel @loop
// CHECK: scf.for
// CHECK-NEXT: tilegpu.wait_copies {pending = 0 : i32}
// CHECK-NEXT: tilegpu.fence_proxy
// CHECK-NEXT: tilegpu.barrier
// CHECK: tilegpu.wgmma
tile.kernel @loop(%q: !tile.ptr<f16>, %k: !tile.ptr<f16>, %o: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %s = arith.constant 64 : i64
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n64 = arith.extsi %n : i32 to i64
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %c) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %wq = tile.make_block_ptr %q shape [%s, %n64] strides [%n64, %one] offsets [%z, %j64] : !tile.ptr<f16> -> !tile.block_ptr<64x64xf16>
    %wk = tile.make_block_ptr %k shape [%n64, %s] strides [%s, %one] offsets [%j64, %z] : !tile.ptr<f16> -> !tile.block_ptr<64x64xf16>
    %lq = tile.load %wq : !tile.block_ptr<64x64xf16>
    %lk = tile.load %wk : !tile.block_ptr<64x64xf16>
    %d = tile.dot %lq, %lk, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %wo = tile.make_block_ptr %o shape [%s, %s] strides [%s, %one] offsets [%z, %z] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %wo, %r : !tile.block_ptr<64x64xf32>
  tile.return
}

// Without a loop.
// CHECK-LABEL: tile.kernel @once
// CHECK: tilegpu.copy_async
// CHECK: tilegpu.wait_copies {pending = 0 : i32}
// CHECK-NEXT: tilegpu.fence_proxy
// CHECK-NEXT: tilegpu.barrier
// CHECK: tilegpu.wgmma
tile.kernel @once(%q: !tile.ptr<f16>, %k: !tile.ptr<f16>, %o: !tile.ptr<f32>) grid() -> (1) {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %s = arith.constant 64 : i64
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %wq = tile.make_block_ptr %q shape [%s, %s] strides [%s, %one] offsets [%z, %z] : !tile.ptr<f16> -> !tile.block_ptr<64x64xf16>
  %wk = tile.make_block_ptr %k shape [%s, %s] strides [%s, %one] offsets [%z, %z] : !tile.ptr<f16> -> !tile.block_ptr<64x64xf16>
  %lq = tile.load %wq : !tile.block_ptr<64x64xf16>
  %lk = tile.load %wk : !tile.block_ptr<64x64xf16>
  %d = tile.dot %lq, %lk, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %wo = tile.make_block_ptr %o shape [%s, %s] strides [%s, %one] offsets [%z, %z] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %wo, %d : !tile.block_ptr<64x64xf32>
  tile.return
}
