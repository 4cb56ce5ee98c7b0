// RUN: fa-opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-exp-to-exp2,canonicalize,cse))' | FileCheck %s

// Scores minus their row's maximum: the scale and log2(e) are one scalar before
// the loop, and an element costs one multiply-add and one exp2.
// CHECK-LABEL: tile.kernel @scaled_scores
// CHECK-SAME: %scale: f32
tile.kernel @scaled_scores(%x: !tile.ptr<f32>, %scale: f32, %n: i32) grid(n) -> (1) {
  // CHECK-DAG: %[[LOG2E:.*]] = arith.constant 1.44269502 : f32
  // CHECK-DAG: %[[ROW:.*]] = arith.constant dense<1.44269502> : tensor<16xf32>
  // CHECK: %[[C:.*]] = arith.mulf %scale, %[[LOG2E]] : f32
  // CHECK: %[[C2:.*]] = tile.splat %[[C]] : f32 -> tensor<16x32xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<16x32x!tile.ptr<f32>>
  %scale2 = tile.splat %scale : f32 -> tensor<16x32xf32>
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 : i32 {
    // CHECK: %[[Q:.*]] = tile.load
    // CHECK: %[[MAX:.*]] = tile.max
    // CHECK: %[[M:.*]] = arith.mulf %[[MAX]], %[[ROW]] : tensor<16xf32>
    // CHECK: %[[NEG:.*]] = arith.negf %[[M]] : tensor<16xf32>
    // CHECK: %[[COLUMN:.*]] = tile.expand_dims %[[NEG]] axis 1
    // CHECK: %[[REF:.*]] = tile.broadcast %[[COLUMN]]
    // CHECK: %[[E:.*]] = math.fma %[[Q]], %[[C2]], %[[REF]] : tensor<16x32xf32>
    // CHECK: tile.exp2 %[[E]] fastmath<afn> : tensor<16x32xf32>
    %q = tile.load %p : tensor<16x32x!tile.ptr<f32>>
    %m = tile.max %q axis 1 : tensor<16x32xf32> -> tensor<16xf32>
    %s = arith.mulf %q, %scale2 : tensor<16x32xf32>
    %m1 = tile.expand_dims %m axis 1 : tensor<16xf32> -> tensor<16x1xf32>
    %m2 = tile.broadcast %m1 : tensor<16x1xf32> -> tensor<16x32xf32>
    %d = arith.subf %s, %m2 : tensor<16x32xf32>
    %e = tile.exp %d fastmath<afn> : tensor<16x32xf32>
    tile.store %p, %e : tensor<16x32x!tile.ptr<f32>>
  }
  tile.return
}

// -----

