// RUN: fa-opt %s --split-input-file --verify-diagnostics --remarks --pass-pipeline='builtin.module(tile.kernel(tile-split-loops))'
// RUN: fa-opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-split-loops,canonicalize,cse))' | FileCheck %s

// Masks that stay, and all-false iterations that stay, each with its reason.
// All loops run over keys %k; a row sees keys up to its own number.

// -----

// Equality holds in the middle of the loop only.
// CHECK-LABEL: tile.kernel @equality
// CHECK: scf.for
// CHECK: arith.select
// CHECK-NOT: scf.for
// CHECK: tile.return
tile.kernel @equality(%x: !tile.ptr<f32>, %n: i32) grid(a0) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %row1 = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %row = tile.broadcast %row1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %m = scf.for %k = %c0 to %n step %c16 iter_args(%old = %m0) -> (tensor<16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16xi32>
    %col0 = arith.addi %kt, %lane : tensor<16xi32>
    %col1 = tile.expand_dims %col0 axis 0 : tensor<16xi32> -> tensor<1x16xi32>
    %col = tile.broadcast %col1 : tensor<1x16xi32> -> tensor<16x16xi32>
    %p = tile.addptr %base, %col : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
    %scores = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %mask = arith.cmpi eq, %col, %row : tensor<16x16xi32>
    // expected-remark @below {{mask stays in every iteration: comparison 'eq' does not change once along the loop}}
    %s = arith.select %mask, %scores, %inf : tensor<16x16xi1>, tensor<16x16xf32>
    %seen = tile.max %s axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %new = arith.maximumf %old, %seen : tensor<16xf32>
    scf.yield %new : tensor<16xf32>
  }
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  tile.store %o, %m : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// A disjunction may be true, false and true again.
// CHECK-LABEL: tile.kernel @disjunction
// CHECK: scf.for
// CHECK: arith.select
// CHECK-NOT: scf.for
// CHECK: tile.return
tile.kernel @disjunction(%x: !tile.ptr<f32>, %n: i32) grid(a0) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %row1 = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %row = tile.broadcast %row1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %m = scf.for %k = %c0 to %n step %c16 iter_args(%old = %m0) -> (tensor<16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16xi32>
    %col0 = arith.addi %kt, %lane : tensor<16xi32>
    %col1 = tile.expand_dims %col0 axis 0 : tensor<16xi32> -> tensor<1x16xi32>
    %col = tile.broadcast %col1 : tensor<1x16xi32> -> tensor<16x16xi32>
    %p = tile.addptr %base, %col : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
    %scores = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %a = arith.cmpi sle, %col, %row : tensor<16x16xi32>
    %b = arith.cmpi sge, %col, %row : tensor<16x16xi32>
    %mask = arith.ori %a, %b : tensor<16x16xi1>
    // expected-remark @below {{mask stays in every iteration: it uses 'arith.ori'; only 'arith.andi' of comparisons is understood}}
    %s = arith.select %mask, %scores, %inf : tensor<16x16xi1>, tensor<16x16xf32>
    %seen = tile.max %s axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %new = arith.maximumf %old, %seen : tensor<16xf32>
    scf.yield %new : tensor<16xf32>
  }
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  tile.store %o, %m : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// A stride known at run time only might be of either sign.
// CHECK-LABEL: tile.kernel @runtime_stride
// CHECK: scf.for
// CHECK: arith.select
// CHECK-NOT: scf.for
// CHECK: tile.return
tile.kernel @runtime_stride(%x: !tile.ptr<f32>, %n: i32, %stride: i32) grid(a0, a1) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %row1 = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %row = tile.broadcast %row1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %limit = tile.splat %n : i32 -> tensor<16x16xi32>
  %m = scf.for %k = %c0 to %n step %c16 iter_args(%old = %m0) -> (tensor<16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16xi32>
    %col0 = arith.addi %kt, %lane : tensor<16xi32>
    %col1 = tile.expand_dims %col0 axis 0 : tensor<16xi32> -> tensor<1x16xi32>
    %col = tile.broadcast %col1 : tensor<1x16xi32> -> tensor<16x16xi32>
    %p = tile.addptr %base, %col : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
    %scores = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %at = arith.muli %k, %stride : i32
    %att = tile.splat %at : i32 -> tensor<16x16xi32>
    %mask = arith.cmpi slt, %att, %limit : tensor<16x16xi32>
    // expected-remark @below {{mask stays in every iteration: the result of 'arith.muli' is not affine in the induction variable}}
    %s = arith.select %mask, %scores, %inf : tensor<16x16xi1>, tensor<16x16xf32>
    %seen = tile.max %s axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %new = arith.maximumf %old, %seen : tensor<16xf32>
    scf.yield %new : tensor<16xf32>
  }
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  tile.store %o, %m : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// Limits that are loaded in the loop are not affine.
// CHECK-LABEL: tile.kernel @loaded_limit
// CHECK: scf.for
// CHECK: arith.select
// CHECK-NOT: scf.for
// CHECK: tile.return
tile.kernel @loaded_limit(%x: !tile.ptr<f32>, %n: i32, %limits: !tile.ptr<i32>) grid(a0) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %row1 = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %row = tile.broadcast %row1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %m = scf.for %k = %c0 to %n step %c16 iter_args(%old = %m0) -> (tensor<16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16xi32>
    %col0 = arith.addi %kt, %lane : tensor<16xi32>
    %col1 = tile.expand_dims %col0 axis 0 : tensor<16xi32> -> tensor<1x16xi32>
    %col = tile.broadcast %col1 : tensor<1x16xi32> -> tensor<16x16xi32>
    %p = tile.addptr %base, %col : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
    %scores = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %limit = tile.load %limits : !tile.ptr<i32>
    %lt = tile.splat %limit : i32 -> tensor<16x16xi32>
    %mask = arith.cmpi slt, %col, %lt : tensor<16x16xi32>
    // expected-remark @below {{the result of 'tile.load' is not affine in the induction variable}}
    %s = arith.select %mask, %scores, %inf : tensor<16x16xi1>, tensor<16x16xf32>
    %seen = tile.max %s axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %new = arith.maximumf %old, %seen : tensor<16xf32>
    scf.yield %new : tensor<16xf32>
  }
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  tile.store %o, %m : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// A mask of rows only is no reason to split.
// CHECK-LABEL: tile.kernel @rows_only
// CHECK: scf.for
// CHECK: arith.select
// CHECK-NOT: scf.for
// CHECK: tile.return
tile.kernel @rows_only(%x: !tile.ptr<f32>, %n: i32) grid(a0) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %row1 = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %row = tile.broadcast %row1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %nt = tile.splat %n : i32 -> tensor<16x16xi32>
  %m = scf.for %k = %c0 to %n step %c16 iter_args(%old = %m0) -> (tensor<16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16xi32>
    %col0 = arith.addi %kt, %lane : tensor<16xi32>
    %col1 = tile.expand_dims %col0 axis 0 : tensor<16xi32> -> tensor<1x16xi32>
    %col = tile.broadcast %col1 : tensor<1x16xi32> -> tensor<16x16xi32>
    %p = tile.addptr %base, %col : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
    %scores = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %mask = arith.cmpi slt, %row, %nt : tensor<16x16xi32>
    // expected-remark @below {{mask stays in every iteration: it does not change along the loop}}
    %s = arith.select %mask, %scores, %inf : tensor<16x16xi1>, tensor<16x16xf32>
    %seen = tile.max %s axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %new = arith.maximumf %old, %seen : tensor<16xf32>
    scf.yield %new : tensor<16xf32>
  }
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  tile.store %o, %m : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// Bounds compared as unsigned are not those that the masks are solved for.
// CHECK-LABEL: tile.kernel @unsigned_loop
// CHECK: scf.for
// CHECK: arith.select
// CHECK-NOT: scf.for
// CHECK: tile.return
tile.kernel @unsigned_loop(%x: !tile.ptr<f32>, %n: i32) grid(a0) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %row1 = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %row = tile.broadcast %row1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  // expected-remark @below {{masks stay: the loop compares its bounds as unsigned}}
  %m = scf.for unsigned %k = %c0 to %n step %c16 iter_args(%old = %m0) -> (tensor<16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16xi32>
    %col0 = arith.addi %kt, %lane : tensor<16xi32>
    %col1 = tile.expand_dims %col0 axis 0 : tensor<16xi32> -> tensor<1x16xi32>
    %col = tile.broadcast %col1 : tensor<1x16xi32> -> tensor<16x16xi32>
    %p = tile.addptr %base, %col : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
    %scores = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %mask = arith.cmpi sle, %col, %row : tensor<16x16xi32>
    %s = arith.select %mask, %scores, %inf : tensor<16x16xi1>, tensor<16x16xf32>
    %seen = tile.max %s axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %new = arith.maximumf %old, %seen : tensor<16xf32>
    scf.yield %new : tensor<16xf32>
  }
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  tile.store %o, %m : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// Without the guard, a row that has seen nothing computes exp(-inf - -inf) = NaN;
// dropping the iteration would change that.
// CHECK-LABEL: tile.kernel @no_guard
// CHECK: scf.for {{.*}} = %c0_i32
// CHECK: {tile.part = "interior"}
// CHECK: scf.for {{.*}} to %n step
// CHECK: {tile.part = "masked"}
tile.kernel @no_guard(%x: !tile.ptr<f32>, %n: i32) grid(a0) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %row1 = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %row = tile.broadcast %row1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  // expected-remark @below {{split into an interior without masks and a masked tail}}
  %m, %sums = scf.for %k = %c0 to %n step %c16 iter_args(%old = %m0, %l = %zero) -> (tensor<16xf32>, tensor<16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16xi32>
    %col0 = arith.addi %kt, %lane : tensor<16xi32>
    %col1 = tile.expand_dims %col0 axis 0 : tensor<16xi32> -> tensor<1x16xi32>
    %col = tile.broadcast %col1 : tensor<1x16xi32> -> tensor<16x16xi32>
    %p = tile.addptr %base, %col : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
    %scores = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %mask = arith.cmpi sle, %col, %row : tensor<16x16xi32>
    // expected-remark @below {{iterations with every lane masked are kept: carried value 1 may change in rows that have seen no score (running maximum -inf)}}
    %s = arith.select %mask, %scores, %inf : tensor<16x16xi1>, tensor<16x16xf32>
    %seen = tile.max %s axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %new = arith.maximumf %old, %seen : tensor<16xf32>
    %ref1 = tile.expand_dims %new axis 1 : tensor<16xf32> -> tensor<16x1xf32>
    %ref2 = tile.broadcast %ref1 : tensor<16x1xf32> -> tensor<16x16xf32>
    %d = arith.subf %s, %ref2 : tensor<16x16xf32>
    %e = tile.exp %d : tensor<16x16xf32>
    %fall = arith.subf %old, %new : tensor<16xf32>
    %alpha = tile.exp %fall : tensor<16xf32>
    %sum = tile.sum %e axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %ls = arith.mulf %l, %alpha : tensor<16xf32>
    %lnew = arith.addf %ls, %sum : tensor<16xf32>
    scf.yield %new, %lnew : tensor<16xf32>, tensor<16xf32>
  }
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %both = arith.addf %m, %sums : tensor<16xf32>
  tile.store %o, %both : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// A sum that does not start at zero is lost in a row that has seen nothing:
