// RUN: fa-opt %s | fa-opt | FileCheck %s
// RUN: fa-opt %s --mlir-print-op-generic | fa-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @build
tile.kernel @build(%x: !tile.ptr<f16>, %a: f32, %n: i64) grid(n) -> (1) {
  // CHECK: tile.arange 0 to 1 : tensor<1xi32>
  %0 = tile.arange 0 to 1 : tensor<1xi32>
  // CHECK: tile.arange -5 to 42 : tensor<47xi32>
  %1 = tile.arange -5 to 42 : tensor<47xi32>
  // CHECK: tile.arange -2147483648 to -2147483640 {test.note} : tensor<8xi32>
  %2 = tile.arange -2147483648 to -2147483640 {test.note} : tensor<8xi32>
  // CHECK: tile.splat %a : f32 -> tensor<3x5x7x11xf32>
  %3 = tile.splat %a : f32 -> tensor<3x5x7x11xf32>
  // CHECK: tile.splat %x : !tile.ptr<f16> -> tensor<24x!tile.ptr<f16>>
  %4 = tile.splat %x : !tile.ptr<f16> -> tensor<24x!tile.ptr<f16>>
  // The largest tile.
  // CHECK: tile.splat %n : i64 -> tensor<1048576xi64>
  %5 = tile.splat %n : i64 -> tensor<1048576xi64>
  tile.return
}

// CHECK-LABEL: tile.kernel @every_element_type
tile.kernel @every_element_type() grid() -> (1) {
  // CHECK: tile.full 1.500000e+00 : f64 -> tensor<3xf64>
  %0 = tile.full 1.5 : f64 -> tensor<3xf64>
  // CHECK: tile.full 0xFF800000 : f32 -> tensor<3x5xf32>
  %1 = tile.full 0xFF800000 : f32 -> tensor<3x5xf32>
  // CHECK: tile.full 1.500000e+00 : f16 -> tensor<3xf16>
  %2 = tile.full 1.5 : f16 -> tensor<3xf16>
  // CHECK: tile.full 0x7FC0 : bf16 -> tensor<3xbf16>
  %3 = tile.full 0x7FC0 : bf16 -> tensor<3xbf16>
  // CHECK: tile.full 1.500000e+00 : f8E4M3FN -> tensor<3xf8E4M3FN>
  %4 = tile.full 1.5 : f8E4M3FN -> tensor<3xf8E4M3FN>
  // CHECK: tile.full 1.500000e+00 : f8E5M2 -> tensor<3xf8E5M2>
  %5 = tile.full 1.5 : f8E5M2 -> tensor<3xf8E5M2>
  // CHECK: tile.full true -> tensor<3xi1>
  %6 = tile.full true -> tensor<3xi1>
  // CHECK: tile.full -128 : i8 -> tensor<3xi8>
  %7 = tile.full -128 : i8 -> tensor<3xi8>
  // CHECK: tile.full 7 : i16 -> tensor<3xi16>
  %8 = tile.full 7 : i16 -> tensor<3xi16>
  // CHECK: tile.full 7 : i32 -> tensor<3xi32>
  %9 = tile.full 7 : i32 -> tensor<3xi32>
  // CHECK: tile.full -9223372036854775808 : i64 -> tensor<3xi64>
  %10 = tile.full -9223372036854775808 : i64 -> tensor<3xi64>
  tile.return
}

// CHECK-LABEL: tile.kernel @reshape
tile.kernel @reshape(%x: !tile.ptr<f32>, %a: f32) grid() -> (1) {
  %t = tile.splat %a : f32 -> tensor<6x7xf32>
  // CHECK: tile.expand_dims %{{.*}} axis 0 : tensor<6x7xf32> -> tensor<1x6x7xf32>
  %0 = tile.expand_dims %t axis 0 : tensor<6x7xf32> -> tensor<1x6x7xf32>
  // CHECK: tile.expand_dims %{{.*}} axis 1 : tensor<6x7xf32> -> tensor<6x1x7xf32>
  %1 = tile.expand_dims %t axis 1 : tensor<6x7xf32> -> tensor<6x1x7xf32>
  // CHECK: tile.expand_dims %{{.*}} axis 3 : tensor<6x1x7xf32> -> tensor<6x1x7x1xf32>
  %2 = tile.expand_dims %1 axis 3 : tensor<6x1x7xf32> -> tensor<6x1x7x1xf32>
  // CHECK: tile.broadcast %{{.*}} : tensor<6x1x7x1xf32> -> tensor<6x5x7x3xf32>
  %3 = tile.broadcast %2 : tensor<6x1x7x1xf32> -> tensor<6x5x7x3xf32>
  // CHECK: tile.trans %{{.*}} order [3, 1, 0, 2] : tensor<6x5x7x3xf32> -> tensor<3x5x6x7xf32>
  %4 = tile.trans %3 order [3, 1, 0, 2] : tensor<6x5x7x3xf32> -> tensor<3x5x6x7xf32>
  %v = tile.splat %a : f32 -> tensor<7xf32>
  // CHECK: tile.trans %{{.*}} order [0] : tensor<7xf32> -> tensor<7xf32>
  %5 = tile.trans %v order [0] : tensor<7xf32> -> tensor<7xf32>
  // CHECK: tile.reshape %{{.*}} : tensor<6x7xf32> -> tensor<42xf32>
  %6 = tile.reshape %t : tensor<6x7xf32> -> tensor<42xf32>
  // CHECK: tile.reshape %{{.*}} : tensor<6x7xf32> -> tensor<3x2x1x7xf32>
  %7 = tile.reshape %t : tensor<6x7xf32> -> tensor<3x2x1x7xf32>
  // CHECK: tile.cat %{{.*}}, %{{.*}} axis 1 : tensor<6x7xf32>, tensor<6x7xf32> -> tensor<6x14xf32>
  %8 = tile.cat %t, %t axis 1 : tensor<6x7xf32>, tensor<6x7xf32> -> tensor<6x14xf32>
  // CHECK: tile.cat %{{.*}}, %{{.*}} axis 1 : tensor<6x14xf32>, tensor<6x7xf32> -> tensor<6x21xf32>
  %9 = tile.cat %8, %t axis 1 : tensor<6x14xf32>, tensor<6x7xf32> -> tensor<6x21xf32>
  // CHECK: tile.join %{{.*}}, %{{.*}} : tensor<6x7xf32> -> tensor<6x7x2xf32>
  %10 = tile.join %t, %t : tensor<6x7xf32> -> tensor<6x7x2xf32>
  // Tiles of pointers have a shape as well.
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<3x!tile.ptr<f32>>
  // CHECK: tile.expand_dims %{{.*}} axis 0 : tensor<3x!tile.ptr<f32>> -> tensor<1x3x!tile.ptr<f32>>
  %11 = tile.expand_dims %p axis 0 : tensor<3x!tile.ptr<f32>> -> tensor<1x3x!tile.ptr<f32>>
  // CHECK: tile.broadcast %{{.*}} : tensor<1x3x!tile.ptr<f32>> -> tensor<5x3x!tile.ptr<f32>>
  %12 = tile.broadcast %11 : tensor<1x3x!tile.ptr<f32>> -> tensor<5x3x!tile.ptr<f32>>
  // CHECK: tile.cat %{{.*}} -> tensor<6x!tile.ptr<f32>>
  %13 = tile.cat %p, %p axis 0 : tensor<3x!tile.ptr<f32>>, tensor<3x!tile.ptr<f32>> -> tensor<6x!tile.ptr<f32>>
  tile.return
}
