// A product that is only added to memory, whose left operand all warps make:
// it runs an iteration later, and warps wait at no barrier of the iteration.
//
// RUN: fa-opt %s --remarks --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a num-warps=8},cse,loop-invariant-code-motion,tilegpu-specialize-warps{persistent=false num-stages=2},tilegpu-overlap-products,canonicalize,cse))' -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a num-warps=8},cse,tilegpu-specialize-warps{persistent=false num-stages=2},tilegpu-overlap-products{delay=false}))' | FileCheck %s --check-prefix=OFF

// OFF-LABEL: tile.kernel @added
// OFF: tilegpu.store_shared
// OFF-NEXT: tilegpu.fence_proxy
// OFF-NEXT: tilegpu.barrier
// OFF: tilegpu.atomic_add
// OFF: scf.yield
// OFF-NOT: tilegpu.atomic_add
// OFF: tile.kernel @elsewhere

// The loop carries the position of the iteration before, and whether there is
// one; a window without rows takes nothing. What is multiplied is transposed on
// its way to memory. Each warp arrives for what it wrote
// and for what it has multiplied.
// REMARK: [Passed] Delay {{.*}}Function=added | Remark="what is added to memory is multiplied an iteration later: no warpgroup waits for one that is less than that behind"
// CHECK-LABEL: tile.kernel @added
// CHECK: %[[RING:.*]] = tilegpu.alloc : <2 x 64x128xbf16
// CHECK-NEXT: %[[FULL:.*]] = tilegpu.mbarriers {arrivals = 8 : i32} : <2>
// CHECK-NEXT: %[[EMPTY:.*]] = tilegpu.mbarriers {arrivals = 8 : i32} : <2>
// CHECK: } consumer {
// CHECK-NOT: tilegpu.barrier
// CHECK: %[[LOOP:.*]]:4 = scf.for %[[J:.*]] = %{{.*}} iter_args({{.*}}, %[[N:.*]] = %c0_i32, %[[LAST:.*]] = %c0_i32, %[[IS:.*]] = %false)
// CHECK: %[[I:.*]] = arith.remui %[[N]], %c2_i32
// CHECK: tilegpu.wgmma_wait
// CHECK: %[[WIDE:.*]] = tile.trans
// CHECK: %[[BEFORE:.*]] = arith.subi %[[N]], %c1_i32
// CHECK: %[[PHASE:.*]] = arith.remui %{{.*}}, %c2_i32
// CHECK-NEXT: tilegpu.mbarrier_wait %[[EMPTY]][%[[I]]] phase %[[PHASE]]
// CHECK-NEXT: %[[SLOT:.*]] = tilegpu.slot %[[RING]][%[[I]]]
// CHECK-NEXT: tilegpu.store_shared %[[WIDE]] to %[[SLOT]]
// CHECK: tilegpu.fence_proxy
// CHECK-NEXT: tilegpu.mbarrier_arrive %[[FULL]][%[[I]]]
// CHECK: %[[IB:.*]] = arith.remui %[[BEFORE]], %c2_i32
// CHECK-NEXT: tilegpu.mbarrier_wait %[[FULL]][%[[IB]]] phase %[[PHASE]]
// CHECK-NEXT: %[[SLOTB:.*]] = tilegpu.slot %[[RING]][%[[IB]]]
// CHECK-NEXT: %[[D:.*]] = tilegpu.wgmma %[[SLOTB]], %[[K:.*]] {column_groups = 2 : i32, warpgroups
// CHECK: %[[ROWS:.*]] = arith.select %[[IS]], %{{.*}}, %c0_i64
// CHECK-NEXT: %[[AT:.*]] = arith.extsi %[[LAST]]
// CHECK-NEXT: %[[W:.*]] = tile.make_block_ptr %{{.*}} shape[%[[ROWS]], %{{.*}} offsets[%[[AT]], %c0_i64]
// CHECK-NEXT: %[[DONE:.*]] = tilegpu.wgmma_wait %[[D]]
// CHECK-NEXT: tilegpu.mbarrier_arrive %[[EMPTY]][%[[IB]]]
// CHECK: tilegpu.atomic_add %[[W]]
// CHECK: scf.yield {{.*}}, %[[J]], %true
// The last one comes behind the loop.
// CHECK: tilegpu.mbarrier_wait %[[FULL]]
// CHECK-NEXT: %[[END:.*]] = tilegpu.slot %[[RING]]
// CHECK-NEXT: tilegpu.wgmma %[[END]], %[[K]] {column_groups = 2 : i32, warpgroups
// CHECK-NEXT: tilegpu.wgmma_wait %{{.*}} {pending = 0 : i32}
// CHECK: arith.extsi %[[LOOP]]#2
// CHECK: arith.select %[[LOOP]]#3
// CHECK: tilegpu.atomic_add
// CHECK-NOT: mbarrier_arrive %[[EMPTY]]
tile.kernel @added(%k: !tile.ptr<bf16>, %q: !tile.ptr<bf16>, %d: !tile.ptr<f32>, %o: !tile.ptr<f32>, %rows: i32)
    grid(rows) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %dim = arith.constant 64 : i64
  %keys = arith.constant 128 : i64
  %rows64 = arith.extsi %rows : i32 to i64
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %none2 = arith.constant dense<0.0> : tensor<128x64xf32>
  %kw = tile.make_block_ptr %k shape[%keys, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
  %kt = tile.load %kw : !tile.block_ptr<128x64xbf16>
  %a = scf.for %j = %c0 to %rows step %size iter_args(%y = %none2) -> (tensor<128x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %qw = tile.make_block_ptr %q shape[%rows64, %dim] strides[%dim, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
    %qtrans = tile.trans %qt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %kt, %qtrans, %none2 : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %sb = tile.cast %s : tensor<128x64xf32> -> tensor<128x64xbf16>
    %y1 = tile.dot %sb, %qt, %y : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %st = tile.trans %sb order [1, 0] : tensor<128x64xbf16> -> tensor<64x128xbf16>
    %dt = tile.dot %st, %kt, %none : tensor<64x128xbf16>, tensor<128x64xbf16>, tensor<64x64xf32>
    %dw = tile.make_block_ptr %d shape[%rows64, %dim] strides[%dim, %one] offsets[%j64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
    %old = tile.atomic_add %dw, %dt : !tile.block_ptr<64x64xf32>
    scf.yield %y1 : tensor<128x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%keys, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %ow, %a : !tile.block_ptr<128x64xf32>
  tile.return
}

// Where it is added is no function of the position in the loop.
// CHECK-LABEL: tile.kernel @elsewhere
// CHECK: } consumer {
// CHECK: tilegpu.store_shared
// CHECK-NEXT: tilegpu.fence_proxy
// CHECK-NEXT: tilegpu.barrier
tile.kernel @elsewhere(%k: !tile.ptr<bf16>, %q: !tile.ptr<bf16>, %d: !tile.ptr<f32>, %o: !tile.ptr<f32>, %rows: i32)
    grid(rows) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %dim = arith.constant 64 : i64
  %keys = arith.constant 128 : i64
  %rows64 = arith.extsi %rows : i32 to i64
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %none2 = arith.constant dense<0.0> : tensor<128x64xf32>
  %kw = tile.make_block_ptr %k shape[%keys, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
  %kt = tile.load %kw : !tile.block_ptr<128x64xbf16>
  %a, %b = scf.for %j = %c0 to %rows step %size iter_args(%y = %none2, %m = %c0) -> (tensor<128x64xf32>, i32) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %qw = tile.make_block_ptr %q shape[%rows64, %dim] strides[%dim, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
    %qtrans = tile.trans %qt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %kt, %qtrans, %none2 : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %sb = tile.cast %s : tensor<128x64xf32> -> tensor<128x64xbf16>
    %y1 = tile.dot %sb, %qt, %y : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %st = tile.trans %sb order [1, 0] : tensor<128x64xbf16> -> tensor<64x128xbf16>
    %dt = tile.dot %st, %kt, %none : tensor<64x128xbf16>, tensor<128x64xbf16>, tensor<64x64xf32>
    %m64 = arith.extsi %m : i32 to i64
    %dw = tile.make_block_ptr %d shape[%rows64, %dim] strides[%dim, %one] offsets[%m64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
    %m1 = arith.addi %m, %size : i32
    %old = tile.atomic_add %dw, %dt : !tile.block_ptr<64x64xf32>
    scf.yield %y1, %m1 : tensor<128x64xf32>, i32
  }
  %ow = tile.make_block_ptr %o shape[%keys, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %ow, %a : !tile.block_ptr<128x64xf32>
  tile.return
}

// What is added by the first loop is read before the second one: it has to be
// there by then.
// REMARK: [Missed] Delay {{.*}}Function=between | Reason="what is added to memory is multiplied in its iteration: memory is used between its loops"
// CHECK-LABEL: tile.kernel @between
// CHECK: tilegpu.barrier
// CHECK: tilegpu.atomic_add
// CHECK: tilegpu.load
// CHECK: tilegpu.barrier
// CHECK: tilegpu.atomic_add
tile.kernel @between(%k: !tile.ptr<bf16>, %q: !tile.ptr<bf16>, %d: !tile.ptr<f32>, %o: !tile.ptr<f32>, %o2: !tile.ptr<f32>, %rows: i32, %mid: i32)
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
  %a1 = scf.for %j = %c0 to %mid step %size iter_args(%y = %none2) -> (tensor<128x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %qw = tile.make_block_ptr %q shape[%rows64, %dim] strides[%dim, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
    %qtrans = tile.trans %qt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %kt, %qtrans, %none2 : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %sb = tile.cast %s : tensor<128x64xf32> -> tensor<128x64xbf16>
    %y1 = tile.dot %sb, %qt, %y : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %st = tile.trans %sb order [1, 0] : tensor<128x64xbf16> -> tensor<64x128xbf16>
    %dt = tile.dot %st, %kt, %none : tensor<64x128xbf16>, tensor<128x64xbf16>, tensor<64x64xf32>
    %dw = tile.make_block_ptr %dp shape[%rows64, %dim] strides[%dim, %one] offsets[%j64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
    %old = tile.atomic_add %dw, %dt : !tile.block_ptr<64x64xf32>
    scf.yield %y1 : tensor<128x64xf32>
  }
  %rw = tile.make_block_ptr %dp shape[%rows64, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %rd = tile.load %rw : !tile.block_ptr<64x64xf32>
  %a2 = scf.for %j = %mid to %rows step %size iter_args(%y = %a1) -> (tensor<128x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %qw = tile.make_block_ptr %q shape[%rows64, %dim] strides[%dim, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
    %qtrans = tile.trans %qt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %kt, %qtrans, %none2 : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %sb = tile.cast %s : tensor<128x64xf32> -> tensor<128x64xbf16>
    %y1 = tile.dot %sb, %qt, %y : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %st = tile.trans %sb order [1, 0] : tensor<128x64xbf16> -> tensor<64x128xbf16>
    %dt = tile.dot %st, %kt, %none : tensor<64x128xbf16>, tensor<128x64xbf16>, tensor<64x64xf32>
    %dw = tile.make_block_ptr %dp shape[%rows64, %dim] strides[%dim, %one] offsets[%j64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
    %old = tile.atomic_add %dw, %dt : !tile.block_ptr<64x64xf32>
    scf.yield %y1 : tensor<128x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%keys, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %ow, %a2 : !tile.block_ptr<128x64xf32>
  %ww = tile.make_block_ptr %o2 shape[%rows64, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ww, %rd : !tile.block_ptr<64x64xf32>
  tile.return
}

// The product is also read in a branch, by the value: it has to be there in its
// iteration.
// REMARK: [Missed] Delay {{.*}}Function=captured | Reason="what is added to memory is multiplied in its iteration: a product is not only added to memory"
// CHECK-LABEL: tile.kernel @captured
// CHECK: %[[WAITED:.*]] = tilegpu.wgmma_wait
// CHECK: scf.if
// CHECK: tile.exp
tile.kernel @captured(%k: !tile.ptr<bf16>, %q: !tile.ptr<bf16>, %d: !tile.ptr<f32>, %o: !tile.ptr<f32>, %o2: !tile.ptr<f32>, %rows: i32, %mid: i32)
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
  %a1, %z1 = scf.for %j = %c0 to %rows step %size iter_args(%y = %none2, %z = %none) -> (tensor<128x64xf32>, tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %qw = tile.make_block_ptr %q shape[%rows64, %dim] strides[%dim, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
    %qtrans = tile.trans %qt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %kt, %qtrans, %none2 : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %sb = tile.cast %s : tensor<128x64xf32> -> tensor<128x64xbf16>
    %y1 = tile.dot %sb, %qt, %y : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %st = tile.trans %sb order [1, 0] : tensor<128x64xbf16> -> tensor<64x128xbf16>
    %dt = tile.dot %st, %kt, %none : tensor<64x128xbf16>, tensor<128x64xbf16>, tensor<64x64xf32>
    %dw = tile.make_block_ptr %dp shape[%rows64, %dim] strides[%dim, %one] offsets[%j64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
    %old = tile.atomic_add %dw, %dt : !tile.block_ptr<64x64xf32>
    %c = arith.cmpi sgt, %j, %mid : i32
    %sel = scf.if %c -> (tensor<64x64xf32>) {
      %w = tile.exp %dt : tensor<64x64xf32>
      scf.yield %w : tensor<64x64xf32>
    } else {
      scf.yield %z : tensor<64x64xf32>
    }
    %z2 = arith.addf %z, %sel : tensor<64x64xf32>
    scf.yield %y1, %z2 : tensor<128x64xf32>, tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%keys, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %ow, %a1 : !tile.block_ptr<128x64xf32>
  %ww = tile.make_block_ptr %o2 shape[%rows64, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ww, %z1 : !tile.block_ptr<64x64xf32>
  tile.return
}

// Where the place does not depend on the iteration, it is made before the loop.
// REMARK: [Passed] Delay {{.*}}Function=fixed_place
// CHECK-LABEL: tile.kernel @fixed_place
// CHECK: tilegpu.atomic_add
// CHECK: tilegpu.atomic_add
tile.kernel @fixed_place(%k: !tile.ptr<bf16>, %q: !tile.ptr<bf16>, %d: !tile.ptr<f32>, %o: !tile.ptr<f32>, %o2: !tile.ptr<f32>, %rows: i32, %mid: i32)
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
    %qtrans = tile.trans %qt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %kt, %qtrans, %none2 : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %sb = tile.cast %s : tensor<128x64xf32> -> tensor<128x64xbf16>
    %y1 = tile.dot %sb, %qt, %y : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %st = tile.trans %sb order [1, 0] : tensor<128x64xbf16> -> tensor<64x128xbf16>
    %dt = tile.dot %st, %kt, %none : tensor<64x128xbf16>, tensor<128x64xbf16>, tensor<64x64xf32>
    %dw = tile.make_block_ptr %dp shape[%rows64, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
    %old = tile.atomic_add %dw, %dt : !tile.block_ptr<64x64xf32>
    scf.yield %y1 : tensor<128x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%keys, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %ow, %a1 : !tile.block_ptr<128x64xf32>
  tile.return
}
