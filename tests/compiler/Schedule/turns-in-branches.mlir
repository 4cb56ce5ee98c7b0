// Operands made in registers go to buffers in turn, of which an iteration writes
// one behind the barrier of the iteration before. Iterations that leave out the
// branch with the products have a barrier, too, be there another side or not:
// with three buffers of the ring, nothing else would hold fast warps back.
//
// RUN: fa-opt --tile-optimize %s | fa-opt --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a num-warps=8},cse,loop-invariant-code-motion,tilegpu-specialize-warps{persistent=false num-stages=3},tilegpu-overlap-products,canonicalize,cse))' | FileCheck %s

// CHECK-LABEL: tile.kernel @without_else
// CHECK: scf.if
// CHECK: tilegpu.store_shared
// CHECK-NEXT: tilegpu.fence_proxy
// CHECK-NEXT: tilegpu.barrier
// CHECK: tilegpu.wgmma
// CHECK: } else {
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: }
tile.kernel @without_else(%k: !tile.ptr<bf16>, %q: !tile.ptr<bf16>, %d: !tile.ptr<f32>, %o: !tile.ptr<f32>, %o2: !tile.ptr<f32>, %rows: i32, %mid: i32)
    grid(rows, mid) -> (rows ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %dim = arith.constant 64 : i64
  %keys = arith.constant 128 : i64
  %rows64 = arith.extsi %rows : i32 to i64
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %none2 = arith.constant dense<0.0> : tensor<128x64xf32>
  %pid = tile.program_id x
  %pid64 = arith.extsi %pid : i32 to i64
  %doff = arith.muli %pid64, %rows64 : i64
  %doff2 = arith.muli %doff, %dim : i64
  %dp = tile.addptr %d, %doff2 : !tile.ptr<f32>, i64
  %kw = tile.make_block_ptr %k shape[%keys, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
  %kt = tile.load %kw : !tile.block_ptr<128x64xbf16>
  %a1 = scf.for %j = %c0 to %rows step %size iter_args(%y = %none2) -> (tensor<128x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %qw = tile.make_block_ptr %q shape[%rows64, %dim] strides[%dim, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
    %dw = tile.make_block_ptr %dp shape[%rows64, %dim] strides[%dim, %one] offsets[%j64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
    %c = arith.cmpi sgt, %j, %mid : i32
    scf.if %c {
      %qtrans = tile.trans %qt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
      %s = tile.dot %kt, %qtrans, %none2 : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
      %sb = tile.cast %s : tensor<128x64xf32> -> tensor<128x64xbf16>
      %st = tile.trans %sb order [1, 0] : tensor<128x64xbf16> -> tensor<64x128xbf16>
      %dt = tile.dot %st, %kt, %none : tensor<64x128xbf16>, tensor<128x64xbf16>, tensor<64x64xf32>
      %old = tile.atomic_add %dw, %dt : !tile.block_ptr<64x64xf32>
    }
    scf.yield %y : tensor<128x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%keys, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %ow, %a1 : !tile.block_ptr<128x64xf32>
  tile.return
}
