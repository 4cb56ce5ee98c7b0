// Two blocks of a cluster take neighbouring programs of a product and load what
// both need for each other.
//
// RUN: fa-opt %s --split-input-file --remarks --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a num-warps=8},cse,loop-invariant-code-motion,tilegpu-specialize-warps{num-stages=2},canonicalize,cse))' -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t
// RUN: fa-opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a num-warps=8},cse,loop-invariant-code-motion,tilegpu-specialize-warps{num-stages=2 persistent=static},canonicalize,cse))' | FileCheck %s --check-prefix=ALONE

// Fixed shares that were asked for come without clusters.
// ALONE-NOT: cluster
// ALONE-NOT: multicast

// Along x, tiles of a differ; along y those of b do, every %rows / 128 programs.
// REMARK: remark: [Passed] Cluster {{.*}}two blocks load tiles that both need for each other
// CHECK-LABEL: tile.kernel @product(
// CHECK-SAME: tilegpu.cluster = 2 : i64
// Whole tiles of a; of b halves for both, or whole ones.
// CHECK-DAG: tilegpu.tensor_map {argument = 0 {{.*}} : <128x64xbf16, swizzle = 128>
// CHECK-DAG: %[[HALF:.*]] = tilegpu.tensor_map {argument = 1 {{.*}} : <32x256xbf16, swizzle = 128>
// CHECK-DAG: %[[WHOLE:.*]] = tilegpu.tensor_map {argument = 1 {{.*}} : <64x256xbf16, swizzle = 128>
// CHECK-DAG: %[[EMPTY:.*]] = tilegpu.mbarriers {arrivals = 16 : i32, cluster} : <2>
// CHECK-DAG: tilegpu.mbarriers {arrivals = 8 : i32} : <2>
// CHECK: tilegpu.warp_specialize
// The last program of an odd number is one of both blocks.
// CHECK: arith.minui
// CHECK: scf.for
// CHECK: tilegpu.tma_load %{{.*}} : <128x64xbf16
// CHECK-NOT: multicast
// CHECK: } else {
// CHECK: %[[OTHER:.*]] = arith.xori %[[TURN:.*]], %c1_i32
// CHECK: arith.minui %[[OTHER]], %[[LAST:.*]] : i32
// CHECK: %[[SAME:.*]] = arith.cmpi eq
// CHECK: scf.for
// CHECK: tilegpu.mbarrier_wait %[[EMPTY]]
// CHECK: tilegpu.mbarrier_expect %{{.*}} {bytes = 32768 : i32}
// CHECK: scf.if %[[SAME]] {
// CHECK-NEXT: tilegpu.tma_load %[[HALF]]{{.*}} {multicast}
// CHECK-NEXT: } else {
// CHECK-NEXT: tilegpu.tma_load %[[WHOLE]]
// CHECK-NOT: multicast
// CHECK: } consumer {
// Of the one that computes it again, all rows are behind the last.
// CHECK: %[[AGAIN:.*]] = arith.cmpi ugt, %[[T:.*]], %[[L:.*]] : i32
// CHECK: %[[ROW:.*]] = arith.select %[[AGAIN]], %[[ROWS:.*]], %{{.*}} : i64
// CHECK: tilegpu.wgmma
// CHECK: tile.make_block_ptr %{{.*}} shape[%[[ROWS]], %{{.*}}] strides[{{.*}}] offsets[%[[ROW]],
tile.kernel @product(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %m: i32, %n: i32, %k: i32, %sa: i64, %sb: i64, %sc: i64)
    grid(m, n, k, sa, sb, sc) -> (m ceildiv 128, n ceildiv 256) {
  %c256 = arith.constant 256 : i32
  %c128 = arith.constant 128 : i32
  %c64 = arith.constant 64 : i32
  %c0 = arith.constant 0 : i32
  %z = arith.constant 0 : i64
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

// -----

// Both operands follow x: neighbours have no tile in common.
// REMARK: remark: [Missed] Cluster {{.*}}each block loads for itself: neighbouring programs load different tiles
// CHECK-LABEL: tile.kernel @diagonal(
// CHECK-NOT: multicast
tile.kernel @diagonal(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %m: i32, %k: i32, %sa: i64, %sb: i64, %sc: i64)
    grid(m, k, sa, sb, sc) -> (m ceildiv 128) {
  %c128 = arith.constant 128 : i32
  %c64 = arith.constant 64 : i32
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %px = tile.program_id x
  %r = arith.muli %px, %c128 : i32
  %r64 = arith.extsi %r : i32 to i64
  %m64 = arith.extsi %m : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %s = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %i64 = arith.extsi %i : i32 to i64
    %aa = tile.make_block_ptr %a shape[%m64, %k64] strides[%sa, %one] offsets[%r64, %i64] : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
    %ba = tile.make_block_ptr %b shape[%k64, %m64] strides[%sb, %one] offsets[%i64, %r64] : !tile.ptr<bf16> -> !tile.block_ptr<64x128xbf16>
    %at = tile.load %aa : !tile.block_ptr<128x64xbf16>
    %bt = tile.load %ba : !tile.block_ptr<64x128xbf16>
    %d = tile.dot %at, %bt, %acc : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %wc = tile.make_block_ptr %c shape[%m64, %m64] strides[%sc, %one] offsets[%r64, %r64] : !tile.ptr<f32> -> !tile.block_ptr<128x128xf32>
  tile.store %wc, %s : !tile.block_ptr<128x128xf32>
  tile.return
}

// -----

// What is added to memory cannot be computed twice.
// REMARK: remark: [Missed] Cluster {{.*}}each block loads for itself: the kernel adds to memory
// CHECK-LABEL: tile.kernel @added(
// CHECK-NOT: multicast
tile.kernel @added(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %m: i32, %n: i32, %k: i32, %sa: i64, %sb: i64, %sc: i64)
    grid(m, n, k, sa, sb, sc) -> (m ceildiv 128, n ceildiv 128) {
  %c128 = arith.constant 128 : i32
  %c64 = arith.constant 64 : i32
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %px = tile.program_id x
  %py = tile.program_id y
  %r = arith.muli %px, %c128 : i32
  %q = arith.muli %py, %c128 : i32
  %r64 = arith.extsi %r : i32 to i64
  %q64 = arith.extsi %q : i32 to i64
  %m64 = arith.extsi %m : i32 to i64
  %n64 = arith.extsi %n : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %s = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %i64 = arith.extsi %i : i32 to i64
    %aa = tile.make_block_ptr %a shape[%m64, %k64] strides[%sa, %one] offsets[%r64, %i64] : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
    %ba = tile.make_block_ptr %b shape[%k64, %n64] strides[%sb, %one] offsets[%i64, %q64] : !tile.ptr<bf16> -> !tile.block_ptr<64x128xbf16>
    %at = tile.load %aa : !tile.block_ptr<128x64xbf16>
    %bt = tile.load %ba : !tile.block_ptr<64x128xbf16>
    %d = tile.dot %at, %bt, %acc : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %wc = tile.make_block_ptr %c shape[%m64, %n64] strides[%sc, %one] offsets[%r64, %q64] : !tile.ptr<f32> -> !tile.block_ptr<128x128xf32>
  %old = tile.atomic_add %wc, %s : !tile.block_ptr<128x128xf32>
  tile.return
}
