// Rows of different lengths, empty ones among them.
// compile:
// compile: warps=1 stages=1
// compile: warps=8 stages=3
// launch: x=bf16[3000] w=bf16[400] y=bf16[3000]! lengths=i32[7] n=7 unit=65

tile.kernel @k(%x: !tile.ptr<bf16>, %w: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %lengths: !tile.ptr<i32>, %n: i32, %unit: i32) grid(n, unit) -> (n) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %zeros = arith.constant dense<0.0> : tensor<128xf32>
  %c128 = arith.constant 128 : i32
  %c1_2 = arith.constant 1 : i64
  %p = tile.program_id x
  %start = scf.for %j = %c0 to %p step %c1 iter_args(%at = %c0) -> (i32) : i32 {
    %t = tile.addptr %lengths, %j : !tile.ptr<i32>, i32
    %t_2 = tile.load %t : !tile.ptr<i32>
    %t_3 = arith.addi %t_2, %c2 : i32
    %t_4 = arith.muli %t_3, %unit : i32
    %t_5 = arith.addi %at, %t_4 : i32
    scf.yield %t_5 : i32
  }
  %t_6 = tile.addptr %lengths, %p : !tile.ptr<i32>, i32
  %t_7 = tile.load %t_6 : !tile.ptr<i32>
  %t_8 = arith.addi %t_7, %c2 : i32
  %length = arith.muli %t_8, %unit : i32
  %x_2 = tile.addptr %x, %start : !tile.ptr<bf16>, i32
  %y_2 = tile.addptr %y, %start : !tile.ptr<bf16>, i32
  %sums = scf.for %j_2 = %c0 to %length step %c128 iter_args(%a = %zeros) -> (tensor<128xf32>) : i32 {
    %long = arith.extsi %length : i32 to i64
    %long_2 = arith.extsi %j_2 : i32 to i64
    %w_2 = tile.make_block_ptr %x_2 shape[%long] strides[%c1_2] offsets[%long_2] : !tile.ptr<bf16> -> !tile.block_ptr<128xbf16>
    %t_9 = tile.load %w_2 : !tile.block_ptr<128xbf16>
    %t_10 = tile.cast %t_9 : tensor<128xbf16> -> tensor<128xf32>
    %t_11 = arith.mulf %t_10, %t_10 : tensor<128xf32>
    %t_12 = arith.addf %a, %t_11 : tensor<128xf32>
    scf.yield %t_12 : tensor<128xf32>
  }
  %norm = tile.sum %sums axis 0 : tensor<128xf32> -> f32
  scf.for %j_3 = %c0 to %length step %c128 : i32 {
    %long_3 = arith.extsi %length : i32 to i64
    %long_4 = arith.extsi %j_3 : i32 to i64
    %w_3 = tile.make_block_ptr %x_2 shape[%long_3] strides[%c1_2] offsets[%long_4] : !tile.ptr<bf16> -> !tile.block_ptr<128xbf16>
    %t_13 = tile.load %w_3 : !tile.block_ptr<128xbf16>
    %t_14 = tile.cast %t_13 : tensor<128xbf16> -> tensor<128xf32>
    %long_5 = arith.extsi %length : i32 to i64
    %long_6 = arith.extsi %j_3 : i32 to i64
    %w_4 = tile.make_block_ptr %w shape[%long_5] strides[%c1_2] offsets[%long_6] : !tile.ptr<bf16> -> !tile.block_ptr<128xbf16>
    %t_15 = tile.load %w_4 : !tile.block_ptr<128xbf16>
    %w_5 = tile.cast %t_15 : tensor<128xbf16> -> tensor<128xf32>
    %long_7 = arith.extsi %length : i32 to i64
    %long_8 = arith.extsi %j_3 : i32 to i64
    %w_6 = tile.make_block_ptr %y_2 shape[%long_7] strides[%c1_2] offsets[%long_8] : !tile.ptr<bf16> -> !tile.block_ptr<128xbf16>
    %all = tile.splat %norm : f32 -> tensor<128xf32>
    %t_16 = arith.mulf %t_14, %all : tensor<128xf32>
    %t_17 = arith.mulf %t_16, %w_5 : tensor<128xf32>
    %t_18 = tile.cast %t_17 : tensor<128xf32> -> tensor<128xbf16>
    tile.store %w_6, %t_18 : !tile.block_ptr<128xbf16>
  }
  tile.return
}
