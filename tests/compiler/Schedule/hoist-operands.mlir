// Left operands that a loop does not change stay in registers.
//
// RUN: fa-opt %s --remarks --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},cse,loop-invariant-code-motion,tilegpu-specialize-warps{persistent=true num-stages=2},tilegpu-hoist-operands))' -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t

// The tile is read once, and its buffer is free behind a fence.
// REMARK: Function=hoisted | Remark="a left operand that the loop does not change is read once"
// CHECK-LABEL: tile.kernel @hoisted
// CHECK: } consumer {
// CHECK: tilegpu.mbarrier_wait
// CHECK: %[[SLOT:.*]] = tilegpu.slot
// CHECK-NEXT: %[[A:.*]] = tilegpu.load_shared %[[SLOT]]
// CHECK-NEXT: tilegpu.fence_proxy
// CHECK-NEXT: tilegpu.mbarrier_arrive
// CHECK: scf.for
// CHECK: tilegpu.wgmma %[[A]], %{{.*}}, %{{.*}} {trans_b
// CHECK-NOT: tilegpu.mbarrier_arrive %{{.*}}[%c0
tile.kernel @hoisted(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %w = arith.constant 64 : i64
  %rows = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %qw = tile.make_block_ptr %q shape[%rows, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %a = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %n = tile.dot %qt, %t, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%rows, %w] strides[%w, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.return
}

// Beside an accumulator of 128 registers there is no room for 96 more.
// REMARK: Function=full | Reason="a left operand stays in shared memory: with it 224 registers would be in use, more than 204"
// CHECK-LABEL: tile.kernel @full
// CHECK-NOT: tilegpu.load_shared
tile.kernel @full(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 128 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 192 : i64
  %w = arith.constant 128 : i64
  %rows = arith.constant 128 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<128x128xf32>
  %qw = tile.make_block_ptr %q shape[%rows, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<128x192xbf16>
  %qt = tile.load %qw : !tile.block_ptr<128x192xbf16>
  %a = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init) -> (tensor<128x128xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<128x192xbf16>
    %kt = tile.load %kw : !tile.block_ptr<128x192xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<128x192xbf16> -> tensor<192x128xbf16>
    %n = tile.dot %qt, %t, %acc : tensor<128x192xbf16>, tensor<192x128xbf16>, tensor<128x128xf32>
    scf.yield %n : tensor<128x128xf32>
  }
  %ow = tile.make_block_ptr %o shape[%rows, %w] strides[%w, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<128x128xf32>
  tile.store %ow, %a : !tile.block_ptr<128x128xf32>
  tile.return
}
