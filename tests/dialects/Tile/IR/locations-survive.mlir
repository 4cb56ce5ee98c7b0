// Locations survive passes: an error after canonicalisation and CSE still names
// the line and the column in the user's file.

// RUN: fa-opt %s --canonicalize --cse --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: tile.kernel @survive
tile.kernel @survive(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %zero = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // The window that replaces the moved one stands where the move stood.
  // CHECK: tile.make_block_ptr {{.*}} loc("{{.*}}locations-survive.mlir":[[@LINE+1]]:8)
  %q = tile.advance %p, [%n] : !tile.block_ptr<24xf32>
  // CHECK: tile.load {{.*}} loc("{{.*}}locations-survive.mlir":[[@LINE+1]]:8)
  %v = tile.load %q : !tile.block_ptr<24xf32>
  // CHECK: tile.max {{.*}} loc("{{.*}}locations-survive.mlir":[[@LINE+1]]:8)
  %m = tile.max %v axis 0 : tensor<24xf32> -> f32
  // CHECK: tile.store {{.*}} loc("{{.*}}locations-survive.mlir":[[@LINE+1]]:3)
  tile.store %x, %m : !tile.ptr<f32>
  tile.return
}
