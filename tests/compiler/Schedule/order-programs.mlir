// RUN: fa-opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tilegpu-order-programs{group=40}))' | FileCheck %s
// RUN: fa-opt %s --split-input-file --remarks --pass-pipeline='builtin.module(tile.kernel(tilegpu-order-programs{group=40}))' -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: fa-opt %s --split-input-file --remarks --pass-pipeline='builtin.module(tile.kernel(tilegpu-order-programs{group=0}))' 2>&1 | FileCheck %s --check-prefix=GRID
// RUN: not fa-opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tilegpu-order-programs{group=-1}))' 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: error: expected 'group' to be at least 0, but got -1

// Two loops that go on where the other ended: up to the diagonal.
// CHECK-LABEL: tile.kernel @causal
// CHECK: %[[BLOCK:.*]] = tilegpu.block_id
// CHECK: %[[ROWS:.*]] = tile.num_programs x
// CHECK: %[[Y:.*]] = tile.num_programs y
// CHECK: %[[Z:.*]] = tile.num_programs z
// CHECK: %[[COLUMNS:.*]] = arith.muli %[[Y]], %[[Z]]
// As many heads as make 40 programs, at least one, at most all.
// CHECK: %[[C40:.*]] = arith.constant 40
// CHECK: %[[HEADS:.*]] = arith.divui %[[C40]], %[[ROWS]]
// CHECK: %[[SOME:.*]] = arith.maxui %[[HEADS]], %c1
// CHECK: %[[MOST:.*]] = arith.minui %[[SOME]], %[[COLUMNS]]
// CHECK: %[[FULL:.*]] = arith.muli %[[ROWS]], %[[MOST]]
// CHECK: %[[GROUP:.*]] = arith.divui %[[BLOCK]], %[[FULL]]
// CHECK: %[[START:.*]] = arith.muli %[[GROUP]], %[[MOST]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[COLUMNS]], %[[START]]
// CHECK: %[[WIDTH:.*]] = arith.minui %[[MOST]], %[[LEFT]]
// CHECK: %[[BEFORE:.*]] = arith.muli %[[GROUP]], %[[FULL]]
// CHECK: %[[WITHIN:.*]] = arith.subi %[[BLOCK]], %[[BEFORE]]
// CHECK: %[[ROW:.*]] = arith.divui %[[WITHIN]], %[[WIDTH]]
// CHECK: %[[LAST:.*]] = arith.subi %[[ROWS]], %c1
// CHECK: %[[HEAVY:.*]] = arith.subi %[[LAST]], %[[ROW]]
// CHECK: %[[IN:.*]] = arith.remui %[[WITHIN]], %[[WIDTH]]
// CHECK: %[[COLUMN:.*]] = arith.addi %[[START]], %[[IN]]
// CHECK: %[[HEAD:.*]] = arith.remui %[[COLUMN]], %[[Y]]
// CHECK: %[[BATCH:.*]] = arith.divui %[[COLUMN]], %[[Y]]
// CHECK: %[[PX:.*]] = tile.assume %[[HEAVY]] {min = 0 : i32}
// CHECK: %[[PY:.*]] = tile.assume %[[HEAD]] {min = 0 : i32}
// CHECK: %[[PZ:.*]] = tile.assume %[[BATCH]] {min = 0 : i32}
// CHECK-NOT: tile.program_id
// CHECK: arith.muli %[[PX]]
// CHECK: tile.addptr %{{.*}}, %[[PY]]
// REMARK: :[[@LINE+3]]:1: remark: [Passed] Order | Category:tilegpu-order-programs {{.*}}"programs at the end of axis x run longest and start first, in groups of 40 programs"
// GRID: [Missed] Order {{.*}}programs start in the order of the grid: group = 0 asks for that

