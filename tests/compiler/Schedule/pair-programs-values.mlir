// Values that keep programs from being put together: neither the same in all of
// them nor rows of one tile.
//
// RUN: fa-opt %s --split-input-file --remarks --tilegpu-pair-programs -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --input-file=%t --check-prefix=IR

// IR-NOT: tilegpu

// A branch that one of them takes, and that is not only computed.
// CHECK: remark: [Missed] Programs {{.*}}along x, a branch depends on the position of the program, and it stores
tile.kernel @condition(%p: !tile.ptr<f32>, %n: i32, %fine: i1) grid(n, fine) -> (n ceildiv 64) {
  %size = arith.constant 64 : i32
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  %isFirst = arith.cmpi eq, %x, %size : i32
  scf.if %isFirst {
    %some = arith.constant 1.0 : f32
    tile.store %p, %some : !tile.ptr<f32>
  }
  %a = tile.full 1.0 : bf16 -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = tile.dot %a, %a, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.return
}

// -----

// The number of programs is that of the grid as it was written.
// CHECK: remark: [Missed] Programs {{.*}}along x, it counts its programs
tile.kernel @count(%p: !tile.ptr<f32>, %n: i32, %fine: i1) grid(n, fine) -> (n ceildiv 64) {
  %size = arith.constant 64 : i32
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  %count = tile.num_programs x
  %a = tile.full 1.0 : bf16 -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = tile.dot %a, %a, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.return
}

// -----

// What each program adds.
// CHECK: remark: [Missed] Programs {{.*}}along x, 'tile.atomic_add' is done once by each program
tile.kernel @atomic(%p: !tile.ptr<f32>, %n: i32, %fine: i1) grid(n, fine) -> (n ceildiv 64) {
  %size = arith.constant 64 : i32
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  %one = arith.constant 1.0 : f32
  %old = tile.atomic_add %p, %one : !tile.ptr<f32>
  %a = tile.full 1.0 : bf16 -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = tile.dot %a, %a, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.return
}

// -----

// What each program prints.
// CHECK: remark: [Missed] Programs {{.*}}along x, 'tile.print' is done once by each program
tile.kernel @print(%p: !tile.ptr<f32>, %n: i32, %fine: i1) grid(n, fine) -> (n ceildiv 64) {
  %size = arith.constant 64 : i32
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  tile.print "n", %n : i32
  %a = tile.full 1.0 : bf16 -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = tile.dot %a, %a, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.return
}

// -----

// What each program checks.
// CHECK: remark: [Missed] Programs {{.*}}along x, 'tile.assert' is done once by each program
tile.kernel @assert(%p: !tile.ptr<f32>, %n: i32, %fine: i1) grid(n, fine) -> (n ceildiv 64) {
  %size = arith.constant 64 : i32
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  tile.assert %fine, "not fine" : i1
  %a = tile.full 1.0 : bf16 -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = tile.dot %a, %a, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.return
}

// -----

// One number for all rows.
// CHECK: remark: [Missed] Programs {{.*}}along x, 'tile.max' puts the rows of a program together
tile.kernel @together(%p: !tile.ptr<f32>, %n: i32, %fine: i1) grid(n, fine) -> (n ceildiv 64) {
  %size = arith.constant 64 : i32
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  %lane = tile.arange 0 to 64 : tensor<64xi32>
  %base = tile.splat %row : i32 -> tensor<64xi32>
  %rows = arith.addi %base, %lane : tensor<64xi32>
  %last = tile.max %rows axis 0 : tensor<64xi32> -> i32
  %a = tile.full 1.0 : bf16 -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = tile.dot %a, %a, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.return
}

// -----

// Rows that depend on those before.
// CHECK: remark: [Missed] Programs {{.*}}along x, 'tile.scan' goes along the rows of a program
tile.kernel @along(%p: !tile.ptr<f32>, %n: i32, %fine: i1) grid(n, fine) -> (n ceildiv 64) {
  %size = arith.constant 64 : i32
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  %lane = tile.arange 0 to 64 : tensor<64xi32>
  %base = tile.splat %row : i32 -> tensor<64xi32>
  %rows = arith.addi %base, %lane : tensor<64xi32>
  %sums = tile.scan(%rows) axis 0 {
  ^bb0(%i: i32, %j: i32):
    %k = arith.addi %i, %j : i32
    tile.yield %k : i32
  } : tensor<64xi32>
  %a = tile.full 1.0 : bf16 -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = tile.dot %a, %a, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.return
}

// -----

// A combiner that knows the program.
// CHECK: remark: [Missed] Programs {{.*}}along x, 'tile.reduce' depends on the position of the program
tile.kernel @inside(%p: !tile.ptr<f32>, %n: i32, %fine: i1) grid(n, fine) -> (n ceildiv 64) {
  %size = arith.constant 64 : i32
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  %lane = tile.arange 0 to 64 : tensor<64xi32>
  %all = tile.reduce(%lane) axis 0 {
  ^bb0(%i: i32, %j: i32):
    %k = arith.addi %i, %j : i32
    %l = arith.addi %k, %x : i32
    tile.yield %l : i32
  } : (tensor<64xi32>) -> i32
  %a = tile.full 1.0 : bf16 -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = tile.dot %a, %a, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.return
}

// -----

// Rows become columns.
// CHECK: remark: [Missed] Programs {{.*}}along x, 'tile.reshape' takes rows of a program apart
tile.kernel @shape(%p: !tile.ptr<f32>, %n: i32, %fine: i1) grid(n, fine) -> (n ceildiv 64) {
  %size = arith.constant 64 : i32
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  %lane = tile.arange 0 to 64 : tensor<64xi32>
  %base = tile.splat %row : i32 -> tensor<64xi32>
  %rows = arith.addi %base, %lane : tensor<64xi32>
  %other = tile.reshape %rows : tensor<64xi32> -> tensor<8x8xi32>
  %a = tile.full 1.0 : bf16 -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = tile.dot %a, %a, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.return
}

