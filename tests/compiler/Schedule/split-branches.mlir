// Iterations whose products stand in branches.
//
// RUN: fa-opt %s --remarks --pass-pipeline='builtin.module(tile.kernel(tilegpu-split-branches,canonicalize))' -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t

// Two products at the top and one in a branch, whose condition needs none of
// them: all three are in one block of the usual case. Loads stay at the top.
// REMARK: Function=three | Remark="the usual case of an iteration has its products in one block"
// CHECK-LABEL: tile.kernel @three
// CHECK: scf.for
// CHECK: tile.load
// CHECK: tile.load
// CHECK-NOT: tile.dot
// CHECK: %[[BAD:.*]] = tile.max {{.*}} axis 0
// CHECK: %[[SUM:.*]] = scf.if %[[BAD]]
// CHECK: tile.dot
// CHECK: tile.dot
// CHECK: arith.addf
// CHECK: } else {
// CHECK-NOT: scf.if
// CHECK: tile.dot
// CHECK: tile.dot
// CHECK-NOT: scf.if
// CHECK: tile.dot
// CHECK: scf.yield
// CHECK-NEXT: } {tilegpu.rare}
// CHECK-NEXT: scf.yield %[[SUM]]
tile.kernel @three(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %n64 = arith.extsi %n : i32 to i64
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %big = arith.constant dense<1.0e10> : tensor<64x64xbf16>
  %a = scf.for %j = %c0 to %n step %size iter_args(%acc = %none) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %qw = tile.make_block_ptr %q shape[%n64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
    %s = tile.dot %qt, %qt, %none : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %kw = tile.make_block_ptr %k shape[%n64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.dot %kt, %qt, %none : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %p = arith.mulf %s, %t : tensor<64x64xf32>
    %pb = tile.cast %p : tensor<64x64xf32> -> tensor<64x64xbf16>
    %over = arith.cmpf ogt, %kt, %big : tensor<64x64xbf16>
    %rows = tile.max %over axis 1 : tensor<64x64xi1> -> tensor<64xi1>
    %bad = tile.max %rows axis 0 : tensor<64xi1> -> i1
    %r = scf.if %bad -> (tensor<64x64xf32>) {
      %x = arith.addf %acc, %p : tensor<64x64xf32>
      scf.yield %x : tensor<64x64xf32>
    } else {
      %x = tile.dot %pb, %kt, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      scf.yield %x : tensor<64x64xf32>
    }
    scf.yield %r : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.return
}

// The condition is made of a product: nothing changes.
// REMARK-NOT: Function=depends
// CHECK-LABEL: tile.kernel @depends
// CHECK: tile.dot
// CHECK: scf.if
// CHECK-NOT: tilegpu.rare
tile.kernel @depends(%q: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %n64 = arith.extsi %n : i32 to i64
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = scf.for %j = %c0 to %n step %size iter_args(%acc = %none) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %qw = tile.make_block_ptr %q shape[%n64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
    %s = tile.dot %qt, %qt, %none : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %t = tile.dot %qt, %qt, %s : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %over = arith.cmpf ogt, %t, %none : tensor<64x64xf32>
    %rows = tile.max %over axis 1 : tensor<64x64xi1> -> tensor<64xi1>
    %bad = tile.max %rows axis 0 : tensor<64xi1> -> i1
    %r = scf.if %bad -> (tensor<64x64xf32>) {
      scf.yield %acc : tensor<64x64xf32>
    } else {
      %x = tile.dot %qt, %qt, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      scf.yield %x : tensor<64x64xf32>
    }
    scf.yield %r : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.return
}
