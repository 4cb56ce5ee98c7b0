// Pages of 16 keys lie where a table says, for the heads that share them.
// compile:
// compile: warps=1 stages=1
// compile: warps=8 stages=3
// launch: q=bf16[3072] keys=bf16[5120] vals=bf16[5120] pages=i32[32] o=f32[3072]! n=100 heads=3
// launch: q=bf16[3072] keys=bf16[5120] vals=bf16[5120] pages=i32[32] o=f32[3072]! n=0 heads=3

tile.kernel @k(%q: !tile.ptr<bf16>, %keys: !tile.ptr<bf16>, %vals: !tile.ptr<bf16>, %pages: !tile.ptr<i32>, %o: !tile.ptr<f32>, %n: i32, %heads: i32) grid(n, heads) -> (heads) {
  %zero = arith.constant 0 : i32
  %c1024 = arith.constant 1024 : i32
  %c16 = arith.constant 16 : i64
  %c64 = arith.constant 64 : i64
  %c1 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i64
  %zeros = arith.constant dense<0.0> : tensor<16x64xf32>
  %c16_2 = arith.constant 16 : i32
  %c2 = arith.constant 2 : i32
  %c1024_2 = arith.constant 1024 : i64
  %zeros_2 = arith.constant dense<0.0> : tensor<16x16xf32>
  %head = tile.program_id x
  %t = arith.muli %head, %c1024 : i32
  %long = arith.extsi %t : i32 to i64
  %ends = tile.addptr %q, %long : !tile.ptr<bf16>, i64
  %w = tile.make_block_ptr %ends shape[%c16, %c64] strides[%c64, %c1] offsets[%c0, %c0] : !tile.ptr<bf16> -> !tile.block_ptr<16x64xbf16>
  %q_2 = tile.load %w : !tile.block_ptr<16x64xbf16>
  %acc = scf.for %j = %zero to %n step %c16_2 iter_args(%acc_2 = %zeros) -> (tensor<16x64xf32>) : i32 {
    %t_2 = arith.divsi %j, %c16_2 : i32
    %t_3 = arith.addi %t_2, %head : i32
    %t_4 = tile.addptr %pages, %t_3 : !tile.ptr<i32>, i32
    %page = tile.load %t_4 : !tile.ptr<i32>
    %t_5 = arith.addi %page, %c2 : i32
    %long_2 = arith.extsi %t_5 : i32 to i64
    %at = arith.muli %long_2, %c1024_2 : i64
    %left = arith.subi %n, %j : i32
    %t_6 = tile.addptr %keys, %at : !tile.ptr<bf16>, i64
    %long_3 = arith.extsi %left : i32 to i64
    %w_2 = tile.make_block_ptr %t_6 shape[%long_3, %c64] strides[%c64, %c1] offsets[%c0, %c0] : !tile.ptr<bf16> -> !tile.block_ptr<16x64xbf16>
    %key = tile.load %w_2 : !tile.block_ptr<16x64xbf16>
    %t_7 = tile.addptr %vals, %at : !tile.ptr<bf16>, i64
    %long_4 = arith.extsi %left : i32 to i64
    %w_3 = tile.make_block_ptr %t_7 shape[%long_4, %c64] strides[%c64, %c1] offsets[%c0, %c0] : !tile.ptr<bf16> -> !tile.block_ptr<16x64xbf16>
    %val = tile.load %w_3 : !tile.block_ptr<16x64xbf16>
    %t_8 = tile.trans %key order [1, 0] : tensor<16x64xbf16> -> tensor<64x16xbf16>
    %s = tile.dot %q_2, %t_8, %zeros_2 : tensor<16x64xbf16>, tensor<64x16xbf16>, tensor<16x16xf32>
    %t_9 = tile.cast %s : tensor<16x16xf32> -> tensor<16x16xbf16>
    %t_10 = tile.dot %t_9, %val, %acc_2 : tensor<16x16xbf16>, tensor<16x64xbf16>, tensor<16x64xf32>
    scf.yield %t_10 : tensor<16x64xf32>
  }
  %t_11 = arith.muli %head, %c1024 : i32
  %long_5 = arith.extsi %t_11 : i32 to i64
  %t_12 = tile.addptr %o, %long_5 : !tile.ptr<f32>, i64
  %w_4 = tile.make_block_ptr %t_12 shape[%c16, %c64] strides[%c64, %c1] offsets[%c0, %c0] : !tile.ptr<f32> -> !tile.block_ptr<16x64xf32>
  tile.store %w_4, %acc : !tile.block_ptr<16x64xf32>
  tile.return
}
