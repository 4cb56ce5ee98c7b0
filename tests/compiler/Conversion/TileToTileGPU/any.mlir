// RUN: fa-opt --convert-tile-to-tilegpu %s | FileCheck %s

// Down to a scalar: one question, in the layout that the tile has.
// CHECK-LABEL: tile.kernel @any(
// CHECK: %[[MASK:.*]] = arith.cmpf
// CHECK-NOT: tile.max
// CHECK: %[[ANY:.*]] = tilegpu.any %[[MASK]]
// CHECK-NOT: tile.max
// CHECK: scf.if %[[ANY]]
tile.kernel @any(%x: !tile.ptr<f32>, %a: f32) grid() -> (1) {
  %t = tile.splat %a : f32 -> tensor<8x16xf32>
  %r = math.sqrt %t : tensor<8x16xf32>
  %m = arith.cmpf olt, %r, %t : tensor<8x16xf32>
  %0 = tile.max %m axis 1 : tensor<8x16xi1> -> tensor<8xi1>
  %1 = tile.max %0 axis 0 : tensor<8xi1> -> i1
  scf.if %1 {
    tile.store %x, %a : !tile.ptr<f32>
  }
  tile.return
}

// Whether all are true: the negation of whether any is false.
// CHECK-LABEL: tile.kernel @all(
// CHECK: %[[MASK:.*]] = arith.cmpf
// CHECK: %[[NOT:.*]] = arith.xori %[[MASK]]
// CHECK: %[[ANY:.*]] = tilegpu.any %[[NOT]]
// CHECK: %[[ALL:.*]] = arith.xori %[[ANY]]
// CHECK-NOT: tile.min
// CHECK: scf.if %[[ALL]]
tile.kernel @all(%x: !tile.ptr<f32>, %a: f32) grid() -> (1) {
  %t = tile.splat %a : f32 -> tensor<8x16xf32>
  %r = math.sqrt %t : tensor<8x16xf32>
  %m = arith.cmpf olt, %r, %t : tensor<8x16xf32>
  %0 = tile.min %m axis 0 : tensor<8x16xi1> -> tensor<16xi1>
  %1 = tile.min %0 axis 0 : tensor<16xi1> -> i1
  scf.if %1 {
    tile.store %x, %a : !tile.ptr<f32>
  }
  tile.return
}

// What others use is reduced as before, and so are numbers.
// CHECK-LABEL: tile.kernel @used(
// CHECK: %[[ROWS:.*]] = tile.max %{{.*}} axis 1
// CHECK: tilegpu.any %[[ROWS]]
// CHECK: tile.max %{{.*}} axis 0 : tensor<{{.*}}xf32, {{.*}}> -> f32
tile.kernel @used(%x: !tile.ptr<f32>, %a: f32) grid() -> (1) {
  %t = tile.splat %a : f32 -> tensor<8x16xf32>
  %r = math.sqrt %t : tensor<8x16xf32>
  %m = arith.cmpf olt, %r, %t : tensor<8x16xf32>
  %0 = tile.max %m axis 1 : tensor<8x16xi1> -> tensor<8xi1>
  %1 = tile.max %0 axis 0 : tensor<8xi1> -> i1
  %2 = tile.max %r axis 1 : tensor<8x16xf32> -> tensor<8xf32>
  %3 = tile.max %2 axis 0 : tensor<8xf32> -> f32
  tile.print "rows", %0, %3 : tensor<8xi1>, f32
  scf.if %1 {
    tile.store %x, %a : !tile.ptr<f32>
  }
  tile.return
}