// it is multiplied by exp(-inf) = 0.
// CHECK-LABEL: tile.kernel @sum_starts_at_one
// CHECK: scf.for {{.*}} = %c0_i32
// CHECK: {tile.part = "interior"}
// CHECK: scf.for {{.*}} to %n step
// CHECK: {tile.part = "masked"}
tile.kernel @sum_starts_at_one(%x: !tile.ptr<f32>, %n: i32) grid(a0) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %row1 = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %row = tile.broadcast %row1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %ones = arith.constant dense<1.0> : tensor<16xf32>
  // expected-remark @below {{split into an interior without masks and a masked tail}}
  %m, %sums = scf.for %k = %c0 to %n step %c16 iter_args(%old = %m0, %l = %ones) -> (tensor<16xf32>, tensor<16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16xi32>
    %col0 = arith.addi %kt, %lane : tensor<16xi32>
    %col1 = tile.expand_dims %col0 axis 0 : tensor<16xi32> -> tensor<1x16xi32>
    %col = tile.broadcast %col1 : tensor<1x16xi32> -> tensor<16x16xi32>
    %p = tile.addptr %base, %col : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
    %scores = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %mask = arith.cmpi sle, %col, %row : tensor<16x16xi32>
    // expected-remark @below {{iterations with every lane masked are kept: carried value 1 may change in rows that have seen no score (running maximum -inf)}}
    %s = arith.select %mask, %scores, %inf : tensor<16x16xi1>, tensor<16x16xf32>
    %seen = tile.max %s axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %new = arith.maximumf %old, %seen : tensor<16xf32>
    %empty = arith.cmpf oeq, %new, %m0 : tensor<16xf32>
    %ref = arith.select %empty, %zero, %new : tensor<16xi1>, tensor<16xf32>
    %ref1 = tile.expand_dims %ref axis 1 : tensor<16xf32> -> tensor<16x1xf32>
    %ref2 = tile.broadcast %ref1 : tensor<16x1xf32> -> tensor<16x16xf32>
    %d = arith.subf %s, %ref2 : tensor<16x16xf32>
    %e = tile.exp %d : tensor<16x16xf32>
    %fall = arith.subf %old, %ref : tensor<16xf32>
    %alpha = tile.exp %fall : tensor<16xf32>
    %sum = tile.sum %e axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %ls = arith.mulf %l, %alpha : tensor<16xf32>
    %lnew = arith.addf %ls, %sum : tensor<16xf32>
    scf.yield %new, %lnew : tensor<16xf32>, tensor<16xf32>
  }
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %both = arith.addf %m, %sums : tensor<16xf32>
  tile.store %o, %both : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// A finite stand-in for -inf is a score like any other.
