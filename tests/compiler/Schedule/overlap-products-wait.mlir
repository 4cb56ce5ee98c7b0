// Where the second of two products is waited for, beside which the work on the
// first one runs.
//
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},cse,loop-invariant-code-motion,tilegpu-defer-sums,tilegpu-specialize-warps{persistent=false num-stages=2},tilegpu-overlap-products,canonicalize,cse))' | FileCheck %s

// A product of 64 x 128 and 64 deep takes longer than the row maximum: the wait is
// behind the sum of the first line that a thread holds.
// CHECK-LABEL: tile.kernel @long
// CHECK: %[[SCORES:.*]] = tilegpu.wgmma_wait %{{.*}} {pending = 1 : i32}
// CHECK: tile.max %[[SCORES]]
// CHECK: %[[E:.*]] = tile.exp2
// CHECK: %[[L:.*]] = tilegpu.partial_sum %[[E]]
// CHECK-NEXT: tilegpu.schedule_fence first %[[L]]
// CHECK-NEXT: tilegpu.wgmma_wait %{{.*}} {pending = 0 : i32}
// CHECK: tile.cast %[[E]]
tile.kernel @long(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %half = arith.constant dense<0.5> : tensor<64x128xf32>
  %wide = arith.constant dense<0.0> : tensor<64x128xf32>
  %w = arith.constant 128 : i64
  %qw = tile.make_block_ptr %q shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %a, %sums = scf.for %j = %c0 to %keys step %size iter_args(%acc = %wide, %l = %none) -> (tensor<64x128xf32>, tensor<64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %vw = tile.make_block_ptr %v shape[%keys64, %w] strides[%w, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x128xbf16>
    %vt = tile.load %vw : !tile.block_ptr<64x128xbf16>
    %s = tile.dot %qt, %t, %init : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %m = tile.max %s axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %column = tile.expand_dims %m axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %rows = tile.broadcast %column : tensor<64x1xf32> -> tensor<64x64xf32>
    %less = arith.subf %s, %rows : tensor<64x64xf32>
    %e = tile.exp2 %less fastmath<afn> : tensor<64x64xf32>
    %p = tile.cast %e : tensor<64x64xf32> -> tensor<64x64xbf16>
    %sum = tile.sum %e axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %l_new = arith.addf %l, %sum : tensor<64xf32>
    %scaled = arith.mulf %acc, %half : tensor<64x128xf32>
    %n = tile.dot %p, %vt, %scaled : tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<64x128xf32>
    scf.yield %n, %l_new : tensor<64x128xf32>, tensor<64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%d, %w] strides[%w, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x128xf32>
  tile.store %ow, %a : !tile.block_ptr<64x128xf32>
  %lw = tile.make_block_ptr %o shape[%d] strides[%one] offsets[%zero] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  tile.store %lw, %sums : !tile.block_ptr<64xf32>
  tile.return
}

// In a loop that ends where the program says: between the maximum of the first line
// and the work on others.
// CHECK-LABEL: tile.kernel @position
// CHECK: %[[SCORES:.*]] = tilegpu.wgmma_wait %{{.*}} {pending = 1 : i32}
// CHECK: %[[M:.*]] = tile.max %[[SCORES]]
// CHECK-NEXT: tilegpu.schedule_fence first %[[M]]
// CHECK-NEXT: %[[O:.*]] = tilegpu.wgmma_wait %{{.*}} {pending = 0 : i32}
// CHECK-NEXT: tilegpu.mbarrier_arrive
// CHECK: tilegpu.schedule_hold %[[M]] behind %[[O]]
// CHECK: tile.exp2
tile.kernel @position(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (keys ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %half = arith.constant dense<0.5> : tensor<64x128xf32>
  %wide = arith.constant dense<0.0> : tensor<64x128xf32>
  %w = arith.constant 128 : i64
  %program = tile.program_id x
  %before = arith.muli %program, %size : i32
  %end = arith.addi %before, %size : i32
  %qw = tile.make_block_ptr %q shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %a, %sums = scf.for %j = %c0 to %end step %size iter_args(%acc = %wide, %l = %none) -> (tensor<64x128xf32>, tensor<64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %vw = tile.make_block_ptr %v shape[%keys64, %w] strides[%w, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x128xbf16>
    %vt = tile.load %vw : !tile.block_ptr<64x128xbf16>
    %s = tile.dot %qt, %t, %init : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %m = tile.max %s axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %column = tile.expand_dims %m axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %rows = tile.broadcast %column : tensor<64x1xf32> -> tensor<64x64xf32>
    %less = arith.subf %s, %rows : tensor<64x64xf32>
    %e = tile.exp2 %less fastmath<afn> : tensor<64x64xf32>
    %p = tile.cast %e : tensor<64x64xf32> -> tensor<64x64xbf16>
    %sum = tile.sum %e axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %l_new = arith.addf %l, %sum : tensor<64xf32>
    %scaled = arith.mulf %acc, %half : tensor<64x128xf32>
    %n = tile.dot %p, %vt, %scaled : tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<64x128xf32>
    scf.yield %n, %l_new : tensor<64x128xf32>, tensor<64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%d, %w] strides[%w, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x128xf32>
  tile.store %ow, %a : !tile.block_ptr<64x128xf32>
  %lw = tile.make_block_ptr %o shape[%d] strides[%one] offsets[%zero] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  tile.store %lw, %sums : !tile.block_ptr<64xf32>
  tile.return
}

// Fences take numbers of 32 bits: a maximum of others counts as work.
// CHECK-LABEL: tile.kernel @narrow
// CHECK: tilegpu.wgmma_wait %{{.*}} {pending = 1 : i32}
// CHECK: tile.max {{.*}}bf16
// CHECK: %[[P:.*]] = arith.subf
// CHECK-NEXT: tilegpu.schedule_fence %[[P]]
// CHECK-NEXT: tilegpu.wgmma_wait %{{.*}} {pending = 0 : i32}
tile.kernel @narrow(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<bf16>, %n: i32, %keys: i32)
    grid(n, keys) -> (n ceildiv 128) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %rows = arith.constant 128 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %n64 = arith.extsi %n : i32 to i64
  %init = arith.constant dense<0.0> : tensor<128x64xf32>
  %sinit = arith.constant dense<0.0> : tensor<128x64xf32>
  %linit = arith.constant dense<0.0> : tensor<128xf32>
  %pid = tile.program_id x
  %r = arith.muli %pid, %rows : i32
  %r64 = arith.extsi %r : i32 to i64
  %qw = tile.make_block_ptr %q shape[%n64, %d] strides[%d, %one] offsets[%r64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<128x64xbf16>
  %a, %l = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init, %lc = %linit) -> (tensor<128x64xf32>, tensor<128xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %vw = tile.make_block_ptr %v shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %vt = tile.load %vw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %qt, %t, %sinit : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %sh = tile.cast %s : tensor<128x64xf32> -> tensor<128x64xbf16>
    %mh = tile.max %sh axis 1 : tensor<128x64xbf16> -> tensor<128xbf16>
    %m = tile.cast %mh : tensor<128xbf16> -> tensor<128xf32>
    %m1 = tile.expand_dims %m axis 1 : tensor<128xf32> -> tensor<128x1xf32>
    %mb = tile.broadcast %m1 : tensor<128x1xf32> -> tensor<128x64xf32>
    %p = arith.subf %s, %mb : tensor<128x64xf32>
    %l0 = tile.sum %p axis 1 : tensor<128x64xf32> -> tensor<128xf32>
    %l1 = arith.addf %lc, %l0 : tensor<128xf32>
    %pb = tile.cast %p : tensor<128x64xf32> -> tensor<128x64xbf16>
    %nn = tile.dot %pb, %vt, %acc : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    scf.yield %nn, %l1 : tensor<128x64xf32>, tensor<128xf32>
  }
  %ob = tile.cast %a : tensor<128x64xf32> -> tensor<128x64xbf16>
  %ow = tile.make_block_ptr %o shape[%n64, %d] strides[%d, %one] offsets[%r64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
  tile.store %ow, %ob : !tile.block_ptr<128x64xbf16>
  tile.return
}
