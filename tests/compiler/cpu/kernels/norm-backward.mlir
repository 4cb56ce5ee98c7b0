// A gradient of rows, and sums over all rows that programs add up.
// compile:
// compile: warps=1 stages=1
// compile: warps=8 stages=3
// launch: x=f16[3071] w=f32[83] dy=f16[3071] dx=f16[3071]! dw=f32[83]! db=f32[83]! rows=37 cols=83

tile.kernel @k(%x: !tile.ptr<f16>, %w: !tile.ptr<f32>, %dy: !tile.ptr<f16>, %dx: !tile.ptr<f16>, %dw: !tile.ptr<f32>, %db: !tile.ptr<f32>, %rows: i32, %cols: i32) grid(rows, cols) -> (rows ceildiv 16) {
  %c16 = arith.constant 16 : i32
  %c1 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i64
  %t = tile.program_id x
  %row = arith.muli %t, %c16 : i32
  %long = arith.extsi %rows : i32 to i64
  %long_2 = arith.extsi %cols : i32 to i64
  %long_3 = arith.extsi %cols : i32 to i64
  %long_4 = arith.extsi %row : i32 to i64
  %w_2 = tile.make_block_ptr %x shape[%long, %long_2] strides[%long_3, %c1] offsets[%long_4, %c0] : !tile.ptr<f16> -> !tile.block_ptr<16x96xf16>
  %t_2 = tile.load %w_2 : !tile.block_ptr<16x96xf16>
  %x_2 = tile.cast %t_2 : tensor<16x96xf16> -> tensor<16x96xf32>
  %long_5 = arith.extsi %rows : i32 to i64
  %long_6 = arith.extsi %cols : i32 to i64
  %long_7 = arith.extsi %cols : i32 to i64
  %long_8 = arith.extsi %row : i32 to i64
  %w_3 = tile.make_block_ptr %dy shape[%long_5, %long_6] strides[%long_7, %c1] offsets[%long_8, %c0] : !tile.ptr<f16> -> !tile.block_ptr<16x96xf16>
  %t_3 = tile.load %w_3 : !tile.block_ptr<16x96xf16>
  %dy_2 = tile.cast %t_3 : tensor<16x96xf16> -> tensor<16x96xf32>
  %long_9 = arith.extsi %cols : i32 to i64
  %w_4 = tile.make_block_ptr %w shape[%long_9] strides[%c1] offsets[%c0] : !tile.ptr<f32> -> !tile.block_ptr<96xf32>
  %w_5 = tile.load %w_4 : !tile.block_ptr<96xf32>
  %line = tile.expand_dims %w_5 axis 0 : tensor<96xf32> -> tensor<1x96xf32>
  %wide = tile.broadcast %line : tensor<1x96xf32> -> tensor<16x96xf32>
  %g = arith.mulf %dy_2, %wide : tensor<16x96xf32>
  %t_4 = arith.mulf %g, %x_2 : tensor<16x96xf32>
  %along = tile.sum %t_4 axis 1 : tensor<16x96xf32> -> tensor<16xf32>
  %mean = tile.sum %g axis 1 : tensor<16x96xf32> -> tensor<16xf32>
  %line_2 = tile.expand_dims %along axis 1 : tensor<16xf32> -> tensor<16x1xf32>
  %wide_2 = tile.broadcast %line_2 : tensor<16x1xf32> -> tensor<16x96xf32>
  %t_5 = arith.mulf %x_2, %wide_2 : tensor<16x96xf32>
  %t_6 = arith.subf %g, %t_5 : tensor<16x96xf32>
  %line_3 = tile.expand_dims %mean axis 1 : tensor<16xf32> -> tensor<16x1xf32>
  %wide_3 = tile.broadcast %line_3 : tensor<16x1xf32> -> tensor<16x96xf32>
  %dx_2 = arith.subf %t_6, %wide_3 : tensor<16x96xf32>
  %long_10 = arith.extsi %rows : i32 to i64
  %long_11 = arith.extsi %cols : i32 to i64
  %long_12 = arith.extsi %cols : i32 to i64
  %long_13 = arith.extsi %row : i32 to i64
  %w_6 = tile.make_block_ptr %dx shape[%long_10, %long_11] strides[%long_12, %c1] offsets[%long_13, %c0] : !tile.ptr<f16> -> !tile.block_ptr<16x96xf16>
  %t_7 = tile.cast %dx_2 : tensor<16x96xf32> -> tensor<16x96xf16>
  tile.store %w_6, %t_7 : !tile.block_ptr<16x96xf16>
  %long_14 = arith.extsi %cols : i32 to i64
  %w_7 = tile.make_block_ptr %dw shape[%long_14] strides[%c1] offsets[%c0] : !tile.ptr<f32> -> !tile.block_ptr<96xf32>
  %t_8 = arith.mulf %dy_2, %x_2 : tensor<16x96xf32>
  %t_9 = tile.sum %t_8 axis 0 : tensor<16x96xf32> -> tensor<96xf32>
  %a = tile.atomic_add %w_7, %t_9 : !tile.block_ptr<96xf32>
  %long_15 = arith.extsi %cols : i32 to i64
  %w_8 = tile.make_block_ptr %db shape[%long_15] strides[%c1] offsets[%c0] : !tile.ptr<f32> -> !tile.block_ptr<96xf32>
  %t_10 = tile.sum %dy_2 axis 0 : tensor<16x96xf32> -> tensor<96xf32>
  %b = tile.atomic_add %w_8, %t_10 : !tile.block_ptr<96xf32>
  tile.return
}
