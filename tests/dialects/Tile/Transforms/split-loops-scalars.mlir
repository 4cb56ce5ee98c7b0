// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-split-loops,canonicalize,cse))' | FileCheck %s

// Comparisons of scalars that the interior decides are constants there, and
// branches on them are gone; in masked iterations they stay.

// False in the interior: the last column lies beyond the first row.
// CHECK-LABEL: tile.kernel @false_in_interior
// CHECK: scf.for
// CHECK-NOT: arith.cmpi
// CHECK-NOT: scf.if
// CHECK: {tile.part = "interior"}
// CHECK: scf.for
// CHECK: arith.cmpi sgt, %{{.*}}, %n : i32
// CHECK: scf.if
// CHECK: {tile.part = "masked"}
tile.kernel @false_in_interior(%x: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c15 = arith.constant 15 : i32
  %c16 = arith.constant 16 : i32
  %end = arith.addi %n, %c16 : i32
  %zeros = arith.constant dense<0.0> : tensor<16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %limit = tile.splat %n : i32 -> tensor<16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %q = tile.load %base : tensor<16x!tile.ptr<f32>>
  %r = scf.for %k = %c0 to %end step %c16 iter_args(%acc = %zeros) -> (tensor<16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16xi32>
    %col = arith.addi %kt, %lane : tensor<16xi32>
    %mask = arith.cmpi sle, %col, %limit : tensor<16xi32>
    %e = arith.select %mask, %q, %zeros : tensor<16xi1>, tensor<16xf32>
    %sum = arith.addf %acc, %e : tensor<16xf32>
    %last = arith.addi %k, %c15 : i32
    %crosses = arith.cmpi sgt, %last, %n : i32
    %other = scf.if %crosses -> (tensor<16xf32>) {
      %twice = arith.addf %sum, %e : tensor<16xf32>
      scf.yield %twice : tensor<16xf32>
    } else {
      scf.yield %sum : tensor<16xf32>
    }
    scf.yield %other : tensor<16xf32>
  }
  tile.store %base, %r : tensor<16x!tile.ptr<f32>>
  tile.return
}

// True in the interior, also for every iteration of an inner loop.
// CHECK-LABEL: tile.kernel @true_in_interior
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: arith.cmpi
// CHECK-NOT: arith.select
// CHECK: {tile.part = "interior"}
// CHECK: arith.cmpi slt, %{{.*}}, %n : i32
// CHECK: {tile.part = "masked"}
tile.kernel @true_in_interior(%x: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %end = arith.addi %n, %c16 : i32
  %zeros = arith.constant dense<0.0> : tensor<16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %limit = tile.splat %n : i32 -> tensor<16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %q = tile.load %base : tensor<16x!tile.ptr<f32>>
  %r = scf.for %k = %c0 to %end step %c16 iter_args(%acc = %zeros) -> (tensor<16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16xi32>
    %col = arith.addi %kt, %lane : tensor<16xi32>
    %mask = arith.cmpi slt, %col, %limit : tensor<16xi32>
    %e = arith.select %mask, %q, %zeros : tensor<16xi1>, tensor<16xf32>
    %sums = scf.for %i = %c0 to %c16 step %c1 iter_args(%part = %acc) -> (tensor<16xf32>) : i32 {
      %at = arith.addi %k, %i : i32
      %inside = arith.cmpi slt, %at, %n : i32
      %sum = arith.addf %part, %e : tensor<16xf32>
      %next = arith.select %inside, %sum, %part : tensor<16xf32>
      scf.yield %next : tensor<16xf32>
    }
    scf.yield %sums : tensor<16xf32>
  }
  tile.store %base, %r : tensor<16x!tile.ptr<f32>>
  tile.return
}

// What the interior does not decide stays: the bound is one less.
// CHECK-LABEL: tile.kernel @undecided
// CHECK: scf.for
// CHECK: scf.if
// CHECK: {tile.part = "interior"}
tile.kernel @undecided(%x: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %end = arith.addi %n, %c16 : i32
  %zeros = arith.constant dense<0.0> : tensor<16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %limit = tile.splat %n : i32 -> tensor<16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %q = tile.load %base : tensor<16x!tile.ptr<f32>>
  %r = scf.for %k = %c0 to %end step %c16 iter_args(%acc = %zeros) -> (tensor<16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16xi32>
    %col = arith.addi %kt, %lane : tensor<16xi32>
    %mask = arith.cmpi sle, %col, %limit : tensor<16xi32>
    %e = arith.select %mask, %q, %zeros : tensor<16xi1>, tensor<16xf32>
    %sum = arith.addf %acc, %e : tensor<16xf32>
    %last = arith.addi %k, %c16 : i32
    %crosses = arith.cmpi sgt, %last, %n : i32
    %other = scf.if %crosses -> (tensor<16xf32>) {
      %twice = arith.addf %sum, %e : tensor<16xf32>
      scf.yield %twice : tensor<16xf32>
    } else {
      scf.yield %sum : tensor<16xf32>
    }
    scf.yield %other : tensor<16xf32>
  }
  tile.store %base, %r : tensor<16x!tile.ptr<f32>>
  tile.return
}

// A comparison of scalars alone cuts no loop.
// CHECK-LABEL: tile.kernel @alone
// CHECK: scf.for
// CHECK: scf.if
// CHECK-NOT: tile.part
// CHECK: tile.return
tile.kernel @alone(%x: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %c16 = arith.constant 16 : i32
  %f = arith.constant 1.0 : f32
  scf.for %k = %c0 to %n step %c4 : i32 {
    %late = arith.cmpi sgt, %k, %c16 : i32
    scf.if %late {
      tile.store %x, %f : !tile.ptr<f32>
    }
  }
  tile.return
}
