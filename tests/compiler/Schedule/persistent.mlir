// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},tilegpu-order-programs,tilegpu-specialize-warps{persistent=true},cse))' | FileCheck %s
// RUN: fa-opt %s --tile-to-nvvm='target=sm_90a persistent=true' | FileCheck %s --check-prefix=NVVM
// RUN: fa-opt %s --remarks --tile-to-nvvm='target=sm_90a persistent=true' -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: fa-opt %s --remarks --tile-to-nvvm='target=sm_80 persistent=true' -o %t.sm80 2>&1 | FileCheck %s --check-prefix=SM80
// RUN: fa-translate --target=sm_90a --emit=ptx %s -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx --check-prefix=PTX
// RUN: %if ptxas %{ %ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS %}

// PTXAS-NOT: C75
// PTXAS: 0 bytes spill stores, 0 bytes spill loads
// PTXAS-NOT: C75

// Programs take equally long: block b has programs b, b + blocks, ...
// CHECK-LABEL: tile.kernel @equal
// CHECK-SAME: tilegpu.persistent = 1 : i64
// The queries' ring of one buffer is freed, too.
// CHECK: %[[QRING:.*]] = tilegpu.alloc : <1 x 64x64xbf16, swizzle = 128>
// CHECK-NEXT: %[[QFULL:.*]] = tilegpu.mbarriers {arrivals = 1 : i32} : <1>
// CHECK-NEXT: %[[QEMPTY:.*]] = tilegpu.mbarriers {arrivals = 4 : i32} : <1>
// CHECK: tilegpu.alloc : <2 x 64x64xbf16, swizzle = 128>
// CHECK-NEXT: tilegpu.mbarriers {arrivals = 1 : i32} : <2>
// CHECK-NEXT: %[[KEMPTY:.*]] = tilegpu.mbarriers {arrivals = 4 : i32} : <2>
// The number of programs of this block.
// CHECK: %[[BLOCK:.*]] = tilegpu.block_id
// CHECK: %[[BLOCKS:.*]] = tilegpu.num_blocks
// CHECK: %[[X:.*]] = tile.num_programs x
// CHECK: %[[Y:.*]] = tile.num_programs y
// CHECK: %[[WHOLE:.*]] = arith.divui %[[PROGRAMS:.*]], %[[BLOCKS]]
// CHECK: %[[REST:.*]] = arith.remui %[[PROGRAMS]], %[[BLOCKS]]
// CHECK: %[[HAS:.*]] = arith.cmpi ult, %[[BLOCK]], %[[REST]]
// CHECK: %[[ONE:.*]] = arith.extui %[[HAS]]
// CHECK: %[[ROUNDS:.*]] = arith.addi %[[WHOLE]], %[[ONE]]
// CHECK: tilegpu.warp_specialize
// CHECK: scf.for %[[R:[a-z0-9]+]] = %c0{{.*}} to %[[ROUNDS]] step %c1{{.*}} iter_args(%[[KC:.*]] = %c0{{.*}})
// CHECK:   %[[FIRST:.*]] = arith.muli %[[R]], %[[BLOCKS]]
// CHECK:   %[[PLACE:.*]] = arith.addi %[[FIRST]], %[[BLOCK]]
// CHECK:   %[[PHASE:.*]] = arith.remui %[[R]], %c2
// CHECK:   %[[FREE:.*]] = arith.subi %c1{{.*}}, %[[PHASE]]
// CHECK:   tilegpu.mbarrier_wait %[[QEMPTY]][%c0{{.*}}] phase %[[FREE]]
// CHECK:   arith.remui %[[PLACE]], %[[X]]
// CHECK:   tilegpu.tma_load
// CHECK:   %[[KN:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[KC]])
// CHECK:   scf.yield %[[KN]]
// CHECK: } {tilegpu.programs}
// CHECK: } consumer {
// CHECK: scf.for %[[R:[a-z0-9]+]] = %c0{{.*}} to %[[ROUNDS]] step %c1{{.*}} iter_args(%[[KC:.*]] = %c0{{.*}})
// CHECK:   %[[PHASE:.*]] = arith.remui %[[R]], %c2
// CHECK:   tilegpu.mbarrier_wait %[[QFULL]][%c0{{.*}}] phase %[[PHASE]]
// CHECK:   %[[F:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[KC]])
// CHECK:     tilegpu.mbarrier_arrive %[[KEMPTY]]
// Right behind the loop: the next program's queries come while this one stores.
// CHECK:     scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: tilegpu.mbarrier_arrive %[[QEMPTY]][%c0{{.*}}]
// CHECK:   tilegpu.store
// CHECK:   scf.yield %[[F]]#1
// CHECK: } {tilegpu.programs}

