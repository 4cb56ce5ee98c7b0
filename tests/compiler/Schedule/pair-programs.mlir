// Neighbouring programs of one warpgroup become one.
//
// RUN: fa-opt %s --remarks --tilegpu-pair-programs -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t
// RUN: fa-opt %s --tilegpu-pair-programs=programs=2 | FileCheck %s --check-prefix=TWO
// RUN: fa-opt %s --remarks --tilegpu-pair-programs=programs=3 -o %t 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: fa-opt %s --tilegpu-pair-programs=programs=1 | FileCheck %s --check-prefix=ONE
// RUN: fa-opt %s --tilegpu-pair-programs --tile-optimize --tile-to-nvvm=target=sm_90a | FileCheck %s --check-prefix=NVVM

// ONE-NOT: tilegpu

// Fewer than asked for, with the reason.
// THREE-COUNT-2: Remark="3 programs along {{x|y}} are warpgroups of one block"
// THREE: [Missed] Programs {{.*}}Reason="3 programs are not put together: along x, a thread would need 128 registers for tiles of 64 rows, more than the 100 that 3 warpgroups leave it beside the rest, where both sides of a branch are computed"
// THREE: Remark="2 programs along x are warpgroups of one block"

// The launcher divides the grid.
// NVVM-LABEL: llvm.func @matmul(
// NVVM-SAME: tilegpu.num_threads = 512 : i64
// NVVM-SAME: tilegpu.programs_at_once = array<i64: 3, 1, 1>

