// RUN: fa-opt --convert-tile-to-tilegpu="target=sm_90a num-warps=4" %s | FileCheck %s
// RUN: fa-translate --target=sm_90a --emit=ptx %s | FileCheck %s --check-prefix=PTX

// What a product is reshaped to is added where it is: here each thread has four
// neighbours in memory, and each warp whole lines of it.
// CHECK-LABEL: tile.kernel @packed
// CHECK: tilegpu.wgmma_wait
// CHECK-NOT: convert_layout
// CHECK: tilegpu.atomic_add {{.*}}reg = [4:(0, 1), 8:(0, 128)], lane = [32:(0, 4)], warp = [4:(1, 0)]
// PTX-LABEL: .entry packed(
// PTX: wgmma.wait_group
// PTX-NOT: {{shfl|st\.shared}}
// PTX-COUNT-8: red.relaxed.gpu.global.add.v4.f32
tile.kernel @packed(%x: !tile.ptr<bf16> {tile.divisibility = 16 : i64},
                    %y: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %rows: i64)
    grid(rows) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %width = arith.constant 64 : i64
  %wide = arith.constant 1024 : i64
  %none = tile.full 0.0 : f32 -> tensor<64x64xf32>
  %w = tile.make_block_ptr %x shape [%width, %width] strides [%width, %one]
      offsets [%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %a = tile.load %w : !tile.block_ptr<64x64xbf16>
  %p = tile.dot %a, %a, %none : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  %parts = tile.reshape %p : tensor<64x64xf32> -> tensor<4x2x8x8x4x2xf32>
  %turned = tile.trans %parts order [0, 3, 2, 4, 1, 5]
      : tensor<4x2x8x8x4x2xf32> -> tensor<4x8x8x4x2x2xf32>
  %packed = tile.reshape %turned : tensor<4x8x8x4x2x2xf32> -> tensor<4x1024xf32>
  %v = tile.make_block_ptr %y shape [%rows, %wide] strides [%wide, %one]
      offsets [%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<4x1024xf32>
  %old = tile.atomic_add %v, %packed : !tile.block_ptr<4x1024xf32>
  tile.return
}
