// RUN: fa-opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-split-loops,canonicalize,cse))' | FileCheck %s

// Forms of one computation whose all-false iterations are proven to change
// nothing: a cut behind the last visible key (the second trunci) bounds the
// masked loop in each.

// -----

// Attention with a row for a query.
// CHECK-LABEL: tile.kernel @queries_down
tile.kernel @queries_down(%x: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %down1 = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %down = tile.broadcast %down1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %right1 = tile.expand_dims %lane axis 0 : tensor<16xi32> -> tensor<1x16xi32>
  %right = tile.broadcast %right1 : tensor<1x16xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %ptr_q = tile.addptr %base, %down : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  %q = tile.load %ptr_q : tensor<16x16x!tile.ptr<f32>>
  // CHECK: %[[CUT:.*]] = arith.trunci
  // CHECK: %[[END:.*]] = arith.trunci
  // CHECK: scf.for %{{.*}} = %c0_i32 to %[[CUT]] step
  // CHECK: {tile.part = "interior"}
  // CHECK: scf.for %{{.*}} = %[[CUT]] to %[[END]] step
  // CHECK: {tile.part = "masked"}
  %r:3 = scf.for %k = %c0 to %n step %c16 iter_args(%m = %m0, %l = %zero, %acc = %zeros) -> (tensor<16xf32>, tensor<16xf32>, tensor<16x16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16x16xi32>
    %col = arith.addi %kt, %right : tensor<16x16xi32>
    %p = tile.addptr %base, %col : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
    %kv = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %mask = arith.cmpi sle, %col, %down : tensor<16x16xi32>
    %kvt = tile.trans %kv order [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
    %qk = tile.dot %q, %kvt, %zeros : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    %s = arith.select %mask, %qk, %inf : tensor<16x16xi1>, tensor<16x16xf32>
    %seen = tile.max %s axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %new = arith.maximumf %m, %seen : tensor<16xf32>
    %empty = arith.cmpf oeq, %new, %m0 : tensor<16xf32>
    %ref = arith.select %empty, %zero, %new : tensor<16xi1>, tensor<16xf32>
    %rt1 = tile.expand_dims %ref axis 1 : tensor<16xf32> -> tensor<16x1xf32>
    %rt = tile.broadcast %rt1 : tensor<16x1xf32> -> tensor<16x16xf32>
    %d = arith.subf %s, %rt : tensor<16x16xf32>
    %e = tile.exp %d : tensor<16x16xf32>
    %fall = arith.subf %m, %ref : tensor<16xf32>
    %alpha = tile.exp %fall : tensor<16xf32>
    %sum = tile.sum %e axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %ls = arith.mulf %l, %alpha : tensor<16xf32>
    %lnew = arith.addf %ls, %sum : tensor<16xf32>
    %at1 = tile.expand_dims %alpha axis 1 : tensor<16xf32> -> tensor<16x1xf32>
    %at = tile.broadcast %at1 : tensor<16x1xf32> -> tensor<16x16xf32>
    %as = arith.mulf %acc, %at : tensor<16x16xf32>
    %anew = tile.dot %e, %kv, %as : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    scf.yield %new, %lnew, %anew : tensor<16xf32>, tensor<16xf32>, tensor<16x16xf32>
  }
  %norm1 = tile.expand_dims %r#1 axis 1 : tensor<16xf32> -> tensor<16x1xf32>
  %norm = tile.broadcast %norm1 : tensor<16x1xf32> -> tensor<16x16xf32>
  %out = arith.divf %r#2, %norm : tensor<16x16xf32>
  tile.store %base, %out : tensor<16x16x!tile.ptr<f32>>
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  tile.store %o, %r#0 : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// Attention transposed: a column for a query.
// CHECK-LABEL: tile.kernel @queries_right
tile.kernel @queries_right(%x: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %down1 = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %down = tile.broadcast %down1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %right1 = tile.expand_dims %lane axis 0 : tensor<16xi32> -> tensor<1x16xi32>
  %right = tile.broadcast %right1 : tensor<1x16xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %ptr_q = tile.addptr %base, %down : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  %q = tile.load %ptr_q : tensor<16x16x!tile.ptr<f32>>
  // CHECK: %[[CUT:.*]] = arith.trunci
  // CHECK: %[[END:.*]] = arith.trunci
  // CHECK: scf.for %{{.*}} = %c0_i32 to %[[CUT]] step
  // CHECK: {tile.part = "interior"}
  // CHECK: scf.for %{{.*}} = %[[CUT]] to %[[END]] step
  // CHECK: {tile.part = "masked"}
  %r:3 = scf.for %k = %c0 to %n step %c16 iter_args(%m = %m0, %l = %zero, %acc = %zeros) -> (tensor<16xf32>, tensor<16xf32>, tensor<16x16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16x16xi32>
    %col = arith.addi %kt, %down : tensor<16x16xi32>
    %p = tile.addptr %base, %col : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
    %kv = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %mask = arith.cmpi sle, %col, %right : tensor<16x16xi32>
    %kvt = tile.trans %kv order [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
    %qk = tile.dot %kvt, %q, %zeros : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    %s = arith.select %mask, %qk, %inf : tensor<16x16xi1>, tensor<16x16xf32>
    %seen = tile.max %s axis 0 : tensor<16x16xf32> -> tensor<16xf32>
    %new = arith.maximumf %m, %seen : tensor<16xf32>
    %empty = arith.cmpf oeq, %new, %m0 : tensor<16xf32>
    %ref = arith.select %empty, %zero, %new : tensor<16xi1>, tensor<16xf32>
    %rt1 = tile.expand_dims %ref axis 0 : tensor<16xf32> -> tensor<1x16xf32>
    %rt = tile.broadcast %rt1 : tensor<1x16xf32> -> tensor<16x16xf32>
    %d = arith.subf %s, %rt : tensor<16x16xf32>
    %e = tile.exp %d : tensor<16x16xf32>
    %fall = arith.subf %m, %ref : tensor<16xf32>
    %alpha = tile.exp %fall : tensor<16xf32>
    %sum = tile.sum %e axis 0 : tensor<16x16xf32> -> tensor<16xf32>
    %ls = arith.mulf %l, %alpha : tensor<16xf32>
    %lnew = arith.addf %ls, %sum : tensor<16xf32>
    %at1 = tile.expand_dims %alpha axis 0 : tensor<16xf32> -> tensor<1x16xf32>
    %at = tile.broadcast %at1 : tensor<1x16xf32> -> tensor<16x16xf32>
    %as = arith.mulf %acc, %at : tensor<16x16xf32>
    %anew = tile.dot %kv, %e, %as : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    scf.yield %new, %lnew, %anew : tensor<16xf32>, tensor<16xf32>, tensor<16x16xf32>
  }
  %norm1 = tile.expand_dims %r#1 axis 0 : tensor<16xf32> -> tensor<1x16xf32>
  %norm = tile.broadcast %norm1 : tensor<1x16xf32> -> tensor<16x16xf32>
  %out = arith.divf %r#2, %norm : tensor<16x16xf32>
  tile.store %base, %out : tensor<16x16x!tile.ptr<f32>>
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  tile.store %o, %r#0 : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// Guards on the exponentials instead of their argument. In a row that has seen
// nothing both are replaced by zero; +inf gives NaN before and after.
// CHECK-LABEL: tile.kernel @guarded_results
tile.kernel @guarded_results(%x: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %down1 = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %down = tile.broadcast %down1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %right1 = tile.expand_dims %lane axis 0 : tensor<16xi32> -> tensor<1x16xi32>
  %right = tile.broadcast %right1 : tensor<1x16xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %ptr_q = tile.addptr %base, %down : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  %q = tile.load %ptr_q : tensor<16x16x!tile.ptr<f32>>
  // CHECK: %[[CUT:.*]] = arith.trunci
  // CHECK: %[[END:.*]] = arith.trunci
  // CHECK: scf.for %{{.*}} = %c0_i32 to %[[CUT]] step
  // CHECK: {tile.part = "interior"}
  // CHECK: scf.for %{{.*}} = %[[CUT]] to %[[END]] step
  // CHECK: {tile.part = "masked"}
  %r:3 = scf.for %k = %c0 to %n step %c16 iter_args(%m = %m0, %l = %zero, %acc = %zeros) -> (tensor<16xf32>, tensor<16xf32>, tensor<16x16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16x16xi32>
    %col = arith.addi %kt, %right : tensor<16x16xi32>
    %p = tile.addptr %base, %col : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
    %kv = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %mask = arith.cmpi sle, %col, %down : tensor<16x16xi32>
    %kvt = tile.trans %kv order [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
    %qk = tile.dot %q, %kvt, %zeros : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    %s = arith.select %mask, %qk, %inf : tensor<16x16xi1>, tensor<16x16xf32>
    %seen = tile.max %s axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %new = arith.maximumf %m, %seen : tensor<16xf32>
    %empty = arith.cmpf oeq, %new, %m0 : tensor<16xf32>
    %rt1 = tile.expand_dims %new axis 1 : tensor<16xf32> -> tensor<16x1xf32>
    %rt = tile.broadcast %rt1 : tensor<16x1xf32> -> tensor<16x16xf32>
    %d = arith.subf %s, %rt : tensor<16x16xf32>
    %e0 = tile.exp %d : tensor<16x16xf32>
    %none = arith.cmpf oeq, %s, %inf : tensor<16x16xf32>
    %e = arith.select %none, %zeros, %e0 : tensor<16x16xi1>, tensor<16x16xf32>
    %fall = arith.subf %m, %new : tensor<16xf32>
    %alpha0 = tile.exp %fall : tensor<16xf32>
    %alpha = arith.select %empty, %zero, %alpha0 : tensor<16xi1>, tensor<16xf32>
    %sum = tile.sum %e axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %ls = arith.mulf %l, %alpha : tensor<16xf32>
    %lnew = arith.addf %ls, %sum : tensor<16xf32>
    %at1 = tile.expand_dims %alpha axis 1 : tensor<16xf32> -> tensor<16x1xf32>
    %at = tile.broadcast %at1 : tensor<16x1xf32> -> tensor<16x16xf32>
    %as = arith.mulf %acc, %at : tensor<16x16xf32>
    %anew = tile.dot %e, %kv, %as : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    scf.yield %new, %lnew, %anew : tensor<16xf32>, tensor<16xf32>, tensor<16x16xf32>
  }
  %norm1 = tile.expand_dims %r#1 axis 1 : tensor<16xf32> -> tensor<16x1xf32>
  %norm = tile.broadcast %norm1 : tensor<16x1xf32> -> tensor<16x16xf32>
  %out = arith.divf %r#2, %norm : tensor<16x16xf32>
  tile.store %base, %out : tensor<16x16x!tile.ptr<f32>>
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  tile.store %o, %r#0 : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// The scale after the maximum, by hand: the largest product is the product of the
// largest score.
// CHECK-LABEL: tile.kernel @scaled_maximum
tile.kernel @scaled_maximum(%x: !tile.ptr<f32>, %n: i32, %given: f32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %down1 = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %down = tile.broadcast %down1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %right1 = tile.expand_dims %lane axis 0 : tensor<16xi32> -> tensor<1x16xi32>
  %right = tile.broadcast %right1 : tensor<1x16xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %ptr_q = tile.addptr %base, %down : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  %q = tile.load %ptr_q : tensor<16x16x!tile.ptr<f32>>
  %scale = tile.assume %given {min = 1.0e-30 : f32} : f32
  %c1 = tile.splat %scale : f32 -> tensor<16xf32>
  %c2 = tile.splat %scale : f32 -> tensor<16x16xf32>
  // CHECK: %[[CUT:.*]] = arith.trunci
  // CHECK: %[[END:.*]] = arith.trunci
  // CHECK: scf.for %{{.*}} = %c0_i32 to %[[CUT]] step
  // CHECK: {tile.part = "interior"}
  // CHECK: scf.for %{{.*}} = %[[CUT]] to %[[END]] step
  // CHECK: {tile.part = "masked"}
  %r:3 = scf.for %k = %c0 to %n step %c16 iter_args(%m = %m0, %l = %zero, %acc = %zeros) -> (tensor<16xf32>, tensor<16xf32>, tensor<16x16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16x16xi32>
    %col = arith.addi %kt, %right : tensor<16x16xi32>
    %p = tile.addptr %base, %col : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
    %kv = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %mask = arith.cmpi sle, %col, %down : tensor<16x16xi32>
    %kvt = tile.trans %kv order [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
    %qk = tile.dot %q, %kvt, %zeros : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    %s = arith.select %mask, %qk, %inf : tensor<16x16xi1>, tensor<16x16xf32>
    %seen = tile.max %s axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %times = arith.mulf %seen, %c1 : tensor<16xf32>
    %new = arith.maximumf %m, %times : tensor<16xf32>
    %empty = arith.cmpf oeq, %new, %m0 : tensor<16xf32>
    %ref = arith.select %empty, %zero, %new : tensor<16xi1>, tensor<16xf32>
    %rt1 = tile.expand_dims %ref axis 1 : tensor<16xf32> -> tensor<16x1xf32>
    %rt = tile.broadcast %rt1 : tensor<16x1xf32> -> tensor<16x16xf32>
    %scaled = arith.mulf %s, %c2 : tensor<16x16xf32>
    %d = arith.subf %scaled, %rt : tensor<16x16xf32>
    %e = tile.exp %d : tensor<16x16xf32>
    %fall = arith.subf %m, %ref : tensor<16xf32>
    %alpha = tile.exp %fall : tensor<16xf32>
    %sum = tile.sum %e axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %ls = arith.mulf %l, %alpha : tensor<16xf32>
    %lnew = arith.addf %ls, %sum : tensor<16xf32>
    %at1 = tile.expand_dims %alpha axis 1 : tensor<16xf32> -> tensor<16x1xf32>
    %at = tile.broadcast %at1 : tensor<16x1xf32> -> tensor<16x16xf32>
    %as = arith.mulf %acc, %at : tensor<16x16xf32>
    %anew = tile.dot %e, %kv, %as : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    scf.yield %new, %lnew, %anew : tensor<16xf32>, tensor<16xf32>, tensor<16x16xf32>
  }
  %norm1 = tile.expand_dims %r#1 axis 1 : tensor<16xf32> -> tensor<16x1xf32>
  %norm = tile.broadcast %norm1 : tensor<16x1xf32> -> tensor<16x16xf32>
  %out = arith.divf %r#2, %norm : tensor<16x16xf32>
  tile.store %base, %out : tensor<16x16x!tile.ptr<f32>>
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  tile.store %o, %r#0 : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// A gradient that is masked itself: zeros in the product, whatever was masked.
// CHECK-LABEL: tile.kernel @masked_gradient
tile.kernel @masked_gradient(%x: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %down1 = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %down = tile.broadcast %down1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %right1 = tile.expand_dims %lane axis 0 : tensor<16xi32> -> tensor<1x16xi32>
  %right = tile.broadcast %right1 : tensor<1x16xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %ptr_q = tile.addptr %base, %down : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  %q = tile.load %ptr_q : tensor<16x16x!tile.ptr<f32>>
  // CHECK: %[[CUT:.*]] = arith.trunci
  // CHECK: %[[END:.*]] = arith.trunci
  // CHECK: scf.for %{{.*}} = %c0_i32 to %[[CUT]] step
  // CHECK: {tile.part = "interior"}
  // CHECK: scf.for %{{.*}} = %[[CUT]] to %[[END]] step
  // CHECK: {tile.part = "masked"}
  %dq = scf.for %k = %c0 to %n step %c16 iter_args(%acc = %zeros) -> (tensor<16x16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16x16xi32>
    %col = arith.addi %kt, %right : tensor<16x16xi32>
    %p = tile.addptr %base, %col : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
    %kv = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %mask = arith.cmpi sle, %col, %down : tensor<16x16xi32>
    %kvt = tile.trans %kv order [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
    %qk = tile.dot %q, %kvt, %zeros : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    %e = tile.exp %qk : tensor<16x16xf32>
    %ds = arith.select %mask, %e, %zeros : tensor<16x16xi1>, tensor<16x16xf32>
    %anew = tile.dot %ds, %kv, %acc : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    scf.yield %anew : tensor<16x16xf32>
  }
  tile.store %base, %dq : tensor<16x16x!tile.ptr<f32>>
  tile.return
}
