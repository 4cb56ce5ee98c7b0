// RUN: fa-opt --convert-tile-to-tilegpu %s | FileCheck %s

// Joined tiles keep their registers; reshaped ones where the layout can say it.
// CHECK-LABEL: tile.kernel @shapes
tile.kernel @shapes(%x: !tile.ptr<f32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 256 : i64
  %w = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<256xf32>
  %a = tile.load %w : !tile.block_ptr<256xf32>
  // CHECK: tile.join {{.*}} -> tensor<256x2xf32, #tilegpu.layout<[256, 2], reg = [4:(1, 0), 2:(0, 1)]
  %b = tile.join %a, %a : tensor<256xf32> -> tensor<256x2xf32>
  // CHECK: tile.reshape {{.*}} -> tensor<512xf32, #tilegpu.layout<[512]
  %c = tile.reshape %b : tensor<256x2xf32> -> tensor<512xf32>
  %v = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<512xf32>
  tile.store %v, %c : !tile.block_ptr<512xf32>
  tile.return
}

// A run of 8 elements for each lane along the line.
// CHECK-LABEL: tile.kernel @scan
// CHECK: tile.scan
// CHECK: tensor<256xf32, #tilegpu.layout<[256], reg = [8:(1)], lane = [32:(8)], warp = [4:(0)]>>
tile.kernel @scan(%x: !tile.ptr<f32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 256 : i64
  %w = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<256xf32>
  %a = tile.load %w : !tile.block_ptr<256xf32>
  %s = tile.scan(%a) axis 0 {
  ^bb0(%p: f32, %q: f32):
    %sum = arith.addf %p, %q : f32
    tile.yield %sum : f32
  } : tensor<256xf32>
  tile.store %w, %s : !tile.block_ptr<256xf32>
  tile.return
}

// fp8 multiplies as f16; four warps share a result for two.
// CHECK-LABEL: tile.kernel @fp8
// CHECK: tile.cast {{.*}}xf8E4M3FN{{.*}} -> tensor<16x16xf16
// CHECK: tilegpu.mma {{.*}}warps_m = 1 : i32, warps_n = 2 : i32
// CHECK-SAME: warp = [1:(16, 0), 2:(0, 8), 2:(0, 0)]
tile.kernel @fp8(%x: !tile.ptr<f8E4M3FN>, %y: !tile.ptr<f32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 16 : i64
  %w = tile.make_block_ptr %x shape [%n, %n] strides [%n, %one] offsets [%zero, %zero]
      : !tile.ptr<f8E4M3FN> -> !tile.block_ptr<16x16xf8E4M3FN>
  %v = tile.make_block_ptr %y shape [%n, %n] strides [%n, %one] offsets [%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<16x16xf32>
  %a = tile.load %w : !tile.block_ptr<16x16xf8E4M3FN>
  %c = tile.full 0.0 : f32 -> tensor<16x16xf32>
  %d = tile.dot %a, %a, %c
      : tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>, tensor<16x16xf32>
  tile.store %v, %d : !tile.block_ptr<16x16xf32>
  tile.return
}
