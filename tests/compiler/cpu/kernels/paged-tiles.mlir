// Tiles of keys lie where a table says.
// compile:
// compile: warps=1 stages=1
// compile: warps=8 stages=3
// compile: stages=4 persistent=dynamic
// launch: q=bf16[5120] keys=bf16[20480] vals=bf16[20480] pages=i32[32] o=f32[5120]! m=80 n=200
// launch: q=bf16[5120] keys=bf16[20480] vals=bf16[20480] pages=i32[32] o=f32[5120]! m=80 n=0

tile.kernel @k(%q: !tile.ptr<bf16>, %keys: !tile.ptr<bf16>, %vals: !tile.ptr<bf16>, %pages: !tile.ptr<i32>, %o: !tile.ptr<f32>, %m: i32, %n: i32) grid(m, n) -> (m ceildiv 64) {
  %c64 = arith.constant 64 : i32
  %c64_2 = arith.constant 64 : i64
  %c1 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0_2 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %t = tile.program_id x
  %row = arith.muli %t, %c64 : i32
  %long = arith.extsi %m : i32 to i64
  %long_2 = arith.extsi %row : i32 to i64
  %w = tile.make_block_ptr %q shape[%long, %c64_2] strides[%c64_2, %c1] offsets[%long_2, %c0] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %q_2 = tile.load %w : !tile.block_ptr<64x64xbf16>
  %acc = scf.for %j = %c0_2 to %n step %c64 iter_args(%acc_2 = %zeros) -> (tensor<64x64xf32>) : i32 {
    %t_2 = arith.divsi %j, %c64 : i32
    %t_3 = tile.addptr %pages, %t_2 : !tile.ptr<i32>, i32
    %page = tile.load %t_3 : !tile.ptr<i32>
    %t_4 = arith.addi %page, %c2 : i32
    %first = arith.muli %t_4, %c64 : i32
    %t_5 = arith.subi %n, %j : i32
    %t_6 = arith.addi %first, %t_5 : i32
    %t_7 = arith.addi %first, %c64 : i32
    %end = arith.minsi %t_6, %t_7 : i32
    %long_3 = arith.extsi %end : i32 to i64
    %long_4 = arith.extsi %first : i32 to i64
    %w_2 = tile.make_block_ptr %keys shape[%long_3, %c64_2] strides[%c64_2, %c1] offsets[%long_4, %c0] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %key = tile.load %w_2 : !tile.block_ptr<64x64xbf16>
    %long_5 = arith.extsi %end : i32 to i64
    %long_6 = arith.extsi %first : i32 to i64
    %w_3 = tile.make_block_ptr %vals shape[%long_5, %c64_2] strides[%c64_2, %c1] offsets[%long_6, %c0] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %val = tile.load %w_3 : !tile.block_ptr<64x64xbf16>
    %t_8 = tile.trans %key order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %q_2, %t_8, %zeros : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %t_9 = tile.cast %s : tensor<64x64xf32> -> tensor<64x64xbf16>
    %t_10 = tile.dot %t_9, %val, %acc_2 : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %t_10 : tensor<64x64xf32>
  }
  %long_7 = arith.extsi %m : i32 to i64
  %long_8 = arith.extsi %row : i32 to i64
  %w_4 = tile.make_block_ptr %o shape[%long_7, %c64_2] strides[%c64_2, %c1] offsets[%long_8, %c0] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %w_4, %acc : !tile.block_ptr<64x64xf32>
  tile.return
}
