// RUN: fa-opt %s | fa-opt | FileCheck %s
// RUN: fa-translate --target=sm_90a --emit=ptx %s -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx --check-prefix=PTX
// RUN: %if ptxas %{ %ptxas -arch=sm_90a %t.ptx -o %t.cubin %}

// Programs by a counter, which is a parameter before the extents of the grid.
// CHECK-LABEL: tile.kernel @count
// CHECK-SAME: tilegpu.program_counter
// PTX-LABEL: .entry count(
// PTX: .param .u64 .ptr .global {{.*}}count_param_2,
// PTX-NEXT: .param .u32 count_param_3,
// PTX-NEXT: .param .u32 count_param_4,
// PTX-NEXT: .param .u32 count_param_5
tile.kernel @count(%y: !tile.ptr<i32>, %n: i32) grid(n) -> (n)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32,
                tilegpu.persistent = 1 : i64, tilegpu.program_counter} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  // CHECK: %[[WORDS:.*]] = tilegpu.words : <1>
  %words = tilegpu.words : !tilegpu.words<1>
  %full = tilegpu.mbarriers {arrivals = 1 : i32} : !tilegpu.mbarriers<1>
  %empty = tilegpu.mbarriers {arrivals = 4 : i32} : !tilegpu.mbarriers<1>
  %block = tilegpu.block_id
  %blocks = tilegpu.num_blocks
  %programs = tile.num_programs x
  tilegpu.warp_specialize {producer_registers = 56 : i32, consumer_registers = 256 : i32} producer {
    // CHECK: scf.while
    %0:2 = scf.while (%place = %block, %round = %zero) : (i32, i32) -> (i32, i32) {
      %more = arith.cmpi ult, %place, %programs : i32
      scf.condition(%more) %place, %round : i32, i32
    } do {
    ^bb0(%place: i32, %round: i32):
      // Null is no address, and nobody asks where every program has a block.
      // PTX: setp.lt.u32 p,
      // PTX: @p atom.relaxed.gpu.global.inc.u32
      // CHECK: %[[TAKEN:.*]] = tilegpu.take_program of %{{.*}}
      %taken = tilegpu.take_program of %programs
      %next = arith.addi %blocks, %taken : i32
      %phase = arith.remui %round, %two : i32
      %freed = arith.subi %one, %phase : i32
      tilegpu.mbarrier_wait %empty[%zero] phase %freed : !tilegpu.mbarriers<1>
      // PTX: st.shared.u32
      // CHECK: tilegpu.write_word %{{.*}} to %[[WORDS]][%{{.*}}] : <1>
      tilegpu.write_word %next to %words[%zero] : !tilegpu.words<1>
      tilegpu.mbarrier_arrive %full[%zero] : !tilegpu.mbarriers<1>
      %after = arith.addi %round, %one : i32
      scf.yield %next, %after : i32, i32
    // CHECK: } attributes {tilegpu.programs}
    } attributes {tilegpu.programs}
  } consumer {
    %0:2 = scf.while (%place = %block, %round = %zero) : (i32, i32) -> (i32, i32) {
      %more = arith.cmpi ult, %place, %programs : i32
      scf.condition(%more) %place, %round : i32, i32
    } do {
    ^bb0(%place: i32, %round: i32):
      %at = tile.addptr %y, %place : !tile.ptr<i32>, i32
      // One program does not wait for another's store.
      // PTX-NOT: bar.sync
      // PTX: st.global
      tile.store %at, %place : !tile.ptr<i32>
      %phase = arith.remui %round, %two : i32
      tilegpu.mbarrier_wait %full[%zero] phase %phase : !tilegpu.mbarriers<1>
      // CHECK: tilegpu.read_word %[[WORDS]][%{{.*}}] : <1>
      // The same in all lanes.
      // PTX: ld.shared.u32
      // PTX: shfl.sync.idx
      %next = tilegpu.read_word %words[%zero] : !tilegpu.words<1>
      tilegpu.mbarrier_arrive %empty[%zero] : !tilegpu.mbarriers<1>
      %after = arith.addi %round, %one : i32
      scf.yield %next, %after : i32, i32
    } attributes {tilegpu.programs}
  }
  tile.return
}
