// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},tilegpu-specialize-warps{persistent=false num-stages=3},canonicalize))' | FileCheck %s

// One program a block. The tile of queries is loaded once and its buffer never
// freed; two loops over the keys share a ring of three buffers, whose counter
// goes on from one to the other in both roles.
// CHECK-LABEL: tile.kernel @two_loops
// CHECK-NOT: tilegpu.persistent
// CHECK: %[[KMAP:.*]] = tilegpu.tensor_map {argument = 1 : i64, extents = [64, #[[N:.*]]], strides = [64]}
// CHECK-NEXT: %[[RING:.*]] = tilegpu.alloc : <3 x 64x64xbf16, swizzle = 128>
// CHECK-NEXT: %[[FULL:.*]] = tilegpu.mbarriers {arrivals = 1 : i32} : <3>
// CHECK-NEXT: %[[EMPTY:.*]] = tilegpu.mbarriers {arrivals = 4 : i32} : <3>
// CHECK: tilegpu.warp_specialize {consumer_registers = 256 : i32, producer_registers = 56 : i32} producer {
// The queries: no wait for the buffer.
// CHECK-NOT: mbarrier_wait
// CHECK: tilegpu.mbarrier_expect %[[QFULL:.*]][%{{.*}}] {bytes = 8192 : i32} : <1>
// CHECK: tilegpu.tma_load %{{.*}} to %{{.*}} signal %[[QFULL]]
// CHECK: %[[P:.*]] = scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[C:.*]] = %c0{{.*}}) -> (i32)
// CHECK:   %[[SLOT:.*]] = arith.remui %[[C]], %c3
// CHECK:   %[[ROUND:.*]] = arith.divui %[[C]], %c3
// CHECK:   %[[PHASE:.*]] = arith.remui %[[ROUND]], %c2
// CHECK:   %[[FREE:.*]] = arith.subi %c1{{.*}}, %[[PHASE]]
// CHECK:   tilegpu.mbarrier_wait %[[EMPTY]][%[[SLOT]]] phase %[[FREE]]
// CHECK:   tilegpu.mbarrier_expect %[[FULL]][%[[SLOT]]] {bytes = 8192 : i32}
// CHECK:   tilegpu.tma_load %[[KMAP]][%{{.*}}, %[[J]]] to %{{.*}} signal %[[FULL]][%[[SLOT]]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %[[P]]) -> (i32)
// CHECK: } consumer {
// CHECK: tilegpu.mbarrier_wait %[[QFULL]]
// CHECK: %[[F:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[C:.*]] = %c0{{.*}})
// CHECK:   %[[SLOT:.*]] = arith.remui %[[C]], %c3
// CHECK:   %[[PHASE:.*]] = arith.remui
// CHECK:   tilegpu.mbarrier_wait %[[FULL]][%[[SLOT]]] phase %[[PHASE]]
// CHECK:   %[[K:.*]] = tilegpu.slot %[[RING]][%[[SLOT]]]
// CHECK:   tilegpu.wgmma %{{.*}}, %[[K]], %{{.*}} {trans_b
// CHECK:   tilegpu.wgmma_wait
// CHECK-NEXT: tilegpu.mbarrier_arrive %[[EMPTY]][%[[SLOT]]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[F]]#0, %{{.*}} = %[[F]]#1)
// The queries' buffer is not freed.
// CHECK-NOT: mbarrier_arrive %{{.*}} : <1>
// CHECK: tilegpu.store
tile.kernel @two_loops(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %rows: i32, %middle: i32, %keys: i32)
    grid(rows, middle, keys) -> (rows ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %rows64 = arith.extsi %rows : i32 to i64
  %keys64 = arith.extsi %keys : i32 to i64
  %qw = tile.make_block_ptr %q shape[%rows64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = scf.for %j = %c0 to %middle step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %qt, %t, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %s : tensor<64x64xf32>
  }
  %b = scf.for %j = %middle to %keys step %size iter_args(%acc = %a) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %qt, %t, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %s : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%rows64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %b : !tile.block_ptr<64x64xf32>
  tile.return
}

// The head is the remainder of a position, which is not negative either: one more
// dimension of the tensor map.
// CHECK-LABEL: tile.kernel @remainder
// CHECK: tilegpu.tensor_map {argument = 1 : i64, extents = [64, #{{.*}}, 2147483647], strides = [64, #{{.*}}]} : <1x64x64xbf16, swizzle = 128>
// CHECK: } consumer {
tile.kernel @remainder(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32, %heads: i32)
    grid(keys, heads) -> (heads * 3) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %x = tile.program_id x
  %batch = arith.divsi %x, %heads : i32
  %before = arith.muli %batch, %heads : i32
  %head = arith.subi %x, %before : i32
  %head64 = arith.extsi %head : i32 to i64
  %keys64 = arith.extsi %keys : i32 to i64
  %of = arith.muli %keys64, %d : i64
  %at = arith.muli %head64, %of : i64
  %kh = tile.addptr %k, %at : !tile.ptr<bf16>, i64
  %qw = tile.make_block_ptr %q shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %kh shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %qt, %t, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %s : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.return
}