tile.kernel @causal(%x: !tile.ptr<f32>, %rows: i32, %keys: i32, %heads: i32)
    grid(rows, keys, heads) -> (rows ceildiv 64, heads, 2) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 64 : i32
  %r = tile.program_id x
  %h = tile.program_id y
  %first = arith.muli %r, %size : i32
  %shift = arith.subi %keys, %rows : i32
  %diagonal = arith.addi %first, %shift : i32
  %some = arith.addi %diagonal, %size : i32
  %end = arith.minsi %some, %keys : i32
  %tiles = arith.divsi %diagonal, %size : i32
  %whole = arith.muli %tiles, %size : i32
  scf.for %j = %zero to %whole step %one : i32 {
  }
  scf.for %j = %whole to %end step %one : i32 {
    %at = tile.addptr %x, %h : !tile.ptr<f32>, i32
    %v = tile.load %at : !tile.ptr<f32>
  }
  tile.return
}

// -----

// Programs at the start of y run longest; the loop in the branch counts for all
// programs alike.
// CHECK-LABEL: tile.kernel @shrinking
// CHECK: %[[X:.*]] = tile.num_programs x
// CHECK: %[[ROWS:.*]] = tile.num_programs y
// CHECK-COUNT-2: arith.minui
// CHECK: %[[BEFORE:.*]] = arith.muli
// CHECK-NEXT: %[[WITHIN:.*]] = arith.subi %{{.*}}, %[[BEFORE]]
// CHECK-NEXT: %[[ROW:.*]] = arith.divui %[[WITHIN]], %{{.*}}
// CHECK-NEXT: arith.remui %[[WITHIN]]
// CHECK-NEXT: %[[COLUMN:.*]] = arith.addi
// CHECK: %[[PX:.*]] = arith.remui %[[COLUMN]], %[[X]]
// CHECK: tile.assume %[[PX]]
// CHECK: tile.assume %[[ROW]]
// REMARK: programs at the start of axis y run longest and start first
tile.kernel @shrinking(%n: i32, %yes: i1) grid(n, yes) -> (3, n) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = tile.program_id y
  %left = arith.subi %n, %r : i32
  scf.for %j = %zero to %left step %one : i32 {
  }
  scf.if %yes {
    scf.for %j = %zero to %n step %one : i32 {
    }
  }
  tile.return
}

// -----

// Equal programs stay as they are, without a remark.
// CHECK-LABEL: tile.kernel @equal
// CHECK: tile.program_id x
// CHECK-NOT: block_id
// REMARK-NOT: remark:
tile.kernel @equal(%n: i32) grid(n) -> (n) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = tile.program_id x
  scf.for %j = %zero to %n step %one : i32 {
    %s = arith.addi %r, %j : i32
  }
  tile.return
}

// -----

// A window of keys moves with the rows.
// CHECK-LABEL: tile.kernel @window
// CHECK-NOT: block_id
// REMARK: remark: [Missed] Order {{.*}}programs start in the order of the grid: how often loops run does not grow or shrink with the position along one axis alone
tile.kernel @window(%n: i32) grid(n) -> (n) {
  %one = arith.constant 1 : i32
  %width = arith.constant 100 : i32
  %r = tile.program_id x
  %end = arith.addi %r, %width : i32
  scf.for %j = %r to %end step %one : i32 {
  }
  tile.return
}

// -----

// Two axes matter.
// CHECK-LABEL: tile.kernel @area
// CHECK-NOT: block_id
// REMARK: remark: [Missed] Order {{.*}}along one axis alone
tile.kernel @area(%n: i32) grid(n) -> (n, n) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = tile.program_id x
  %c = tile.program_id y
  %end = arith.addi %r, %c : i32
  scf.for %j = %zero to %end step %one : i32 {
  }
  tile.return
}

// -----

// Lengths that are read from memory may be anything.
// CHECK-LABEL: tile.kernel @lengths
// CHECK-NOT: block_id
// REMARK: remark: [Missed] Order {{.*}}along one axis alone
tile.kernel @lengths(%lengths: !tile.ptr<i32>, %n: i32) grid(n) -> (n) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = tile.program_id x
  %at = tile.addptr %lengths, %r : !tile.ptr<i32>, i32
  %end = tile.load %at : !tile.ptr<i32>
  scf.for %j = %zero to %end step %one : i32 {
  }
  tile.return
}

