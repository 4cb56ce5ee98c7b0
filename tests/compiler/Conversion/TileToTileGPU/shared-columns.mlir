// RUN: fa-opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a num-warps=8},cse))' | FileCheck %s

// Two warpgroups and 64 rows: they share the columns of every product. Weights
// are a left operand through shared memory, once for both products.
// CHECK-LABEL: tile.kernel @shared
// CHECK: %[[K:.*]] = tilegpu.stage {{.*}} -> <64x256xbf16, swizzle = 128>
// CHECK: %[[S:.*]] = tilegpu.wgmma %[[K]], %[[Q:.*]] {column_groups = 2 : i32, trans_b, warpgroups = 2 : i32}
// CHECK: tilegpu.wgmma_wait %[[S]]
// CHECK: %[[P:.*]] = tilegpu.stage %{{.*}} -> <64x64xbf16, swizzle = 128>
// CHECK-NOT: tilegpu.stage
// CHECK: tilegpu.wgmma %[[P]], %[[Q]], %{{.*}} {column_groups = 2 : i32, warpgroups = 2 : i32}
// CHECK: tilegpu.wgmma %[[P]], %[[K]] {column_groups = 2 : i32, trans_a, warpgroups = 2 : i32}
tile.kernel @shared(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %u: !tile.ptr<f32>, %rows: i32)
    grid(rows) -> (rows ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 256 : i64
  %rows64 = arith.extsi %rows : i32 to i64
  %kw = tile.make_block_ptr %k shape[%rows64, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x256xbf16>
  %kt = tile.load %kw : !tile.block_ptr<64x256xbf16>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %wide = arith.constant dense<0.0> : tensor<64x256xf32>
  %sum = scf.for %j = %c0 to %rows step %size iter_args(%acc = %wide) -> (tensor<64x256xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %qw = tile.make_block_ptr %q shape[%rows64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x256xbf16>
    %qt = tile.load %qw : !tile.block_ptr<64x256xbf16>
    %t = tile.trans %qt order [1, 0] : tensor<64x256xbf16> -> tensor<256x64xbf16>
    %s = tile.dot %kt, %t, %none : tensor<64x256xbf16>, tensor<256x64xbf16>, tensor<64x64xf32>
    %p = tile.exp %s : tensor<64x64xf32>
    %w = tile.cast %p : tensor<64x64xf32> -> tensor<64x64xbf16>
    %next = tile.dot %w, %qt, %acc : tensor<64x64xbf16>, tensor<64x256xbf16>, tensor<64x256xf32>
    %wt = tile.trans %w order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %b = tile.dot %wt, %kt, %wide : tensor<64x64xbf16>, tensor<64x256xbf16>, tensor<64x256xf32>
    %uw = tile.make_block_ptr %u shape[%rows64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x256xf32>
    tile.store %uw, %b : !tile.block_ptr<64x256xf32>
    scf.yield %next : tensor<64x256xf32>
  }
  %ow = tile.make_block_ptr %o shape[%rows64, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x256xf32>
  tile.store %ow, %sum : !tile.block_ptr<64x256xf32>
  tile.return
}

// -----

// Half of 192 columns is no whole number of spans of 128 bytes, but of 64. A
// left operand alone is not shared.
// CHECK-LABEL: tile.kernel @halves
// CHECK: %[[K:.*]] = tilegpu.stage {{.*}} -> <64x192xbf16, swizzle = 64>
// CHECK: tilegpu.stage {{.*}} -> <64x192xbf16, swizzle = 128>
// CHECK: tilegpu.stage {{.*}} -> <64x192xbf16, swizzle = 64>
// CHECK: tilegpu.wgmma {{.*}}column_groups = 2
// CHECK: tilegpu.stage {{.*}} -> <64x64xbf16, swizzle = 128>
tile.kernel @halves(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %u: !tile.ptr<f32>, %rows: i32)
    grid(rows) -> (rows ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 192 : i64
  %rows64 = arith.extsi %rows : i32 to i64
  %kw = tile.make_block_ptr %k shape[%rows64, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x192xbf16>
  %kt = tile.load %kw : !tile.block_ptr<64x192xbf16>
  %vw = tile.make_block_ptr %k shape[%rows64, %d] strides[%d, %one] offsets[%rows64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x192xbf16>
  %vt = tile.load %vw : !tile.block_ptr<64x192xbf16>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %wide = arith.constant dense<0.0> : tensor<64x192xf32>
  %sum = scf.for %j = %c0 to %rows step %size iter_args(%acc = %wide) -> (tensor<64x192xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %qw = tile.make_block_ptr %q shape[%rows64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x192xbf16>
    %qt = tile.load %qw : !tile.block_ptr<64x192xbf16>
    %t = tile.trans %qt order [1, 0] : tensor<64x192xbf16> -> tensor<192x64xbf16>
    %s = tile.dot %kt, %t, %none : tensor<64x192xbf16>, tensor<192x64xbf16>, tensor<64x64xf32>
    %p = tile.exp %s : tensor<64x64xf32>
    %w = tile.cast %p : tensor<64x64xf32> -> tensor<64x64xbf16>
    %next = tile.dot %w, %qt, %acc : tensor<64x64xbf16>, tensor<64x192xbf16>, tensor<64x192xf32>
    %wt = tile.trans %w order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %unused = tile.dot %vt, %t, %none : tensor<64x192xbf16>, tensor<192x64xbf16>, tensor<64x64xf32>
    %b = tile.dot %wt, %kt, %wide : tensor<64x64xbf16>, tensor<64x192xbf16>, tensor<64x192xf32>
    %uw = tile.make_block_ptr %u shape[%rows64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x192xf32>
    tile.store %uw, %b : !tile.block_ptr<64x192xf32>
    scf.yield %next : tensor<64x192xf32>
  }
  %ow = tile.make_block_ptr %o shape[%rows64, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x192xf32>
  tile.store %ow, %sum : !tile.block_ptr<64x192xf32>
  tile.return
}

// -----

// Rows that are reduced stay in one warp: mma.sync.
// CHECK-LABEL: tile.kernel @reduced
// CHECK-NOT: tilegpu.wgmma
// CHECK: tilegpu.mma
tile.kernel @reduced(%q: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %m: !tile.ptr<f32>, %rows: i32)
    grid(rows) -> (rows ceildiv 64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 256 : i64
  %rows64 = arith.extsi %rows : i32 to i64
  %qw = tile.make_block_ptr %q shape[%rows64, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x256xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x256xbf16>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %wide = arith.constant dense<0.0> : tensor<64x256xf32>
  %t = tile.trans %qt order [1, 0] : tensor<64x256xbf16> -> tensor<256x64xbf16>
  %s = tile.dot %qt, %t, %none : tensor<64x256xbf16>, tensor<256x64xbf16>, tensor<64x64xf32>
  %max = tile.max %s axis 1 : tensor<64x64xf32> -> tensor<64xf32>
  %mw = tile.make_block_ptr %m shape[%rows64] strides[%one] offsets[%zero] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  tile.store %mw, %max : !tile.block_ptr<64xf32>
  %w = tile.cast %s : tensor<64x64xf32> -> tensor<64x64xbf16>
  %a = tile.dot %w, %qt, %wide : tensor<64x64xbf16>, tensor<64x256xbf16>, tensor<64x256xf32>
  %b = tile.dot %w, %qt, %a : tensor<64x64xbf16>, tensor<64x256xbf16>, tensor<64x256xf32>
  %ow = tile.make_block_ptr %o shape[%rows64, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x256xf32>
  tile.store %ow, %b : !tile.block_ptr<64x256xf32>
  tile.return
}
