// Products of warpgroups run beside other work.
//
// RUN: fa-opt %s --remarks --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},cse,loop-invariant-code-motion,tilegpu-specialize-warps{persistent=false num-stages=2},tilegpu-overlap-products,canonicalize,cse))' -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t

// Two chained products. The first tile of scores is made before the loop, if there
// is one; then scores start before the product of the tile before, whose weights
// are carried, and the exponentials run beside that. As nothing on the way to the
// weights is reduced, its wait is behind them; they are packed behind the wait, as
// the product reads their registers.
// REMARK: Function=chain | Remark="the first product of a tile runs beside the second of the one before"
// CHECK-LABEL: tile.kernel @chain
// CHECK: } consumer {
// CHECK: %[[RUNS:.*]] = arith.cmpi sgt, %keys, %c0_i32
// CHECK: scf.if %[[RUNS]]
// CHECK: %[[S0:.*]] = tilegpu.wgmma %[[Q:.*]], %{{.*}} {trans_b
// CHECK: tilegpu.wgmma_wait %[[S0]] {pending = 0 : i32}
// CHECK-NEXT: tilegpu.mbarrier_arrive
// CHECK: tile.exp2
// CHECK: %[[P0:.*]] = tilegpu.convert_layout
// The second tile, or the end.
// CHECK: %[[MORE:.*]] = arith.cmpi ugt, %keys, %c64_i32
// CHECK: %[[START:.*]] = arith.select %[[MORE]], %c64_i32, %keys
// CHECK: %[[LOOP:.*]]:5 = scf.for %{{.*}} = %[[START]] to %keys step %c64_i32
// CHECK-SAME: %[[SUM:[^ ]*]] = %{{[^ ]*}}, %[[P:[^ ]*]] = %[[P0]])
// CHECK: %[[S:.*]] = tilegpu.wgmma %[[Q]], %{{.*}} {trans_b
// CHECK: tilegpu.mbarrier_wait
// CHECK: %[[O:.*]] = tilegpu.wgmma %[[P]], %{{.*}}, %[[SUM]]
// CHECK-NEXT: %[[SCORES:.*]] = tilegpu.wgmma_wait %[[S]] {pending = 1 : i32}
// CHECK-NEXT: tilegpu.mbarrier_arrive
// CHECK: %[[E:.*]] = tile.exp2 %[[SCORES]]
// CHECK-NEXT: tilegpu.schedule_fence %[[E]]
// CHECK-NEXT: %[[DONE:.*]] = tilegpu.wgmma_wait %[[O]] {pending = 0 : i32}
// CHECK-NEXT: tilegpu.mbarrier_arrive
// CHECK: %[[L:.*]] = tile.sum %[[E]]
// CHECK: %[[BF16:.*]] = tile.cast %[[E]]
// CHECK: %[[PNEXT:.*]] = tilegpu.convert_layout %[[BF16]]
// CHECK: %[[SCALED:.*]] = arith.mulf %[[DONE]]
// CHECK: scf.yield {{.*}}, %[[SCALED]], %[[PNEXT]]
// The last tile's product is waited for where it is used, behind what does not
// use it.
// CHECK: tilegpu.wgmma %[[LOOP]]#4, %{{.*}}, %[[LOOP]]#3
// CHECK-NEXT: scf.yield
// CHECK: } else {
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK: tile.make_block_ptr %o shape[%c64_i64, %c64_i64]
// CHECK-NEXT: tile.make_block_ptr %o shape[%c64_i64]
// CHECK-NEXT: tilegpu.wgmma_wait %{{.*}}#0 {pending = 0 : i32}
// CHECK-NEXT: scf.if %[[RUNS]] {
// CHECK-NEXT: tilegpu.mbarrier_arrive
tile.kernel @chain(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %qw = tile.make_block_ptr %q shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %a, %sums = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init, %l = %none) -> (tensor<64x64xf32>, tensor<64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %vw = tile.make_block_ptr %v shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %vt = tile.load %vw : !tile.block_ptr<64x64xbf16>
    %s = tile.dot %qt, %t, %init : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %e = tile.exp2 %s fastmath<afn> : tensor<64x64xf32>
    %p = tile.cast %e : tensor<64x64xf32> -> tensor<64x64xbf16>
    %sum = tile.sum %e axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %l_new = arith.addf %l, %sum : tensor<64xf32>
    %scaled = arith.mulf %acc, %half : tensor<64x64xf32>
    %n = tile.dot %p, %vt, %scaled : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %n, %l_new : tensor<64x64xf32>, tensor<64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  %lw = tile.make_block_ptr %o shape[%d] strides[%one] offsets[%zero] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  tile.store %lw, %sums : !tile.block_ptr<64xf32>
  tile.return
}

