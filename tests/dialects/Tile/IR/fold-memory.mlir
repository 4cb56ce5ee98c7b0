// RUN: fa-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: tile.kernel @no_distance
// CHECK-SAME:    (%[[X:.*]]: !tile.ptr<f32>
// CHECK:         %[[S:.*]] = tile.splat %[[X]]
// CHECK-NOT:     tile.addptr
// CHECK:         tile.load %[[X]]
// CHECK:         tile.load %[[S]]
tile.kernel @no_distance(%x: !tile.ptr<f32>, %c: i1) grid(c) -> (1) {
  %zero = arith.constant 0 : i64
  %zeros = tile.full 0 : i32 -> tensor<3x5xi32>
  %s = tile.splat %x : !tile.ptr<f32> -> tensor<3x5x!tile.ptr<f32>>
  %p = tile.addptr %x, %zero : !tile.ptr<f32>, i64
  %q = tile.addptr %s, %zeros : tensor<3x5x!tile.ptr<f32>>, tensor<3x5xi32>
  %v = tile.load %p : !tile.ptr<f32>
  %w = tile.load %q : tensor<3x5x!tile.ptr<f32>>
  tile.print "values", %v, %w : f32, tensor<3x5xf32>
  tile.return
}

// An iteration argument: nothing to fold into, but no distance either.
// CHECK-LABEL: tile.kernel @window_stays
// CHECK:         scf.for
// CHECK-NOT:     tile.advance {{.*}}c0
// CHECK:         tile.load
// CHECK:         tile.advance %{{.*}}, [%n, %{{.*}}] : !tile.block_ptr<3x5xf32>
tile.kernel @window_stays(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %zero = arith.constant 0 : i64
  %lower = arith.constant 0 : index
  %step = arith.constant 1 : index
  %upper = arith.index_cast %n : i64 to index
  %p = tile.make_block_ptr %x shape [%n, %n] strides [%n, %n] offsets [%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<3x5xf32>
  %last = scf.for %i = %lower to %upper step %step iter_args(%q = %p) -> (!tile.block_ptr<3x5xf32>) {
    %r = tile.advance %q, [%zero, %zero] : !tile.block_ptr<3x5xf32>
    %v = tile.load %r : !tile.block_ptr<3x5xf32>
    tile.print "v", %v : tensor<3x5xf32>
    %next = tile.advance %r, [%n, %zero] : !tile.block_ptr<3x5xf32>
    scf.yield %next : !tile.block_ptr<3x5xf32>
  }
  tile.return
}
