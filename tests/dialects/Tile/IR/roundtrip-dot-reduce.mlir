// RUN: fa-opt %s | fa-opt | FileCheck %s
// RUN: fa-opt %s --mlir-print-op-generic | fa-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @dots
tile.kernel @dots() grid() -> (1) {
  %cf = tile.full 0.0 : f32 -> tensor<24x7xf32>
  %ci = tile.full 0 : i32 -> tensor<24x7xi32>
  %cd = tile.full 0.0 : f64 -> tensor<24x7xf64>
  %a0 = tile.full 1.0 : f32 -> tensor<24x5xf32>
  %b0 = tile.full 1.0 : f32 -> tensor<5x7xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{[a-z0-9]+}} precision ieee : tensor<24x5xf32>, tensor<5x7xf32>, tensor<24x7xf32>
  %0 = tile.dot %a0, %b0, %cf precision ieee : tensor<24x5xf32>, tensor<5x7xf32>, tensor<24x7xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} precision tf32 : tensor<24x5xf32>, tensor<5x7xf32>, tensor<24x7xf32>
  %1 = tile.dot %a0, %b0, %cf precision tf32 : tensor<24x5xf32>, tensor<5x7xf32>, tensor<24x7xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} precision tf32x3 {test.note} : tensor<24x5xf32>, tensor<5x7xf32>, tensor<24x7xf32>
  %2 = tile.dot %a0, %b0, %cf precision tf32x3 {test.note} : tensor<24x5xf32>, tensor<5x7xf32>, tensor<24x7xf32>
  %a1 = tile.full 1.0 : f16 -> tensor<24x5xf16>
  %b1 = tile.full 1.0 : f16 -> tensor<5x7xf16>
  // CHECK: tile.dot {{.*}} : tensor<24x5xf16>, tensor<5x7xf16>, tensor<24x7xf32>
  %3 = tile.dot %a1, %b1, %cf : tensor<24x5xf16>, tensor<5x7xf16>, tensor<24x7xf32>
  %a2 = tile.full 1.0 : bf16 -> tensor<24x5xbf16>
  %b2 = tile.full 1.0 : bf16 -> tensor<5x7xbf16>
  // CHECK: tile.dot {{.*}} : tensor<24x5xbf16>, tensor<5x7xbf16>, tensor<24x7xf32>
  %4 = tile.dot %a2, %b2, %cf : tensor<24x5xbf16>, tensor<5x7xbf16>, tensor<24x7xf32>
  %a3 = tile.full 1.0 : f8E4M3FN -> tensor<24x5xf8E4M3FN>
  %b3 = tile.full 1.0 : f8E5M2 -> tensor<5x7xf8E5M2>
  // The two fp8 types may be mixed.
  // CHECK: tile.dot {{.*}} : tensor<24x5xf8E4M3FN>, tensor<5x7xf8E5M2>, tensor<24x7xf32>
  %5 = tile.dot %a3, %b3, %cf : tensor<24x5xf8E4M3FN>, tensor<5x7xf8E5M2>, tensor<24x7xf32>
  %a4 = tile.full 1 : i8 -> tensor<24x5xi8>
  %b4 = tile.full 1 : i8 -> tensor<5x7xi8>
  // CHECK: tile.dot {{.*}} : tensor<24x5xi8>, tensor<5x7xi8>, tensor<24x7xi32>
  %6 = tile.dot %a4, %b4, %ci : tensor<24x5xi8>, tensor<5x7xi8>, tensor<24x7xi32>
  %a5 = tile.full 1.0 : f64 -> tensor<24x5xf64>
  %b5 = tile.full 1.0 : f64 -> tensor<5x7xf64>
  // CHECK: tile.dot {{.*}} : tensor<24x5xf64>, tensor<5x7xf64>, tensor<24x7xf64>
  %7 = tile.dot %a5, %b5, %cd : tensor<24x5xf64>, tensor<5x7xf64>, tensor<24x7xf64>
  tile.return
}

