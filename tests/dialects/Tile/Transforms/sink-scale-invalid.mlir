// RUN: fa-opt %s --split-input-file --verify-diagnostics --remarks --pass-pipeline='builtin.module(tile.kernel(tile-sink-scale))' | FileCheck %s

// A scale of zero or below zero must not meet the -inf of a mask.
// CHECK-LABEL: tile.kernel @unknown_sign
// CHECK: %[[S:.*]] = arith.mulf
// CHECK: %[[M:.*]] = arith.select %mask, %[[S]]
// CHECK: tile.max %[[M]]
tile.kernel @unknown_sign(%x: !tile.ptr<f32>, %scale: f32, %mask: i1) grid(m) -> (1) {
  %inf = arith.constant dense<0xFF800000> : tensor<16xf32>
  %c = tile.splat %scale : f32 -> tensor<16xf32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %v = tile.load %p : tensor<16x!tile.ptr<f32>>
  %s = arith.mulf %v, %c : tensor<16xf32>
  %masked = arith.select %mask, %s, %inf : tensor<16xf32>
  // expected-remark @below {{maximum stays after the scale, which is not known to be positive; 'tile.assume' with a positive 'min' says so}}
  %m = tile.max %masked axis 0 : tensor<16xf32> -> f32
  tile.store %x, %m : !tile.ptr<f32>
  tile.return
}

// -----

// A promise of at least zero is not enough, and neither is one of at least a
// subnormal number: where those are flushed, it is zero.
// CHECK-LABEL: tile.kernel @not_positive_enough
// CHECK-COUNT-2: arith.mulf {{.*}} : tensor<16xf32>
// CHECK-NOT: arith.mulf
tile.kernel @not_positive_enough(%x: !tile.ptr<f32>, %a: f32, %b: f32) grid() -> (1) {
  %zero = tile.assume %a {min = 0.0 : f32} : f32
  %tiny = tile.assume %b {min = 1.0e-42 : f32} : f32
  %c = tile.splat %zero : f32 -> tensor<16xf32>
  %d = tile.splat %tiny : f32 -> tensor<16xf32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %v = tile.load %p : tensor<16x!tile.ptr<f32>>
  %s = arith.mulf %v, %c : tensor<16xf32>
  %t = arith.mulf %v, %d : tensor<16xf32>
  // expected-remark @below {{not known to be positive}}
  %m = tile.max %s axis 0 : tensor<16xf32> -> f32
  // expected-remark @below {{not known to be positive}}
  %n = tile.max %t axis 0 : tensor<16xf32> -> f32
  tile.store %x, %m : !tile.ptr<f32>
  tile.store %x, %n : !tile.ptr<f32>
  tile.return
}

// -----

// A finite initial maximum would have to be divided by the scale, which rounds.
// CHECK-LABEL: tile.kernel @finite_initial_maximum
// CHECK: scf.for
// CHECK: %[[MAX:.*]] = tile.max
// CHECK: arith.mulf %[[MAX]]
tile.kernel @finite_initial_maximum(%x: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m0 = arith.constant dense<-1.0> : tensor<16xf32>
  %scale = arith.constant dense<0.1> : tensor<16x16xf32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  // expected-remark @below {{running maximum stays scaled: its initial value is neither -inf nor a product with the same factor}}
  %m = scf.for %i = %c0 to %n step %c1 iter_args(%old = %m0) -> (tensor<16xf32>) : i32 {
    %q = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %s = arith.mulf %q, %scale : tensor<16x16xf32>
    %seen = tile.max %s axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %new = arith.maximumf %old, %seen : tensor<16xf32>
    scf.yield %new : tensor<16xf32>
  }
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  tile.store %o, %m : tensor<16x!tile.ptr<f32>>
  tile.return
}
