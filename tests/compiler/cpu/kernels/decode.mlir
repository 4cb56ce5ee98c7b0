// One row, its keys shared among programs.
// compile:
// compile: warps=1 stages=1
// compile: warps=8 stages=3
// compile: stages=4 persistent=dynamic
// compile: warps=3
// compile: warps=5 stages=3
// compile: warps=6
// compile: warps=7 stages=1
// launch: q=bf16[192] keys=bf16[19200] vals=bf16[19200] parts=f32[576]! tops=f32[9]! n=100 heads=3 each=40 splits=3

tile.kernel @k(%q: !tile.ptr<bf16>, %keys: !tile.ptr<bf16>, %vals: !tile.ptr<bf16>, %parts: !tile.ptr<f32>, %tops: !tile.ptr<f32>, %n: i32, %heads: i32, %each: i32, %splits: i32) grid(n, heads, each, splits) -> (heads, splits) {
  %c64 = arith.constant 64 : i64
  %c1 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i64
  %c64_2 = arith.constant 64 : i32
  %f = arith.constant dense<-1.000000000e+03> : tensor<1xf32>
  %zeros = arith.constant dense<0.0> : tensor<1x64xf32>
  %c32 = arith.constant 32 : i32
  %zeros_2 = arith.constant dense<0.0> : tensor<1x32xf32>
  %f_2 = arith.constant dense<-1.000000000e+03> : tensor<1x32xf32>
  %head = tile.program_id x
  %part = tile.program_id y
  %from_ = arith.muli %part, %each : i32
  %t = arith.addi %from_, %each : i32
  %to = arith.minsi %t, %n : i32
  %long = arith.extsi %heads : i32 to i64
  %long_2 = arith.extsi %head : i32 to i64
  %w = tile.make_block_ptr %q shape[%long, %c64] strides[%c64, %c1] offsets[%long_2, %c0] : !tile.ptr<bf16> -> !tile.block_ptr<1x64xbf16>
  %q_2 = tile.load %w : !tile.block_ptr<1x64xbf16>
  %long_3 = arith.extsi %head : i32 to i64
  %t_2 = arith.muli %n, %c64_2 : i32
  %long_4 = arith.extsi %t_2 : i32 to i64
  %start = arith.muli %long_3, %long_4 : i64
  %keys_2 = tile.addptr %keys, %start : !tile.ptr<bf16>, i64
  %vals_2 = tile.addptr %vals, %start : !tile.ptr<bf16>, i64
  %t_3:2 = scf.for %j = %from_ to %to step %c32 iter_args(%top = %f, %acc = %zeros) -> (tensor<1xf32>, tensor<1x64xf32>) : i32 {
    %long_5 = arith.extsi %to : i32 to i64
    %long_6 = arith.extsi %j : i32 to i64
    %w_2 = tile.make_block_ptr %keys_2 shape[%long_5, %c64] strides[%c64, %c1] offsets[%long_6, %c0] : !tile.ptr<bf16> -> !tile.block_ptr<32x64xbf16>
    %key = tile.load %w_2 : !tile.block_ptr<32x64xbf16>
    %long_7 = arith.extsi %to : i32 to i64
    %long_8 = arith.extsi %j : i32 to i64
    %w_3 = tile.make_block_ptr %vals_2 shape[%long_7, %c64] strides[%c64, %c1] offsets[%long_8, %c0] : !tile.ptr<bf16> -> !tile.block_ptr<32x64xbf16>
    %val = tile.load %w_3 : !tile.block_ptr<32x64xbf16>
    %i = tile.arange 0 to 32 : tensor<32xi32>
    %all = tile.splat %j : i32 -> tensor<32xi32>
    %t_4 = arith.addi %i, %all : tensor<32xi32>
    %all_2 = tile.splat %to : i32 -> tensor<32xi32>
    %t_5 = arith.cmpi slt, %t_4, %all_2 : tensor<32xi32>
    %line = tile.expand_dims %t_5 axis 0 : tensor<32xi1> -> tensor<1x32xi1>
    %t_6 = tile.trans %key order [1, 0] : tensor<32x64xbf16> -> tensor<64x32xbf16>
    %t_7 = tile.dot %q_2, %t_6, %zeros_2 : tensor<1x64xbf16>, tensor<64x32xbf16>, tensor<1x32xf32>
    %s = arith.select %line, %t_7, %f_2 : tensor<1x32xi1>, tensor<1x32xf32>
    %t_8 = tile.max %s axis 1 : tensor<1x32xf32> -> tensor<1xf32>
    %t_9 = arith.maximumf %top, %t_8 : tensor<1xf32>
    %t_10 = tile.cast %s : tensor<1x32xf32> -> tensor<1x32xbf16>
    %t_11 = tile.dot %t_10, %val, %acc : tensor<1x32xbf16>, tensor<32x64xbf16>, tensor<1x64xf32>
    scf.yield %t_9, %t_11 : tensor<1xf32>, tensor<1x64xf32>
  }
  %t_12 = arith.muli %head, %splits : i32
  %at = arith.addi %t_12, %part : i32
  %t_13 = arith.muli %heads, %splits : i32
  %long_9 = arith.extsi %t_13 : i32 to i64
  %long_10 = arith.extsi %at : i32 to i64
  %w_4 = tile.make_block_ptr %parts shape[%long_9, %c64] strides[%c64, %c1] offsets[%long_10, %c0] : !tile.ptr<f32> -> !tile.block_ptr<1x64xf32>
  tile.store %w_4, %t_3#1 : !tile.block_ptr<1x64xf32>
  %t_14 = tile.addptr %tops, %at : !tile.ptr<f32>, i32
  %t_15 = tile.sum %t_3#0 axis 0 : tensor<1xf32> -> f32
  tile.store %t_14, %t_15 : !tile.ptr<f32>
  tile.return
}
