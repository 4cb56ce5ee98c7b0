// A part of a left operand goes to registers where a loop has many products.
//
// RUN: fa-opt %s --remarks --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a num-warps=8},cse,loop-invariant-code-motion,tilegpu-specialize-warps{persistent=false num-stages=2},tilegpu-hoist-operands,tilegpu-overlap-products,canonicalize,cse))' -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t
// RUN: fa-translate --target=sm_90a --num-warps=8 --emit=ptx %s | FileCheck %s --check-prefix=PTX

// s, t, x and y take 32 + 32 + 64 + 64 of 220 registers, and packing weights 16:
// 12 are left, for 48 of the 128 columns of v. Weights are packed when s and t have ended.
// REMARK: [Missed] Operand {{.*}}a left operand stays in shared memory
// REMARK: [Passed] Operand {{.*}}48 columns of a left operand that the loop does not change are read once
// CHECK: } consumer {
// CHECK: %[[HEAD:.*]] = tilegpu.load_shared %{{.*}} : <128x128xbf16, swizzle = 128> -> tensor<128x48xbf16
// CHECK-NEXT: tilegpu.fence_proxy
// CHECK: scf.for
// CHECK: %[[S:.*]] = tilegpu.wgmma
// CHECK: %[[T:.*]] = tilegpu.wgmma %{{.*}}, %{{.*}} head(%[[HEAD]] : tensor<128x48xbf16
// CHECK: tilegpu.wgmma_wait %[[S]] {pending = 1 : i32}
// CHECK: tilegpu.wgmma_wait %[[T]] {pending = 0 : i32}
// CHECK: arith.mulf
// CHECK: tile.cast
// CHECK: tilegpu.wgmma

// Three steps of t from registers, five from shared memory; s from there alone.
// PTX-LABEL: .entry many(
// PTX-COUNT-8: m64n64k16.f32.bf16.bf16 {{.*}}, da, db, {{[pq]}}, 1, 1, 0, 0;
// PTX-COUNT-3: m64n64k16.f32.bf16.bf16 {{.*}}, {{{%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+}}}, db, {{[pq]}}, 1, 1, 0;
// PTX-COUNT-5: m64n64k16.f32.bf16.bf16 {{.*}}, da, db, p, 1, 1, 0, 0;
// PTX: m64n128k16
tile.kernel @many(%k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %q: !tile.ptr<bf16>, %g: !tile.ptr<bf16>,
    %o: !tile.ptr<f32>, %u: !tile.ptr<f32>, %rows: i32) grid(rows) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %dim = arith.constant 128 : i64
  %rows64 = arith.extsi %rows : i32 to i64
  %none = arith.constant dense<0.0> : tensor<128x64xf32>
  %nothing = arith.constant dense<0.0> : tensor<128x128xf32>
  %kw = tile.make_block_ptr %k shape[%dim, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<128x128xbf16>
  %kt = tile.load %kw : !tile.block_ptr<128x128xbf16>
  %vw = tile.make_block_ptr %v shape[%dim, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<128x128xbf16>
  %vt = tile.load %vw : !tile.block_ptr<128x128xbf16>
  %a, %b = scf.for %j = %c0 to %rows step %size iter_args(%x = %nothing, %y = %nothing) -> (tensor<128x128xf32>, tensor<128x128xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %qw = tile.make_block_ptr %q shape[%rows64, %dim] strides[%dim, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x128xbf16>
    %qt = tile.load %qw : !tile.block_ptr<64x128xbf16>
    %gw = tile.make_block_ptr %g shape[%rows64, %dim] strides[%dim, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x128xbf16>
    %gt = tile.load %gw : !tile.block_ptr<64x128xbf16>
    %qtrans = tile.trans %qt order [1, 0] : tensor<64x128xbf16> -> tensor<128x64xbf16>
    %s = tile.dot %kt, %qtrans, %none : tensor<128x128xbf16>, tensor<128x64xbf16>, tensor<128x64xf32>
    %gtrans = tile.trans %gt order [1, 0] : tensor<64x128xbf16> -> tensor<128x64xbf16>
    %t = tile.dot %vt, %gtrans, %none : tensor<128x128xbf16>, tensor<128x64xbf16>, tensor<128x64xf32>
    %r = arith.mulf %s, %t : tensor<128x64xf32>
    %sb = tile.cast %s : tensor<128x64xf32> -> tensor<128x64xbf16>
    %rb = tile.cast %r : tensor<128x64xf32> -> tensor<128x64xbf16>
    %x1 = tile.dot %sb, %gt, %x : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
    %y1 = tile.dot %rb, %qt, %y : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
    scf.yield %x1, %y1 : tensor<128x128xf32>, tensor<128x128xf32>
  }
  %ow = tile.make_block_ptr %o shape[%dim, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<128x128xf32>
  tile.store %ow, %a : !tile.block_ptr<128x128xf32>
  %uw = tile.make_block_ptr %u shape[%dim, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<128x128xf32>
  tile.store %uw, %b : !tile.block_ptr<128x128xf32>
  tile.return
}
