// Programs that are not put together, each with the operation because of which.
//
// RUN: fa-opt %s --split-input-file --remarks --tilegpu-pair-programs -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --input-file=%t --check-prefix=IR
// RUN: not fa-opt %s --split-input-file --tilegpu-pair-programs=programs=4 2>&1 | FileCheck %s --check-prefix=RANGE

// IR-NOT: tilegpu
// RANGE: error: expected 0 to 3 programs at once, but got 4

// Each overwrites the other's.
// CHECK: remark: [Missed] Programs {{.*}}along x, programs store different values to the same place
tile.kernel @same_place(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %n: i32, %k: i32) grid(n, k) -> (n ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %size = arith.constant 64 : i32
  %d = arith.constant 64 : i64
  %x = tile.program_id x
  %n64 = arith.extsi %n : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %row = arith.muli %x, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %j = %c0 to %k step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %aw = tile.make_block_ptr %a shape[%n64, %k64] strides[%k64, %one] offsets[%row64, %j64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %at = tile.load %aw : !tile.block_ptr<64x64xbf16>
    %bw = tile.make_block_ptr %b shape[%k64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %bt = tile.load %bw : !tile.block_ptr<64x64xbf16>
    %next = tile.dot %at, %bt, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %cw = tile.make_block_ptr %c shape[%n64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %all = tile.make_block_ptr %c shape[%n64, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %all, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// -----

// Rows between 64 times the number of programs and n would be written.
// CHECK: remark: [Missed] Programs {{.*}}along x, it is not known that the tensor of a window ends where the grid does
tile.kernel @end(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %n: i32, %k: i32) grid(n, k) -> (n floordiv 64) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %size = arith.constant 64 : i32
  %d = arith.constant 64 : i64
  %x = tile.program_id x
  %n64 = arith.extsi %n : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %row = arith.muli %x, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %j = %c0 to %k step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %aw = tile.make_block_ptr %a shape[%n64, %k64] strides[%k64, %one] offsets[%row64, %j64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %at = tile.load %aw : !tile.block_ptr<64x64xbf16>
    %bw = tile.make_block_ptr %b shape[%k64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %bt = tile.load %bw : !tile.block_ptr<64x64xbf16>
    %next = tile.dot %at, %bt, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %cw = tile.make_block_ptr %c shape[%n64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %cw, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// -----

// Nobody says that n and k are equal.
// CHECK: remark: [Missed] Programs {{.*}}along x, it is not known that the tensor of a window ends where the grid does
tile.kernel @other_end(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %n: i32, %k: i32) grid(n, k) -> (k ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %size = arith.constant 64 : i32
  %d = arith.constant 64 : i64
  %x = tile.program_id x
  %n64 = arith.extsi %n : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %row = arith.muli %x, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %j = %c0 to %k step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %aw = tile.make_block_ptr %a shape[%n64, %k64] strides[%k64, %one] offsets[%row64, %j64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %at = tile.load %aw : !tile.block_ptr<64x64xbf16>
    %bw = tile.make_block_ptr %b shape[%k64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %bt = tile.load %bw : !tile.block_ptr<64x64xbf16>
    %next = tile.dot %at, %bt, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %cw = tile.make_block_ptr %c shape[%n64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %cw, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// -----

// Rows of 64, 128 apart.
// CHECK: remark: [Missed] Programs {{.*}}along x, the windows of neighbouring programs do not follow each other
tile.kernel @gaps(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %n: i32, %k: i32) grid(n, k) -> (n ceildiv 128) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %size = arith.constant 128 : i32
  %d = arith.constant 64 : i64
  %x = tile.program_id x
  %n64 = arith.extsi %n : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %row = arith.muli %x, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %j = %c0 to %k step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %aw = tile.make_block_ptr %a shape[%n64, %k64] strides[%k64, %one] offsets[%row64, %j64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %at = tile.load %aw : !tile.block_ptr<64x64xbf16>
    %bw = tile.make_block_ptr %b shape[%k64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %bt = tile.load %bw : !tile.block_ptr<64x64xbf16>
    %next = tile.dot %at, %bt, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %cw = tile.make_block_ptr %c shape[%n64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %cw, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// -----

// Tiles would not lie where they did.
// CHECK: remark: [Missed] Programs {{.*}}along x, a loop starts at the position of the program
tile.kernel @starts(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %n: i32, %k: i32) grid(n, k) -> (n ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %size = arith.constant 64 : i32
  %d = arith.constant 64 : i64
  %x = tile.program_id x
  %n64 = arith.extsi %n : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %row = arith.muli %x, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %j = %row to %k step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %aw = tile.make_block_ptr %a shape[%n64, %k64] strides[%k64, %one] offsets[%row64, %j64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %at = tile.load %aw : !tile.block_ptr<64x64xbf16>
    %bw = tile.make_block_ptr %b shape[%k64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %bt = tile.load %bw : !tile.block_ptr<64x64xbf16>
    %next = tile.dot %at, %bt, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %cw = tile.make_block_ptr %c shape[%n64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %cw, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// -----

// The first program has no such iterations.
// CHECK: remark: [Missed] Programs {{.*}}along x, a loop ends at the position of the program, and hidden elements that are not finite would reach the next program's neighbour
tile.kernel @ends(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %n: i32, %k: i32) grid(n, k) -> (n ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %size = arith.constant 64 : i32
  %d = arith.constant 64 : i64
  %x = tile.program_id x
  %n64 = arith.extsi %n : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %row = arith.muli %x, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %j = %c0 to %row step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %aw = tile.make_block_ptr %a shape[%n64, %k64] strides[%k64, %one] offsets[%row64, %j64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %at = tile.load %aw : !tile.block_ptr<64x64xbf16>
    %bw = tile.make_block_ptr %b shape[%k64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %bt = tile.load %bw : !tile.block_ptr<64x64xbf16>
    %next = tile.dot %at, %bt, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %cw = tile.make_block_ptr %c shape[%n64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %cw, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// -----

// The second program has fewer.
// CHECK: remark: [Missed] Programs {{.*}}along x, a loop ends earlier in the next program
tile.kernel @shorter(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %n: i32, %k: i32) grid(n, k) -> (n ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %size = arith.constant 64 : i32
  %d = arith.constant 64 : i64
  %x = tile.program_id x
  %n64 = arith.extsi %n : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %row = arith.muli %x, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %less = arith.subi %k, %row : i32
  %sum = scf.for %j = %c0 to %less step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %aw = tile.make_block_ptr %a shape[%n64, %k64] strides[%k64, %one] offsets[%row64, %j64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %at = tile.load %aw : !tile.block_ptr<64x64xbf16>
    %bw = tile.make_block_ptr %b shape[%k64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %bt = tile.load %bw : !tile.block_ptr<64x64xbf16>
    %next = tile.dot %at, %bt, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %cw = tile.make_block_ptr %c shape[%n64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %cw, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// -----

// Rows of the right operand.
// CHECK: remark: [Missed] Programs {{.*}}along x, the rows of a program are not those of the left operand of 'tile.dot'
tile.kernel @right(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %n: i32, %k: i32) grid(n, k) -> (n ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %size = arith.constant 64 : i32
  %d = arith.constant 64 : i64
  %x = tile.program_id x
  %n64 = arith.extsi %n : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %row = arith.muli %x, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %j = %c0 to %k step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %aw = tile.make_block_ptr %a shape[%n64, %k64] strides[%k64, %one] offsets[%row64, %j64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %at = tile.load %aw : !tile.block_ptr<64x64xbf16>
    %bw = tile.make_block_ptr %b shape[%n64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %bt = tile.load %bw : !tile.block_ptr<64x64xbf16>
    %next = tile.dot %at, %bt, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %cw = tile.make_block_ptr %c shape[%n64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %cw, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// -----

// A table with rows, which are those of both.
// CHECK: remark: [Missed] Programs {{.*}}along x, an operand of 'arith.addf' is one tile for all programs, with rows of its own
tile.kernel @own_rows(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %n: i32, %k: i32) grid(n, k) -> (n ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %size = arith.constant 64 : i32
  %d = arith.constant 64 : i64
  %x = tile.program_id x
  %n64 = arith.extsi %n : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %row = arith.muli %x, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %j = %c0 to %k step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %aw = tile.make_block_ptr %a shape[%n64, %k64] strides[%k64, %one] offsets[%row64, %j64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %at = tile.load %aw : !tile.block_ptr<64x64xbf16>
    %bw = tile.make_block_ptr %b shape[%k64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %bt = tile.load %bw : !tile.block_ptr<64x64xbf16>
    %next = tile.dot %at, %bt, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %tw = tile.make_block_ptr %c shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %table = tile.load %tw : !tile.block_ptr<64x64xf32>
  %with = arith.addf %sum, %table : tensor<64x64xf32>
  %cw = tile.make_block_ptr %c shape[%n64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %cw, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// -----

// Products of f32 are not those of warpgroups.
// CHECK: remark: [Missed] Programs {{.*}}along x, a product is not one of warpgroups
tile.kernel @single(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>, %c: !tile.ptr<f32>, %n: i32, %k: i32) grid(n, k) -> (n ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %size = arith.constant 64 : i32
  %d = arith.constant 64 : i64
  %x = tile.program_id x
  %n64 = arith.extsi %n : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %row = arith.muli %x, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %j = %c0 to %k step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %aw = tile.make_block_ptr %a shape[%n64, %k64] strides[%k64, %one] offsets[%row64, %j64] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
    %at = tile.load %aw : !tile.block_ptr<64x64xf32>
    %bw = tile.make_block_ptr %b shape[%k64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
    %bt = tile.load %bw : !tile.block_ptr<64x64xf32>
    %next = tile.dot %at, %bt, %acc : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %cw = tile.make_block_ptr %c shape[%n64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %cw, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// -----

// 256 registers for the sums alone.
// CHECK: remark: [Missed] Programs {{.*}}along x, a thread would need 256 registers for tiles of 128 rows, more than the 200 that 2 warpgroups leave it beside the rest"
tile.kernel @registers(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %n: i32, %k: i32) grid(n, k) -> (n ceildiv 128) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %size = arith.constant 128 : i32
  %depth = arith.constant 32 : i32
  %d = arith.constant 256 : i64
  %x = tile.program_id x
  %n64 = arith.extsi %n : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %row = arith.muli %x, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %init = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %j = %c0 to %k step %depth iter_args(%acc = %init) -> (tensor<128x256xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %aw = tile.make_block_ptr %a shape[%n64, %k64] strides[%k64, %one] offsets[%row64, %j64] : !tile.ptr<bf16> -> !tile.block_ptr<128x32xbf16>
    %at = tile.load %aw : !tile.block_ptr<128x32xbf16>
    %bw = tile.make_block_ptr %b shape[%k64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<32x256xbf16>
    %bt = tile.load %bw : !tile.block_ptr<32x256xbf16>
    %next = tile.dot %at, %bt, %acc : tensor<128x32xbf16>, tensor<32x256xbf16>, tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  %cw = tile.make_block_ptr %c shape[%n64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<128x256xf32>
  tile.store %cw, %sum : !tile.block_ptr<128x256xf32>
  tile.return
}

// -----

// Nothing to share.
// CHECK: remark: [Missed] Programs {{.*}}along x, no product in a loop has an operand that they all load
tile.kernel @nothing_shared(%a: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %n: i32) grid(n) -> (n ceildiv 64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %size = arith.constant 64 : i32
  %d = arith.constant 64 : i64
  %x = tile.program_id x
  %n64 = arith.extsi %n : i32 to i64
  %row = arith.muli %x, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %aw = tile.make_block_ptr %a shape[%n64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %at = tile.load %aw : !tile.block_ptr<64x64xbf16>
  %b = arith.constant dense<1.0> : tensor<64x64xbf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = tile.dot %at, %b, %init : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  %cw = tile.make_block_ptr %c shape[%n64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %cw, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}
