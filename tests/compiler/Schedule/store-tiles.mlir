// Results of warpgroup products go to memory by TMA.
//
// RUN: fa-opt %s --remarks --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},cse,loop-invariant-code-motion,tilegpu-specialize-warps{persistent=true num-stages=2},tilegpu-store-tiles))' -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t
// RUN: fa-translate %s --target=sm_90a --emit=ptx -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=PTX
// RUN: %if ptxas %{ %ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS %}

// PTXAS-NOT: C75
// PTXAS: 0 bytes spill stores, 0 bytes spill loads

// REMARK: Remark="tiles are stored by TMA"
// CHECK-LABEL: tile.kernel @stored
// CHECK: %[[MAP:.*]] = tilegpu.tensor_map {argument = 2 : i64
// CHECK: %[[RING:.*]] = tilegpu.alloc : <1 x 64x64xbf16, swizzle = 128>
// CHECK: } consumer {
// CHECK: %[[TILE:.*]] = tile.cast
// The buffer may still be read by the store of the program before. Each warp has
// 16 rows of its own, and waits for no other.
// CHECK: tilegpu.tma_store_wait by_warp {pending = 0 : i32, read}
// CHECK: %[[SLOT:.*]] = tilegpu.slot %[[RING]]
// CHECK-NEXT: tilegpu.store_shared %[[TILE]] to %[[SLOT]]
// CHECK-NEXT: tilegpu.fence_proxy
// CHECK-NOT: tilegpu.barrier
// CHECK: tilegpu.tma_store %[[SLOT]] to %[[MAP]]{{.*}} by_warp : <64x64xbf16, swizzle = 128>, <16x64xbf16, swizzle = 128>
// CHECK: tilegpu.tma_store_wait {pending = 0 : i32, read}
// CHECK-NEXT: }
tile.kernel @stored(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<bf16>, %keys: i32)
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
  %c = tile.cast %a : tensor<64x64xf32> -> tensor<64x64xbf16>
  %ow = tile.make_block_ptr %o shape[%rows, %w] strides[%w, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  tile.store %ow, %c : !tile.block_ptr<64x64xbf16>
  tile.return
}

