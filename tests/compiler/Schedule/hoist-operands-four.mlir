// Four warpgroups have 112 registers in each thread, not 160.
//
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a num-warps=16},cse,loop-invariant-code-motion,tilegpu-specialize-warps{persistent=false num-stages=2},tilegpu-hoist-operands))' --remarks -o %t 2>&1 | FileCheck %s

// CHECK: a left operand stays in shared memory: with it 96 registers would be in use, more than 80
tile.kernel @full(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 128 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 128 : i64
  %rows = arith.constant 256 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<256x128xf32>
  %qw = tile.make_block_ptr %q shape[%rows, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<256x128xbf16>
  %qt = tile.load %qw : !tile.block_ptr<256x128xbf16>
  %a = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init) -> (tensor<256x128xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<128x128xbf16>
    %kt = tile.load %kw : !tile.block_ptr<128x128xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<128x128xbf16> -> tensor<128x128xbf16>
    %n = tile.dot %qt, %t, %acc : tensor<256x128xbf16>, tensor<128x128xbf16>, tensor<256x128xf32>
    scf.yield %n : tensor<256x128xf32>
  }
  %ow = tile.make_block_ptr %o shape[%rows, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<256x128xf32>
  tile.store %ow, %a : !tile.block_ptr<256x128xf32>
  tile.return
}
