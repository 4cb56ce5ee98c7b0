// RUN: fa-opt %s --remarks --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},tilegpu-order-programs,tilegpu-specialize-warps,cse))' 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --input-file %t.remarks --check-prefix=REMARK
// RUN: fa-opt %s --tile-to-nvvm='target=sm_90a' | FileCheck %s --check-prefix=NVVM
// RUN: fa-translate --target=sm_90a --emit=ptx %s -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx --check-prefix=PTX
// RUN: %if ptxas %{ %ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS %}
// RUN: fa-translate --target=sm_90a --emit=ptx --persistent=off %s | FileCheck %s --check-prefix=OFF
// RUN: fa-translate --target=sm_90a --emit=ptx --report %s -o %t.ptx 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: not fa-translate --target=sm_90a --emit=ptx --persistent=yes %s 2>&1 | FileCheck %s --check-prefix=ERROR

// OFF-NOT: atom.
// OFF: .param .u32 growing_param_8
// OFF-NOT: growing_param_9
// OFF-NOT: atom.
// REPORT: function growing: {{.*}}, persistent with 1 block on each multiprocessor, programs by a counter
// ERROR: expected 'persistent' to be auto, off, static or dynamic, but got 'yes'

// PTXAS-NOT: C75
// PTXAS: 0 bytes spill stores, 0 bytes spill loads
// PTXAS-NOT: C75

// Programs that take longer and longer, of a row tile each: blocks take them from
// a counter, from the longest on, in groups.
// REMARK: remark: [Passed] Order {{.*}}"programs at the end of axis x run longest and start first, in groups of 256 programs"
// REMARK: remark: [Passed] Persistent {{.*}}"a block for each multiprocessor takes one program after the other, by a counter in memory"
// REMARK: 2 producer warps load

// CHECK-LABEL: tile.kernel @growing
// CHECK-SAME: tilegpu.persistent = 1 : i64
// CHECK-SAME: tilegpu.program_counter
// The position of the block's first program.
// CHECK: %[[BLOCK:.*]] = tilegpu.block_id
// CHECK: %[[X:.*]] = tile.assume
// CHECK: arith.muli
// CHECK: %[[PROGRAMS:.*]] = arith.muli
// Two programs on their way, each a number and the position along x.
// CHECK: %[[WORDS:.*]] = tilegpu.words : <4>
// CHECK: %[[FULL:.*]] = tilegpu.mbarriers {arrivals = 1 : i32} : <2>
// Four warps and the other producer read each.
// CHECK: %[[EMPTY:.*]] = tilegpu.mbarriers {arrivals = 5 : i32} : <2>
// CHECK: tilegpu.warp_specialize

