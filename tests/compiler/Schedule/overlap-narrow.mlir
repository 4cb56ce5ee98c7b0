// Work on 16-bit elements between two chained products. Its results share the
// registers that the product under way reads, so that all of it comes behind the
// wait for that product, with what packs them. In front of the wait, ptxas would
// serialise the products.
//
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},cse,loop-invariant-code-motion,tilegpu-specialize-warps{persistent=false num-stages=2},tilegpu-overlap-products,canonicalize,cse))' | FileCheck %s

// CHECK-LABEL: tile.kernel @narrow
// CHECK: } consumer {
// CHECK: scf.for
// CHECK: %[[S:.*]] = tilegpu.wgmma %{{.*}} {trans_b
// CHECK: %[[O:.*]] = tilegpu.wgmma
// CHECK-NEXT: %[[SCORES:.*]] = tilegpu.wgmma_wait %[[S]] {pending = 1 : i32}
// CHECK: %[[E:.*]] = tile.exp2 %[[SCORES]]
// CHECK-NOT: tile.cast
// CHECK: tilegpu.wgmma_wait %[[O]] {pending = 0 : i32}
// CHECK: %[[BF16:.*]] = tile.cast %[[E]]
// CHECK-NEXT: %[[LEAST:.*]] = arith.maximumf %[[BF16]]
// CHECK-NEXT: %[[OVER:.*]] = arith.cmpf ogt, %[[LEAST]]
// CHECK-NEXT: %[[CHOSEN:.*]] = arith.select %[[OVER]], %{{.*}}, %[[LEAST]]
// CHECK-NEXT: %[[P:.*]] = tilegpu.convert_layout %[[CHOSEN]]
// CHECK: scf.yield {{.*}}%[[P]]
tile.kernel @narrow(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %least = arith.constant dense<0.5> : tensor<64x64xbf16>
  %most = arith.constant dense<2.0> : tensor<64x64xbf16>
  %qw = tile.make_block_ptr %q shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %a = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %vw = tile.make_block_ptr %v shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %vt = tile.load %vw : !tile.block_ptr<64x64xbf16>
    %s = tile.dot %qt, %t, %init : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %e = tile.exp2 %s fastmath<afn> : tensor<64x64xf32>
    %w = tile.cast %e : tensor<64x64xf32> -> tensor<64x64xbf16>
    %w0 = arith.maximumf %w, %least : tensor<64x64xbf16>
    %over = arith.cmpf ogt, %w0, %most : tensor<64x64xbf16>
    %p = arith.select %over, %most, %w0 : tensor<64x64xi1>, tensor<64x64xbf16>
    %n = tile.dot %p, %vt, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.return
}

// What is reduced cannot wait until the weights are packed: then nothing is under
// way while narrow elements are written.
// CHECK-LABEL: tile.kernel @reduced
// CHECK: } consumer {
// CHECK: scf.for
// CHECK: %[[S:.*]] = tilegpu.wgmma %{{.*}} {trans_b
// CHECK: %[[O:.*]] = tilegpu.wgmma
// CHECK-NEXT: %[[SCORES:.*]] = tilegpu.wgmma_wait %[[S]] {pending = 1 : i32}
// CHECK-NEXT: tilegpu.schedule_fence %[[SCORES]]
// CHECK-NEXT: tilegpu.wgmma_wait %[[O]] {pending = 0 : i32}
// CHECK: %[[BF16:.*]] = tile.cast %[[SCORES]]
// CHECK: tile.max %[[BF16]]
tile.kernel @reduced(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %qw = tile.make_block_ptr %q shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %a = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %vw = tile.make_block_ptr %v shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %vt = tile.load %vw : !tile.block_ptr<64x64xbf16>
    %s = tile.dot %qt, %t, %init : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %w = tile.cast %s : tensor<64x64xf32> -> tensor<64x64xbf16>
    %mx = tile.max %w axis 1 : tensor<64x64xbf16> -> tensor<64xbf16>
    %mc = tile.expand_dims %mx axis 1 : tensor<64xbf16> -> tensor<64x1xbf16>
    %mb = tile.broadcast %mc : tensor<64x1xbf16> -> tensor<64x64xbf16>
    %dd = arith.subf %w, %mb : tensor<64x64xbf16>
    %p = tile.exp2 %dd fastmath<afn> : tensor<64x64xbf16>
    %n = tile.dot %p, %vt, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.return
}
