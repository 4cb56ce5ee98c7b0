// RUN: fa-opt %s --split-input-file | fa-opt --split-input-file | FileCheck %s
// RUN: fa-opt %s --split-input-file --mlir-print-op-generic | fa-opt --split-input-file | FileCheck %s

// CHECK-LABEL: tile.kernel @no_arguments() grid() -> (1) {
// CHECK-NEXT:    tile.return
tile.kernel @no_arguments() grid() -> (1) {
  tile.return
}

// The terminator may be left out.
// CHECK-LABEL: tile.kernel @implicit_return
// CHECK-NEXT:    tile.return
tile.kernel @implicit_return() grid() -> (1) {
}

// CHECK-LABEL: tile.kernel @every_argument_type(
// CHECK-SAME:    %pf64: !tile.ptr<f64>, %pf32: !tile.ptr<f32>, %pf16: !tile.ptr<f16>, %pbf16: !tile.ptr<bf16>,
// CHECK-SAME:    %pe4: !tile.ptr<f8E4M3FN>, %pe5: !tile.ptr<f8E5M2>, %pi1: !tile.ptr<i1>, %pi8: !tile.ptr<i8>,
// CHECK-SAME:    %pi16: !tile.ptr<i16>, %pi32: !tile.ptr<i32>, %pi64: !tile.ptr<i64>,
// CHECK-SAME:    %a: i1, %b: i8, %c: i16, %d: i32, %e: i64, %x: f32, %y: f64)
// CHECK-SAME:    grid(d0, d1, d2, d3, d4) -> (d3 ceildiv 48, d4) {
tile.kernel @every_argument_type(
    %pf64: !tile.ptr<f64>, %pf32: !tile.ptr<f32>, %pf16: !tile.ptr<f16>, %pbf16: !tile.ptr<bf16>,
    %pe4: !tile.ptr<f8E4M3FN>, %pe5: !tile.ptr<f8E5M2>, %pi1: !tile.ptr<i1>, %pi8: !tile.ptr<i8>,
    %pi16: !tile.ptr<i16>, %pi32: !tile.ptr<i32>, %pi64: !tile.ptr<i64>,
    %a: i1, %b: i8, %c: i16, %d: i32, %e: i64, %x: f32, %y: f64)
    grid(a, b, c, d, e) -> (d ceildiv 48, e) {
  tile.return
}

// Attributes of arguments and of the kernel stay where they are written.
// CHECK-LABEL: tile.kernel @attributes(%x: !tile.ptr<f32> {test.align = 16 : i64}, %n: i32) grid(d0) -> (d0, 1, 0)
// CHECK-SAME:    attributes {test.tuned = true} {
tile.kernel @attributes(%x: !tile.ptr<f32> {test.align = 16 : i64}, %n: i32)
    grid(n) -> (n, 1, 0) attributes {test.tuned = true} {
  tile.return
}

// Extents are affine: sums, products, quotients and remainders by constants.
// CHECK-LABEL: tile.kernel @affine_grid(%n: i64, %m: i64) grid(d0, d1) -> ((d0 + 63) floordiv 64, d0 * 3 + d1, d1 mod 7) {
tile.kernel @affine_grid(%n: i64, %m: i64)
    grid(n, m) -> ((n + 63) floordiv 64, n * 3 + m, m mod 7) {
  tile.return
}

// A name that no identifier can spell is kept as an attribute, as are those of
// arguments that the text numbers.
// CHECK-LABEL: tile.kernel @odd_names(
// CHECK-SAME:    attributes {arg_names = ["a b", "0"]} {
tile.kernel @odd_names(%x: f32, %y: f32) grid() -> (1) attributes {arg_names = ["a b", "0"]} {
  tile.return
}

// CHECK-LABEL: tile.kernel @numbered(%arg0: f32, %arg1: i32) grid(d0) -> (d0) {
tile.kernel @numbered(%0: f32, %1: i32) grid(n) -> (n) {
  tile.return
}

