// Two warpgroups start their chained products one after the other.
//
// RUN: fa-opt %s --tile-optimize -o %t.mlir
// RUN: fa-opt %t.mlir --remarks --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{num-warps=8 target=sm_90a},cse,loop-invariant-code-motion,tilegpu-specialize-warps,tilegpu-overlap-products))' -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t
// RUN: fa-opt %t.mlir --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{num-warps=8 target=sm_90a},cse,loop-invariant-code-motion,tilegpu-specialize-warps,tilegpu-overlap-products{take-turns=false}))' | FileCheck %s --check-prefix=NONE

// REMARK: Remark="warpgroups start their products in turns"
// NONE-NOT: tilegpu.named_barrier

// CHECK: } consumer {
// The last warpgroup lets the first go.
// CHECK: %[[GROUP:.*]] = tilegpu.warpgroup_id
// CHECK: scf.if %{{.*}} {
// CHECK: tilegpu.named_barrier arrive %{{.*}} {threads = 256 : i32}
// CHECK: scf.for
// CHECK: tilegpu.named_barrier sync %[[MINE:.*]] {threads = 256 : i32}
// CHECK: tilegpu.wgmma
// CHECK: tilegpu.wgmma
// CHECK: tilegpu.named_barrier arrive %[[NEXT:.*]] {threads = 256 : i32}
// CHECK: tilegpu.wgmma_wait
tile.kernel @sigmoid(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %rows = arith.constant 128 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<128x64xf32>
  %qw = tile.make_block_ptr %q shape[%rows, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<128x64xbf16>
  %a = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init) -> (tensor<128x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %qt, %t, %init : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %e = tile.exp2 %s : tensor<128x64xf32>
    %p = tile.cast %e : tensor<128x64xf32> -> tensor<128x64xbf16>
    %vw = tile.make_block_ptr %v shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %vt = tile.load %vw : !tile.block_ptr<64x64xbf16>
    %n = tile.dot %p, %vt, %acc : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    scf.yield %n : tensor<128x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%rows, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %ow, %a : !tile.block_ptr<128x64xf32>
  tile.return
}
