// h = a h + b, a tile of steps at a time, wrapping around.
// compile:
// compile: warps=1 stages=1
// compile: warps=8 stages=3
// launch: a=i32[1650] b=i32[1650] h=i32[1650]! steps=50 width=33

tile.kernel @k(%a: !tile.ptr<i32>, %b: !tile.ptr<i32>, %h: !tile.ptr<i32>, %steps: i32, %width: i32) grid(steps, width) -> (width ceildiv 24) {
  %c24 = arith.constant 24 : i32
  %c0 = arith.constant dense<0> : tensor<24xi32>
  %c0_2 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %c1 = arith.constant 1 : i64
  %c1_2 = arith.constant 1 : i32
  %c0_3 = arith.constant dense<0> : tensor<16x24xi32>
  %t = tile.program_id x
  %col = arith.muli %t, %c24 : i32
  %t_2 = scf.for %j = %c0_2 to %steps step %c16 iter_args(%before = %c0) -> (tensor<24xi32>) : i32 {
    %long = arith.extsi %steps : i32 to i64
    %long_2 = arith.extsi %width : i32 to i64
    %long_3 = arith.extsi %width : i32 to i64
    %long_4 = arith.extsi %j : i32 to i64
    %long_5 = arith.extsi %col : i32 to i64
    %w = tile.make_block_ptr %a shape[%long, %long_2] strides[%long_3, %c1] offsets[%long_4, %long_5] : !tile.ptr<i32> -> !tile.block_ptr<16x24xi32>
    %a_2 = tile.load %w : !tile.block_ptr<16x24xi32>
    %long_6 = arith.extsi %steps : i32 to i64
    %long_7 = arith.extsi %width : i32 to i64
    %long_8 = arith.extsi %width : i32 to i64
    %long_9 = arith.extsi %j : i32 to i64
    %long_10 = arith.extsi %col : i32 to i64
    %w_2 = tile.make_block_ptr %b shape[%long_6, %long_7] strides[%long_8, %c1] offsets[%long_9, %long_10] : !tile.ptr<i32> -> !tile.block_ptr<16x24xi32>
    %b_2 = tile.load %w_2 : !tile.block_ptr<16x24xi32>
    %factor, %part = tile.scan(%a_2, %b_2) axis 0 {
    ^bb0(%x: i32, %x_2: i32, %y: i32, %y_2: i32):
      %t_3 = arith.muli %x, %y : i32
      %t_4 = arith.muli %y, %x_2 : i32
      %t_5 = arith.addi %t_4, %y_2 : i32
      tile.yield %t_3, %t_5 : i32, i32
    } : tensor<16x24xi32>, tensor<16x24xi32>
    %line = tile.expand_dims %before axis 0 : tensor<24xi32> -> tensor<1x24xi32>
    %wide = tile.broadcast %line : tensor<1x24xi32> -> tensor<16x24xi32>
    %t_6 = arith.muli %factor, %wide : tensor<16x24xi32>
    %h_2 = arith.addi %part, %t_6 : tensor<16x24xi32>
    %long_11 = arith.extsi %steps : i32 to i64
    %long_12 = arith.extsi %width : i32 to i64
    %long_13 = arith.extsi %width : i32 to i64
    %long_14 = arith.extsi %j : i32 to i64
    %long_15 = arith.extsi %col : i32 to i64
    %w_3 = tile.make_block_ptr %h shape[%long_11, %long_12] strides[%long_13, %c1] offsets[%long_14, %long_15] : !tile.ptr<i32> -> !tile.block_ptr<16x24xi32>
    tile.store %w_3, %h_2 : !tile.block_ptr<16x24xi32>
    %i = tile.arange 0 to 16 : tensor<16xi32>
    %all = tile.splat %j : i32 -> tensor<16xi32>
    %t_7 = arith.addi %i, %all : tensor<16xi32>
    %t_8 = arith.addi %j, %c16 : i32
    %t_9 = arith.minsi %t_8, %steps : i32
    %t_10 = arith.subi %t_9, %c1_2 : i32
    %all_2 = tile.splat %t_10 : i32 -> tensor<16xi32>
    %last = arith.cmpi eq, %t_7, %all_2 : tensor<16xi32>
    %line_2 = tile.expand_dims %last axis 1 : tensor<16xi1> -> tensor<16x1xi1>
    %wide_2 = tile.broadcast %line_2 : tensor<16x1xi1> -> tensor<16x24xi1>
    %t_11 = arith.select %wide_2, %h_2, %c0_3 : tensor<16x24xi1>, tensor<16x24xi32>
    %t_12 = tile.sum %t_11 axis 0 : tensor<16x24xi32> -> tensor<24xi32>
    scf.yield %t_12 : tensor<24xi32>
  }
  tile.return
}