// CHECK-LABEL: tile.kernel @axes
tile.kernel @axes(%a: f32) grid() -> (1) {
  %t = tile.splat %a : f32 -> tensor<2x3x5x7xf32>
  // CHECK: tile.max %{{.*}} axis 0 : tensor<2x3x5x7xf32> -> tensor<3x5x7xf32>
  %0 = tile.max %t axis 0 : tensor<2x3x5x7xf32> -> tensor<3x5x7xf32>
  // CHECK: tile.min %{{.*}} axis 3 : tensor<2x3x5x7xf32> -> tensor<2x3x5xf32>
  %1 = tile.min %t axis 3 : tensor<2x3x5x7xf32> -> tensor<2x3x5xf32>
  // CHECK: tile.sum %{{.*}} axis 1 {test.note} : tensor<2x3x5xf32> -> tensor<2x5xf32>
  %2 = tile.sum %1 axis 1 {test.note} : tensor<2x3x5xf32> -> tensor<2x5xf32>
  %v = tile.splat %a : f32 -> tensor<7xf32>
  // CHECK: tile.max %{{.*}} axis 0 : tensor<7xf32> -> f32
  %3 = tile.max %v axis 0 : tensor<7xf32> -> f32
  // CHECK: tile.min %{{.*}} axis 0 : tensor<7xf32> -> f32
  %4 = tile.min %v axis 0 : tensor<7xf32> -> f32
  // CHECK: tile.sum %{{.*}} axis 0 : tensor<7xf32> -> f32
  %5 = tile.sum %v axis 0 : tensor<7xf32> -> f32
  %b = tile.full true -> tensor<7xi1>
  // CHECK: tile.max %{{.*}} axis 0 : tensor<7xi1> -> i1
  %6 = tile.max %b axis 0 : tensor<7xi1> -> i1
  %i = tile.full 1 : i64 -> tensor<3x5xi64>
  // CHECK: tile.sum %{{.*}} axis 1 : tensor<3x5xi64> -> tensor<3xi64>
  %7 = tile.sum %i axis 1 : tensor<3x5xi64> -> tensor<3xi64>
  tile.return
}

// A combiner may use values from outside; its arguments are all x, then all y.
// CHECK-LABEL: tile.kernel @combiners
tile.kernel @combiners(%limit: f32) grid() -> (1) {
  %t = tile.splat %limit : f32 -> tensor<3x5xf32>
  %i = tile.full 1 : i32 -> tensor<3x5xi32>
  // CHECK: tile.reduce(%{{.*}}) axis 1 {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32):
  // CHECK-NEXT:   arith.minimumf
  // CHECK-NEXT:   arith.addf
  // CHECK-NEXT:   tile.yield %{{.*}} : f32
  // CHECK-NEXT: } : (tensor<3x5xf32>) -> tensor<3xf32>
  %0 = tile.reduce(%t) axis 1 {
  ^bb0(%x: f32, %y: f32):
    %least = arith.minimumf %x, %limit : f32
    %sum = arith.addf %least, %y : f32
    tile.yield %sum : f32
  } : (tensor<3x5xf32>) -> tensor<3xf32>
  // CHECK: tile.reduce(%{{.*}}, %{{.*}}) axis 0 {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: i32):
  // CHECK: } {test.note} : (tensor<3x5xf32>, tensor<3x5xi32>) -> (tensor<5xf32>, tensor<5xi32>)
  %1, %2 = tile.reduce(%t, %i) axis 0 {
  ^bb0(%x: f32, %xi: i32, %y: f32, %yi: i32):
    tile.yield %x, %yi : f32, i32
  } {test.note} : (tensor<3x5xf32>, tensor<3x5xi32>) -> (tensor<5xf32>, tensor<5xi32>)
  // CHECK: tile.scan(%{{.*}}) axis 1 {
  // CHECK: } : tensor<3x5xf32>
  %3 = tile.scan(%t) axis 1 {
  ^bb0(%x: f32, %y: f32):
    %sum = arith.addf %x, %y : f32
    tile.yield %sum : f32
  } : tensor<3x5xf32>
  // CHECK: tile.scan(%{{.*}}, %{{.*}}) axis 0 reverse {
  // CHECK: } {test.note} : tensor<3x5xf32>, tensor<3x5xi32>
  %4, %5 = tile.scan(%t, %i) axis 0 reverse {
  ^bb0(%x: f32, %xi: i32, %y: f32, %yi: i32):
    tile.yield %y, %xi : f32, i32
  } {test.note} : tensor<3x5xf32>, tensor<3x5xi32>
  %v = tile.splat %limit : f32 -> tensor<7xf32>
  // CHECK: tile.reduce(%{{.*}}) axis 0 {
  // CHECK: } : (tensor<7xf32>) -> f32
  %6 = tile.reduce(%v) axis 0 {
  ^bb0(%x: f32, %y: f32):
    %product = arith.mulf %x, %y : f32
    tile.yield %product : f32
  } : (tensor<7xf32>) -> f32
  tile.return
}
