// RUN: fa-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: tile.kernel @extremes_of_a_splat
// CHECK-DAG:     %[[ROW:.*]] = arith.constant dense<0x7FC00000> : tensor<5xf32>
// CHECK-DAG:     %[[SCALAR:.*]] = arith.constant -3 : i32
// CHECK-NOT:     tile.m
// CHECK:         tile.print "extremes", %[[ROW]], %[[ROW]], %[[SCALAR]], %[[SCALAR]]
tile.kernel @extremes_of_a_splat() grid() -> (1) {
  %nan = tile.full 0x7FC00000 : f32 -> tensor<3x5xf32>
  %int = tile.full -3 : i32 -> tensor<7xi32>
  %0 = tile.max %nan axis 0 : tensor<3x5xf32> -> tensor<5xf32>
  %1 = tile.min %nan axis 0 : tensor<3x5xf32> -> tensor<5xf32>
  %2 = tile.max %int axis 0 : tensor<7xi32> -> i32
  %3 = tile.min %int axis 0 : tensor<7xi32> -> i32
  tile.print "extremes", %0, %1, %2, %3 : tensor<5xf32>, tensor<5xf32>, i32, i32
  tile.return
}

// CHECK-LABEL: tile.kernel @sum_of_zeros
// CHECK-DAG:     %[[F:.*]] = arith.constant dense<0.000000e+00> : tensor<3xf32>
// CHECK-DAG:     %[[N:.*]] = arith.constant -0.000000e+00 : f64
// CHECK-DAG:     %[[I:.*]] = arith.constant 0 : i64
// CHECK-NOT:     tile.sum
// CHECK:         tile.print "zeros", %[[F]], %[[N]], %[[I]]
tile.kernel @sum_of_zeros() grid() -> (1) {
  %f = tile.full 0.0 : f32 -> tensor<3x5xf32>
  %n = tile.full -0.0 : f64 -> tensor<7xf64>
  %i = tile.full 0 : i64 -> tensor<7xi64>
  %0 = tile.sum %f axis 1 : tensor<3x5xf32> -> tensor<3xf32>
  %1 = tile.sum %n axis 0 : tensor<7xf64> -> f64
  %2 = tile.sum %i axis 0 : tensor<7xi64> -> i64
  tile.print "zeros", %0, %1, %2 : tensor<3xf32>, f64, i64
  tile.return
}

// Other sums depend on the order and on rounding.
// CHECK-LABEL: tile.kernel @other_sums_are_left
// CHECK:         tile.sum
// CHECK:         tile.max
tile.kernel @other_sums_are_left() grid() -> (1) {
  %f = tile.full 0.1 : f32 -> tensor<3x5xf32>
  %list = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = tile.sum %f axis 1 : tensor<3x5xf32> -> tensor<3xf32>
  %1 = tile.max %list axis 0 : tensor<2xf32> -> f32
  tile.print "left", %0, %1 : tensor<3xf32>, f32
  tile.return
}
