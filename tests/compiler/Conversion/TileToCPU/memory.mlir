// RUN: fa-opt --convert-tile-to-cpu="lanes=8 registers=16" --split-input-file %s | FileCheck %s

// A ragged tile touches no memory beyond the tensor: unless the whole window
// lies inside, every load is masked, and so is every store.
// CHECK-LABEL: func.func private @ragged.body
// CHECK: scf.if
// CHECK-COUNT-2: llvm.load {{.*}} : !llvm.ptr -> vector<8xf32>
// CHECK: } else {
// CHECK-NOT: llvm.load
// CHECK: %[[MASK:.*]] = arith.cmpi ult, {{.*}} : vector<8xi64>
// CHECK-NOT: llvm.load
// CHECK: llvm.intr.masked.load %{{.*}}, %[[MASK]], %{{.*}} {alignment = 4 : i32}
// CHECK-NOT: llvm.load
// CHECK: llvm.intr.masked.load
// CHECK-NOT: llvm.load
// CHECK: }
// CHECK-NOT: llvm.store
// CHECK: llvm.intr.masked.store
// CHECK-NOT: llvm.store
// CHECK: llvm.intr.masked.store
// CHECK-NOT: llvm.store
// CHECK: return
tile.kernel @ragged(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %xp = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<16xf32>
  %yp = tile.make_block_ptr %y shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<16xf32>
  %v = tile.load %xp : !tile.block_ptr<16xf32>
  tile.store %yp, %v : !tile.block_ptr<16xf32>
  tile.return
}

// -----

// The tensor ends where the tile does, but vectors do not: the last four lanes
// of the third vector lie beyond.
// CHECK-LABEL: func.func private @last_vector.body
// CHECK: arith.constant dense<20> : vector<8xi64>
// CHECK: llvm.intr.masked.load
tile.kernel @last_vector(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 20 : i64
  %xp = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<20xf32>
  %yp = tile.make_block_ptr %y shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<20xf32>
  %v = tile.load %xp {in_bounds = array<i1: true>} : !tile.block_ptr<20xf32>
  tile.store %yp, %v {in_bounds = array<i1: true>} : !tile.block_ptr<20xf32>
  tile.return
}