// Fixed shares are even where all programs are one group.
// REMARK: remark: [Passed] Order {{.*}}"programs at the end of axis x run longest and start first, all in one group"

// Where blocks have one program each, "persistent" has no effect.
// SM80: remark: [Passed] Order {{.*}}"programs at the end of axis x run longest and start first, in groups of 256 programs"

// NVVM: llvm.func @equal{{.*}} tilegpu.persistent = 1 : i64

// One barrier when mbarriers are made, two for the trip of the result through
// shared memory: none between the stores of one program and those of the next.
// PTX-LABEL: .entry equal(
// PTX: bar.sync 0;
// PTX: mov.u32 %{{.*}}, %nctaid.x;
// PTX-COUNT-2: bar.sync 1, {{[0-9]+}};
// PTX-NOT: bar.sync
// PTX: .entry
tile.kernel @equal(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %rows: i32, %keys: i32, %heads: i32)
    grid(rows, keys, heads) -> (rows ceildiv 64, heads) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %x = tile.program_id x
  %y = tile.program_id y
  %row = arith.muli %x, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %rows64 = arith.extsi %rows : i32 to i64
  %keys64 = arith.extsi %keys : i32 to i64
  %y64 = arith.extsi %y : i32 to i64
  %qsize = arith.muli %rows64, %d : i64
  %qat = arith.muli %y64, %qsize : i64
  %qh = tile.addptr %q, %qat : !tile.ptr<bf16>, i64
  %oh = tile.addptr %o, %qat : !tile.ptr<f32>, i64
  %qw = tile.make_block_ptr %qh shape[%rows64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %qt, %t, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %s : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %oh shape[%rows64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.return
}

// Programs that take longer and longer, persistent on request: blocks take them
// from the first to the last and back in turn. The queries are also read into
// registers: a fence comes before their buffer is freed.
// CHECK-LABEL: tile.kernel @growing
// CHECK-SAME: tilegpu.persistent = 1 : i64
// CHECK: %[[QEMPTY:.*]] = tilegpu.mbarriers {arrivals = 4 : i32} : <1>
// CHECK: %[[BLOCK:.*]] = tilegpu.block_id
// CHECK: %[[BLOCKS:.*]] = tilegpu.num_blocks
// CHECK: %[[LAST:.*]] = arith.subi %[[BLOCKS]], %c1
// CHECK: %[[BACK:.*]] = arith.subi %[[LAST]], %[[BLOCK]]
// CHECK: %[[NUMBER:.*]] = arith.select %{{.*}}, %[[BACK]], %[[BLOCK]]
// CHECK: arith.cmpi ult, %[[NUMBER]], %{{.*}}
// CHECK: tilegpu.warp_specialize
// CHECK: scf.for %[[R:[a-z0-9]+]] = %c0
// CHECK:   %[[BIT:.*]] = arith.andi %[[R]], %c1
// CHECK:   %[[ODD:.*]] = arith.cmpi ne, %[[BIT]], %c0
// CHECK:   %[[NUMBER:.*]] = arith.select %[[ODD]], %[[BACK:.*]], %[[BLOCK]]
// CHECK:   %[[FIRST:.*]] = arith.muli %[[R]], %[[BLOCKS]]
// CHECK:   arith.addi %[[FIRST]], %[[NUMBER]]
// CHECK: } consumer {
// CHECK: tilegpu.load_shared
// CHECK: tilegpu.fence_proxy
// CHECK-NEXT: tilegpu.mbarrier_arrive %[[QEMPTY]]
// CHECK: tilegpu.store
tile.kernel @growing(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<bf16>, %rows: i32)
    grid(rows) -> (rows ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  %end = arith.addi %row, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %rows64 = arith.extsi %rows : i32 to i64
  %qw = tile.make_block_ptr %q shape[%rows64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = scf.for %j = %c0 to %end step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%rows64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %qt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %kt, %t, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %s : tensor<64x64xf32>
  }
  %p = tile.cast %a : tensor<64x64xf32> -> tensor<64x64xbf16>
  %r = arith.addf %p, %qt : tensor<64x64xbf16>
  %ow = tile.make_block_ptr %o shape[%rows64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  tile.store %ow, %r : !tile.block_ptr<64x64xbf16>
  tile.return
}
