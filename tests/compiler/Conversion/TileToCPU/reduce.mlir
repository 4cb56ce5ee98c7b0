// RUN: fa-opt --convert-tile-to-cpu="lanes=8 registers=16" --split-input-file %s | FileCheck %s

// Along the lanes: three accumulator vectors, which meet in one horizontal
// step. Lanes beyond the tile add the identity, -0.
// CHECK-LABEL: func.func private @along_lanes.body
// CHECK: arith.constant dense<-0.000000e+00> : vector<8xf32>
// CHECK-COUNT-3: arith.select {{.*}} : vector<8xi1>, vector<8xf32>
// CHECK-NOT: vector.reduction
// CHECK: vector.reduction <add>, {{.*}} fastmath<reassoc> : vector<8xf32> into f32
// CHECK-NOT: vector.reduction
// CHECK: return
tile.kernel @along_lanes(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 20 : i64
  %xp = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<20xf32>
  %v = tile.load %xp {in_bounds = array<i1: true>} : !tile.block_ptr<20xf32>
  %s = tile.sum %v axis 0 : tensor<20xf32> -> f32
  tile.store %y, %s : !tile.ptr<f32>
  tile.return
}

// -----

// Across the lanes: one vector for each group of eight columns, whole vectors
// of results, no mask and no horizontal step.
// CHECK-LABEL: func.func private @across_lanes.body
// CHECK: %[[MAX:.*]]:2 = scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>)
// CHECK-NOT: arith.select
// CHECK-COUNT-2: arith.maximumf {{.*}} : vector<8xf32>
// CHECK: vector.store %[[MAX]]#0
// CHECK: vector.store %[[MAX]]#1
// CHECK-NOT: vector.reduction
// CHECK: return
tile.kernel @across_lanes(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 32 : i64
  %n = arith.constant 16 : i64
  %xp = tile.make_block_ptr %x shape [%rows, %n] strides [%n, %one] offsets [%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<32x16xf32>
  %yp = tile.make_block_ptr %y shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<16xf32>
  %v = tile.load %xp {in_bounds = array<i1: true, true>} : !tile.block_ptr<32x16xf32>
  %m = tile.max %v axis 0 : tensor<32x16xf32> -> tensor<16xf32>
  tile.store %yp, %m {in_bounds = array<i1: true>} : !tile.block_ptr<16xf32>
  tile.return
}
