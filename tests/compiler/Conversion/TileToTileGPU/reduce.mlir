// RUN: fa-opt --convert-tile-to-tilegpu %s | FileCheck %s

// A reduction's result that is wanted in another layout is converted, and goes
// on to whatever reads tiles as they are.
// CHECK-LABEL: tile.kernel @reduced
tile.kernel @reduced(%a: f32) grid() -> (1) {
  %t = tile.splat %a : f32 -> tensor<2x3x5x7xf32>
  %0 = tile.max %t axis 0 : tensor<2x3x5x7xf32> -> tensor<3x5x7xf32>
  %1 = tile.min %t axis 3 : tensor<2x3x5x7xf32> -> tensor<2x3x5xf32>
  // CHECK: tile.sum
  %2 = tile.sum %1 axis 1 : tensor<2x3x5xf32> -> tensor<2x5xf32>
  // CHECK: tile.print
  tile.print "reduced", %0, %2 : tensor<3x5x7xf32>, tensor<2x5xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @constants
tile.kernel @constants() grid() -> (1) {
  %nan = tile.full 0x7FC00000 : f32 -> tensor<3x5xf32>
  %0 = tile.max %nan axis 0 : tensor<3x5xf32> -> tensor<5xf32>
  // CHECK: tile.print
  tile.print "extremes", %0 : tensor<5xf32>
  tile.return
}
