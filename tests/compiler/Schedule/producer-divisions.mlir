// Positions of programs come from divisions by the extents of the grid. A
// producer, one thread, divides once in a program, not for each tile.
//
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a num-warps=8},cse,loop-invariant-code-motion,tilegpu-specialize-warps{num-stages=2 persistent=static},canonicalize,cse))' | FileCheck %s

// CHECK-LABEL: tile.kernel @product(
// CHECK: tilegpu.warp_specialize
// CHECK: scf.for %{{.*}} -> (i32)
// CHECK: %[[X:.*]] = arith.remui %{{.*}}, %{{.*}} : i32
// CHECK: %[[P:.*]] = tile.assume %[[X]]
// CHECK: %[[ROW:.*]] = arith.muli %[[P]], %c128_i32
// CHECK: scf.for
// By the number of buffers, and of phases.
// CHECK-NEXT: arith.remui %{{.*}}, %c2_i32
// CHECK-NEXT: arith.divui %{{.*}}, %c2_i32
// CHECK-NEXT: arith.remui %{{.*}}, %c2_i32
// CHECK-NOT: arith.div
// CHECK-NOT: arith.rem
// CHECK: tilegpu.tma_load %{{.*}}[%{{.*}}, %[[ROW]]]
// CHECK: scf.yield
tile.kernel @product(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %m: i32, %n: i32, %k: i32, %sa: i64, %sb: i64, %sc: i64)
    grid(m, n, k, sa, sb, sc) -> (m ceildiv 128, n ceildiv 256) {
  %c256 = arith.constant 256 : i32
  %c128 = arith.constant 128 : i32
  %c64 = arith.constant 64 : i32
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %px = tile.program_id x
  %py = tile.program_id y
  %r = arith.muli %px, %c128 : i32
  %q = arith.muli %py, %c256 : i32
  %r64 = arith.extsi %r : i32 to i64
  %q64 = arith.extsi %q : i32 to i64
  %m64 = arith.extsi %m : i32 to i64
  %n64 = arith.extsi %n : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %s = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %i64 = arith.extsi %i : i32 to i64
    %aa = tile.make_block_ptr %a shape[%m64, %k64] strides[%sa, %one] offsets[%r64, %i64] : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
    %ba = tile.make_block_ptr %b shape[%k64, %n64] strides[%sb, %one] offsets[%i64, %q64] : !tile.ptr<bf16> -> !tile.block_ptr<64x256xbf16>
    %at = tile.load %aa : !tile.block_ptr<128x64xbf16>
    %bt = tile.load %ba : !tile.block_ptr<64x256xbf16>
    %d = tile.dot %at, %bt, %acc : tensor<128x64xbf16>, tensor<64x256xbf16>, tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %wc = tile.make_block_ptr %c shape[%m64, %n64] strides[%sc, %one] offsets[%r64, %q64] : !tile.ptr<f32> -> !tile.block_ptr<128x256xf32>
  tile.store %wc, %s : !tile.block_ptr<128x256xf32>
  tile.return
}
