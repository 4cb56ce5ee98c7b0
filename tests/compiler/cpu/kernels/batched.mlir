// Small matrices of a batch, at strides that nothing divides.
// compile:
// compile: warps=1 stages=1
// compile: warps=8 stages=3
// launch: a=f32[1600] b=f32[1600] o=f32[2400]! count=5 step_a=315:i64 row_a=13:i64 step_b=301:i64 row_b=15:i64

tile.kernel @k(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>, %o: !tile.ptr<f32>, %count: i32, %step_a: i64, %row_a: i64, %step_b: i64, %row_b: i64) grid(count, step_a, row_a, step_b, row_b) -> (count) {
  %c24 = arith.constant 24 : i64
  %c12 = arith.constant 12 : i64
  %c1 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i64
  %c20 = arith.constant 20 : i64
  %zeros = arith.constant dense<0.0> : tensor<24x20xf32>
  %c480 = arith.constant 480 : i64
  %p = tile.program_id x
  %long = arith.extsi %count : i32 to i64
  %long_2 = arith.extsi %p : i32 to i64
  %w = tile.make_block_ptr %a shape[%long, %c24, %c12] strides[%step_a, %row_a, %c1] offsets[%long_2, %c0, %c0] : !tile.ptr<f32> -> !tile.block_ptr<1x24x12xf32>
  %a_2 = tile.load %w : !tile.block_ptr<1x24x12xf32>
  %long_3 = arith.extsi %count : i32 to i64
  %long_4 = arith.extsi %p : i32 to i64
  %w_2 = tile.make_block_ptr %b shape[%long_3, %c20, %c12] strides[%step_b, %row_b, %c1] offsets[%long_4, %c0, %c0] : !tile.ptr<f32> -> !tile.block_ptr<1x20x12xf32>
  %b_2 = tile.load %w_2 : !tile.block_ptr<1x20x12xf32>
  %t = tile.reshape %a_2 : tensor<1x24x12xf32> -> tensor<24x12xf32>
  %t_2 = tile.reshape %b_2 : tensor<1x20x12xf32> -> tensor<20x12xf32>
  %t_3 = tile.trans %t_2 order [1, 0] : tensor<20x12xf32> -> tensor<12x20xf32>
  %d = tile.dot %t, %t_3, %zeros : tensor<24x12xf32>, tensor<12x20xf32>, tensor<24x20xf32>
  %long_5 = arith.extsi %count : i32 to i64
  %long_6 = arith.extsi %p : i32 to i64
  %w_3 = tile.make_block_ptr %o shape[%long_5, %c24, %c20] strides[%c480, %c20, %c1] offsets[%long_6, %c0, %c0] : !tile.ptr<f32> -> !tile.block_ptr<1x24x20xf32>
  %t_4 = tile.reshape %d : tensor<24x20xf32> -> tensor<1x24x20xf32>
  tile.store %w_3, %t_4 : !tile.block_ptr<1x24x20xf32>
  tile.return
}