// -----

// Messages name positions, which the code computes from the block's number.
// CHECK-LABEL: tile.kernel @asserts
// CHECK-NOT: block_id
// REMARK: remark: [Missed] Order {{.*}}programs start in the order of the grid: the kernel prints the positions of its programs
tile.kernel @asserts(%n: i32, %fine: i1) grid(n, fine) -> (n) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = tile.program_id x
  tile.assert %fine, "not fine" : i1
  scf.for %j = %zero to %r step %one : i32 {
  }
  tile.return
}

// -----

// Some programs run a loop that others skip.
// CHECK-LABEL: tile.kernel @branch
// CHECK-NOT: block_id
// REMARK: remark: [Missed] Order {{.*}}along one axis alone
tile.kernel @branch(%n: i32) grid(n) -> (n) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = tile.program_id x
  %first = arith.cmpi eq, %r, %zero : i32
  scf.if %first {
    scf.for %j = %zero to %n step %one : i32 {
    }
  }
  tile.return
}

// -----

// A loop inside another one runs as often as that does.
// CHECK-LABEL: tile.kernel @nested
// CHECK: block_id
// REMARK: remark: [Passed] Order {{.*}}programs at the end of axis x run longest
tile.kernel @nested(%n: i32) grid(n) -> (n) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = tile.program_id x
  scf.for %i = %zero to %n step %one : i32 {
    scf.for %j = %zero to %r step %one : i32 {
    }
  }
  tile.return
}

// -----

// A loop that begins at the larger of two positions, rounded: iterations of it
// that do nothing were taken away.
// CHECK-LABEL: tile.kernel @shortened
// CHECK: block_id
// REMARK: remark: [Passed] Order {{.*}}programs at the start of axis x run longest
tile.kernel @shortened(%n: i32, %m: i32) grid(n, m) -> (n) {
  %zero = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %x = tile.program_id x
  %start = arith.muli %x, %c64 : i32
  %row = arith.muli %x, %c128 : i32
  %first = arith.subi %row, %m : i32
  %distance = arith.subi %first, %start : i32
  %least = arith.maxsi %distance, %zero : i32
  %tiles = arith.divsi %least, %c64 : i32
  %skipped = arith.muli %tiles, %c64 : i32
  %begin = arith.addi %skipped, %start : i32
  scf.for %i = %begin to %n step %c64 : i32 {
  }
  tile.return
}

// -----

// A branch in a loop may have a loop, too, in some iterations.
// CHECK-LABEL: tile.kernel @branch_in_loop
// CHECK: block_id
// REMARK: remark: [Passed] Order {{.*}}programs at the end of axis x run longest
tile.kernel @branch_in_loop(%n: i32) grid(n) -> (n) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = tile.program_id x
  scf.for %i = %zero to %r step %one : i32 {
    %last = arith.cmpi eq, %i, %r : i32
    scf.if %last {
      scf.for %j = %zero to %n step %one : i32 {
      }
    }
  }
  tile.return
}

// -----

// One grows with the position, the other shrinks.
// CHECK-LABEL: tile.kernel @opposed
// CHECK-NOT: block_id
// REMARK: remark: [Missed] Order {{.*}}along one axis alone
tile.kernel @opposed(%n: i32) grid(n) -> (n) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = tile.program_id x
  scf.for %i = %r to %n step %one : i32 {
    scf.for %j = %zero to %r step %one : i32 {
    }
  }
  tile.return
}

// -----

// Blocks that take several programs place them themselves.
// CHECK-LABEL: tile.kernel @persistent
// CHECK: tile.program_id
// CHECK-NOT: block_id
// REMARK-NOT: remark:
tile.kernel @persistent(%n: i32) grid(n) -> (n)
    attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 4 : i32, tilegpu.persistent = 1 : i64} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = tile.program_id x
  scf.for %i = %zero to %r step %one : i32 {
  }
  tile.return
}