// CHECK-LABEL: tile.kernel @finite_sentinel
// CHECK: scf.for {{.*}} = %c0_i32
// CHECK: {tile.part = "interior"}
// CHECK: scf.for {{.*}} to %n step
// CHECK: {tile.part = "masked"}
tile.kernel @finite_sentinel(%x: !tile.ptr<f32>, %n: i32) grid(a0) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %row1 = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %row = tile.broadcast %row1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %low = arith.constant dense<-1.0e+30> : tensor<16x16xf32>
  // expected-remark @below {{split into an interior without masks and a masked tail}}
  %m = scf.for %k = %c0 to %n step %c16 iter_args(%old = %m0) -> (tensor<16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16xi32>
    %col0 = arith.addi %kt, %lane : tensor<16xi32>
    %col1 = tile.expand_dims %col0 axis 0 : tensor<16xi32> -> tensor<1x16xi32>
    %col = tile.broadcast %col1 : tensor<1x16xi32> -> tensor<16x16xi32>
    %p = tile.addptr %base, %col : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
    %scores = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %mask = arith.cmpi sle, %col, %row : tensor<16x16xi32>
    // expected-remark @below {{iterations with every lane masked are kept: carried value 0 may change}}
    %s = arith.select %mask, %scores, %low : tensor<16x16xi1>, tensor<16x16xf32>
    %seen = tile.max %s axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %new = arith.maximumf %old, %seen : tensor<16xf32>
    scf.yield %new : tensor<16xf32>
  }
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  tile.store %o, %m : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// A count of iterations changes in each of them.
// CHECK-LABEL: tile.kernel @counter
// CHECK: scf.for {{.*}} = %c0_i32
// CHECK: {tile.part = "interior"}
// CHECK: scf.for {{.*}} to %n step
// CHECK: {tile.part = "masked"}
tile.kernel @counter(%x: !tile.ptr<f32>, %n: i32) grid(a0) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %row1 = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %row = tile.broadcast %row1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  // expected-remark @below {{split into an interior without masks and a masked tail}}
  %m, %count = scf.for %k = %c0 to %n step %c16 iter_args(%old = %m0, %i = %c0) -> (tensor<16xf32>, i32) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16xi32>
    %col0 = arith.addi %kt, %lane : tensor<16xi32>
    %col1 = tile.expand_dims %col0 axis 0 : tensor<16xi32> -> tensor<1x16xi32>
    %col = tile.broadcast %col1 : tensor<1x16xi32> -> tensor<16x16xi32>
    %p = tile.addptr %base, %col : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
    %scores = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %mask = arith.cmpi sle, %col, %row : tensor<16x16xi32>
    // expected-remark @below {{iterations with every lane masked are kept: carried value 1 may change}}
    %s = arith.select %mask, %scores, %inf : tensor<16x16xi1>, tensor<16x16xf32>
    %seen = tile.max %s axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %new = arith.maximumf %old, %seen : tensor<16xf32>
    %next = arith.addi %i, %c16 : i32
    scf.yield %new, %next : tensor<16xf32>, i32
  }
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  tile.store %o, %m : tensor<16x!tile.ptr<f32>>
  %xi = tile.addptr %x, %count : !tile.ptr<f32>, i32
  %f = arith.constant 0.0 : f32
  tile.store %xi, %f : !tile.ptr<f32>
  tile.return
}

