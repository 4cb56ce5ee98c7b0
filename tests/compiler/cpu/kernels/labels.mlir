// Rows in two passes, with one element of each taken by its number, where it has one.
// compile:
// compile: warps=1 stages=1
// compile: warps=8 stages=3
// launch: x=bf16[2352] labels=i32[7] loss=f32[7]! dx=bf16[2352]! n=7 vocabulary=333 stride=336:i64

tile.kernel @k(%x: !tile.ptr<bf16>, %labels: !tile.ptr<i32>, %loss: !tile.ptr<f32>, %dx: !tile.ptr<bf16>, %n: i32, %vocabulary: i32, %stride: i64) grid(n, vocabulary, stride) -> (n) {
  %c800000 = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c1 = arith.constant 1 : i64
  %f = arith.constant 1.0 : f32
  %f_2 = arith.constant dense<1.0> : tensor<64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %p = tile.program_id x
  %long = arith.extsi %p : i32 to i64
  %row = arith.muli %long, %stride : i64
  %x_2 = tile.addptr %x, %row : !tile.ptr<bf16>, i64
  %dx_2 = tile.addptr %dx, %row : !tile.ptr<bf16>, i64
  %long_2 = arith.extsi %p : i32 to i64
  %t = tile.addptr %labels, %long_2 : !tile.ptr<i32>, i64
  %label = tile.load %t : !tile.ptr<i32>
  %t_2:2 = scf.for %j = %c0 to %vocabulary step %c64 iter_args(%top = %c800000, %count = %zero) -> (f32, f32) : i32 {
    %long_3 = arith.extsi %vocabulary : i32 to i64
    %long_4 = arith.extsi %j : i32 to i64
    %w = tile.make_block_ptr %x_2 shape[%long_3] strides[%c1] offsets[%long_4] : !tile.ptr<bf16> -> !tile.block_ptr<64xbf16>
    %t_3 = tile.load %w padding neg_inf : !tile.block_ptr<64xbf16>
    %t_4 = tile.cast %t_3 : tensor<64xbf16> -> tensor<64xf32>
    %t_5 = tile.max %t_4 axis 0 : tensor<64xf32> -> f32
    %more = arith.maximumf %top, %t_5 : f32
    %all = tile.splat %more : f32 -> tensor<64xf32>
    %t_6 = arith.cmpf oeq, %t_4, %all : tensor<64xf32>
    %same = arith.uitofp %t_6 : tensor<64xi1> to tensor<64xf32>
    %t_7 = arith.cmpf ogt, %more, %top : f32
    %t_8 = arith.select %t_7, %zero, %count : f32
    %t_9 = tile.sum %same axis 0 : tensor<64xf32> -> f32
    %t_10 = arith.addf %t_8, %t_9 : f32
    scf.yield %more, %t_10 : f32, f32
  }
  %seen = arith.cmpi sge, %label, %c0 : i32
  %long_5 = arith.extsi %label : i32 to i64
  %t_11 = tile.addptr %x_2, %long_5 : !tile.ptr<bf16>, i64
  %t_12 = tile.load %t_11 mask %seen : !tile.ptr<bf16>
  %own = tile.cast %t_12 : bf16 -> f32
  %long_6 = arith.extsi %p : i32 to i64
  %t_13 = tile.addptr %loss, %long_6 : !tile.ptr<f32>, i64
  %t_14 = arith.subf %t_2#0, %own : f32
  %t_15 = arith.addf %t_14, %t_2#1 : f32
  %t_16 = arith.select %seen, %t_15, %zero : f32
  tile.store %t_13, %t_16 : !tile.ptr<f32>
  %factor = arith.select %seen, %f, %zero : f32
  scf.for %j_2 = %c0 to %vocabulary step %c64 : i32 {
    %long_7 = arith.extsi %vocabulary : i32 to i64
    %long_8 = arith.extsi %j_2 : i32 to i64
    %w_2 = tile.make_block_ptr %x_2 shape[%long_7] strides[%c1] offsets[%long_8] : !tile.ptr<bf16> -> !tile.block_ptr<64xbf16>
    %t_17 = tile.load %w_2 : !tile.block_ptr<64xbf16>
    %t_18 = tile.cast %t_17 : tensor<64xbf16> -> tensor<64xf32>
    %i = tile.arange 0 to 64 : tensor<64xi32>
    %all_2 = tile.splat %j_2 : i32 -> tensor<64xi32>
    %at = arith.addi %i, %all_2 : tensor<64xi32>
    %all_3 = tile.splat %t_2#0 : f32 -> tensor<64xf32>
    %t_19 = arith.subf %t_18, %all_3 : tensor<64xf32>
    %all_4 = tile.splat %t_2#1 : f32 -> tensor<64xf32>
    %t_20 = arith.mulf %t_19, %all_4 : tensor<64xf32>
    %all_5 = tile.splat %label : i32 -> tensor<64xi32>
    %t_21 = arith.cmpi eq, %at, %all_5 : tensor<64xi32>
    %t_22 = arith.select %t_21, %f_2, %zeros : tensor<64xi1>, tensor<64xf32>
    %g = arith.subf %t_20, %t_22 : tensor<64xf32>
    %long_9 = arith.extsi %vocabulary : i32 to i64
    %long_10 = arith.extsi %j_2 : i32 to i64
    %w_3 = tile.make_block_ptr %dx_2 shape[%long_9] strides[%c1] offsets[%long_10] : !tile.ptr<bf16> -> !tile.block_ptr<64xbf16>
    %all_6 = tile.splat %factor : f32 -> tensor<64xf32>
    %t_23 = arith.mulf %g, %all_6 : tensor<64xf32>
    %t_24 = tile.cast %t_23 : tensor<64xf32> -> tensor<64xbf16>
    tile.store %w_3, %t_24 : !tile.block_ptr<64xbf16>
  }
  tile.return
}