// A scale of unknown sign under a mask: the mask stays after the scale, so that
// -inf meets log2(e) only.
// CHECK-LABEL: tile.kernel @masked_unknown_sign
tile.kernel @masked_unknown_sign(%x: !tile.ptr<f32>, %scale: f32, %mask: i1) grid(m) -> (1) {
  // CHECK: %[[LOG2E:.*]] = arith.constant dense<1.44269502> : tensor<16xf32>
  %inf = arith.constant dense<0xFF800000> : tensor<16xf32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %scale2 = tile.splat %scale : f32 -> tensor<16xf32>
  %q = tile.load %p : tensor<16x!tile.ptr<f32>>
  // CHECK: %[[S:.*]] = arith.mulf %{{.*}}, %{{.*}} : tensor<16xf32>
  // CHECK: %[[MASKED:.*]] = arith.select %mask, %[[S]]
  // CHECK: math.fma %[[MASKED]], %[[LOG2E]], %{{.*}} : tensor<16xf32>
  %s = arith.mulf %q, %scale2 : tensor<16xf32>
  %masked = arith.select %mask, %s, %inf : tensor<16xf32>
  %m = tile.max %masked axis 0 : tensor<16xf32> -> f32
  %m1 = tile.splat %m : f32 -> tensor<16xf32>
  %d = arith.subf %masked, %m1 : tensor<16xf32>
  %e = tile.exp %d fastmath<afn> : tensor<16xf32>
  tile.store %p, %e : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// A rescaling by exp(old - new): both sides are rounded as the multiply-add of
// the scores rounds them. The guard's zero needs no product, and behind it the
// factor and log2(e) are one.
// CHECK-LABEL: tile.kernel @rescaling
tile.kernel @rescaling(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %empty: i1) grid(e) -> (1) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<16xf32>
  // CHECK-DAG: %[[C:.*]] = arith.constant dense<2.885390e+00> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %two = arith.constant dense<2.0> : tensor<16xf32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  // CHECK: %[[OLD:.*]] = tile.load
  // CHECK: %[[OLDC:.*]] = arith.mulf %[[OLD]], %[[C]]
  // CHECK: %[[NEW:.*]] = tile.load
  // CHECK: %[[NEWC:.*]] = arith.mulf %[[NEW]], %[[C]]
  // CHECK: %[[REF:.*]] = arith.select %empty, %[[ZERO]], %[[NEWC]]
  // CHECK: %[[D:.*]] = arith.subf %[[OLDC]], %[[REF]]
  // CHECK: tile.exp2 %[[D]]
  %a = tile.load %p : tensor<16x!tile.ptr<f32>>
  %old = arith.mulf %a, %two : tensor<16xf32>
  %q = tile.splat %y : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %b = tile.load %q : tensor<16x!tile.ptr<f32>>
  %new = arith.mulf %b, %two : tensor<16xf32>
  %ref = arith.select %empty, %zero, %new : tensor<16xf32>
  %d = arith.subf %old, %ref : tensor<16xf32>
  %e = tile.exp %d fastmath<afn> : tensor<16xf32>
  tile.store %p, %e : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// Any other argument: one product, for scalars too.
// CHECK-LABEL: tile.kernel @plain
tile.kernel @plain(%x: !tile.ptr<f32>, %a: f32) grid() -> (1) {
  // CHECK: %[[LOG2E:.*]] = arith.constant 1.44269502 : f32
  // CHECK: %[[P:.*]] = arith.mulf %a, %[[LOG2E]] : f32
  // CHECK: tile.exp2 %[[P]] fastmath<afn> : f32
  %e = tile.exp %a fastmath<afn> : f32
  tile.store %x, %e : !tile.ptr<f32>
  tile.return
}

// -----

// An author who wrote exp2 and put log2(e) in the scale gets the multiply-add.
// CHECK-LABEL: tile.kernel @exp2_by_hand
tile.kernel @exp2_by_hand(%x: !tile.ptr<f32>, %scale: f32) grid() -> (1) {
  // CHECK: %[[Q:.*]] = tile.load
  // CHECK: %[[M:.*]] = tile.max %[[Q]] axis 0
  // CHECK: %[[NEG:.*]] = arith.negf %[[M]] : f32
  // CHECK: %[[REF:.*]] = tile.splat %[[NEG]]
  // CHECK: %[[C:.*]] = tile.splat %scale
  // CHECK: %[[E:.*]] = math.fma %[[Q]], %[[C]], %[[REF]]
  // CHECK: tile.exp2 %[[E]] fastmath<afn>
  // CHECK-NOT: arith.mulf
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %c = tile.splat %scale : f32 -> tensor<16xf32>
  %q = tile.load %p : tensor<16x!tile.ptr<f32>>
  %m = tile.max %q axis 0 : tensor<16xf32> -> f32
  %m1 = tile.splat %m : f32 -> tensor<16xf32>
  %s = arith.mulf %q, %c : tensor<16xf32>
  %d = arith.subf %s, %m1 : tensor<16xf32>
  %e = tile.exp2 %d fastmath<afn> : tensor<16xf32>
  tile.store %p, %e : tensor<16x!tile.ptr<f32>>
  tile.return
}