// CHECK: %[[IS:.*]] = arith.cmpi ult, %[[BLOCK]], %[[PROGRAMS]]
// CHECK: %[[FIRST:.*]] = arith.select %[[IS]], %[[BLOCK]], %[[NONE:c-1[_a-z0-9]*]]
// CHECK: scf.while (%[[P:[a-z0-9]+]] = %[[FIRST]], %[[AT:[a-z0-9]+]] = %[[X]], %[[R:[a-z0-9]+]] = %c0{{.*}}, %{{.*}} = %c0{{.*}}, %{{.*}} = %c0{{.*}}) :
// CHECK:   %[[MORE:.*]] = arith.cmpi ne, %[[P]], %[[NONE]]
// CHECK:   scf.condition(%[[MORE]])
// CHECK: ^bb0(%[[P:[a-z0-9]+]]: i32, %[[AT:[a-z0-9]+]]: i32, %[[R:[a-z0-9]+]]: i32,
// The first producer takes another one before the copies of this one.
// CHECK:   %[[TAKEN:.*]] = tilegpu.take_program of %[[PROGRAMS]]
// CHECK:   %[[INDEX:.*]] = arith.remui %[[R]], %c2
// CHECK:   arith.muli %[[AT]], %c64
// CHECK:   tilegpu.tma_load
// CHECK:   scf.for
// CHECK:     tilegpu.tma_load
// CHECK:     scf.yield
// There is one loop: it tells behind that.
// CHECK:   %[[BLOCKS:.*]] = tilegpu.num_blocks
// CHECK:   %[[NUMBER:.*]] = arith.addi %[[BLOCKS]], %[[TAKEN]]
// CHECK:   %[[ISNEXT:.*]] = arith.cmpi ult, %[[NUMBER]], %[[PROGRAMS]]
// CHECK:   %[[NEXT:.*]] = arith.select %[[ISNEXT]], %[[NUMBER]], %[[NONE]]
// What is no program has no position.
// CHECK:   arith.minui %[[NUMBER]], %
// CHECK:   %[[XNEXT:.*]] = tile.assume
// CHECK:   tilegpu.mbarrier_wait %[[EMPTY]][%[[INDEX]]] phase
// CHECK:   tilegpu.write_word %[[NEXT]] to %[[WORDS]]
// CHECK:   tilegpu.write_word %[[XNEXT]] to %[[WORDS]]
// CHECK:   tilegpu.mbarrier_arrive %[[FULL]][%[[INDEX]]]
// CHECK:   %[[ROUND:.*]] = arith.addi %[[R]], %c1
// CHECK:   scf.yield %[[NEXT]], %[[XNEXT]], %[[ROUND]],
// CHECK: } attributes {tilegpu.programs}

// The second one is told.
// CHECK: scf.while
// CHECK-NOT: tilegpu.take_program
// CHECK:   tilegpu.mbarrier_wait %[[FULL]]
// CHECK:   %[[NEXT:.*]] = tilegpu.read_word %[[WORDS]]
// CHECK:   %[[XNEXT:.*]] = tilegpu.read_word %[[WORDS]]
// CHECK:   tilegpu.mbarrier_arrive %[[EMPTY]]
// CHECK:   scf.yield %[[NEXT]], %[[XNEXT]],
// CHECK: } attributes {tilegpu.programs}

// CHECK: } consumer {
// CHECK: scf.while
// CHECK: ^bb0(%[[P:[a-z0-9]+]]: i32, %[[AT:[a-z0-9]+]]: i32, %[[R:[a-z0-9]+]]: i32,
// CHECK:   arith.muli %[[AT]], %c64
// The ring of one buffer counts programs.
// CHECK:   arith.remui %[[R]], %c2
// CHECK:   tilegpu.mbarrier_wait
// CHECK:   scf.for
// CHECK:     tilegpu.mbarrier_wait
// CHECK:     scf.yield
// The next program is heard of when nothing else is waited for, before results
// are stored.
// CHECK:   tilegpu.mbarrier_wait %[[FULL]]
// CHECK:   %[[NEXT:.*]] = tilegpu.read_word %[[WORDS]]
// CHECK:   %[[XNEXT:.*]] = tilegpu.read_word %[[WORDS]]
// CHECK:   tilegpu.mbarrier_arrive %[[EMPTY]]
// CHECK:   tilegpu.store
// CHECK:   scf.yield %[[NEXT]], %[[XNEXT]],
// CHECK: } attributes {tilegpu.programs}

// NVVM: llvm.func @growing{{.*}} tilegpu.persistent = 1 : i64, tilegpu.program_counter

// PTX-LABEL: .entry growing(
// PTX: .param .u64 .ptr .global
// PTX: .param .u64 .ptr .global
// PTX: .param .u64 .ptr .global
// PTX: .param .u64 .ptr .global
// PTX: .param .u32
// PTX: @p atom.relaxed.gpu.global.inc.u32
// PTX-NOT: atom.
tile.kernel @growing(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %rows: i32)
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
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %qt, %t, %init : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %p = tile.cast %s : tensor<64x64xf32> -> tensor<64x64xbf16>
    %vw = tile.make_block_ptr %k shape[%rows64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %vt = tile.load %vw : !tile.block_ptr<64x64xbf16>
    %u = tile.dot %p, %vt, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %u : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%rows64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.return
}
