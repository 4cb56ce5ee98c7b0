// RUN: fa-opt %s --canonicalize | FileCheck %s

// f32 and f64 fold through the host's libm; a NaN that results is the default.
// CHECK-LABEL: tile.kernel @exp_of_edges
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG:     %[[INF:.*]] = arith.constant 0x7F800000 : f32
// CHECK-DAG:     %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// CHECK:         tile.print "exp", %[[ONE]], %[[ZERO]], %[[INF]], %[[NAN]]
// CHECK:         tile.print "exp2", %[[ONE]], %[[ZERO]], %[[INF]], %[[NAN]]
tile.kernel @exp_of_edges() grid() -> (1) {
  %zero = arith.constant -0.0 : f32
  %minus_inf = arith.constant 0xFF800000 : f32
  %inf = arith.constant 0x7F800000 : f32
  %nan = arith.constant 0xFFC00001 : f32
  %0 = tile.exp %zero : f32
  %1 = tile.exp %minus_inf : f32
  %2 = tile.exp %inf : f32
  %3 = tile.exp %nan : f32
  tile.print "exp", %0, %1, %2, %3 : f32, f32, f32, f32
  %4 = tile.exp2 %zero : f32
  %5 = tile.exp2 %minus_inf : f32
  %6 = tile.exp2 %inf : f32
  %7 = tile.exp2 %nan : f32
  tile.print "exp2", %4, %5, %6, %7 : f32, f32, f32, f32
  tile.return
}

// CHECK-LABEL: tile.kernel @log_of_edges
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-DAG:     %[[MINUS_INF:.*]] = arith.constant 0xFFF0000000000000 : f64
// CHECK-DAG:     %[[INF:.*]] = arith.constant 0x7FF0000000000000 : f64
// CHECK-DAG:     %[[NAN:.*]] = arith.constant 0x7FF8000000000000 : f64
// CHECK:         tile.print "log", %[[ZERO]], %[[MINUS_INF]], %[[INF]], %[[NAN]]
// CHECK:         tile.print "log2", %[[ZERO]], %[[MINUS_INF]], %[[INF]], %[[NAN]]
tile.kernel @log_of_edges() grid() -> (1) {
  %one = arith.constant 1.0 : f64
  %zero = arith.constant -0.0 : f64
  %inf = arith.constant 0x7FF0000000000000 : f64
  %negative = arith.constant -1.0 : f64
  %0 = tile.log %one : f64
  %1 = tile.log %zero : f64
  %2 = tile.log %inf : f64
  %3 = tile.log %negative : f64
  tile.print "log", %0, %1, %2, %3 : f64, f64, f64, f64
  %4 = tile.log2 %one : f64
  %5 = tile.log2 %zero : f64
  %6 = tile.log2 %inf : f64
  %7 = tile.log2 %negative : f64
  tile.print "log2", %4, %5, %6, %7 : f64, f64, f64, f64
  tile.return
}

// CHECK-LABEL: tile.kernel @tiles
// CHECK-DAG:     %[[LIST:.*]] = arith.constant dense<[2.000000e+00, 4.000000e+00, 5.000000e-01]> : tensor<3xf32>
// CHECK-DAG:     %[[SPLAT:.*]] = arith.constant dense<3.000000e+00> : tensor<5x7xf32>
// CHECK:         tile.print "tiles", %[[LIST]], %[[SPLAT]]
tile.kernel @tiles() grid() -> (1) {
  %list = arith.constant dense<[1.0, 2.0, -1.0]> : tensor<3xf32>
  %splat = tile.full 8.0 : f32 -> tensor<5x7xf32>
  %0 = tile.exp2 %list : tensor<3xf32>
  %1 = tile.log2 %splat fastmath<afn> : tensor<5x7xf32>
  tile.print "tiles", %0, %1 : tensor<3xf32>, tensor<5x7xf32>
  tile.return
}

// Narrower types follow the target's rounding.
// CHECK-LABEL: tile.kernel @narrow_is_left
// CHECK:         tile.exp %{{.*}} : f16
// CHECK:         tile.log %{{.*}} : tensor<3xbf16>
tile.kernel @narrow_is_left() grid() -> (1) {
  %a = arith.constant 1.0 : f16
  %b = tile.full 1.0 : bf16 -> tensor<3xbf16>
  %0 = tile.exp %a : f16
  %1 = tile.log %b : tensor<3xbf16>
  tile.print "narrow", %0, %1 : f16, tensor<3xbf16>
  tile.return
}

