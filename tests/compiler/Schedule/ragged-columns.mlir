// Rows whose length no instruction has: products read zeros behind them, which
// TMA writes where the tensor has nothing there.
//
// RUN: fa-opt %s --remarks --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},cse,loop-invariant-code-motion,tilegpu-specialize-warps{persistent=true num-stages=2},tilegpu-store-tiles))' -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t
// RUN: fa-translate %s --target=sm_90a --emit=ptx --num-warps=4 | FileCheck %s --check-prefix=PTX

// 40 columns are 48 for the product that sums over them, in one box of 64; the
// other one has a width of 40.
// CHECK-LABEL: tile.kernel @chain
// CHECK-DAG: tilegpu.tensor_map {argument = 0 : i64, extents = [40, {{.*}} : <64x48xbf16, swizzle = 128>
// CHECK-DAG: tilegpu.tensor_map {argument = 1 : i64, extents = [40, {{.*}} : <64x48xbf16, swizzle = 128>
// CHECK-DAG: tilegpu.tensor_map {argument = 2 : i64, extents = [40, {{.*}} : <64x48xbf16, swizzle = 128>
// Rows of 80 bytes lie in different banks without a swizzle.
// CHECK-DAG: tilegpu.tensor_map {argument = 3 : i64, extents = [40, {{.*}} : <16x40xbf16, swizzle = 0>
// What boxes have counts: 64 rows of 128 bytes.
// CHECK: tilegpu.mbarrier_expect {{.*}}{bytes = 8192 : i32}
// CHECK: } consumer {
// CHECK: tilegpu.wgmma {{.*}} {trans_b, warpgroups = 1 : i32} : {{.*}}<64x48xbf16, swizzle = 128>, <64x48xbf16, swizzle = 128> -> tensor<64x64xf32
// CHECK: tilegpu.wgmma {{.*}} {warpgroups = 1 : i32} : tensor<64x64xbf16, {{.*}}, <64x48xbf16, swizzle = 128> -> tensor<64x40xf32
// CHECK: tilegpu.tma_store
// PTX-LABEL: .entry chain(
// Three steps of 16 in depth, and four.
// PTX-COUNT-3: m64n64k16.f32.bf16.bf16
// PTX-NEXT: wgmma.commit_group
// PTX-COUNT-4: m64n40k16.f32.bf16.bf16
// PTX-NEXT: wgmma.commit_group
// PTX: stmatrix.sync.aligned.m8n8.x2.shared.b16
// PTX: cp.async.bulk.tensor.2d.global.shared::cta
tile.kernel @chain(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<bf16>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 40 : i64
  %rows = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x40xf32>
  %qw = tile.make_block_ptr %q shape[%rows, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x40xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x40xbf16>
  %a = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init) -> (tensor<64x40xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x40xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x40xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x40xbf16> -> tensor<40x64xbf16>
    %s = tile.dot %qt, %t, %zeros : tensor<64x40xbf16>, tensor<40x64xbf16>, tensor<64x64xf32>
    %p = tile.cast %s : tensor<64x64xf32> -> tensor<64x64xbf16>
    %vw = tile.make_block_ptr %v shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x40xbf16>
    %vt = tile.load %vw : !tile.block_ptr<64x40xbf16>
    %n = tile.dot %p, %vt, %acc : tensor<64x64xbf16>, tensor<64x40xbf16>, tensor<64x40xf32>
    scf.yield %n : tensor<64x40xf32>
  }
  %c = tile.cast %a : tensor<64x40xf32> -> tensor<64x40xbf16>
  %ow = tile.make_block_ptr %o shape[%rows, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x40xbf16>
  tile.store %ow, %c : !tile.block_ptr<64x40xbf16>
  tile.return
}

// 72 columns are 80 for the product, 160 bytes: three boxes of 64, of which the
// last is half used, rather than five of 32.
// CHECK-LABEL: tile.kernel @wider_boxes
// CHECK: tilegpu.tensor_map {argument = 0 : i64, extents = [72, {{.*}} : <64x80xbf16, swizzle = 64>
// CHECK: tilegpu.mbarrier_expect {{.*}}{bytes = 12288 : i32}
tile.kernel @wider_boxes(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 72 : i64
  %rows = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %qw = tile.make_block_ptr %q shape[%rows, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x72xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x72xbf16>
  %a = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x72xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x72xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x72xbf16> -> tensor<72x64xbf16>
    %n = tile.dot %qt, %t, %acc : tensor<64x72xbf16>, tensor<72x64xbf16>, tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%rows, %rows] strides[%rows, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.return
}

// The tensor goes on behind the tile: what is there times zeros need not be
// zero.
// REMARK: Reason="no producer warp: products need zeros behind the 40 columns of a tile, where its tensor has others"
// CHECK-LABEL: tile.kernel @goes_on
// CHECK-NOT: tma_load
// CHECK: tilegpu.stage {{.*}}tensor<64x40xbf16, {{.*}} -> {{.*}}<64x48xbf16, swizzle = 128>
tile.kernel @goes_on(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 80 : i64
  %rows = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %qw = tile.make_block_ptr %q shape[%rows, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x40xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x40xbf16>
  %a = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x40xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x40xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x40xbf16> -> tensor<40x64xbf16>
    %n = tile.dot %qt, %t, %acc : tensor<64x40xbf16>, tensor<40x64xbf16>, tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%rows, %rows] strides[%rows, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.return
}

// Behind the last row of a tile comes the next tile: sums over rows take whole
// instructions, or those of sm_80.
// CHECK-LABEL: tile.kernel @rows
// CHECK-NOT: tilegpu.wgmma
// CHECK: tilegpu.mma
tile.kernel @rows(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %o: !tile.ptr<f32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %w = arith.constant 64 : i64
  %d = arith.constant 40 : i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %aw = tile.make_block_ptr %a shape[%w, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x40xbf16>
  %bw = tile.make_block_ptr %b shape[%d, %w] strides[%w, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<40x64xbf16>
  %at = tile.load %aw : !tile.block_ptr<64x40xbf16>
  %bt = tile.load %bw : !tile.block_ptr<40x64xbf16>
  %s = tile.dot %at, %bt, %init : tensor<64x40xbf16>, tensor<40x64xbf16>, tensor<64x64xf32>
  %ow = tile.make_block_ptr %o shape[%w, %w] strides[%w, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %s : !tile.block_ptr<64x64xf32>
  tile.return
}
