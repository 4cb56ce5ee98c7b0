// RUN: fa-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: tile.kernel @splats_become_constants
// CHECK-DAG:     %[[FULL:.*]] = arith.constant dense<0xFF800000> : tensor<3x5xf32>
// CHECK-DAG:     %[[SPLAT:.*]] = arith.constant dense<7> : tensor<3xi32>
// CHECK-DAG:     %[[BOOL:.*]] = arith.constant dense<true> : tensor<3xi1>
// CHECK-DAG:     %[[EXPANDED:.*]] = arith.constant dense<7> : tensor<3x1xi32>
// CHECK-DAG:     %[[WIDE:.*]] = arith.constant dense<7> : tensor<3x11xi32>
// CHECK-DAG:     %[[TRANS:.*]] = arith.constant dense<0xFF800000> : tensor<5x3xf32>
// CHECK-DAG:     %[[LINE:.*]] = arith.constant dense<0xFF800000> : tensor<15xf32>
// CHECK-NOT:     tile.{{[a-oq-z]}}
// CHECK:         tile.print "splats", %[[FULL]], %[[SPLAT]], %[[BOOL]], %[[EXPANDED]], %[[WIDE]], %[[TRANS]], %[[LINE]]
tile.kernel @splats_become_constants() grid() -> (1) {
  %seven = arith.constant 7 : i32
  %0 = tile.full 0xFF800000 : f32 -> tensor<3x5xf32>
  %1 = tile.splat %seven : i32 -> tensor<3xi32>
  %2 = tile.full true -> tensor<3xi1>
  %3 = tile.expand_dims %1 axis 1 : tensor<3xi32> -> tensor<3x1xi32>
  %4 = tile.broadcast %3 : tensor<3x1xi32> -> tensor<3x11xi32>
  %5 = tile.trans %0 order [1, 0] : tensor<3x5xf32> -> tensor<5x3xf32>
  %6 = tile.reshape %0 : tensor<3x5xf32> -> tensor<15xf32>
  tile.print "splats", %0, %1, %2, %3, %4, %5, %6 : tensor<3x5xf32>, tensor<3xi32>, tensor<3xi1>, tensor<3x1xi32>, tensor<3x11xi32>, tensor<5x3xf32>, tensor<15xf32>
  tile.return
}

// Row-major order is kept.
// CHECK-LABEL: tile.kernel @reshape_of_a_list
// CHECK:         arith.constant dense<{{\[}}[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
tile.kernel @reshape_of_a_list() grid() -> (1) {
  %list = arith.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  %0 = tile.reshape %list : tensor<6xi32> -> tensor<2x3xi32>
  tile.print "rows", %0 : tensor<2x3xi32>
  tile.return
}

// There are no constants of pointers.
// CHECK-LABEL: tile.kernel @pointers_are_left
// CHECK:         tile.splat %{{.*}} : !tile.ptr<f32> -> tensor<1x!tile.ptr<f32>>
// CHECK:         tile.broadcast
tile.kernel @pointers_are_left(%x: !tile.ptr<f32>) grid() -> (1) {
  %0 = tile.splat %x : !tile.ptr<f32> -> tensor<1x!tile.ptr<f32>>
  %1 = tile.broadcast %0 : tensor<1x!tile.ptr<f32>> -> tensor<5x!tile.ptr<f32>>
  %2 = tile.load %1 : tensor<5x!tile.ptr<f32>>
  tile.print "values", %2 : tensor<5xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @identities
// CHECK:         %[[T:.*]] = tile.splat
// CHECK-NEXT:    tile.print "same", %[[T]], %[[T]], %[[T]]
tile.kernel @identities(%x: f32) grid() -> (1) {
  %t = tile.splat %x : f32 -> tensor<3x5xf32>
  %0 = tile.broadcast %t : tensor<3x5xf32> -> tensor<3x5xf32>
  %1 = tile.trans %t order [0, 1] : tensor<3x5xf32> -> tensor<3x5xf32>
  %2 = tile.reshape %t : tensor<3x5xf32> -> tensor<3x5xf32>
  tile.print "same", %0, %1, %2 : tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>
  tile.return
}

// A permutation that is no involution tells p[q] from q[p].
// CHECK-LABEL: tile.kernel @chains
// CHECK-DAG:     %[[T:.*]] = tile.splat %{{.*}} -> tensor<2x3x5xf32>
// CHECK-DAG:     %[[U:.*]] = tile.splat %{{.*}} -> tensor<1x1xf32>
// CHECK:         %[[TRANS:.*]] = tile.trans %[[T]] order [0, 2, 1] : tensor<2x3x5xf32> -> tensor<2x5x3xf32>
// CHECK:         %[[LINE:.*]] = tile.reshape %[[T]] : tensor<2x3x5xf32> -> tensor<30xf32>
// CHECK:         %[[WIDE:.*]] = tile.broadcast %[[U]] : tensor<1x1xf32> -> tensor<3x5xf32>
// CHECK:         tile.print "chains", %[[TRANS]], %[[LINE]], %[[WIDE]]
tile.kernel @chains(%x: f32) grid() -> (1) {
  %t = tile.splat %x : f32 -> tensor<2x3x5xf32>
  %u = tile.splat %x : f32 -> tensor<1x1xf32>
  %0 = tile.trans %t order [1, 2, 0] : tensor<2x3x5xf32> -> tensor<3x5x2xf32>
  %1 = tile.trans %0 order [2, 1, 0] : tensor<3x5x2xf32> -> tensor<2x5x3xf32>
  %2 = tile.reshape %t : tensor<2x3x5xf32> -> tensor<6x5xf32>
  %3 = tile.reshape %2 : tensor<6x5xf32> -> tensor<30xf32>
  %4 = tile.broadcast %u : tensor<1x1xf32> -> tensor<1x5xf32>
  %5 = tile.broadcast %4 : tensor<1x5xf32> -> tensor<3x5xf32>
  tile.print "chains", %1, %3, %5 : tensor<2x5x3xf32>, tensor<30xf32>, tensor<3x5xf32>
  tile.return
}

// Two turns by a third are not the identity; three are.
// CHECK-LABEL: tile.kernel @three_turns
// CHECK:         %[[T:.*]] = tile.splat
// CHECK-NEXT:    tile.print "turned", %[[T]]
tile.kernel @three_turns(%x: f32) grid() -> (1) {
  %t = tile.splat %x : f32 -> tensor<2x3x5xf32>
  %0 = tile.trans %t order [1, 2, 0] : tensor<2x3x5xf32> -> tensor<3x5x2xf32>
  %1 = tile.trans %0 order [1, 2, 0] : tensor<3x5x2xf32> -> tensor<5x2x3xf32>
  %2 = tile.trans %1 order [1, 2, 0] : tensor<5x2x3xf32> -> tensor<2x3x5xf32>
  tile.print "turned", %2 : tensor<2x3x5xf32>
  tile.return
}