// Two loops that are no sequence, through the same rings: the last product of the
// first frees its buffer before the second waits for others, though its result is
// used behind both.
// CHECK-LABEL: tile.kernel @twice
// CHECK: } consumer {
// CHECK: %[[ONE:.*]]:5 = scf.if %[[RUNS:[0-9]+]] ->
// CHECK: } else {
// CHECK: tilegpu.wgmma_wait %[[ONE]]#0 {pending = 0 : i32}
// CHECK-NEXT: scf.if %[[RUNS]] {
// CHECK-NEXT: tilegpu.mbarrier_arrive
// CHECK: tilegpu.mbarrier_wait
// CHECK: tilegpu.wgmma
tile.kernel @twice(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %qw = tile.make_block_ptr %q shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %a, %sums = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init, %l = %none) -> (tensor<64x64xf32>, tensor<64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %vw = tile.make_block_ptr %v shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %vt = tile.load %vw : !tile.block_ptr<64x64xbf16>
    %s = tile.dot %qt, %t, %init : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %e = tile.exp2 %s fastmath<afn> : tensor<64x64xf32>
    %p = tile.cast %e : tensor<64x64xf32> -> tensor<64x64xbf16>
    %sum = tile.sum %e axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %l_new = arith.addf %l, %sum : tensor<64xf32>
    %scaled = arith.mulf %acc, %half : tensor<64x64xf32>
    %n = tile.dot %p, %vt, %scaled : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %n, %l_new : tensor<64x64xf32>, tensor<64xf32>
  }
  %a2, %sums2 = scf.for %j = %c0 to %keys step %size iter_args(%acc = %half, %l = %none) -> (tensor<64x64xf32>, tensor<64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %vw = tile.make_block_ptr %v shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %vt = tile.load %vw : !tile.block_ptr<64x64xbf16>
    %s = tile.dot %qt, %t, %init : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %e = tile.exp2 %s fastmath<afn> : tensor<64x64xf32>
    %p = tile.cast %e : tensor<64x64xf32> -> tensor<64x64xbf16>
    %sum = tile.sum %e axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %l_new = arith.addf %l, %sum : tensor<64xf32>
    %scaled = arith.mulf %acc, %half : tensor<64x64xf32>
    %n = tile.dot %p, %vt, %scaled : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %n, %l_new : tensor<64x64xf32>, tensor<64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %both = arith.addf %a, %a2 : tensor<64x64xf32>
  tile.store %ow, %both : !tile.block_ptr<64x64xf32>
  %lw = tile.make_block_ptr %o shape[%d] strides[%one] offsets[%zero] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  tile.store %lw, %sums : !tile.block_ptr<64xf32>
  tile.return
}

// With a reduction on the way to the weights: the wait is behind that of the first
// line, so that they are packed as they come (overlap-products-wait.mlir has the
// other places).
// CHECK-LABEL: tile.kernel @maximum
// CHECK: %[[SCORES:.*]] = tilegpu.wgmma_wait %{{.*}} {pending = 1 : i32}
// CHECK: %[[M:.*]] = tile.max %[[SCORES]]
// CHECK-NEXT: tilegpu.schedule_fence first %[[M]]
// CHECK-NEXT: tilegpu.wgmma_wait %{{.*}} {pending = 0 : i32}
// CHECK: tile.exp2
tile.kernel @maximum(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %qw = tile.make_block_ptr %q shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %a, %sums = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init, %l = %none) -> (tensor<64x64xf32>, tensor<64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %vw = tile.make_block_ptr %v shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %vt = tile.load %vw : !tile.block_ptr<64x64xbf16>
    %s = tile.dot %qt, %t, %init : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %m = tile.max %s axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %column = tile.expand_dims %m axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %rows = tile.broadcast %column : tensor<64x1xf32> -> tensor<64x64xf32>
    %less = arith.subf %s, %rows : tensor<64x64xf32>
    %e = tile.exp2 %less fastmath<afn> : tensor<64x64xf32>
    %p = tile.cast %e : tensor<64x64xf32> -> tensor<64x64xbf16>
    %sum = tile.sum %e axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %l_new = arith.addf %l, %sum : tensor<64xf32>
    %scaled = arith.mulf %acc, %half : tensor<64x64xf32>
    %n = tile.dot %p, %vt, %scaled : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %n, %l_new : tensor<64x64xf32>, tensor<64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  %lw = tile.make_block_ptr %o shape[%d] strides[%one] offsets[%zero] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  tile.store %lw, %sums : !tile.block_ptr<64xf32>
  tile.return
}

// One product: the wait for it is in the next iteration, which frees the buffer of
// this one; behind the loop, where it ran, the last buffer.
// REMARK: Function=alone | Remark="the product runs while the next iteration starts"
// CHECK-LABEL: tile.kernel @alone
// CHECK: } consumer {
// CHECK: %[[LOOP:.*]]:2 = scf.for %[[J:.*]] = %c0_i32 to %keys step %c64_i32 iter_args(%[[ACC:.*]] = %{{.*}}, %[[N:.*]] = %c0_i32)
// CHECK: %[[O:.*]] = tilegpu.wgmma %{{.*}}, %{{.*}}, %[[ACC]]
// CHECK-NEXT: %[[DONE:.*]] = tilegpu.wgmma_wait %[[O]] {pending = 1 : i32}
// CHECK: %[[LATER:.*]] = arith.cmpi ne, %[[J]], %c0_i32
// CHECK: scf.if %[[LATER]] {
// CHECK-NEXT: %[[BEFORE:.*]] = arith.subi %[[N]], %c1_i32
// CHECK-NEXT: %[[INDEX:.*]] = arith.remui %[[BEFORE]], %c2_i32
// CHECK-NEXT: tilegpu.mbarrier_arrive %[[EMPTY:.*]][%[[INDEX]]]
// CHECK-NEXT: }
// CHECK-NOT: tilegpu.mbarrier_arrive
// CHECK: scf.yield %[[DONE]]
// CHECK: tilegpu.wgmma_wait %[[LOOP]]#0 {pending = 0 : i32}
// CHECK: %[[RAN:.*]] = arith.cmpi sgt, %keys, %c0_i32
// CHECK: scf.if %[[RAN]] {
// CHECK: arith.subi %[[LOOP]]#1, %c1_i32
// CHECK: tilegpu.mbarrier_arrive %[[EMPTY]]
tile.kernel @alone(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %qw = tile.make_block_ptr %q shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %a = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %n = tile.dot %qt, %t, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.return
}
