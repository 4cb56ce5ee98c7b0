// RUN: fa-opt --convert-tile-to-cpu="lanes=8 registers=16" --split-input-file %s | FileCheck %s

// bf16 is the upper half of f32. Its bits are loaded as integers, so that no
// target needs to know the type.
// CHECK-LABEL: func.func private @bf16.body
// CHECK: %[[BITS:.*]] = llvm.load {{.*}} : !llvm.ptr -> vector<8xi16>
// CHECK: %[[WIDE:.*]] = arith.extui %[[BITS]] : vector<8xi16> to vector<8xi32>
// CHECK: %[[HIGH:.*]] = arith.shli %[[WIDE]]
// CHECK: arith.bitcast %[[HIGH]] : vector<8xi32> to vector<8xf32>
// CHECK-NOT: bf16
// CHECK: return
tile.kernel @bf16(%x: !tile.ptr<bf16>, %y: !tile.ptr<f32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 8 : i64
  %xp = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<8xbf16>
  %yp = tile.make_block_ptr %y shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<8xf32>
  %v = tile.load %xp {in_bounds = array<i1: true>} : !tile.block_ptr<8xbf16>
  %w = tile.cast %v : tensor<8xbf16> -> tensor<8xf32>
  tile.store %yp, %w {in_bounds = array<i1: true>} : !tile.block_ptr<8xf32>
  tile.return
}

// -----

// fp8 is decoded in vector code as well: shifted into the fields of an f16, whose
// exponent is off by 8. The one pattern without a value, all bits set, is NaN.
// CHECK-LABEL: func.func private @fp8.body
// CHECK: %[[BITS:.*]] = llvm.load {{.*}} : !llvm.ptr -> vector<8xi8>
// CHECK: arith.extui %[[BITS]] : vector<8xi8> to vector<8xi16>
// CHECK: %[[HALF:.*]] = arith.bitcast {{.*}} : vector<8xi16> to vector<8xf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[HALF]] : vector<8xf16> to vector<8xf32>
// CHECK: arith.constant dense<2.560000e+02> : vector<8xf32>
// CHECK: %[[NUMBER:.*]] = arith.mulf %[[WIDE]]
// CHECK: %[[RESULT:.*]] = arith.select %{{.*}}, %{{.*}}, %[[NUMBER]]
// CHECK: vector.store %[[RESULT]]
// CHECK-NOT: f8E4M3FN
// CHECK-NOT: vector<8xi8>
// CHECK: return
tile.kernel @fp8(%x: !tile.ptr<f8E4M3FN>, %y: !tile.ptr<f32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 8 : i64
  %xp = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f8E4M3FN> -> !tile.block_ptr<8xf8E4M3FN>
  %yp = tile.make_block_ptr %y shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<8xf32>
  %v = tile.load %xp {in_bounds = array<i1: true>} : !tile.block_ptr<8xf8E4M3FN>
  %w = tile.cast %v : tensor<8xf8E4M3FN> -> tensor<8xf32>
  tile.store %yp, %w {in_bounds = array<i1: true>} : !tile.block_ptr<8xf32>
  tile.return
}
