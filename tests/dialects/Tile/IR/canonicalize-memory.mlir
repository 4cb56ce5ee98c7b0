// RUN: fa-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: tile.kernel @advance_joins_make
// CHECK-SAME:    (%[[X:.*]]: !tile.ptr<f32>, %[[N:.*]]: i64, %[[M:.*]]: i64)
// CHECK:         %[[I:.*]] = arith.addi %[[M]], %[[N]] : i64
// CHECK:         %[[J:.*]] = arith.addi %[[M]], %[[M]] : i64
// CHECK:         %[[P:.*]] = tile.make_block_ptr %[[X]] shape[%[[N]], %[[M]]] strides[%[[M]], %[[N]]] offsets[%[[I]], %[[J]]] {order = array<i32: 0, 1>}
// CHECK-NOT:     tile.advance
// CHECK:         tile.load %[[P]]
tile.kernel @advance_joins_make(%x: !tile.ptr<f32>, %n: i64, %m: i64) grid(n, m) -> (1) {
  %p = tile.make_block_ptr %x shape [%n, %m] strides [%m, %n] offsets [%m, %m]
      {order = array<i32: 0, 1>} : !tile.ptr<f32> -> !tile.block_ptr<3x5xf32>
  %q = tile.advance %p, [%n, %m] : !tile.block_ptr<3x5xf32>
  %v = tile.load %q : !tile.block_ptr<3x5xf32>
  tile.print "v", %v : tensor<3x5xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @load_of_everything
// CHECK-NOT:     mask
// CHECK:         tile.load %{{.*}} : !tile.ptr<f32>
// CHECK:         tile.load %{{.*}} : tensor<5x!tile.ptr<f32>>
tile.kernel @load_of_everything(%x: !tile.ptr<f32>, %f: f32) grid() -> (1) {
  %true = arith.constant true
  %all = tile.full true -> tensor<5xi1>
  %s = tile.splat %x : !tile.ptr<f32> -> tensor<5x!tile.ptr<f32>>
  %0 = tile.load %x mask %true other %f : !tile.ptr<f32>
  %1 = tile.load %s mask %all : tensor<5x!tile.ptr<f32>>
  tile.print "all", %0, %1 : f32, tensor<5xf32>
  tile.return
}

// Without 'other', what is not read is zero.
// CHECK-LABEL: tile.kernel @load_of_nothing
// CHECK-SAME:    %[[F:[a-z]+]]: f32
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG:     %[[ZEROS:.*]] = arith.constant dense<0> : tensor<5xi8>
// CHECK-NOT:     tile.load
// CHECK:         tile.print "nothing", %[[F]], %[[ZERO]], %[[ZEROS]]
tile.kernel @load_of_nothing(%f: f32, %x: !tile.ptr<f32>, %y: !tile.ptr<i8>) grid() -> (1) {
  %false = arith.constant false
  %none = tile.full false -> tensor<5xi1>
  %s = tile.splat %y : !tile.ptr<i8> -> tensor<5x!tile.ptr<i8>>
  %0 = tile.load %x mask %false other %f : !tile.ptr<f32>
  %1 = tile.load %x mask %false : !tile.ptr<f32>
  %2 = tile.load %s mask %none : tensor<5x!tile.ptr<i8>>
  tile.print "nothing", %0, %1, %2 : f32, f32, tensor<5xi8>
  tile.return
}

// CHECK-LABEL: tile.kernel @stores
// CHECK:         tile.store %{{.*}}, %{{.*}} : tensor<5x!tile.ptr<f32>>
// CHECK-NEXT:    tile.store %{{.*}}, %{{.*}} mask %{{.*}} : tensor<5x!tile.ptr<f32>>
// CHECK-NEXT:    tile.return
tile.kernel @stores(%x: !tile.ptr<f32>, %f: f32) grid() -> (1) {
  %all = tile.full true -> tensor<5xi1>
  %none = tile.full false -> tensor<5xi1>
  %some = arith.constant dense<[true, false, true, true, false]> : tensor<5xi1>
  %s = tile.splat %x : !tile.ptr<f32> -> tensor<5x!tile.ptr<f32>>
  %v = tile.splat %f : f32 -> tensor<5xf32>
  tile.store %s, %v mask %all : tensor<5x!tile.ptr<f32>>
  tile.store %s, %v mask %none : tensor<5x!tile.ptr<f32>>
  tile.store %s, %v mask %some : tensor<5x!tile.ptr<f32>>
  tile.return
}

// Reads and pure operations without users go; writes stay, atomics too.
// CHECK-LABEL: tile.kernel @unused
// CHECK-NOT:     tile.load
// CHECK:         tile.atomic_add
// CHECK-NEXT:    tile.return
tile.kernel @unused(%x: !tile.ptr<f32>, %f: f32) grid() -> (1) {
  %0 = tile.load %x : !tile.ptr<f32>
  %1 = tile.exp %f : f32
  %2 = tile.program_id x
  %3 = tile.atomic_add %x, %f : !tile.ptr<f32>
  tile.return
}