// Nearest, ties to even; beyond the range of f16 is infinity.
// CHECK-LABEL: tile.kernel @cast_constants
// CHECK-DAG:     %[[LARGEST:.*]] = arith.constant 6.550400e+04 : f16
// CHECK-DAG:     %[[INF:.*]] = arith.constant 0x7C00 : f16
// CHECK-DAG:     %[[EVEN:.*]] = arith.constant dense<1.000000e+00> : tensor<3xbf16>
// CHECK-DAG:     %[[WIDE:.*]] = arith.constant dense<1.500000e+00> : tensor<3xf32>
// CHECK:         tile.print "cast", %[[LARGEST]], %[[INF]], %[[EVEN]], %[[WIDE]]
tile.kernel @cast_constants() grid() -> (1) {
  %a = arith.constant 65519.0 : f32
  %b = arith.constant 65520.0 : f32
  %c = tile.full 1.00390625 : f32 -> tensor<3xf32>
  %d = tile.full 1.5 : f8E5M2 -> tensor<3xf8E5M2>
  %0 = tile.cast %a : f32 -> f16
  %1 = tile.cast %b : f32 -> f16
  %2 = tile.cast %c : tensor<3xf32> -> tensor<3xbf16>
  %3 = tile.cast %d : tensor<3xf8E5M2> -> tensor<3xf32>
  tile.print "cast", %0, %1, %2, %3 : f16, f16, tensor<3xbf16>, tensor<3xf32>
  tile.return
}

// Saturation is not what the folder's arithmetic does.
// CHECK-LABEL: tile.kernel @cast_to_fp8_is_left
// CHECK:         tile.cast %{{.*}} : tensor<3xf32> -> tensor<3xf8E4M3FN>
tile.kernel @cast_to_fp8_is_left() grid() -> (1) {
  %a = tile.full 1000.0 : f32 -> tensor<3xf32>
  %0 = tile.cast %a : tensor<3xf32> -> tensor<3xf8E4M3FN>
  tile.print "fp8", %0 : tensor<3xf8E4M3FN>
  tile.return
}

// Through a type that holds every value, there and back is nothing.
// CHECK-LABEL: tile.kernel @there_and_back
// CHECK-SAME:    (%[[P:.*]]: !tile.ptr<f8E4M3FN>, %[[X:.*]]: f32)
// CHECK:         %[[V:.*]] = tile.load %[[P]]
// CHECK:         tile.print "back", %[[V]], %[[X]], %[[X]]
tile.kernel @there_and_back(%p: !tile.ptr<f8E4M3FN>, %x: f32) grid() -> (1) {
  %v = tile.load %p : !tile.ptr<f8E4M3FN>
  %0 = tile.cast %v : f8E4M3FN -> bf16
  %1 = tile.cast %0 : bf16 -> f8E4M3FN
  %2 = tile.cast %x : f32 -> f64
  %3 = tile.cast %2 : f64 -> f32
  %4 = tile.cast %x : f32 -> f32
  tile.print "back", %1, %3, %4 : f8E4M3FN, f32, f32
  tile.return
}

// Infinities of f8E5M2 saturate on the way back, and even in a cast to itself.
// CHECK-LABEL: tile.kernel @infinity_does_not_come_back
// CHECK:         tile.cast %{{.*}} : f8E5M2 -> f32
// CHECK:         tile.cast %{{.*}} : f32 -> f8E5M2
// CHECK:         tile.cast %{{.*}} : f8E5M2 -> f8E5M2
tile.kernel @infinity_does_not_come_back(%p: !tile.ptr<f8E5M2>) grid() -> (1) {
  %v = tile.load %p : !tile.ptr<f8E5M2>
  %0 = tile.cast %v : f8E5M2 -> f32
  %1 = tile.cast %0 : f32 -> f8E5M2
  %2 = tile.cast %v : f8E5M2 -> f8E5M2
  tile.print "back", %1, %2 : f8E5M2, f8E5M2
  tile.return
}

// f16 and bf16 do not hold each other's values; f32 does not hold f64's.
// CHECK-LABEL: tile.kernel @rounding_stays
// CHECK-COUNT-6: tile.cast
tile.kernel @rounding_stays(%x: f32, %y: f64) grid() -> (1) {
  %h = tile.cast %x : f32 -> f16
  %0 = tile.cast %h : f16 -> bf16
  %1 = tile.cast %0 : bf16 -> f16
  %2 = tile.cast %h : f16 -> f32
  %3 = tile.cast %y : f64 -> f32
  %4 = tile.cast %3 : f32 -> f64
  tile.print "rounded", %1, %2, %4 : f16, f32, f64
  tile.return
}
