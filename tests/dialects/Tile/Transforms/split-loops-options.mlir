// RUN: fa-opt %s --verify-diagnostics --remarks --pass-pipeline='builtin.module(tile.kernel(tile-split-loops{max-copies=1}))' | FileCheck %s

// With one copy allowed, masks stay, but the loop still begins and ends where a
// key is visible.
// CHECK-LABEL: tile.kernel @trimmed
// CHECK: scf.for
// CHECK: arith.select
// CHECK: {tile.part = "masked"}
// CHECK-NOT: scf.for
tile.kernel @trimmed(%x: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16xf32>
  %m0 = arith.constant 0xFF800000 : f32
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %first = arith.constant dense<100> : tensor<16xi32>
  %last = arith.constant dense<500> : tensor<16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  // expected-remark @below {{masks stay: 3 copies of the loop are needed, but max-copies is 1}}
  // expected-remark @below {{iterations with every lane masked are not visited}}
  %m = scf.for %k = %c0 to %n step %c16 iter_args(%old = %m0) -> (f32) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16xi32>
    %at = arith.addi %kt, %lane : tensor<16xi32>
    %p = tile.addptr %base, %at : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
    %v = tile.load %p : tensor<16x!tile.ptr<f32>>
    %after = arith.cmpi sge, %at, %first : tensor<16xi32>
    %before = arith.cmpi slt, %at, %last : tensor<16xi32>
    %mask = arith.andi %after, %before : tensor<16xi1>
    %s = arith.select %mask, %v, %inf : tensor<16xi1>, tensor<16xf32>
    %seen = tile.max %s axis 0 : tensor<16xf32> -> f32
    %new = arith.maximumf %old, %seen : f32
    scf.yield %new : f32
  }
  tile.store %x, %m : !tile.ptr<f32>
  tile.return
}
