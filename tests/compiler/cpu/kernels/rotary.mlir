// Pairs of neighbours turn by what tables have for gathered positions.
// compile:
// compile: warps=1 stages=1
// compile: warps=8 stages=3
// launch: x=bf16[6480] positions=i32[45] cosines=f32[120] sines=f32[120] y=bf16[6480]! n=45 heads=3

tile.kernel @k(%x: !tile.ptr<bf16>, %positions: !tile.ptr<i32>, %cosines: !tile.ptr<f32>, %sines: !tile.ptr<f32>, %y: !tile.ptr<bf16>, %n: i32, %heads: i32) grid(n, heads) -> (n ceildiv 32, heads) {
  %c32 = arith.constant 32 : i32
  %c2 = arith.constant dense<2> : tensor<32xi32>
  %c24 = arith.constant dense<24> : tensor<32x1xi32>
  %c48 = arith.constant 48 : i32
  %c2_2 = arith.constant dense<2> : tensor<1x24xi32>
  %c1 = arith.constant dense<1> : tensor<32x24xi32>
  %c48_2 = arith.constant 48 : i64
  %c1_2 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i64
  %t = tile.program_id x
  %row = arith.muli %t, %c32 : i32
  %head = tile.program_id y
  %all = tile.splat %row : i32 -> tensor<32xi32>
  %i = tile.arange 0 to 32 : tensor<32xi32>
  %rows = arith.addi %all, %i : tensor<32xi32>
  %all_2 = tile.splat %n : i32 -> tensor<32xi32>
  %inside = arith.cmpi slt, %rows, %all_2 : tensor<32xi32>
  %all_3 = tile.splat %positions : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>>
  %t_2 = tile.addptr %all_3, %rows : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  %t_3 = tile.load %t_2 mask %inside : tensor<32x!tile.ptr<i32>>
  %pos = arith.addi %t_3, %c2 : tensor<32xi32>
  %half = tile.arange 0 to 24 : tensor<24xi32>
  %line = tile.expand_dims %pos axis 1 : tensor<32xi32> -> tensor<32x1xi32>
  %t_4 = arith.muli %line, %c24 : tensor<32x1xi32>
  %line_2 = tile.expand_dims %half axis 0 : tensor<24xi32> -> tensor<1x24xi32>
  %wide = tile.broadcast %t_4 : tensor<32x1xi32> -> tensor<32x24xi32>
  %wide_2 = tile.broadcast %line_2 : tensor<1x24xi32> -> tensor<32x24xi32>
  %off = arith.addi %wide, %wide_2 : tensor<32x24xi32>
  %line_3 = tile.expand_dims %inside axis 1 : tensor<32xi1> -> tensor<32x1xi1>
  %all_4 = tile.broadcast %line_3 : tensor<32x1xi1> -> tensor<32x24xi1>
  %all_5 = tile.splat %cosines : !tile.ptr<f32> -> tensor<32x24x!tile.ptr<f32>>
  %t_5 = tile.addptr %all_5, %off : tensor<32x24x!tile.ptr<f32>>, tensor<32x24xi32>
  %c = tile.load %t_5 mask %all_4 : tensor<32x24x!tile.ptr<f32>>
  %all_6 = tile.splat %sines : !tile.ptr<f32> -> tensor<32x24x!tile.ptr<f32>>
  %t_6 = tile.addptr %all_6, %off : tensor<32x24x!tile.ptr<f32>>, tensor<32x24xi32>
  %s = tile.load %t_6 mask %all_4 : tensor<32x24x!tile.ptr<f32>>
  %line_4 = tile.expand_dims %rows axis 1 : tensor<32xi32> -> tensor<32x1xi32>
  %t_7 = arith.muli %heads, %c48 : i32
  %all_7 = tile.splat %t_7 : i32 -> tensor<32x1xi32>
  %t_8 = arith.muli %line_4, %all_7 : tensor<32x1xi32>
  %t_9 = arith.muli %head, %c48 : i32
  %all_8 = tile.splat %t_9 : i32 -> tensor<32x1xi32>
  %t_10 = arith.addi %t_8, %all_8 : tensor<32x1xi32>
  %line_5 = tile.expand_dims %half axis 0 : tensor<24xi32> -> tensor<1x24xi32>
  %t_11 = arith.muli %line_5, %c2_2 : tensor<1x24xi32>
  %wide_3 = tile.broadcast %t_10 : tensor<32x1xi32> -> tensor<32x24xi32>
  %wide_4 = tile.broadcast %t_11 : tensor<1x24xi32> -> tensor<32x24xi32>
  %at = arith.addi %wide_3, %wide_4 : tensor<32x24xi32>
  %all_9 = tile.splat %x : !tile.ptr<bf16> -> tensor<32x24x!tile.ptr<bf16>>
  %t_12 = tile.addptr %all_9, %at : tensor<32x24x!tile.ptr<bf16>>, tensor<32x24xi32>
  %t_13 = tile.load %t_12 mask %all_4 : tensor<32x24x!tile.ptr<bf16>>
  %x0 = tile.cast %t_13 : tensor<32x24xbf16> -> tensor<32x24xf32>
  %t_14 = arith.addi %at, %c1 : tensor<32x24xi32>
  %all_10 = tile.splat %x : !tile.ptr<bf16> -> tensor<32x24x!tile.ptr<bf16>>
  %t_15 = tile.addptr %all_10, %t_14 : tensor<32x24x!tile.ptr<bf16>>, tensor<32x24xi32>
  %t_16 = tile.load %t_15 mask %all_4 : tensor<32x24x!tile.ptr<bf16>>
  %x1 = tile.cast %t_16 : tensor<32x24xbf16> -> tensor<32x24xf32>
  %t_17 = arith.mulf %x0, %c : tensor<32x24xf32>
  %t_18 = arith.mulf %x1, %s : tensor<32x24xf32>
  %t_19 = arith.subf %t_17, %t_18 : tensor<32x24xf32>
  %t_20 = arith.mulf %x1, %c : tensor<32x24xf32>
  %t_21 = arith.mulf %x0, %s : tensor<32x24xf32>
  %t_22 = arith.addf %t_20, %t_21 : tensor<32x24xf32>
  %t_23 = tile.join %t_19, %t_22 : tensor<32x24xf32> -> tensor<32x24x2xf32>
  %y_2 = tile.reshape %t_23 : tensor<32x24x2xf32> -> tensor<32x48xf32>
  %t_24 = arith.muli %head, %c48 : i32
  %long = arith.extsi %t_24 : i32 to i64
  %t_25 = tile.addptr %y, %long : !tile.ptr<bf16>, i64
  %t_26 = arith.muli %heads, %c48 : i32
  %long_2 = arith.extsi %n : i32 to i64
  %long_3 = arith.extsi %t_26 : i32 to i64
  %long_4 = arith.extsi %row : i32 to i64
  %w = tile.make_block_ptr %t_25 shape[%long_2, %c48_2] strides[%long_3, %c1_2] offsets[%long_4, %c0] : !tile.ptr<bf16> -> !tile.block_ptr<32x48xbf16>
  %t_27 = tile.cast %y_2 : tensor<32x48xf32> -> tensor<32x48xbf16>
  tile.store %w, %t_27 : !tile.block_ptr<32x48xbf16>
  tile.return
}
