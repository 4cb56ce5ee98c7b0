// RUN: fa-opt --convert-tile-to-cpu="lanes=8 registers=16" %s | FileCheck %s

// A score tile that is reduced along its rows is kept transposed: lanes run
// along the rows, so that the maximum needs no horizontal step.
// CHECK-LABEL: func.func private @scores.body
// CHECK-SAME: noinline
// The register block: four rows by two vectors of eight lanes.
// CHECK: %{{.*}}:8 = scf.for
// CHECK-COUNT-8: vector.fma
// The maximum: one vector across the keys, no reduction along lanes.
// CHECK: scf.for
// CHECK: arith.maximumf {{.*}} : vector<8xf32>
// CHECK-NOT: vector.reduction
tile.kernel @scores(%q: !tile.ptr<f32>, %k: !tile.ptr<f32>, %o: !tile.ptr<f32>)
    grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 16 : i64
  %d = arith.constant 32 : i64
  %qp = tile.make_block_ptr %q shape [%n, %d] strides [%d, %one] offsets [%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<16x32xf32>
  %kp = tile.make_block_ptr %k shape [%n, %d] strides [%d, %one] offsets [%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<16x32xf32>
  %qt = tile.load %qp {in_bounds = array<i1: true, true>} : !tile.block_ptr<16x32xf32>
  %kt = tile.load %kp {in_bounds = array<i1: true, true>} : !tile.block_ptr<16x32xf32>
  %kx = tile.trans %kt order [1, 0] : tensor<16x32xf32> -> tensor<32x16xf32>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  %s = tile.dot %qt, %kx, %c : tensor<16x32xf32>, tensor<32x16xf32>, tensor<16x16xf32>
  %m = tile.max %s axis 1 : tensor<16x16xf32> -> tensor<16xf32>
  %op = tile.make_block_ptr %o shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<16xf32>
  tile.store %op, %m {in_bounds = array<i1: true>} : !tile.block_ptr<16xf32>
  tile.return
}
