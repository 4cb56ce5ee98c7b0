// Products of integers, scaled by rows and columns.
// compile:
// compile: warps=1 stages=1
// compile: warps=8 stages=3
// compile: stages=4 persistent=dynamic
// launch: a=i8[11200] b=i8[16000] scales_a=f32[70] scales_b=f32[100] o=f16[7000]! m=70 n=100 depth=160
// launch: a=i8[4800] b=i8[4800] scales_a=f32[64] scales_b=f32[64] o=f16[4096]! m=64 n=64 depth=75

tile.kernel @k(%a: !tile.ptr<i8>, %b: !tile.ptr<i8>, %scales_a: !tile.ptr<f32>, %scales_b: !tile.ptr<f32>, %o: !tile.ptr<f16>, %m: i32, %n: i32, %depth: i32) grid(m, n, depth) -> (m ceildiv 64, n ceildiv 64) {
  %c64 = arith.constant 64 : i32
  %c0 = arith.constant dense<0> : tensor<64x64xi32>
  %c0_2 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i64
  %t = tile.program_id x
  %row = arith.muli %t, %c64 : i32
  %t_2 = tile.program_id y
  %col = arith.muli %t_2, %c64 : i32
  %acc = scf.for %j = %c0_2 to %depth step %c64 iter_args(%acc_2 = %c0) -> (tensor<64x64xi32>) : i32 {
    %long = arith.extsi %m : i32 to i64
    %long_2 = arith.extsi %depth : i32 to i64
    %long_3 = arith.extsi %depth : i32 to i64
    %long_4 = arith.extsi %row : i32 to i64
    %long_5 = arith.extsi %j : i32 to i64
    %w = tile.make_block_ptr %a shape[%long, %long_2] strides[%long_3, %c1] offsets[%long_4, %long_5] : !tile.ptr<i8> -> !tile.block_ptr<64x64xi8>
    %a_2 = tile.load %w : !tile.block_ptr<64x64xi8>
    %long_6 = arith.extsi %n : i32 to i64
    %long_7 = arith.extsi %depth : i32 to i64
    %long_8 = arith.extsi %depth : i32 to i64
    %long_9 = arith.extsi %col : i32 to i64
    %long_10 = arith.extsi %j : i32 to i64
    %w_2 = tile.make_block_ptr %b shape[%long_6, %long_7] strides[%long_8, %c1] offsets[%long_9, %long_10] : !tile.ptr<i8> -> !tile.block_ptr<64x64xi8>
    %b_2 = tile.load %w_2 : !tile.block_ptr<64x64xi8>
    %t_3 = tile.trans %b_2 order [1, 0] : tensor<64x64xi8> -> tensor<64x64xi8>
    %t_4 = tile.dot %a_2, %t_3, %acc_2 : tensor<64x64xi8>, tensor<64x64xi8>, tensor<64x64xi32>
    scf.yield %t_4 : tensor<64x64xi32>
  }
  %long_11 = arith.extsi %m : i32 to i64
  %long_12 = arith.extsi %row : i32 to i64
  %w_3 = tile.make_block_ptr %scales_a shape[%long_11] strides[%c1] offsets[%long_12] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  %sa = tile.load %w_3 : !tile.block_ptr<64xf32>
  %long_13 = arith.extsi %n : i32 to i64
  %long_14 = arith.extsi %col : i32 to i64
  %w_4 = tile.make_block_ptr %scales_b shape[%long_13] strides[%c1] offsets[%long_14] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  %sb = tile.load %w_4 : !tile.block_ptr<64xf32>
  %t_5 = arith.sitofp %acc : tensor<64x64xi32> to tensor<64x64xf32>
  %line = tile.expand_dims %sa axis 1 : tensor<64xf32> -> tensor<64x1xf32>
  %wide = tile.broadcast %line : tensor<64x1xf32> -> tensor<64x64xf32>
  %t_6 = arith.mulf %t_5, %wide : tensor<64x64xf32>
  %line_2 = tile.expand_dims %sb axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %wide_2 = tile.broadcast %line_2 : tensor<1x64xf32> -> tensor<64x64xf32>
  %y = arith.mulf %t_6, %wide_2 : tensor<64x64xf32>
  %long_15 = arith.extsi %m : i32 to i64
  %long_16 = arith.extsi %n : i32 to i64
  %long_17 = arith.extsi %n : i32 to i64
  %long_18 = arith.extsi %row : i32 to i64
  %long_19 = arith.extsi %col : i32 to i64
  %w_5 = tile.make_block_ptr %o shape[%long_15, %long_16] strides[%long_17, %c1] offsets[%long_18, %long_19] : !tile.ptr<f16> -> !tile.block_ptr<64x64xf16>
  %t_7 = tile.cast %y : tensor<64x64xf32> -> tensor<64x64xf16>
  tile.store %w_5, %t_7 : !tile.block_ptr<64x64xf16>
  tile.return
}