// REMARK: Function=wide | Reason="a tile is stored by threads: its elements are not of 16 bits"
// CHECK-LABEL: tile.kernel @wide
// CHECK-NOT: tilegpu.tma_store
tile.kernel @wide(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
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

// TMA writes whole chunks of 16 bytes: where rows of the tensor end within one,
// what lies behind them is not ours.
// REMARK: Function=part | Reason="a tile is stored by threads: its tensor's rows need not be a multiple of 8 elements"
// CHECK-LABEL: tile.kernel @part
// CHECK-NOT: tilegpu.tma_store
tile.kernel @part(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<bf16>, %keys: i32)
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
  %c = tile.cast %a : tensor<64x64xf32> -> tensor<64x64xbf16>
  %ow = tile.make_block_ptr %o shape[%rows, %keys64] strides[%keys64, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  tile.store %ow, %c : !tile.block_ptr<64x64xbf16>
  tile.return
}

// A store by TMA may still be under way: a load behind it would not see it.
// REMARK: Function=reads | Reason="a tile is stored by threads: the program reads memory behind it"
// CHECK-LABEL: tile.kernel @reads
// CHECK-NOT: tilegpu.tma_store
tile.kernel @reads(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<bf16>, %keys: i32)
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
  %c = tile.cast %a : tensor<64x64xf32> -> tensor<64x64xbf16>
  %ow = tile.make_block_ptr %o shape[%rows, %w] strides[%w, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  tile.store %ow, %c : !tile.block_ptr<64x64xbf16>
  %back = tile.load %ow : !tile.block_ptr<64x64xbf16>
  %kept = tile.make_block_ptr %k shape[%rows, %w] strides[%w, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  tile.store %kept, %back : !tile.block_ptr<64x64xbf16>
  tile.return
}

// Of two stores to one tensor the last one has to win.
// REMARK: Function=twice | Reason="a tile is stored by threads: the program writes to its tensor elsewhere, too"
// REMARK: Function=twice | Reason="a tile is stored by threads: the program writes to its tensor elsewhere, too"
// CHECK-LABEL: tile.kernel @twice
// CHECK-NOT: tilegpu.tma_store
tile.kernel @twice(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<bf16>, %keys: i32)
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
  %c = tile.cast %a : tensor<64x64xf32> -> tensor<64x64xbf16>
  %ow = tile.make_block_ptr %o shape[%rows, %w] strides[%w, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  tile.store %ow, %c : !tile.block_ptr<64x64xbf16>
  %sum = arith.addf %a, %a : tensor<64x64xf32>
  %narrow = tile.cast %sum : tensor<64x64xf32> -> tensor<64x64xbf16>
  tile.store %ow, %narrow : !tile.block_ptr<64x64xbf16>
  tile.return
}

// One buffer, written once, from which TMA copies to both tensors.
// REMARK-NOT: Function=both | Reason
// REMARK: Function=both | Remark="tiles are stored by TMA"
// CHECK-LABEL: tile.kernel @both
// CHECK-DAG: %[[O:.*]] = tilegpu.tensor_map {argument = 2 : i64
// CHECK-DAG: %[[P:.*]] = tilegpu.tensor_map {argument = 3 : i64
// CHECK: %[[RING:.*]] = tilegpu.alloc : <1 x 64x64xbf16, swizzle = 128>
// CHECK: tilegpu.warp_specialize
// CHECK: } consumer {
// CHECK-NOT: tilegpu.convert_layout
// CHECK: tilegpu.tma_store_wait by_warp {pending = 0 : i32, read}
// CHECK: %[[SLOT:.*]] = tilegpu.slot %[[RING]]
// CHECK-NEXT: tilegpu.store_shared %{{.*}} to %[[SLOT]]
// CHECK-NEXT: tilegpu.fence_proxy
// CHECK-NEXT: tilegpu.tma_store %[[SLOT]] to %[[O]]
// CHECK-NEXT: tilegpu.tma_store %[[SLOT]] to %[[P]]
// CHECK-NOT: tilegpu.store{{ }}
// PTX-LABEL: .entry both(
// PTX: stmatrix
// PTX: fence.proxy.async
// PTX-COUNT-2: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
// PTX-NOT: .global.shared::cta
// PTX: .entry
tile.kernel @both(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<bf16>, %p: !tile.ptr<bf16>, %keys: i32)
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
  %c = tile.cast %a : tensor<64x64xf32> -> tensor<64x64xbf16>
  %ow = tile.make_block_ptr %o shape[%rows, %w] strides[%w, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  tile.store %ow, %c : !tile.block_ptr<64x64xbf16>
  %pw = tile.make_block_ptr %p shape[%rows, %w] strides[%w, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  tile.store %pw, %c : !tile.block_ptr<64x64xbf16>
  tile.return
}

// What TMA cannot do is still done by threads, with the reason of that store.
// REMARK: Function=one_of_two | Reason="a tile is stored by threads: its tensor's rows need not be a multiple of 8 elements"
// REMARK-NOT: Function=one_of_two | Reason
// REMARK: Function=one_of_two | Remark="tiles are stored by TMA"
// CHECK-LABEL: tile.kernel @one_of_two
// CHECK: } consumer {
// CHECK: %[[TILE:.*]] = tilegpu.convert_layout
// CHECK: tilegpu.store_shared
// CHECK: tilegpu.tma_store{{ }}
// CHECK-NOT: tilegpu.tma_store{{ }}
// CHECK: tilegpu.store %{{.*}}, %[[TILE]]
tile.kernel @one_of_two(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<bf16>, %p: !tile.ptr<bf16>, %keys: i32)
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
  %c = tile.cast %a : tensor<64x64xf32> -> tensor<64x64xbf16>
  %ow = tile.make_block_ptr %o shape[%rows, %w] strides[%w, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  tile.store %ow, %c : !tile.block_ptr<64x64xbf16>
  %pw = tile.make_block_ptr %p shape[%rows, %keys64] strides[%keys64, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  tile.store %pw, %c : !tile.block_ptr<64x64xbf16>
  tile.return
}
