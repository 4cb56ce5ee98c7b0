// Sums begin again where a flag says; products from the end.
// compile:
// compile: warps=1 stages=1
// compile: warps=8 stages=3
// launch: x=f32[900] flags=i32[900] y=f32[900]! products=i64[900]! n=900

tile.kernel @k(%x: !tile.ptr<f32>, %flags: !tile.ptr<i32>, %y: !tile.ptr<f32>, %products: !tile.ptr<i64>, %n: i32) grid(n) -> (n ceildiv 512) {
  %c512 = arith.constant 512 : i32
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant dense<2> : tensor<512xi32>
  %c0 = arith.constant 0 : i32
  %c2_2 = arith.constant dense<2> : tensor<512xi64>
  %c1_2 = arith.constant dense<1> : tensor<512xi64>
  %t = tile.program_id x
  %r0 = arith.muli %t, %c512 : i32
  %long = arith.extsi %n : i32 to i64
  %long_2 = arith.extsi %r0 : i32 to i64
  %w = tile.make_block_ptr %x shape[%long] strides[%c1] offsets[%long_2] : !tile.ptr<f32> -> !tile.block_ptr<512xf32>
  %x_2 = tile.load %w : !tile.block_ptr<512xf32>
  %long_3 = arith.extsi %n : i32 to i64
  %long_4 = arith.extsi %r0 : i32 to i64
  %w_2 = tile.make_block_ptr %flags shape[%long_3] strides[%c1] offsets[%long_4] : !tile.ptr<i32> -> !tile.block_ptr<512xi32>
  %flag = tile.load %w_2 : !tile.block_ptr<512xi32>
  %t_2 = arith.cmpi eq, %flag, %c2 : tensor<512xi32>
  %begins = arith.extui %t_2 : tensor<512xi1> to tensor<512xi32>
  %sums, %any = tile.scan(%x_2, %begins) axis 0 {
  ^bb0(%x_3: f32, %x_4: i32, %y_2: f32, %y_3: i32):
    %goes_on = arith.cmpi eq, %y_3, %c0 : i32
    %both = arith.addf %x_3, %y_2 : f32
    %sum = arith.select %goes_on, %both, %y_2 : f32
    %t_3 = arith.ori %x_4, %y_3 : i32
    tile.yield %sum, %t_3 : f32, i32
  } : tensor<512xf32>, tensor<512xi32>
  %long_5 = arith.extsi %n : i32 to i64
  %long_6 = arith.extsi %r0 : i32 to i64
  %w_3 = tile.make_block_ptr %y shape[%long_5] strides[%c1] offsets[%long_6] : !tile.ptr<f32> -> !tile.block_ptr<512xf32>
  tile.store %w_3, %sums : !tile.block_ptr<512xf32>
  %long_7 = arith.extsi %flag : tensor<512xi32> to tensor<512xi64>
  %t_4 = arith.muli %long_7, %c2_2 : tensor<512xi64>
  %odd = arith.addi %t_4, %c1_2 : tensor<512xi64>
  %long_8 = arith.extsi %n : i32 to i64
  %long_9 = arith.extsi %r0 : i32 to i64
  %w_4 = tile.make_block_ptr %products shape[%long_8] strides[%c1] offsets[%long_9] : !tile.ptr<i64> -> !tile.block_ptr<512xi64>
  %t_5 = tile.scan(%odd) axis 0 reverse {
  ^bb0(%x_5: i64, %y_4: i64):
    %t_6 = arith.muli %x_5, %y_4 : i64
    tile.yield %t_6 : i64
  } : tensor<512xi64>
  tile.store %w_4, %t_5 : !tile.block_ptr<512xi64>
  tile.return
}
