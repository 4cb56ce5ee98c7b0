// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-split-loops,canonicalize,cse))' --remarks -o %t 2> %t.remarks
// RUN: FileCheck %s --input-file=%t
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK

// Branches and inner loops in iterations without a visible position: what they
// give is followed through both branches, and through inner loops by induction.
// Where nothing changes, a cut behind the last visible position (the second
// trunci) bounds the masked loop; else a remark names the value that may change.

// The sum of an inner loop that adds zeros, in one branch, and the same value in
// the other.
// CHECK-LABEL: tile.kernel @sum_or_same
// CHECK: %[[CUT:.*]] = arith.trunci
// CHECK: %[[END:.*]] = arith.trunci
// CHECK: {tile.part = "interior"}
// CHECK: scf.for %{{.*}} = %[[CUT]] to %[[END]] step
tile.kernel @sum_or_same(%x: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %row = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %down = tile.broadcast %row : tensor<16x1xi32> -> tensor<16x16xi32>
  %right1 = tile.expand_dims %lane axis 0 : tensor<16xi32> -> tensor<1x16xi32>
  %right = tile.broadcast %right1 : tensor<1x16xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %ptr_q = tile.addptr %base, %down : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  %q = tile.load %ptr_q : tensor<16x16x!tile.ptr<f32>>
  %r = scf.for %k = %c0 to %n step %c16 iter_args(%acc = %zeros) -> (tensor<16x16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16x16xi32>
    %col = arith.addi %kt, %right : tensor<16x16xi32>
    %mask = arith.cmpi sle, %col, %down : tensor<16x16xi32>
    %e = arith.select %mask, %q, %zeros : tensor<16x16xi1>, tensor<16x16xf32>
    %some = arith.cmpi sgt, %n, %c16 : i32
    %anew = scf.if %some -> (tensor<16x16xf32>) {
      %sums = scf.for %i = %c0 to %n step %c1 iter_args(%part = %acc) -> (tensor<16x16xf32>) : i32 {
        %sum = arith.addf %part, %e : tensor<16x16xf32>
        scf.yield %sum : tensor<16x16xf32>
      }
      scf.yield %sums : tensor<16x16xf32>
    } else {
      scf.yield %acc : tensor<16x16xf32>
    }
    scf.yield %anew : tensor<16x16xf32>
  }
  tile.store %base, %r : tensor<16x16x!tile.ptr<f32>>
  tile.return
}

// One branch changes what is carried.
// REMARK: Function=one_branch | Reason="iterations with every lane masked are kept: carried value 0 may change"
// CHECK-LABEL: tile.kernel @one_branch
// CHECK: scf.for %{{.*}} to %n step
tile.kernel @one_branch(%x: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %row = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %down = tile.broadcast %row : tensor<16x1xi32> -> tensor<16x16xi32>
  %right1 = tile.expand_dims %lane axis 0 : tensor<16xi32> -> tensor<1x16xi32>
  %right = tile.broadcast %right1 : tensor<1x16xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %ptr_q = tile.addptr %base, %down : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  %q = tile.load %ptr_q : tensor<16x16x!tile.ptr<f32>>
  %r = scf.for %k = %c0 to %n step %c16 iter_args(%acc = %zeros) -> (tensor<16x16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16x16xi32>
    %col = arith.addi %kt, %right : tensor<16x16xi32>
    %mask = arith.cmpi sle, %col, %down : tensor<16x16xi32>
    %e = arith.select %mask, %q, %zeros : tensor<16x16xi1>, tensor<16x16xf32>
    %some = arith.cmpi sgt, %n, %c16 : i32
    %anew = scf.if %some -> (tensor<16x16xf32>) {
      %sum = arith.addf %acc, %e : tensor<16x16xf32>
      scf.yield %sum : tensor<16x16xf32>
    } else {
      %sum = arith.addf %acc, %q : tensor<16x16xf32>
      scf.yield %sum : tensor<16x16xf32>
    }
    scf.yield %anew : tensor<16x16xf32>
  }
  tile.store %base, %r : tensor<16x16x!tile.ptr<f32>>
  tile.return
}

// The second iteration of the inner loop changes what the first one kept.
// REMARK: Function=swapped | Reason="iterations with every lane masked are kept: carried value 0 may change"
// CHECK-LABEL: tile.kernel @swapped
// CHECK: scf.for %{{.*}} to %n step
tile.kernel @swapped(%x: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %row = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %down = tile.broadcast %row : tensor<16x1xi32> -> tensor<16x16xi32>
  %right1 = tile.expand_dims %lane axis 0 : tensor<16xi32> -> tensor<1x16xi32>
  %right = tile.broadcast %right1 : tensor<1x16xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %ptr_q = tile.addptr %base, %down : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  %q = tile.load %ptr_q : tensor<16x16x!tile.ptr<f32>>
  %r = scf.for %k = %c0 to %n step %c16 iter_args(%acc = %zeros) -> (tensor<16x16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16x16xi32>
    %col = arith.addi %kt, %right : tensor<16x16xi32>
    %mask = arith.cmpi sle, %col, %down : tensor<16x16xi32>
    %e = arith.select %mask, %q, %zeros : tensor<16x16xi1>, tensor<16x16xf32>
    %anew, %rest = scf.for %i = %c0 to %n step %c1 iter_args(%a = %acc, %b = %acc) -> (tensor<16x16xf32>, tensor<16x16xf32>) : i32 {
      %sum = arith.addf %acc, %q : tensor<16x16xf32>
      scf.yield %b, %sum : tensor<16x16xf32>, tensor<16x16xf32>
    }
    scf.yield %anew : tensor<16x16xf32>
  }
  tile.store %base, %r : tensor<16x16x!tile.ptr<f32>>
  tile.return
}

// A store in a branch.
// REMARK: Function=stores | Reason="iterations with every lane masked are kept: 'scf.if' has an effect there
// CHECK-LABEL: tile.kernel @stores
// CHECK: scf.for %{{.*}} to %n step
tile.kernel @stores(%x: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %row = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %down = tile.broadcast %row : tensor<16x1xi32> -> tensor<16x16xi32>
  %right1 = tile.expand_dims %lane axis 0 : tensor<16xi32> -> tensor<1x16xi32>
  %right = tile.broadcast %right1 : tensor<1x16xi32> -> tensor<16x16xi32>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %ptr_q = tile.addptr %base, %down : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  %q = tile.load %ptr_q : tensor<16x16x!tile.ptr<f32>>
  %r = scf.for %k = %c0 to %n step %c16 iter_args(%acc = %zeros) -> (tensor<16x16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16x16xi32>
    %col = arith.addi %kt, %right : tensor<16x16xi32>
    %mask = arith.cmpi sle, %col, %down : tensor<16x16xi32>
    %e = arith.select %mask, %q, %zeros : tensor<16x16xi1>, tensor<16x16xf32>
    %some = arith.cmpi sgt, %n, %c16 : i32
    %anew = arith.addf %acc, %e : tensor<16x16xf32>
    scf.if %some {
      tile.store %base, %q : tensor<16x16x!tile.ptr<f32>>
    }
    scf.yield %anew : tensor<16x16xf32>
  }
  tile.store %base, %r : tensor<16x16x!tile.ptr<f32>>
  tile.return
}
