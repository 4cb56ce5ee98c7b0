// A program writes the table by which it then reads.
// compile:
// compile: warps=1 stages=1
// compile: warps=8 stages=3
// compile: stages=4 persistent=dynamic
// launch: q=f16[1024] keys=f16[2560] pages=i32[24]! o=f32[3072]! n=128 count=3

tile.kernel @k(%q: !tile.ptr<f16>, %keys: !tile.ptr<f16>, %pages: !tile.ptr<i32>, %o: !tile.ptr<f32>, %n: i32, %count: i32) grid(n, count) -> (count) {
  %c8 = arith.constant 8 : i32
  %c3 = arith.constant dense<3> : tensor<8xi32>
  %c5 = arith.constant dense<5> : tensor<8xi32>
  %c32 = arith.constant 32 : i64
  %c1 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i64
  %zeros = arith.constant dense<0.0> : tensor<32x32xf32>
  %c0_2 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %zeros_2 = arith.constant dense<0.0> : tensor<32x16xf32>
  %c1024 = arith.constant 1024 : i32
  %p = tile.program_id x
  %t = arith.muli %p, %c8 : i32
  %table = tile.addptr %pages, %t : !tile.ptr<i32>, i32
  %i = tile.arange 0 to 8 : tensor<8xi32>
  %t_2 = arith.muli %i, %c3 : tensor<8xi32>
  %all = tile.splat %p : i32 -> tensor<8xi32>
  %t_3 = arith.addi %t_2, %all : tensor<8xi32>
  %page = arith.remsi %t_3, %c5 : tensor<8xi32>
  %all_2 = tile.splat %table : !tile.ptr<i32> -> tensor<8x!tile.ptr<i32>>
  %t_4 = tile.addptr %all_2, %i : tensor<8x!tile.ptr<i32>>, tensor<8xi32>
  tile.store %t_4, %page : tensor<8x!tile.ptr<i32>>
  %w = tile.make_block_ptr %q shape[%c32, %c32] strides[%c32, %c1] offsets[%c0, %c0] : !tile.ptr<f16> -> !tile.block_ptr<32x32xf16>
  %q_2 = tile.load %w : !tile.block_ptr<32x32xf16>
  %acc = scf.for %j = %c0_2 to %n step %c16 iter_args(%acc_2 = %zeros) -> (tensor<32x32xf32>) : i32 {
    %t_5 = arith.divsi %j, %c16 : i32
    %t_6 = tile.addptr %table, %t_5 : !tile.ptr<i32>, i32
    %page_2 = tile.load %t_6 : !tile.ptr<i32>
    %first = arith.muli %page_2, %c16 : i32
    %t_7 = arith.addi %first, %c16 : i32
    %long = arith.extsi %t_7 : i32 to i64
    %long_2 = arith.extsi %first : i32 to i64
    %w_2 = tile.make_block_ptr %keys shape[%long, %c32] strides[%c32, %c1] offsets[%long_2, %c0] : !tile.ptr<f16> -> !tile.block_ptr<16x32xf16>
    %key = tile.load %w_2 : !tile.block_ptr<16x32xf16>
    %t_8 = tile.trans %key order [1, 0] : tensor<16x32xf16> -> tensor<32x16xf16>
    %s = tile.dot %q_2, %t_8, %zeros_2 : tensor<32x32xf16>, tensor<32x16xf16>, tensor<32x16xf32>
    %t_9 = tile.cast %s : tensor<32x16xf32> -> tensor<32x16xf16>
    %t_10 = tile.dot %t_9, %key, %acc_2 : tensor<32x16xf16>, tensor<16x32xf16>, tensor<32x32xf32>
    scf.yield %t_10 : tensor<32x32xf32>
  }
  %t_11 = arith.muli %p, %c1024 : i32
  %t_12 = tile.addptr %o, %t_11 : !tile.ptr<f32>, i32
  %w_3 = tile.make_block_ptr %t_12 shape[%c32, %c32] strides[%c32, %c1] offsets[%c0, %c0] : !tile.ptr<f32> -> !tile.block_ptr<32x32xf32>
  tile.store %w_3, %acc : !tile.block_ptr<32x32xf32>
  tile.return
}
