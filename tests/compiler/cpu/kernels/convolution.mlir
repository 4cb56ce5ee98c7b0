// Windows that begin before the first row.
// compile:
// compile: warps=1 stages=1
// compile: warps=8 stages=3
// launch: x=bf16[4575] w=f32[244] bias=f32[61] y=bf16[4575]! steps=75 width=61

tile.kernel @k(%x: !tile.ptr<bf16>, %w: !tile.ptr<f32>, %bias: !tile.ptr<f32>, %y: !tile.ptr<bf16>, %steps: i32, %width: i32) grid(steps, width) -> (steps ceildiv 32, width ceildiv 40) {
  %c32 = arith.constant 32 : i32
  %c40 = arith.constant 40 : i32
  %c1 = arith.constant 1 : i64
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i64
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i32
  %c1_2 = arith.constant 1 : i32
  %c2_2 = arith.constant 2 : i64
  %c0_2 = arith.constant 0 : i32
  %c3_2 = arith.constant 3 : i64
  %zeros = arith.constant dense<0.0> : tensor<32x40xf32>
  %t = tile.program_id x
  %step = arith.muli %t, %c32 : i32
  %t_2 = tile.program_id y
  %col = arith.muli %t_2, %c40 : i32
  %long = arith.extsi %width : i32 to i64
  %long_2 = arith.extsi %col : i32 to i64
  %w_2 = tile.make_block_ptr %bias shape[%long] strides[%c1] offsets[%long_2] : !tile.ptr<f32> -> !tile.block_ptr<40xf32>
  %t_3 = tile.load %w_2 : !tile.block_ptr<40xf32>
  %line = tile.expand_dims %t_3 axis 0 : tensor<40xf32> -> tensor<1x40xf32>
  %wide = tile.broadcast %line : tensor<1x40xf32> -> tensor<32x40xf32>
  %t_4 = arith.subi %step, %c3 : i32
  %long_3 = arith.extsi %steps : i32 to i64
  %long_4 = arith.extsi %width : i32 to i64
  %long_5 = arith.extsi %width : i32 to i64
  %long_6 = arith.extsi %t_4 : i32 to i64
  %long_7 = arith.extsi %col : i32 to i64
  %w_3 = tile.make_block_ptr %x shape[%long_3, %long_4] strides[%long_5, %c1] offsets[%long_6, %long_7] : !tile.ptr<bf16> -> !tile.block_ptr<32x40xbf16>
  %t_5 = tile.load %w_3 : !tile.block_ptr<32x40xbf16>
  %t_6 = tile.cast %t_5 : tensor<32x40xbf16> -> tensor<32x40xf32>
  %long_8 = arith.extsi %width : i32 to i64
  %long_9 = arith.extsi %col : i32 to i64
  %w_4 = tile.make_block_ptr %w shape[%long_8, %c4] strides[%c4, %c1] offsets[%long_9, %c0] : !tile.ptr<f32> -> !tile.block_ptr<40x1xf32>
  %t_7 = tile.load %w_4 : !tile.block_ptr<40x1xf32>
  %t_8 = tile.trans %t_7 order [1, 0] : tensor<40x1xf32> -> tensor<1x40xf32>
  %wide_2 = tile.broadcast %t_8 : tensor<1x40xf32> -> tensor<32x40xf32>
  %t_9 = arith.mulf %t_6, %wide_2 : tensor<32x40xf32>
  %t_10 = arith.addf %wide, %t_9 : tensor<32x40xf32>
  %t_11 = arith.subi %step, %c2 : i32
  %long_10 = arith.extsi %steps : i32 to i64
  %long_11 = arith.extsi %width : i32 to i64
  %long_12 = arith.extsi %width : i32 to i64
  %long_13 = arith.extsi %t_11 : i32 to i64
  %long_14 = arith.extsi %col : i32 to i64
  %w_5 = tile.make_block_ptr %x shape[%long_10, %long_11] strides[%long_12, %c1] offsets[%long_13, %long_14] : !tile.ptr<bf16> -> !tile.block_ptr<32x40xbf16>
  %t_12 = tile.load %w_5 : !tile.block_ptr<32x40xbf16>
  %t_13 = tile.cast %t_12 : tensor<32x40xbf16> -> tensor<32x40xf32>
  %long_15 = arith.extsi %width : i32 to i64
  %long_16 = arith.extsi %col : i32 to i64
  %w_6 = tile.make_block_ptr %w shape[%long_15, %c4] strides[%c4, %c1] offsets[%long_16, %c1] : !tile.ptr<f32> -> !tile.block_ptr<40x1xf32>
  %t_14 = tile.load %w_6 : !tile.block_ptr<40x1xf32>
  %t_15 = tile.trans %t_14 order [1, 0] : tensor<40x1xf32> -> tensor<1x40xf32>
  %wide_3 = tile.broadcast %t_15 : tensor<1x40xf32> -> tensor<32x40xf32>
  %t_16 = arith.mulf %t_13, %wide_3 : tensor<32x40xf32>
  %t_17 = arith.addf %t_10, %t_16 : tensor<32x40xf32>
  %t_18 = arith.subi %step, %c1_2 : i32
  %long_17 = arith.extsi %steps : i32 to i64
  %long_18 = arith.extsi %width : i32 to i64
  %long_19 = arith.extsi %width : i32 to i64
  %long_20 = arith.extsi %t_18 : i32 to i64
  %long_21 = arith.extsi %col : i32 to i64
  %w_7 = tile.make_block_ptr %x shape[%long_17, %long_18] strides[%long_19, %c1] offsets[%long_20, %long_21] : !tile.ptr<bf16> -> !tile.block_ptr<32x40xbf16>
  %t_19 = tile.load %w_7 : !tile.block_ptr<32x40xbf16>
  %t_20 = tile.cast %t_19 : tensor<32x40xbf16> -> tensor<32x40xf32>
  %long_22 = arith.extsi %width : i32 to i64
  %long_23 = arith.extsi %col : i32 to i64
  %w_8 = tile.make_block_ptr %w shape[%long_22, %c4] strides[%c4, %c1] offsets[%long_23, %c2_2] : !tile.ptr<f32> -> !tile.block_ptr<40x1xf32>
  %t_21 = tile.load %w_8 : !tile.block_ptr<40x1xf32>
  %t_22 = tile.trans %t_21 order [1, 0] : tensor<40x1xf32> -> tensor<1x40xf32>
  %wide_4 = tile.broadcast %t_22 : tensor<1x40xf32> -> tensor<32x40xf32>
  %t_23 = arith.mulf %t_20, %wide_4 : tensor<32x40xf32>
  %t_24 = arith.addf %t_17, %t_23 : tensor<32x40xf32>
  %t_25 = arith.subi %step, %c0_2 : i32
  %long_24 = arith.extsi %steps : i32 to i64
  %long_25 = arith.extsi %width : i32 to i64
  %long_26 = arith.extsi %width : i32 to i64
  %long_27 = arith.extsi %t_25 : i32 to i64
  %long_28 = arith.extsi %col : i32 to i64
  %w_9 = tile.make_block_ptr %x shape[%long_24, %long_25] strides[%long_26, %c1] offsets[%long_27, %long_28] : !tile.ptr<bf16> -> !tile.block_ptr<32x40xbf16>
  %t_26 = tile.load %w_9 : !tile.block_ptr<32x40xbf16>
  %x_2 = tile.cast %t_26 : tensor<32x40xbf16> -> tensor<32x40xf32>
  %long_29 = arith.extsi %width : i32 to i64
  %long_30 = arith.extsi %col : i32 to i64
  %w_10 = tile.make_block_ptr %w shape[%long_29, %c4] strides[%c4, %c1] offsets[%long_30, %c3_2] : !tile.ptr<f32> -> !tile.block_ptr<40x1xf32>
  %w_11 = tile.load %w_10 : !tile.block_ptr<40x1xf32>
  %t_27 = tile.trans %w_11 order [1, 0] : tensor<40x1xf32> -> tensor<1x40xf32>
  %wide_5 = tile.broadcast %t_27 : tensor<1x40xf32> -> tensor<32x40xf32>
  %t_28 = arith.mulf %x_2, %wide_5 : tensor<32x40xf32>
  %acc = arith.addf %t_24, %t_28 : tensor<32x40xf32>
  %y_2 = arith.maximumf %acc, %zeros : tensor<32x40xf32>
  %long_31 = arith.extsi %steps : i32 to i64
  %long_32 = arith.extsi %width : i32 to i64
  %long_33 = arith.extsi %width : i32 to i64
  %long_34 = arith.extsi %step : i32 to i64
  %long_35 = arith.extsi %col : i32 to i64
  %w_12 = tile.make_block_ptr %y shape[%long_31, %long_32] strides[%long_33, %c1] offsets[%long_34, %long_35] : !tile.ptr<bf16> -> !tile.block_ptr<32x40xbf16>
  %t_29 = tile.cast %y_2 : tensor<32x40xf32> -> tensor<32x40xbf16>
  tile.store %w_12, %t_29 : !tile.block_ptr<32x40xbf16>
  tile.return
}