// -----

// What is stored in every iteration is stored in masked ones too.
// CHECK-LABEL: tile.kernel @store
// CHECK: scf.for {{.*}} = %c0_i32
// CHECK: {tile.part = "interior"}
// CHECK: scf.for {{.*}} to %n step
// CHECK: {tile.part = "masked"}
tile.kernel @store(%x: !tile.ptr<f32>, %n: i32) grid(a0) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %row1 = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %row = tile.broadcast %row1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  // expected-remark @below {{split into an interior without masks and a masked tail}}
  %m = scf.for %k = %c0 to %n step %c16 iter_args(%old = %m0) -> (tensor<16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16xi32>
    %col0 = arith.addi %kt, %lane : tensor<16xi32>
    %col1 = tile.expand_dims %col0 axis 0 : tensor<16xi32> -> tensor<1x16xi32>
    %col = tile.broadcast %col1 : tensor<1x16xi32> -> tensor<16x16xi32>
    %p = tile.addptr %base, %col : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
    %scores = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %mask = arith.cmpi sle, %col, %row : tensor<16x16xi32>
    // expected-remark @below {{iterations with every lane masked are kept: 'tile.store' has an effect there}}
    %s = arith.select %mask, %scores, %inf : tensor<16x16xi1>, tensor<16x16xf32>
    tile.store %p, %s : tensor<16x16x!tile.ptr<f32>>
    %seen = tile.max %s axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %new = arith.maximumf %old, %seen : tensor<16xf32>
    scf.yield %new : tensor<16xf32>
  }
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  tile.store %o, %m : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// A running maximum that meets its own transpose mixes rows.
// CHECK-LABEL: tile.kernel @mixed_rows
// CHECK: scf.for {{.*}} = %c0_i32
// CHECK: {tile.part = "interior"}
// CHECK: scf.for {{.*}} to %n step
// CHECK: {tile.part = "masked"}
tile.kernel @mixed_rows(%x: !tile.ptr<f32>, %n: i32) grid(a0) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %row1 = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %row = tile.broadcast %row1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %init = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  // expected-remark @below {{split into an interior without masks and a masked tail}}
  %mm = scf.for %k = %c0 to %n step %c16 iter_args(%old = %init) -> (tensor<16x16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16xi32>
    %col0 = arith.addi %kt, %lane : tensor<16xi32>
    %col1 = tile.expand_dims %col0 axis 0 : tensor<16xi32> -> tensor<1x16xi32>
    %col = tile.broadcast %col1 : tensor<1x16xi32> -> tensor<16x16xi32>
    %p = tile.addptr %base, %col : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
    %scores = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %mask = arith.cmpi sle, %col, %row : tensor<16x16xi32>
    // expected-remark @below {{iterations with every lane masked are kept: the body lets rows of a tile meet its columns}}
    %s = arith.select %mask, %scores, %inf : tensor<16x16xi1>, tensor<16x16xf32>
    %turned = tile.trans %s order [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
    %both = arith.maximumf %s, %turned : tensor<16x16xf32>
    %new = arith.maximumf %old, %both : tensor<16x16xf32>
    scf.yield %new : tensor<16x16xf32>
  }
  %m = tile.max %mm axis 1 : tensor<16x16xf32> -> tensor<16xf32>
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  tile.store %o, %m : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// A probability of zero times a gradient that may be NaN is NaN: the product has
// to be masked, not only the scores.
// CHECK-LABEL: tile.kernel @unmasked_gradient
tile.kernel @unmasked_gradient(%x: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
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
  // CHECK: scf.for {{.*}} = %c0_i32
  // CHECK: {tile.part = "interior"}
  // CHECK: scf.for {{.*}} to %n step
  // CHECK: {tile.part = "masked"}
  // expected-remark @below {{split into an interior without masks and a masked tail}}
  %dq = scf.for %k = %c0 to %n step %c16 iter_args(%acc = %zeros) -> (tensor<16x16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16x16xi32>
    %col = arith.addi %kt, %right : tensor<16x16xi32>
    %p = tile.addptr %base, %col : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
    %kv = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %mask = arith.cmpi sle, %col, %down : tensor<16x16xi32>
    %kvt = tile.trans %kv order [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
    %qk = tile.dot %q, %kvt, %zeros : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    // expected-remark @below {{iterations with every lane masked are kept: carried value 0 may change}}
    %s = arith.select %mask, %qk, %inf : tensor<16x16xi1>, tensor<16x16xf32>
    %e = tile.exp %s : tensor<16x16xf32>
    %dp = tile.load %ptr_q : tensor<16x16x!tile.ptr<f32>>
    %ds = arith.mulf %e, %dp : tensor<16x16xf32>
    %anew = tile.dot %ds, %kv, %acc : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    scf.yield %anew : tensor<16x16xf32>
  }
  tile.store %base, %dq : tensor<16x16x!tile.ptr<f32>>
  tile.return
}
