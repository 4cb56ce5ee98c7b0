// RUN: fa-opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-sink-scale,canonicalize,cse))' | FileCheck %s

// The running maximum of masked, scaled scores: carried unscaled, from -inf to
// its use after the loop; the guard compares the scaled maximum as before.
// CHECK-LABEL: tile.kernel @running_maximum
tile.kernel @running_maximum(%x: !tile.ptr<f32>, %given: f32, %n: i32, %mask: i1) grid(n, m) -> (1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  // CHECK: %[[SCALE:.*]] = tile.assume %given {min = 1.000000e-30 : f32}
  %scale = tile.assume %given {min = 1.0e-30 : f32} : f32
  %scale2 = tile.splat %scale : f32 -> tensor<16x16xf32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  // CHECK: %[[M:.*]] = scf.for {{.*}} iter_args(%[[OLD:.*]] = %[[MINF:.*]]) -> (tensor<16xf32>)
  // CHECK: %[[Q:.*]] = tile.load
  // CHECK: %[[S:.*]] = arith.select %mask, %[[Q]], %{{.*}} : tensor<16x16xf32>
  // CHECK: %[[SEEN:.*]] = tile.max %[[S]] axis 1
  // CHECK: %[[NEW:.*]] = arith.maximumf %[[OLD]], %[[SEEN]]
  // CHECK: %[[TIMES:.*]] = tile.splat %[[SCALE]] : f32 -> tensor<16xf32>
  // CHECK: %[[SCALED:.*]] = arith.mulf %[[NEW]], %[[TIMES]]
  // CHECK: arith.cmpf oeq, %[[SCALED]], %[[MINF]]
  // CHECK: scf.yield %[[NEW]]
  // CHECK: arith.mulf %[[M]], %{{.*}} : tensor<16xf32>
  %m = scf.for %i = %c0 to %n step %c1 iter_args(%old = %m0) -> (tensor<16xf32>) : i32 {
    %q = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %scaled = arith.mulf %q, %scale2 : tensor<16x16xf32>
    %s = arith.select %mask, %scaled, %inf : tensor<16x16xf32>
    %seen = tile.max %s axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %new = arith.maximumf %old, %seen : tensor<16xf32>
    %empty = arith.cmpf oeq, %new, %m0 : tensor<16xf32>
    %ref = arith.select %empty, %zero, %new : tensor<16xi1>, tensor<16xf32>
    tile.store %o, %ref : tensor<16x!tile.ptr<f32>>
    scf.yield %new : tensor<16xf32>
  }
  tile.store %o, %m : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// Two loops, one after the other, as tile-split-loops leaves them: the second
// goes on from the unscaled maximum of the first. The factor is a product of a
// positive scalar and a constant of at least 1.
// CHECK-LABEL: tile.kernel @two_loops
tile.kernel @two_loops(%x: !tile.ptr<f32>, %given: f32, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %two = arith.constant 2.0 : f32
  %positive = tile.assume %given {min = 1.0e-30 : f32} : f32
  %scale = arith.mulf %positive, %two : f32
  %scale2 = tile.splat %scale : f32 -> tensor<16x16xf32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  // CHECK: %[[FIRST:.*]] = scf.for
  // CHECK-NOT: arith.mulf
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]])
  // CHECK-NOT: arith.mulf
  // CHECK: }
  // CHECK: arith.mulf
  %m = scf.for %i = %c0 to %n step %c1 iter_args(%old = %m0) -> (tensor<16xf32>) : i32 {
    %q = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %s = arith.mulf %q, %scale2 : tensor<16x16xf32>
    %seen = tile.max %s axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %new = arith.maximumf %old, %seen : tensor<16xf32>
    scf.yield %new : tensor<16xf32>
  }
  %k = scf.for %i = %c0 to %n step %c1 iter_args(%old = %m) -> (tensor<16xf32>) : i32 {
    %q = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %s = arith.mulf %q, %scale2 : tensor<16x16xf32>
    %seen = tile.max %s axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %new = arith.maximumf %old, %seen : tensor<16xf32>
    scf.yield %new : tensor<16xf32>
  }
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  tile.store %o, %k : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// A constant needs no promise; the maximum of a whole tile is a scalar.
// CHECK-LABEL: tile.kernel @constant_factor
tile.kernel @constant_factor(%x: !tile.ptr<f32>) grid() -> (1) {
  %c = arith.constant dense<1.25e-01> : tensor<16xf32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  // CHECK: %[[C:.*]] = arith.constant 1.250000e-01 : f32
  // CHECK: %[[V:.*]] = tile.load
  // CHECK: %[[MAX:.*]] = tile.max %[[V]] axis 0
  // CHECK: arith.mulf %[[MAX]], %[[C]] : f32
  %v = tile.load %p : tensor<16x!tile.ptr<f32>>
  %s = arith.mulf %v, %c : tensor<16xf32>
  %m = tile.max %s axis 0 : tensor<16xf32> -> f32
  tile.store %x, %m : !tile.ptr<f32>
  tile.return
}
