// Why loads are not copied in the background, or through fewer buffers than asked
// for.
//
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu,cse,loop-invariant-code-motion,tilegpu-stage-loads{num-stages=3},canonicalize,cse))' --remarks \
// RUN:   -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --input-file=%t --check-prefix=CODE
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu,cse,loop-invariant-code-motion,tilegpu-stage-loads{num-stages=3 shared-limit=20000},canonicalize,cse))' --remarks \
// RUN:   -o %t.little 2>&1 | FileCheck %s --check-prefix=LITTLE
// RUN: FileCheck %s --input-file=%t.little --check-prefix=LITTLE-CODE

// LITTLE: Function=fits | Reason="2 instead of 3 buffers: one takes 8192 bytes beside 0 of 20000"
// LITTLE: Function=fits | Remark="copied ahead by cp.async through 2 buffers of 4096 bytes"
// LITTLE-CODE-LABEL: tile.kernel @fits
// LITTLE-CODE: tilegpu.alloc : <2 x 64x32xbf16, swizzle = 64>
// CHECK: Function=fits | Remark="copied ahead by cp.async through 3 buffers of 4096 bytes"
tile.kernel @fits(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 64 : i64
  %stride = arith.constant 4096 : i64
  %n64 = arith.extsi %n : i32 to i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %a0 = tile.make_block_ptr %x shape[%rows, %n64] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x32xbf16>
  %b0 = tile.make_block_ptr %y shape[%n64, %rows] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<32x64xbf16>
  %c = tile.make_block_ptr %z shape[%rows, %rows] strides[%rows, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zeros) -> (tensor<64x64xf32>) : i32 {
    %k64 = arith.extsi %k : i32 to i64
    %a_at = tile.advance %a0, [%zero, %k64] : !tile.block_ptr<64x32xbf16>
    %a = tile.load %a_at : !tile.block_ptr<64x32xbf16>
    %b_at = tile.advance %b0, [%k64, %zero] : !tile.block_ptr<32x64xbf16>
    %b = tile.load %b_at : !tile.block_ptr<32x64xbf16>
    %next = tile.dot %a, %b, %acc : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %c, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// A tile that is there all the time leaves room for one buffer, which is no ring.
// LITTLE: Function=beside | Reason="1 instead of 3 buffers: one takes 12288 bytes beside 4096 of 20000"
// LITTLE-CODE-LABEL: tile.kernel @beside
// LITTLE-CODE: scf.for
// LITTLE-CODE-NOT: tilegpu.copy_async
// LITTLE-CODE: tilegpu.stage
tile.kernel @beside(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 64 : i64
  %stride = arith.constant 4096 : i64
  %n64 = arith.extsi %n : i32 to i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %a0 = tile.make_block_ptr %x shape[%rows, %n64] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x32xbf16>
  %b0 = tile.make_block_ptr %y shape[%n64, %rows] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<32x64xbf16>
  %c = tile.make_block_ptr %z shape[%rows, %rows] strides[%rows, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %d0 = tile.make_block_ptr %y shape[%n64, %rows] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x32xbf16>
  %q = tile.load %a0 : !tile.block_ptr<64x32xbf16>
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zeros) -> (tensor<64x64xf32>) : i32 {
    %k64 = arith.extsi %k : i32 to i64
    %a_at = tile.advance %a0, [%zero, %k64] : !tile.block_ptr<64x32xbf16>
    %a = tile.load %a_at : !tile.block_ptr<64x32xbf16>
    %b_at = tile.advance %b0, [%k64, %zero] : !tile.block_ptr<32x64xbf16>
    %b = tile.load %b_at : !tile.block_ptr<32x64xbf16>
    %next = tile.dot %a, %b, %acc : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    %d_at = tile.advance %d0, [%k64, %zero] : !tile.block_ptr<64x32xbf16>
    %d = tile.load %d_at : !tile.block_ptr<64x32xbf16>
    %dt = tile.trans %d order [1, 0] : tensor<64x32xbf16> -> tensor<32x64xbf16>
    %more = tile.dot %q, %dt, %next : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    scf.yield %more : tensor<64x64xf32>
  }
  tile.store %c, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// CHECK: Function=stores | Reason="not copied ahead: the loop writes to memory"
// CHECK: Function=stores | Reason="not copied ahead: the loop writes to memory"
// CODE-LABEL: tile.kernel @stores
// CODE-NOT: tilegpu.copy_async
// CODE: tilegpu.stage
tile.kernel @stores(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 64 : i64
  %stride = arith.constant 4096 : i64
  %n64 = arith.extsi %n : i32 to i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %a0 = tile.make_block_ptr %x shape[%rows, %n64] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x32xbf16>
  %b0 = tile.make_block_ptr %y shape[%n64, %rows] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<32x64xbf16>
  %c = tile.make_block_ptr %z shape[%rows, %rows] strides[%rows, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zeros) -> (tensor<64x64xf32>) : i32 {
    %k64 = arith.extsi %k : i32 to i64
    %a_at = tile.advance %a0, [%zero, %k64] : !tile.block_ptr<64x32xbf16>
    %a = tile.load %a_at : !tile.block_ptr<64x32xbf16>
    %b_at = tile.advance %b0, [%k64, %zero] : !tile.block_ptr<32x64xbf16>
    %b = tile.load %b_at : !tile.block_ptr<32x64xbf16>
    %next = tile.dot %a, %b, %acc : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    tile.store %c, %next : !tile.block_ptr<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %c, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// CHECK: Function=carried | Reason="not copied ahead: its place depends on values that the loop carries or branches on"
// CODE-LABEL: tile.kernel @carried
// CODE-NOT: tilegpu.copy_async %{{.*}} : <64x32xbf16>
// CODE: tile.return
tile.kernel @carried(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 64 : i64
  %stride = arith.constant 4096 : i64
  %n64 = arith.extsi %n : i32 to i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %a0 = tile.make_block_ptr %x shape[%rows, %n64] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x32xbf16>
  %b0 = tile.make_block_ptr %y shape[%n64, %rows] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<32x64xbf16>
  %c = tile.make_block_ptr %z shape[%rows, %rows] strides[%rows, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %sum, %end = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zeros, %at = %c0)
      -> (tensor<64x64xf32>, i32) : i32 {
    %k64 = arith.extsi %k : i32 to i64
    %at64 = arith.extsi %at : i32 to i64
    %a_at = tile.advance %a0, [%zero, %at64] : !tile.block_ptr<64x32xbf16>
    %a = tile.load %a_at : !tile.block_ptr<64x32xbf16>
    %b_at = tile.advance %b0, [%k64, %zero] : !tile.block_ptr<32x64xbf16>
    %b = tile.load %b_at : !tile.block_ptr<32x64xbf16>
    %next = tile.dot %a, %b, %acc : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    %twice = arith.addi %at, %at : i32
    %at_next = arith.addi %twice, %c32 : i32
    scf.yield %next, %at_next : tensor<64x64xf32>, i32
  }
  tile.store %c, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// Copies pad with zeros.
// CHECK: Function=padding | Reason="not copied ahead: its padding is not zero"
tile.kernel @padding(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 64 : i64
  %stride = arith.constant 4096 : i64
  %n64 = arith.extsi %n : i32 to i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %a0 = tile.make_block_ptr %x shape[%rows, %n64] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x32xbf16>
  %b0 = tile.make_block_ptr %y shape[%n64, %rows] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<32x64xbf16>
  %c = tile.make_block_ptr %z shape[%rows, %rows] strides[%rows, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zeros) -> (tensor<64x64xf32>) : i32 {
    %k64 = arith.extsi %k : i32 to i64
    %a_at = tile.advance %a0, [%zero, %k64] : !tile.block_ptr<64x32xbf16>
    %a = tile.load %a_at padding nan : !tile.block_ptr<64x32xbf16>
    %b_at = tile.advance %b0, [%k64, %zero] : !tile.block_ptr<32x64xbf16>
    %b = tile.load %b_at : !tile.block_ptr<32x64xbf16>
    %next = tile.dot %a, %b, %acc : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %c, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// CHECK: Function=pointers | Reason="not copied ahead: it reads through single pointers"
tile.kernel @pointers(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 64 : i64
  %stride = arith.constant 4096 : i64
  %n64 = arith.extsi %n : i32 to i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %a0 = tile.make_block_ptr %x shape[%rows, %n64] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x32xbf16>
  %b0 = tile.make_block_ptr %y shape[%n64, %rows] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<32x64xbf16>
  %c = tile.make_block_ptr %z shape[%rows, %rows] strides[%rows, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zeros) -> (tensor<64x64xf32>) : i32 {
    %k64 = arith.extsi %k : i32 to i64
    %lanes = tile.arange 0 to 32 : tensor<32xi32>
    %at = tile.splat %k : i32 -> tensor<32xi32>
    %columns = arith.addi %lanes, %at : tensor<32xi32>
    %line = tile.expand_dims %columns axis 0 : tensor<32xi32> -> tensor<1x32xi32>
    %places = tile.broadcast %line : tensor<1x32xi32> -> tensor<64x32xi32>
    %start = tile.splat %x : !tile.ptr<bf16> -> tensor<64x32x!tile.ptr<bf16>>
    %ps = tile.addptr %start, %places : tensor<64x32x!tile.ptr<bf16>>, tensor<64x32xi32>
    %a = tile.load %ps : tensor<64x32x!tile.ptr<bf16>>
    %b_at = tile.advance %b0, [%k64, %zero] : !tile.block_ptr<32x64xbf16>
    %b = tile.load %b_at : !tile.block_ptr<32x64xbf16>
    %next = tile.dot %a, %b, %acc : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %c, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// What an assertion says about a page may be what makes it one.
// CHECK: Function=asserted | Reason="not copied ahead: its place is read from memory, and the loop has assertions"
// CODE-LABEL: tile.kernel @asserted
// CODE-NOT: tilegpu.copy_async
// CODE: tile.return
tile.kernel @asserted(%x: !tile.ptr<bf16>, %pages: !tile.ptr<i32>, %z: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 64 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.full 1.0 : bf16 -> tensor<64x64xbf16>
  %c = tile.make_block_ptr %z shape[%rows, %rows] strides[%rows, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (tensor<64x64xf32>) : i32 {
    %at = tile.addptr %pages, %k : !tile.ptr<i32>, i32
    %page = tile.load %at : !tile.ptr<i32>
    %inside = arith.cmpi slt, %page, %n : i32
    tile.assert %inside, "a page beyond the end" : i1
    %base = tile.addptr %x, %page : !tile.ptr<bf16>, i32
    %b_at = tile.make_block_ptr %base shape[%rows, %rows] strides[%rows, %one] offsets[%zero, %zero]
        : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %b = tile.load %b_at : !tile.block_ptr<64x64xbf16>
    %next = tile.dot %a, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %c, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}
