// RUN: fa-opt %s | fa-opt | FileCheck %s
// RUN: fa-translate --target=sm_80 --emit=ptx %s | FileCheck %s --check-prefix=PTX

// CHECK-LABEL: tile.kernel @persistent
// CHECK-SAME: tilegpu.persistent = 1 : i64
// PTX-LABEL: .entry persistent(
// No run-time check that the step is positive: there is at least one block.
// PTX-NOT: trap
// PTX-DAG: %ctaid.x
// PTX-DAG: %nctaid.x
tile.kernel @persistent(%y: !tile.ptr<i32>, %n: i32) grid(n) -> (n)
    attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 4 : i32, tilegpu.persistent = 1 : i64} {
  // CHECK: %[[BLOCK:.*]] = tilegpu.block_id
  %block = tilegpu.block_id
  // CHECK: %[[BLOCKS:.*]] = tilegpu.num_blocks
  %blocks = tilegpu.num_blocks
  %programs = tile.num_programs x
  // CHECK: scf.for unsigned %{{.*}} = %[[BLOCK]] to %{{.*}} step %[[BLOCKS]]
  scf.for unsigned %program = %block to %programs step %blocks : i32 {
    %at = tile.addptr %y, %program : !tile.ptr<i32>, i32
    tile.store %at, %program : !tile.ptr<i32>
    scf.yield
  // CHECK: } {tilegpu.programs}
  } {tilegpu.programs}
  tile.return
}