// -----

// Positions of both programs are not computed at once.
// CHECK: remark: [Missed] Programs {{.*}}along x, 'arith.divsi' uses positions in a way that is not understood
tile.kernel @quotient(%p: !tile.ptr<f32>, %n: i32, %fine: i1) grid(n, fine) -> (n ceildiv 64) {
  %size = arith.constant 64 : i32
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  %lane = tile.arange 0 to 64 : tensor<64xi32>
  %base = tile.splat %x : i32 -> tensor<64xi32>
  %rows = arith.addi %base, %lane : tensor<64xi32>
  %parts = arith.divsi %rows, %lane : tensor<64xi32>
  %a = tile.full 1.0 : bf16 -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = tile.dot %a, %a, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.return
}

// -----

// A tensor for each program.
// CHECK: remark: [Missed] Programs {{.*}}along x, the result of 'tile.addptr' depends on the position of the program
tile.kernel @address(%p: !tile.ptr<f32>, %n: i32, %fine: i1) grid(n, fine) -> (n ceildiv 64) {
  %size = arith.constant 64 : i32
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  %own = tile.addptr %p, %row : !tile.ptr<f32>, i32
  %a = tile.full 1.0 : bf16 -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = tile.dot %a, %a, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.return
}

// -----

// A number of one program in two dimensions.
// CHECK: remark: [Missed] Programs {{.*}}along x, a tile of more than one row is filled with a number that depends on the position of the program
tile.kernel @fill(%p: !tile.ptr<f32>, %n: i32, %fine: i1) grid(n, fine) -> (n ceildiv 64) {
  %size = arith.constant 64 : i32
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  %filled = tile.splat %row : i32 -> tensor<64x64xi32>
  %a = tile.full 1.0 : bf16 -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = tile.dot %a, %a, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.return
}

// -----

// What a program beyond the grid would read.
// CHECK: remark: [Missed] Programs {{.*}}along x, it is not known that a load leaves out programs beyond the grid
tile.kernel @unmasked(%p: !tile.ptr<f32>, %n: i32, %fine: i1) grid(n, fine) -> (n ceildiv 64) {
  %size = arith.constant 64 : i32
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  %lane = tile.arange 0 to 64 : tensor<64xi32>
  %base = tile.splat %row : i32 -> tensor<64xi32>
  %rows = arith.addi %base, %lane : tensor<64xi32>
  %places = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %place = tile.addptr %places, %rows : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %read = tile.load %place : tensor<64x!tile.ptr<f32>>
  %a = tile.full 1.0 : bf16 -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = tile.dot %a, %a, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.return
}

// -----

// A mask that leaves out too few.
// CHECK: remark: [Missed] Programs {{.*}}along x, it is not known that a store leaves out programs beyond the grid
tile.kernel @half_masked(%p: !tile.ptr<f32>, %n: i32, %fine: i1) grid(n, fine) -> (n ceildiv 64) {
  %size = arith.constant 64 : i32
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  %lane = tile.arange 0 to 64 : tensor<64xi32>
  %base = tile.splat %row : i32 -> tensor<64xi32>
  %rows = arith.addi %base, %lane : tensor<64xi32>
  %limit = tile.splat %n : i32 -> tensor<64xi32>
  %inside = arith.cmpi sle, %rows, %limit : tensor<64xi32>
  %places = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %place = tile.addptr %places, %rows : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %value = arith.constant dense<1.0> : tensor<64xf32>
  tile.store %place, %value mask %inside : tensor<64x!tile.ptr<f32>>
  %a = tile.full 1.0 : bf16 -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = tile.dot %a, %a, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.return
}

// -----

// What holds for those that take it.
// CHECK: remark: [Missed] Programs {{.*}}along x, a branch depends on the position of the program, and what is in it relies on the condition
tile.kernel @trust(%p: !tile.ptr<f32>, %n: i32, %fine: i1) grid(n, fine) -> (n ceildiv 64) {
  %size = arith.constant 64 : i32
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  %isFirst = arith.cmpi slt, %row, %n : i32
  %more = scf.if %isFirst -> (i32) {
    %few = tile.assume %row {max = 100 : i32} : i32
    scf.yield %few : i32
  } else {
    scf.yield %size : i32
  }
  %a = tile.full 1.0 : bf16 -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = tile.dot %a, %a, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.return
}

// -----

// A number for each.
// CHECK: remark: [Missed] Programs {{.*}}along x, a branch that some programs take gives something else than rows
tile.kernel @number(%p: !tile.ptr<f32>, %n: i32, %fine: i1) grid(n, fine) -> (n ceildiv 64) {
  %size = arith.constant 64 : i32
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  %isFirst = arith.cmpi slt, %row, %n : i32
  %twice = arith.addi %row, %size : i32
  %more = scf.if %isFirst -> (i32) {
    scf.yield %twice : i32
  } else {
    scf.yield %row : i32
  }
  %a = tile.full 1.0 : bf16 -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = tile.dot %a, %a, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.return
}

// -----

// A number chosen by a condition of each.
// CHECK: remark: [Missed] Programs {{.*}}along x, the result of 'arith.select' depends on the position of the program
tile.kernel @choice(%p: !tile.ptr<f32>, %n: i32, %fine: i1) grid(n, fine) -> (n ceildiv 64) {
  %size = arith.constant 64 : i32
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  %isFirst = arith.cmpi slt, %row, %n : i32
  %more = arith.select %isFirst, %n, %size : i32
  %a = tile.full 1.0 : bf16 -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = tile.dot %a, %a, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.return
}
