// RUN: fa-opt --convert-tile-to-tilegpu="num-warps=4" %s | FileCheck %s

// Two chained products. The second takes the first's accumulator as its left
// operand without moving data: the registers of one are those of the other.
// CHECK-LABEL: tile.kernel @chained
// CHECK-SAME: tilegpu.num_warps = 4 : i32
// CHECK-SAME: tilegpu.target = "sm_80"
// Rows of memory are read eight elements at a time.
// CHECK: tilegpu.load {{.*}} -> tensor<64x32xbf16, #tilegpu.layout<[64, 32], reg = [8:(0, 1)
// The keys are staged as they are; the instruction reads them transposed.
// CHECK: %[[K:.*]] = tilegpu.stage {{.*}} -> <64x32xbf16, swizzle = 64>
// CHECK: %[[S:.*]] = tilegpu.mma {{.*}} {trans_b, warps_m = 4 : i32, warps_n = 1 : i32}
// CHECK: %[[P:.*]] = tile.cast %[[S]]
// CHECK: %[[A:.*]] = tilegpu.convert_layout %[[P]]
// CHECK: tilegpu.mma %[[A]]
tile.kernel @chained(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<f32>)
    grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 64 : i64
  %d = arith.constant 32 : i64
  %qp = tile.make_block_ptr %q shape [%n, %d] strides [%d, %one] offsets [%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x32xbf16>
  %kp = tile.make_block_ptr %k shape [%n, %d] strides [%d, %one] offsets [%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x32xbf16>
  %qt = tile.load %qp : !tile.block_ptr<64x32xbf16>
  %kt = tile.load %kp : !tile.block_ptr<64x32xbf16>
  %kx = tile.trans %kt order [1, 0] : tensor<64x32xbf16> -> tensor<32x64xbf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %s = tile.dot %qt, %kx, %c : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
  %p = tile.cast %s : tensor<64x64xf32> -> tensor<64x64xbf16>
  %c2 = arith.constant dense<0.0> : tensor<64x32xf32>
  %r = tile.dot %p, %kt, %c2 : tensor<64x64xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
  %op = tile.make_block_ptr %o shape [%n, %d] strides [%d, %one] offsets [%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64x32xf32>
  tile.store %op, %r : !tile.block_ptr<64x32xf32>
  tile.return
}

// A row maximum has the slice of the scores' layout, and what is broadcast back
// meets it there: no conversion.
// CHECK-LABEL: tile.kernel @softmax
// CHECK: %[[M:.*]] = tile.max
// CHECK-NOT: convert_layout
// CHECK: tile.expand_dims
// CHECK: arith.subf
tile.kernel @softmax(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 48 : i64
  %p = tile.make_block_ptr %x shape [%n, %n] strides [%n, %one] offsets [%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<48x48xf32>
  %v = tile.load %p : !tile.block_ptr<48x48xf32>
  %m = tile.max %v axis 1 : tensor<48x48xf32> -> tensor<48xf32>
  %mx = tile.expand_dims %m axis 1 : tensor<48xf32> -> tensor<48x1xf32>
  %mb = tile.broadcast %mx : tensor<48x1xf32> -> tensor<48x48xf32>
  %d = arith.subf %v, %mb : tensor<48x48xf32>
  %q = tile.make_block_ptr %y shape [%n, %n] strides [%n, %one] offsets [%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<48x48xf32>
  tile.store %q, %d : !tile.block_ptr<48x48xf32>
  tile.return
}

// A product of what is loaded, whose rows stay together for nobody: warps share
// rows and columns, and each reads 32 of both operands instead of 16 and 64.
// CHECK-LABEL: tile.kernel @even
// CHECK: tilegpu.mma {{.*}} {warps_m = 2 : i32, warps_n = 2 : i32}
tile.kernel @even(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>)
    grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 64 : i64
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %xp = tile.make_block_ptr %x shape [%n, %n] strides [%n, %one] offsets [%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %yp = tile.make_block_ptr %y shape [%n, %n] strides [%n, %one] offsets [%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %zp = tile.make_block_ptr %z shape [%n, %n] strides [%n, %one] offsets [%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %xt = tile.load %xp : !tile.block_ptr<64x64xbf16>
  %yt = tile.load %yp : !tile.block_ptr<64x64xbf16>
  %s = tile.dot %xt, %yt, %c : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.store %zp, %s : !tile.block_ptr<64x64xf32>
  tile.return
}

// A row of sums is reduced: it is in one warp.
// CHECK-LABEL: tile.kernel @reduced
// CHECK: tilegpu.mma {{.*}} {warps_m = 4 : i32, warps_n = 1 : i32}
tile.kernel @reduced(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>)
    grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 64 : i64
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %xp = tile.make_block_ptr %x shape [%n, %n] strides [%n, %one] offsets [%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %yp = tile.make_block_ptr %y shape [%n, %n] strides [%n, %one] offsets [%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %zp = tile.make_block_ptr %z shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  %xt = tile.load %xp : !tile.block_ptr<64x64xbf16>
  %yt = tile.load %yp : !tile.block_ptr<64x64xbf16>
  %s = tile.dot %xt, %yt, %c : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  %m = tile.max %s axis 1 : tensor<64x64xf32> -> tensor<64xf32>
  tile.store %zp, %m : !tile.block_ptr<64xf32>
  tile.return
}
