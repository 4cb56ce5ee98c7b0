// Several products of a loop, none of which waits for the iteration before: they
// start as soon as their operands are there, and each is waited for where its
// result is used. Rows of numbers come with the first tile.
//
// RUN: fa-opt %s --remarks --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},cse,loop-invariant-code-motion,tilegpu-specialize-warps{persistent=false num-stages=2},tilegpu-overlap-products,canonicalize,cse))' -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t

// Both products of the resident tiles start before anything else; the one of `p`
// starts while the second of these is under way. Both rows are read where they
// are used. A buffer is released behind the last product that reads it, and the
// rows with the tile that they came with, behind the products made of them.
// REMARK: Function=four | Remark="products start when their operands are there, and are waited for where they are used"
// CHECK-LABEL: tile.kernel @four
// The row's map has a dimension for each term of its base.
// CHECK: tilegpu.tensor_map {argument = 4 : i64, extents = [#{{.*}}, 2147483647, 2147483647], strides = [#[[S1:.*]], #[[S2:.*]]]} : <1x1x64xf32, swizzle = 0>
// CHECK: producer {
// CHECK: scf.for
// 64 x 64 x 2 bytes, and 64 x 4 twice.
// CHECK: tilegpu.mbarrier_wait %[[QEMPTY:.*]][%{{.*}}] phase
// CHECK: tilegpu.mbarrier_expect %[[QFULL:.*]][%[[I:.*]]] {bytes = 8704 : i32}
// CHECK: tilegpu.tma_load {{.*}} signal %[[QFULL]][%[[I]]] : <64x64xbf16
// CHECK: tilegpu.tma_load {{.*}} signal %[[QFULL]][%[[I]]] : <1x1x64xf32
// CHECK: tilegpu.tma_load {{.*}} signal %[[QFULL]][%[[I]]] : <1x1x64xf32
// CHECK: tilegpu.mbarrier_expect %[[GFULL:.*]][%{{.*}}] {bytes = 8192 : i32}
// CHECK: } consumer {
// CHECK: scf.for
// CHECK: tilegpu.mbarrier_wait %[[QFULL]][%[[Q:.*]]] phase
// CHECK: %[[S:.*]] = tilegpu.wgmma %{{.*}}, %[[QSLOT:.*]] {trans_b
// CHECK: tilegpu.mbarrier_wait %[[GFULL]][%[[G:.*]]] phase
// CHECK: %[[T:.*]] = tilegpu.wgmma %{{.*}}, %[[GSLOT:.*]] {trans_b
// CHECK-NOT: load_shared
// CHECK: tilegpu.wgmma_wait %[[S]] {pending = 1 : i32}
// CHECK: tilegpu.load_shared
// CHECK-NOT: load_shared
// CHECK: tile.exp2
// CHECK: %[[O:.*]] = tilegpu.wgmma %{{.*}}, %[[GSLOT]], %{{.*}} {warpgroups
// CHECK: tilegpu.wgmma_wait %[[T]] {pending = 1 : i32}
// CHECK: tilegpu.load_shared
// CHECK: %[[U:.*]] = tilegpu.wgmma %{{.*}}, %[[QSLOT]], %{{.*}} {warpgroups
// CHECK: tilegpu.wgmma_wait %[[O]] {pending = 1 : i32}
// CHECK-NEXT: tilegpu.mbarrier_arrive %{{.*}}[%[[G]]]
// CHECK-NEXT: tilegpu.wgmma_wait %[[U]] {pending = 0 : i32}
// CHECK-NEXT: tilegpu.mbarrier_arrive %[[QEMPTY]][%[[Q]]]
// CHECK: scf.yield
tile.kernel @four(%k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %q: !tile.ptr<bf16>, %g: !tile.ptr<bf16>, %l: !tile.ptr<f32>, %d: !tile.ptr<f32>,
    %o: !tile.ptr<f32>, %u: !tile.ptr<f32>, %rows: i32, %heads: i32, %pitch: i64)
    grid(rows, heads, pitch) -> (1, heads, 2) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %dim = arith.constant 64 : i64
  %head = tile.program_id y
  %batch = tile.program_id z
  %head64 = arith.extsi %head : i32 to i64
  %batch64 = arith.extsi %batch : i32 to i64
  %heads64 = arith.extsi %heads : i32 to i64
  %first = arith.muli %batch64, %heads64 : i64
  %vector = arith.addi %first, %head64 : i64
  %at = arith.muli %vector, %pitch : i64
  %lbase = tile.addptr %l, %at : !tile.ptr<f32>, i64
  %dbase = tile.addptr %d, %at : !tile.ptr<f32>, i64
  %rows64 = arith.extsi %rows : i32 to i64
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %kw = tile.make_block_ptr %k shape[%dim, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
  %vw = tile.make_block_ptr %v shape[%dim, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %vt = tile.load %vw : !tile.block_ptr<64x64xbf16>
  %a, %b = scf.for %j = %c0 to %rows step %size iter_args(%x = %none, %y = %none) -> (tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %qw = tile.make_block_ptr %q shape[%rows64, %dim] strides[%dim, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
    %lw = tile.make_block_ptr %lbase shape[%pitch] strides[%one] offsets[%j64] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
    %lt = tile.load %lw : !tile.block_ptr<64xf32>
    %dw = tile.make_block_ptr %dbase shape[%pitch] strides[%one] offsets[%j64] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
    %dt = tile.load %dw : !tile.block_ptr<64xf32>
    %gw = tile.make_block_ptr %g shape[%rows64, %dim] strides[%dim, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %gt = tile.load %gw : !tile.block_ptr<64x64xbf16>
    %qtrans = tile.trans %qt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %kt, %qtrans, %none : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %lrow = tile.expand_dims %lt axis 0 : tensor<64xf32> -> tensor<1x64xf32>
    %lall = tile.broadcast %lrow : tensor<1x64xf32> -> tensor<64x64xf32>
    %shifted = arith.subf %s, %lall : tensor<64x64xf32>
    %p = tile.exp2 %shifted fastmath<afn> : tensor<64x64xf32>
    %pb = tile.cast %p : tensor<64x64xf32> -> tensor<64x64xbf16>
    %x1 = tile.dot %pb, %gt, %x : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %gtrans = tile.trans %gt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %t = tile.dot %vt, %gtrans, %none : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %drow = tile.expand_dims %dt axis 0 : tensor<64xf32> -> tensor<1x64xf32>
    %dall = tile.broadcast %drow : tensor<1x64xf32> -> tensor<64x64xf32>
    %minus = arith.subf %t, %dall : tensor<64x64xf32>
    %r = arith.mulf %p, %minus : tensor<64x64xf32>
    %rb = tile.cast %r : tensor<64x64xf32> -> tensor<64x64xbf16>
    %y1 = tile.dot %rb, %qt, %y : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %x1, %y1 : tensor<64x64xf32>, tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%dim, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  %uw = tile.make_block_ptr %u shape[%dim, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %uw, %b : !tile.block_ptr<64x64xf32>
  tile.return
}

// Two sums that the loop carries: their products run together.
// REMARK: Function=two_sums | Remark="products start when their operands are there, and are waited for where they are used"
// CHECK-LABEL: tile.kernel @two_sums
// CHECK: } consumer {
// CHECK: %[[A:.*]] = tilegpu.wgmma
// CHECK: %[[B:.*]] = tilegpu.wgmma
// CHECK: tilegpu.wgmma_wait %[[A]] {pending = 1 : i32}
// CHECK-NEXT: tilegpu.mbarrier_arrive
// CHECK: tilegpu.wgmma_wait %[[B]] {pending = 0 : i32}
// CHECK-NEXT: tilegpu.mbarrier_arrive
tile.kernel @two_sums(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
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
  %a, %b = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init, %other = %init) -> (tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %vw = tile.make_block_ptr %v shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %vt = tile.load %vw : !tile.block_ptr<64x64xbf16>
    %s = tile.dot %qt, %t, %other : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %scaled = arith.mulf %acc, %half : tensor<64x64xf32>
    %n = tile.dot %qt, %vt, %scaled : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %n, %s : tensor<64x64xf32>, tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.store %ow, %b : !tile.block_ptr<64x64xf32>
  tile.return
}

// A transpose of what was computed is written to one of two buffers and read
// behind one barrier of the iteration; another one stands before the loop. The
// product whose result is used starts before the one that is handed on.
// REMARK: Function=transposed | Remark="products start when their operands are there, and are waited for where they are used"
// CHECK-LABEL: tile.kernel @transposed
// CHECK-COUNT-2: tilegpu.alloc : <2 x 64x64xbf16, swizzle = 128>
// CHECK: } consumer {
// CHECK: tilegpu.barrier
// CHECK: scf.for
// CHECK: tilegpu.wgmma_wait
// CHECK: %[[SLOT:.*]] = tilegpu.slot
// CHECK: tilegpu.store_shared %{{.*}} to %[[SLOT]]
// CHECK-NEXT: tilegpu.fence_proxy
// CHECK-NEXT: tilegpu.barrier
// CHECK: %[[D:.*]] = tilegpu.wgmma %[[SLOT]], %{{.*}} {warpgroups
// CHECK: %[[Y:.*]] = tilegpu.wgmma
// CHECK: %[[DQ:.*]] = tilegpu.wgmma_wait %[[D]] {pending = 1 : i32}
// CHECK: tilegpu.convert_layout %[[DQ]]
// CHECK: tilegpu.atomic_add
// CHECK: tilegpu.wgmma_wait %[[Y]] {pending = 0 : i32}
tile.kernel @transposed(%k: !tile.ptr<bf16>, %q: !tile.ptr<bf16>, %d: !tile.ptr<f32>, %o: !tile.ptr<f32>, %rows: i32)
    grid(rows) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %dim = arith.constant 64 : i64
  %rows64 = arith.extsi %rows : i32 to i64
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %kw = tile.make_block_ptr %k shape[%dim, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
  %a = scf.for %j = %c0 to %rows step %size iter_args(%y = %none) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %qw = tile.make_block_ptr %q shape[%rows64, %dim] strides[%dim, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
    %qtrans = tile.trans %qt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %kt, %qtrans, %none : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %sb = tile.cast %s : tensor<64x64xf32> -> tensor<64x64xbf16>
    %y1 = tile.dot %sb, %qt, %y : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %st = tile.trans %sb order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %dt = tile.dot %st, %kt, %none : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %dw = tile.make_block_ptr %d shape[%rows64, %dim] strides[%dim, %one] offsets[%j64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
    %old = tile.atomic_add %dw, %dt : !tile.block_ptr<64x64xf32>
    scf.yield %y1 : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%dim, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.return
}