// CHECK-LABEL: tile.kernel @grid_ops
tile.kernel @grid_ops() grid() -> (2, 3, 5) {
  // CHECK: tile.program_id x
  %x = tile.program_id x
  // CHECK: tile.program_id y
  %y = tile.program_id y
  // CHECK: tile.program_id z {test.note}
  %z = tile.program_id z {test.note}
  // CHECK: tile.num_programs x
  %nx = tile.num_programs x
  // CHECK: tile.num_programs y
  %ny = tile.num_programs y
  // CHECK: tile.num_programs z
  %nz = tile.num_programs z
  tile.return
}

// CHECK-LABEL: tile.kernel @facts
tile.kernel @facts(%b: i1, %n: i64, %x: f32, %y: f64) grid(b, n) -> (1) {
  // CHECK: tile.assume %b : i1
  %0 = tile.assume %b : i1
  // CHECK: tile.assume %n {divisible_by = 9223372036854775807 : i64, max = 9223372036854775807 : i64, min = -9223372036854775808 : i64} : i64
  %1 = tile.assume %n {divisible_by = 9223372036854775807 : i64, min = -9223372036854775808 : i64, max = 9223372036854775807 : i64} : i64
  // CHECK: tile.assume %x {max = 0x7F800000 : f32, min = 0xFF800000 : f32} : f32
  %2 = tile.assume %x {min = 0xFF800000 : f32, max = 0x7F800000 : f32} : f32
  // CHECK: tile.assume %y {max = 1.000000e+00 : f64, min = 1.000000e+00 : f64} : f64
  %3 = tile.assume %y {min = 1.0 : f64, max = 1.0 : f64} : f64
  %h = tile.cast %x : f32 -> bf16
  // CHECK: tile.assume %{{.*}} {min = 0.000000e+00 : bf16} : bf16
  %4 = tile.assume %h {min = 0.0 : bf16} : bf16
  tile.return
}

// CHECK-LABEL: tile.kernel @debugging
tile.kernel @debugging(%c: i1, %n: i32) grid(c, n) -> (1) {
  // CHECK: tile.assert %c, "quotes \22 and a tab \09" : i1
  tile.assert %c, "quotes \22 and a tab \09" : i1
  %i = tile.arange 0 to 7 : tensor<7xi32>
  %v = tile.full 1 : i1 -> tensor<3x5xi1>
  // CHECK: tile.assert %{{.*}}, "" : tensor<3x5xi1>
  tile.assert %v, "" : tensor<3x5xi1>
  // CHECK: tile.print "nothing else"
  tile.print "nothing else"
  // CHECK: tile.print "values", %{{.*}}, %n, %{{.*}} : tensor<7xi32>, i32, tensor<3x5xi1>
  tile.print "values", %i, %n, %v : tensor<7xi32>, i32, tensor<3x5xi1>
  tile.return
}

// Operations of arith, math and scf apply to tiles of any rank.
// CHECK-LABEL: tile.kernel @other_dialects
tile.kernel @other_dialects(%n: i32) grid(n) -> (n) {
  %zero = arith.constant dense<0.0> : tensor<3x5x7x11xf32>
  %lower = arith.constant 0 : index
  %upper = arith.index_cast %n : i32 to index
  %step = arith.constant 1 : index
  // CHECK: scf.for {{.*}} -> (tensor<3x5x7x11xf32>)
  %sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> (tensor<3x5x7x11xf32>) {
    // CHECK: math.absf %{{.*}} : tensor<3x5x7x11xf32>
    %a = math.absf %acc : tensor<3x5x7x11xf32>
    // CHECK: arith.maxnumf %{{.*}}, %{{.*}} fastmath<nnan> : tensor<3x5x7x11xf32>
    %b = arith.maxnumf %a, %acc fastmath<nnan> : tensor<3x5x7x11xf32>
    scf.yield %b : tensor<3x5x7x11xf32>
  }
  tile.return
}
