// Scores are added to a tile of their own.
// compile:
// compile: warps=1 stages=1
// compile: warps=8 stages=3
// compile: stages=4 persistent=dynamic
// launch: q=bf16[16640] keys=bf16[12800] vals=bf16[12800] bias=bf16[26000] o=f32[16640]! m=130 n=100 heads=2
// launch: q=bf16[4096] keys=bf16[8704] vals=bf16[8704] bias=bf16[8704] o=f32[4096]! m=64 n=136 heads=1

tile.kernel @k(%q: !tile.ptr<bf16>, %keys: !tile.ptr<bf16>, %vals: !tile.ptr<bf16>, %bias: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %m: i32, %n: i32, %heads: i32) grid(m, n, heads) -> (m ceildiv 64, heads) {
  %c64 = arith.constant 64 : i32
  %c64_2 = arith.constant 64 : i64
  %c1 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0_2 = arith.constant 0 : i32
  %t = tile.program_id x
  %row = arith.muli %t, %c64 : i32
  %t_2 = tile.program_id y
  %head = arith.extsi %t_2 : i32 to i64
  %t_3 = arith.muli %m, %c64 : i32
  %long = arith.extsi %t_3 : i32 to i64
  %t_4 = arith.muli %head, %long : i64
  %q0 = tile.addptr %q, %t_4 : !tile.ptr<bf16>, i64
  %t_5 = arith.muli %n, %c64 : i32
  %long_2 = arith.extsi %t_5 : i32 to i64
  %t_6 = arith.muli %head, %long_2 : i64
  %k0 = tile.addptr %keys, %t_6 : !tile.ptr<bf16>, i64
  %t_7 = arith.muli %n, %c64 : i32
  %long_3 = arith.extsi %t_7 : i32 to i64
  %t_8 = arith.muli %head, %long_3 : i64
  %v0 = tile.addptr %vals, %t_8 : !tile.ptr<bf16>, i64
  %t_9 = arith.muli %m, %c64 : i32
  %long_4 = arith.extsi %t_9 : i32 to i64
  %t_10 = arith.muli %head, %long_4 : i64
  %o0 = tile.addptr %o, %t_10 : !tile.ptr<f32>, i64
  %t_11 = arith.muli %m, %n : i32
  %long_5 = arith.extsi %t_11 : i32 to i64
  %t_12 = arith.muli %head, %long_5 : i64
  %b0 = tile.addptr %bias, %t_12 : !tile.ptr<bf16>, i64
  %long_6 = arith.extsi %m : i32 to i64
  %long_7 = arith.extsi %row : i32 to i64
  %w = tile.make_block_ptr %q0 shape[%long_6, %c64_2] strides[%c64_2, %c1] offsets[%long_7, %c0] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %q_2 = tile.load %w : !tile.block_ptr<64x64xbf16>
  %acc = scf.for %j = %c0_2 to %n step %c64 iter_args(%acc_2 = %zeros) -> (tensor<64x64xf32>) : i32 {
    %long_8 = arith.extsi %n : i32 to i64
    %long_9 = arith.extsi %j : i32 to i64
    %w_2 = tile.make_block_ptr %k0 shape[%long_8, %c64_2] strides[%c64_2, %c1] offsets[%long_9, %c0] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %key = tile.load %w_2 : !tile.block_ptr<64x64xbf16>
    %long_10 = arith.extsi %n : i32 to i64
    %long_11 = arith.extsi %j : i32 to i64
    %w_3 = tile.make_block_ptr %v0 shape[%long_10, %c64_2] strides[%c64_2, %c1] offsets[%long_11, %c0] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %val = tile.load %w_3 : !tile.block_ptr<64x64xbf16>
    %long_12 = arith.extsi %m : i32 to i64
    %long_13 = arith.extsi %n : i32 to i64
    %long_14 = arith.extsi %n : i32 to i64
    %long_15 = arith.extsi %row : i32 to i64
    %long_16 = arith.extsi %j : i32 to i64
    %w_4 = tile.make_block_ptr %b0 shape[%long_12, %long_13] strides[%long_14, %c1] offsets[%long_15, %long_16] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %t_13 = tile.load %w_4 : !tile.block_ptr<64x64xbf16>
    %bias_2 = tile.cast %t_13 : tensor<64x64xbf16> -> tensor<64x64xf32>
    %t_14 = tile.trans %key order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %t_15 = tile.dot %q_2, %t_14, %zeros : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %s = arith.addf %t_15, %bias_2 : tensor<64x64xf32>
    %t_16 = tile.cast %s : tensor<64x64xf32> -> tensor<64x64xbf16>
    %t_17 = tile.dot %t_16, %val, %acc_2 : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %t_17 : tensor<64x64xf32>
  }
  %long_17 = arith.extsi %m : i32 to i64
  %long_18 = arith.extsi %row : i32 to i64
  %w_5 = tile.make_block_ptr %o0 shape[%long_17, %c64_2] strides[%c64_2, %c1] offsets[%long_18, %c0] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %w_5, %acc : !tile.block_ptr<64x64xf32>
  tile.return
}
