// Products of fp8, scaled block by block.
// compile:
// compile: warps=1 stages=1
// compile: warps=8 stages=3
// compile: stages=4 persistent=dynamic
// launch: a=f8E4M3FN[13440] b=f8E4M3FN[19200] scales_a=f32[210] scales_b=f32[6] o=bf16[7000]! m=70 n=100 depth=192
// launch: a=f8E4M3FN[5120] b=f8E4M3FN[5120] scales_a=f32[128] scales_b=f32[2] o=bf16[4096]! m=64 n=64 depth=80

tile.kernel @k(%a: !tile.ptr<f8E4M3FN>, %b: !tile.ptr<f8E4M3FN>, %scales_a: !tile.ptr<f32>, %scales_b: !tile.ptr<f32>, %o: !tile.ptr<bf16>, %m: i32, %n: i32, %depth: i32) grid(m, n, depth) -> (m ceildiv 64, n ceildiv 64) {
  %c64 = arith.constant 64 : i32
  %c63 = arith.constant 63 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i64
  %p = tile.program_id x
  %q = tile.program_id y
  %row = arith.muli %p, %c64 : i32
  %col = arith.muli %q, %c64 : i32
  %t = arith.addi %depth, %c63 : i32
  %blocks = arith.divsi %t, %c64 : i32
  %acc = scf.for %j = %c0 to %depth step %c64 iter_args(%acc_2 = %zeros) -> (tensor<64x64xf32>) : i32 {
    %long = arith.extsi %m : i32 to i64
    %long_2 = arith.extsi %depth : i32 to i64
    %long_3 = arith.extsi %depth : i32 to i64
    %long_4 = arith.extsi %row : i32 to i64
    %long_5 = arith.extsi %j : i32 to i64
    %w = tile.make_block_ptr %a shape[%long, %long_2] strides[%long_3, %c1] offsets[%long_4, %long_5] : !tile.ptr<f8E4M3FN> -> !tile.block_ptr<64x64xf8E4M3FN>
    %a_2 = tile.load %w : !tile.block_ptr<64x64xf8E4M3FN>
    %long_6 = arith.extsi %n : i32 to i64
    %long_7 = arith.extsi %depth : i32 to i64
    %long_8 = arith.extsi %depth : i32 to i64
    %long_9 = arith.extsi %col : i32 to i64
    %long_10 = arith.extsi %j : i32 to i64
    %w_2 = tile.make_block_ptr %b shape[%long_6, %long_7] strides[%long_8, %c1] offsets[%long_9, %long_10] : !tile.ptr<f8E4M3FN> -> !tile.block_ptr<64x64xf8E4M3FN>
    %b_2 = tile.load %w_2 : !tile.block_ptr<64x64xf8E4M3FN>
    %block = arith.divsi %j, %c64 : i32
    %long_11 = arith.extsi %m : i32 to i64
    %long_12 = arith.extsi %blocks : i32 to i64
    %long_13 = arith.extsi %blocks : i32 to i64
    %long_14 = arith.extsi %row : i32 to i64
    %long_15 = arith.extsi %block : i32 to i64
    %w_3 = tile.make_block_ptr %scales_a shape[%long_11, %long_12] strides[%long_13, %c1] offsets[%long_14, %long_15] : !tile.ptr<f32> -> !tile.block_ptr<64x1xf32>
    %sa = tile.load %w_3 : !tile.block_ptr<64x1xf32>
    %t_2 = arith.muli %q, %blocks : i32
    %t_3 = arith.addi %t_2, %block : i32
    %long_16 = arith.extsi %t_3 : i32 to i64
    %t_4 = tile.addptr %scales_b, %long_16 : !tile.ptr<f32>, i64
    %sb = tile.load %t_4 : !tile.ptr<f32>
    %t_5 = tile.trans %b_2 order [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %t_6 = tile.dot %a_2, %t_5, %zeros : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>
    %all = tile.splat %sb : f32 -> tensor<64x1xf32>
    %t_7 = arith.mulf %sa, %all : tensor<64x1xf32>
    %wide = tile.broadcast %t_7 : tensor<64x1xf32> -> tensor<64x64xf32>
    %t_8 = arith.mulf %t_6, %wide : tensor<64x64xf32>
    %t_9 = arith.addf %acc_2, %t_8 : tensor<64x64xf32>
    scf.yield %t_9 : tensor<64x64xf32>
  }
  %long_17 = arith.extsi %m : i32 to i64
  %long_18 = arith.extsi %n : i32 to i64
  %long_19 = arith.extsi %n : i32 to i64
  %long_20 = arith.extsi %row : i32 to i64
  %long_21 = arith.extsi %col : i32 to i64
  %w_4 = tile.make_block_ptr %o shape[%long_17, %long_18] strides[%long_19, %c1] offsets[%long_20, %long_21] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %t_10 = tile.cast %acc : tensor<64x64xf32> -> tensor<64x64xbf16>
  tile.store %w_4, %t_10 : !tile.block_ptr<64x64xbf16>
  tile.return
}
