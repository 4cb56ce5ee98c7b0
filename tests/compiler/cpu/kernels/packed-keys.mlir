// The first of the largest elements: by keys of 64 bits that hold the place, and by a reduction.
// compile:
// compile: warps=1 stages=1
// compile: warps=8 stages=3
// launch: x=f32[2100] o=i32[21]! o2=i32[21]! n=21

tile.kernel @k(%x: !tile.ptr<f32>, %o: !tile.ptr<i32>, %o2: !tile.ptr<i32>, %n: i32) grid(n) -> (n ceildiv 8) {
  %c8 = arith.constant 8 : i32
  %c100 = arith.constant 100 : i64
  %c1 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i64
  %c0_2 = arith.constant dense<0> : tensor<8x100xi32>
  %c2147483647 = arith.constant dense<2147483647> : tensor<8x100xi32>
  %c99 = arith.constant dense<99> : tensor<1x100xi32>
  %c4294967296 = arith.constant dense<4294967296> : tensor<8x100xi64>
  %c4294967295 = arith.constant dense<4294967295> : tensor<8xi64>
  %c99_2 = arith.constant dense<99> : tensor<8xi32>
  %t = tile.program_id x
  %row = arith.muli %t, %c8 : i32
  %long = arith.extsi %n : i32 to i64
  %long_2 = arith.extsi %row : i32 to i64
  %w = tile.make_block_ptr %x shape[%long, %c100] strides[%c100, %c1] offsets[%long_2, %c0] : !tile.ptr<f32> -> !tile.block_ptr<8x100xf32>
  %x_2 = tile.load %w : !tile.block_ptr<8x100xf32>
  %bits = arith.bitcast %x_2 : tensor<8x100xf32> to tensor<8x100xi32>
  %t_2 = arith.cmpi slt, %bits, %c0_2 : tensor<8x100xi32>
  %t_3 = arith.xori %bits, %c2147483647 : tensor<8x100xi32>
  %key = arith.select %t_2, %t_3, %bits : tensor<8x100xi1>, tensor<8x100xi32>
  %i = tile.arange 0 to 100 : tensor<100xi32>
  %line = tile.expand_dims %i axis 0 : tensor<100xi32> -> tensor<1x100xi32>
  %from_end = arith.subi %c99, %line : tensor<1x100xi32>
  %long_3 = arith.extsi %key : tensor<8x100xi32> to tensor<8x100xi64>
  %t_4 = arith.muli %long_3, %c4294967296 : tensor<8x100xi64>
  %long_4 = arith.extsi %from_end : tensor<1x100xi32> to tensor<1x100xi64>
  %wide = tile.broadcast %long_4 : tensor<1x100xi64> -> tensor<8x100xi64>
  %packed = arith.addi %t_4, %wide : tensor<8x100xi64>
  %best = tile.max %packed axis 1 : tensor<8x100xi64> -> tensor<8xi64>
  %t_5 = arith.andi %best, %c4294967295 : tensor<8xi64>
  %low = arith.trunci %t_5 : tensor<8xi64> to tensor<8xi32>
  %long_5 = arith.extsi %n : i32 to i64
  %long_6 = arith.extsi %row : i32 to i64
  %w_2 = tile.make_block_ptr %o shape[%long_5] strides[%c1] offsets[%long_6] : !tile.ptr<i32> -> !tile.block_ptr<8xi32>
  %t_6 = arith.subi %c99_2, %low : tensor<8xi32>
  tile.store %w_2, %t_6 : !tile.block_ptr<8xi32>
  %i_2 = tile.arange 0 to 100 : tensor<100xi32>
  %line_2 = tile.expand_dims %i_2 axis 0 : tensor<100xi32> -> tensor<1x100xi32>
  %at = tile.broadcast %line_2 : tensor<1x100xi32> -> tensor<8x100xi32>
  %value, %index = tile.reduce(%x_2, %at) axis 1 {
  ^bb0(%x_3: f32, %x_4: i32, %y: f32, %y_2: i32):
    %more = arith.cmpf ogt, %x_3, %y : f32
    %same = arith.cmpf oeq, %x_3, %y : f32
    %before = arith.cmpi slt, %x_4, %y_2 : i32
    %t_7 = arith.andi %same, %before : i1
    %take = arith.ori %more, %t_7 : i1
    %t_8 = arith.select %take, %x_3, %y : f32
    %t_9 = arith.select %take, %x_4, %y_2 : i32
    tile.yield %t_8, %t_9 : f32, i32
  } : (tensor<8x100xf32>, tensor<8x100xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  %long_7 = arith.extsi %n : i32 to i64
  %long_8 = arith.extsi %row : i32 to i64
  %w_3 = tile.make_block_ptr %o2 shape[%long_7] strides[%c1] offsets[%long_8] : !tile.ptr<i32> -> !tile.block_ptr<8xi32>
  tile.store %w_3, %index : !tile.block_ptr<8xi32>
  tile.return
}