// Rows of a are the program's, columns of b are those of all.
// REMARK: Remark="3 programs along x are warpgroups of one block"
// CHECK-LABEL: tile.kernel @matmul
// CHECK-SAME: -> ((d0 ceildiv 64) ceildiv 3, d1 ceildiv 64)
// CHECK-SAME: attributes {tilegpu.num_warps = 12 : i32, tilegpu.programs_at_once = array<i64: 3, 1, 1>}
// CHECK: %[[X:.*]] = tile.program_id x
// CHECK: %[[FIRST:.*]] = arith.muli %[[X]], %{{.*}} : i32
// CHECK: arith.muli %[[FIRST]], %{{.*}} : i32
// CHECK: %[[SUM:.*]] = scf.for {{.*}} -> (tensor<192x64xf32>)
// CHECK: %[[A:.*]] = tile.load {{.*}} : !tile.block_ptr<192x32xbf16>
// CHECK: %[[B:.*]] = tile.load {{.*}} : !tile.block_ptr<32x64xbf16>
// CHECK: tile.dot %[[A]], %[[B]], {{.*}} : tensor<192x32xbf16>, tensor<32x64xbf16>, tensor<192x64xf32>
// CHECK: tile.store {{.*}}, %[[SUM]] : !tile.block_ptr<192x64xf32>
// TWO-LABEL: tile.kernel @matmul
// TWO-SAME: -> ((d0 ceildiv 64) ceildiv 2, d1 ceildiv 64)
// TWO-SAME: attributes {tilegpu.num_warps = 8 : i32, tilegpu.programs_at_once = array<i64: 2, 1, 1>}
// TWO: tensor<128x32xbf16>, tensor<32x64xbf16>, tensor<128x64xf32>
tile.kernel @matmul(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %m: i32, %n: i32, %k: i32) grid(m, n, k) -> (m ceildiv 64, n ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %size = arith.constant 64 : i32
  %depth = arith.constant 32 : i32
  %x = tile.program_id x
  %y = tile.program_id y
  %row = arith.muli %x, %size : i32
  %column = arith.muli %y, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %column64 = arith.extsi %column : i32 to i64
  %m64 = arith.extsi %m : i32 to i64
  %n64 = arith.extsi %n : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %j = %c0 to %k step %depth iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %aw = tile.make_block_ptr %a shape[%m64, %k64] strides[%k64, %one] offsets[%row64, %j64] : !tile.ptr<bf16> -> !tile.block_ptr<64x32xbf16>
    %at = tile.load %aw : !tile.block_ptr<64x32xbf16>
    %bw = tile.make_block_ptr %b shape[%k64, %n64] strides[%n64, %one] offsets[%j64, %column64] : !tile.ptr<bf16> -> !tile.block_ptr<32x64xbf16>
    %bt = tile.load %bw : !tile.block_ptr<32x64xbf16>
    %next = tile.dot %at, %bt, %acc : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %cw = tile.make_block_ptr %c shape[%m64, %n64] strides[%n64, %one] offsets[%row64, %column64] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %cw, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// Windows that move, a mask of positions as in a causal kernel, distances of
// positions as numbers, a row-wise maximum, and stores by pointers whose mask
// leaves out what is beyond the grid. The promise that rows are in bounds goes.
// REMARK: Remark="2 programs along y are warpgroups of one block"
// CHECK-LABEL: tile.kernel @rows
// CHECK-SAME: -> (d1, (d0 ceildiv 64) ceildiv 2)
// CHECK-SAME: tilegpu.programs_at_once = array<i64: 1, 2, 1>
// CHECK: tile.load %{{.*}} {in_bounds = array<i1: false, true>} : !tile.block_ptr<128x128xbf16>
// CHECK-DAG: tile.arange 0 to 128 : tensor<128xi32>
// CHECK-DAG: tile.arange 0 to 64 : tensor<64xi32>
// CHECK: scf.for {{.*}} -> (tensor<128xf32>, tensor<128x128xf32>, !tile.block_ptr<64x128xbf16>)
// CHECK: arith.cmpi sle, {{.*}} : tensor<128x64xi32>
// CHECK: tile.dot {{.*}} : tensor<128x128xbf16>, tensor<128x64xbf16>, tensor<128x64xf32>
// CHECK: tile.max {{.*}} axis 1 : tensor<128x64xf32> -> tensor<128xf32>
// CHECK: tile.dot {{.*}} : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
// CHECK: arith.cmpi slt, {{.*}} : tensor<128xi32>
// CHECK: tile.store {{.*}} mask {{.*}} : tensor<128x!tile.ptr<f32>>
// CHECK: tile.store {{.*}} : !tile.block_ptr<128x128xf32>
tile.kernel @rows(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %l: !tile.ptr<f32>, %n: i32, %heads: i32) grid(n, heads) -> (heads, n ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %size = arith.constant 64 : i32
  %size64 = arith.constant 64 : i64
  %d = arith.constant 128 : i64
  %head = tile.program_id x
  %y = tile.program_id y
  %n64 = arith.extsi %n : i32 to i64
  %head64 = arith.extsi %head : i32 to i64
  %before = arith.muli %head64, %n64 : i64
  %elements = arith.muli %before, %d : i64
  %qh = tile.addptr %q, %elements : !tile.ptr<bf16>, i64
  %kh = tile.addptr %k, %elements : !tile.ptr<bf16>, i64
  %oh = tile.addptr %o, %elements : !tile.ptr<f32>, i64
  %lh = tile.addptr %l, %before : !tile.ptr<f32>, i64
  %row = arith.muli %y, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %qw = tile.make_block_ptr %qh shape[%n64, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x128xbf16>
  %qa = tile.advance %qw, [%row64, %zero] : !tile.block_ptr<64x128xbf16>
  %qt = tile.load %qa {in_bounds = array<i1: true, true>} : !tile.block_ptr<64x128xbf16>
  %kw = tile.make_block_ptr %kh shape[%n64, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x128xbf16>
  %lane = tile.arange 0 to 64 : tensor<64xi32>
  %base = tile.splat %row : i32 -> tensor<64xi32>
  %rows = arith.addi %base, %lane : tensor<64xi32>
  %column = tile.expand_dims %rows axis 1 : tensor<64xi32> -> tensor<64x1xi32>
  %rowTile = tile.broadcast %column : tensor<64x1xi32> -> tensor<64x64xi32>
  %none = arith.constant dense<0xFF800000> : tensor<64x64xf32>
  %empty = arith.constant dense<0.0> : tensor<64x64xf32>
  %least = arith.constant dense<0xFF800000> : tensor<64xf32>
  %init = arith.constant dense<0.0> : tensor<64x128xf32>
  %r:3 = scf.for %j = %c0 to %n step %size iter_args(%m = %least, %acc = %init, %kp = %kw) -> (tensor<64xf32>, tensor<64x128xf32>, !tile.block_ptr<64x128xbf16>) : i32 {
    %start = tile.splat %j : i32 -> tensor<64xi32>
    %keys = arith.addi %start, %lane : tensor<64xi32>
    %key = tile.expand_dims %keys axis 0 : tensor<64xi32> -> tensor<1x64xi32>
    %keyTile = tile.broadcast %key : tensor<1x64xi32> -> tensor<64x64xi32>
    %visible = arith.cmpi sle, %keyTile, %rowTile : tensor<64x64xi32>
    %kt = tile.load %kp : !tile.block_ptr<64x128xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x128xbf16> -> tensor<128x64xbf16>
    %s = tile.dot %qt, %t, %empty : tensor<64x128xbf16>, tensor<128x64xbf16>, tensor<64x64xf32>
    %distance = arith.subi %keyTile, %rowTile : tensor<64x64xi32>
    %bias = arith.sitofp %distance : tensor<64x64xi32> to tensor<64x64xf32>
    %biased = arith.addf %s, %bias : tensor<64x64xf32>
    %masked = arith.select %visible, %biased, %none : tensor<64x64xi1>, tensor<64x64xf32>
    %max = tile.max %masked axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %mNext = arith.maximumf %m, %max : tensor<64xf32>
    %p = tile.cast %masked : tensor<64x64xf32> -> tensor<64x64xbf16>
    %next = tile.dot %p, %kt, %acc : tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<64x128xf32>
    %kNext = tile.advance %kp, [%size64, %zero] : !tile.block_ptr<64x128xbf16>
    scf.yield %mNext, %next, %kNext : tensor<64xf32>, tensor<64x128xf32>, !tile.block_ptr<64x128xbf16>
  }
  %limit = tile.splat %n : i32 -> tensor<64xi32>
  %inside = arith.cmpi slt, %rows, %limit : tensor<64xi32>
  %places = tile.splat %lh : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %place = tile.addptr %places, %rows : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  tile.store %place, %r#0 mask %inside : tensor<64x!tile.ptr<f32>>
  %ow = tile.make_block_ptr %oh shape[%n64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x128xf32>
  tile.store %ow, %r#1 : !tile.block_ptr<64x128xf32>
  tile.return
}

// A branch that some programs take: where any does, both sides are computed and
// each row takes its own.
// REMARK: Remark="2 programs along x are warpgroups of one block"
// CHECK-LABEL: tile.kernel @branch
// CHECK: %[[X:.*]] = tile.program_id x
// CHECK: %[[FIRST:.*]] = arith.muli %[[X]], %{{.*}} : i32
// CHECK: %[[ROW:.*]] = arith.muli %[[FIRST]], %{{.*}} : i32
// CHECK: scf.for
// CHECK: %[[A:.*]] = arith.cmpi sgt, %{{.*}}, %[[ROW]] : i32
// CHECK: %[[NEXT:.*]] = arith.addi %[[ROW]], %{{.*}} : i32
// CHECK: %[[B:.*]] = arith.cmpi sgt, %{{.*}}, %[[NEXT]] : i32
// CHECK: %[[ANY:.*]] = arith.ori %[[A]], %[[B]] : i1
// CHECK: scf.if %[[ANY]] -> (tensor<128x128xf32>)
// CHECK: %[[YES:.*]] = arith.addf
// CHECK: %[[NO:.*]] = tile.dot
// CHECK: %[[ROWS:.*]] = tile.arange 0 to 128 : tensor<128xi32>
// CHECK: %[[OTHERS:.*]] = tile.splat %[[B]] : i1 -> tensor<128xi1>
// CHECK: %[[BEFORE:.*]] = arith.cmpi slt, %[[ROWS]], %{{.*}} : tensor<128xi32>
// CHECK: %[[OWN:.*]] = tile.splat %[[A]] : i1 -> tensor<128xi1>
// CHECK: %[[FLAT:.*]] = arith.select %[[BEFORE]], %[[OWN]], %[[OTHERS]]
// CHECK: %[[COLUMN:.*]] = tile.expand_dims %[[FLAT]] axis 1
// CHECK: %[[TILE:.*]] = tile.broadcast %[[COLUMN]] : tensor<128x1xi1> -> tensor<128x128xi1>
// CHECK: %[[TAKEN:.*]] = arith.select %[[TILE]], %[[YES]], %[[NO]]
// CHECK: scf.yield %[[TAKEN]]
// CHECK: } else {
// CHECK: tile.dot
tile.kernel @branch(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %m: i32, %k: i32) grid(m, k) -> (m ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %size = arith.constant 64 : i32
  %d = arith.constant 128 : i64
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %m64 = arith.extsi %m : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x128xf32>
  %ones = arith.constant dense<1.0> : tensor<64x128xf32>
  %sum = scf.for %j = %c0 to %k step %size iter_args(%acc = %init) -> (tensor<64x128xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %aw = tile.make_block_ptr %a shape[%m64, %k64] strides[%k64, %one] offsets[%row64, %j64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %at = tile.load %aw : !tile.block_ptr<64x64xbf16>
    %bw = tile.make_block_ptr %b shape[%k64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x128xbf16>
    %bt = tile.load %bw : !tile.block_ptr<64x128xbf16>
    %crosses = arith.cmpi sgt, %j, %row : i32
    %next = scf.if %crosses -> (tensor<64x128xf32>) {
      %more = arith.addf %acc, %ones : tensor<64x128xf32>
      scf.yield %more : tensor<64x128xf32>
    } else {
      %product = tile.dot %at, %bt, %acc : tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<64x128xf32>
      scf.yield %product : tensor<64x128xf32>
    }
    scf.yield %next : tensor<64x128xf32>
  }
  %cw = tile.make_block_ptr %c shape[%m64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x128xf32>
  tile.store %cw, %sum : !tile.block_ptr<64x128xf32>
  tile.return
}
