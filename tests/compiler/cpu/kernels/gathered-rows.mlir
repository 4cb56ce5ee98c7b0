// Rows are gathered by their numbers, and scaled; one group has nothing to do.
// compile:
// compile: warps=1 stages=1
// compile: warps=8 stages=3
// launch: x=bf16[20480]+160 w=bf16[17280] ids=i32[192] gate=f32[200]+2 o=f32[13824]! n=72 depth=80 groups=3

tile.kernel @k(%x: !tile.ptr<bf16>, %w: !tile.ptr<bf16>, %ids: !tile.ptr<i32>, %gate: !tile.ptr<f32>, %o: !tile.ptr<f32>, %n: i32, %depth: i32, %groups: i32) grid(n, depth, groups) -> (groups, n ceildiv 64) {
  %c64 = arith.constant 64 : i32
  %cm2 = arith.constant dense<-2> : tensor<64xi32>
  %c1 = arith.constant 1 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c1_2 = arith.constant 1 : i64
  %group = tile.program_id x
  %t = tile.program_id y
  %col = arith.muli %t, %c64 : i32
  %i = tile.arange 0 to 64 : tensor<64xi32>
  %t_2 = arith.muli %group, %c64 : i32
  %all = tile.splat %t_2 : i32 -> tensor<64xi32>
  %place = arith.addi %i, %all : tensor<64xi32>
  %all_2 = tile.splat %ids : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  %t_3 = tile.addptr %all_2, %place : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %id = tile.load %t_3 : tensor<64x!tile.ptr<i32>>
  %seen = arith.cmpi sgt, %id, %cm2 : tensor<64xi32>
  %rows = arith.addi %place, %id : tensor<64xi32>
  %t_4 = arith.cmpi ne, %group, %c1 : i32
  scf.if %t_4 {
    %acc = scf.for %j = %c0 to %depth step %c32 iter_args(%acc_2 = %zeros) -> (tensor<64x64xf32>) : i32 {
      %i_2 = tile.arange 0 to 32 : tensor<32xi32>
      %all_3 = tile.splat %j : i32 -> tensor<32xi32>
      %deep = arith.addi %i_2, %all_3 : tensor<32xi32>
      %line = tile.expand_dims %rows axis 1 : tensor<64xi32> -> tensor<64x1xi32>
      %all_4 = tile.splat %depth : i32 -> tensor<64x1xi32>
      %t_5 = arith.muli %line, %all_4 : tensor<64x1xi32>
      %line_2 = tile.expand_dims %deep axis 0 : tensor<32xi32> -> tensor<1x32xi32>
      %wide = tile.broadcast %t_5 : tensor<64x1xi32> -> tensor<64x32xi32>
      %wide_2 = tile.broadcast %line_2 : tensor<1x32xi32> -> tensor<64x32xi32>
      %off = arith.addi %wide, %wide_2 : tensor<64x32xi32>
      %line_3 = tile.expand_dims %seen axis 1 : tensor<64xi1> -> tensor<64x1xi1>
      %wide_3 = tile.broadcast %line_3 : tensor<64x1xi1> -> tensor<64x32xi1>
      %all_5 = tile.splat %depth : i32 -> tensor<32xi32>
      %t_6 = arith.cmpi slt, %deep, %all_5 : tensor<32xi32>
      %line_4 = tile.expand_dims %t_6 axis 0 : tensor<32xi1> -> tensor<1x32xi1>
      %wide_4 = tile.broadcast %line_4 : tensor<1x32xi1> -> tensor<64x32xi1>
      %inside = arith.andi %wide_3, %wide_4 : tensor<64x32xi1>
      %all_6 = tile.splat %x : !tile.ptr<bf16> -> tensor<64x32x!tile.ptr<bf16>>
      %t_7 = tile.addptr %all_6, %off : tensor<64x32x!tile.ptr<bf16>>, tensor<64x32xi32>
      %a = tile.load %t_7 mask %inside : tensor<64x32x!tile.ptr<bf16>>
      %long = arith.extsi %group : i32 to i64
      %t_8 = arith.muli %n, %depth : i32
      %long_2 = arith.extsi %t_8 : i32 to i64
      %t_9 = arith.muli %long, %long_2 : i64
      %t_10 = tile.addptr %w, %t_9 : !tile.ptr<bf16>, i64
      %long_3 = arith.extsi %depth : i32 to i64
      %long_4 = arith.extsi %n : i32 to i64
      %long_5 = arith.extsi %n : i32 to i64
      %long_6 = arith.extsi %j : i32 to i64
      %long_7 = arith.extsi %col : i32 to i64
      %w_2 = tile.make_block_ptr %t_10 shape[%long_3, %long_4] strides[%long_5, %c1_2] offsets[%long_6, %long_7] : !tile.ptr<bf16> -> !tile.block_ptr<32x64xbf16>
      %b = tile.load %w_2 : !tile.block_ptr<32x64xbf16>
      %t_11 = tile.dot %a, %b, %acc_2 : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
      scf.yield %t_11 : tensor<64x64xf32>
    }
    %all_7 = tile.splat %gate : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
    %t_12 = tile.addptr %all_7, %rows : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %gate_2 = tile.load %t_12 mask %seen : tensor<64x!tile.ptr<f32>>
    %i_3 = tile.arange 0 to 64 : tensor<64xi32>
    %all_8 = tile.splat %col : i32 -> tensor<64xi32>
    %cols = arith.addi %i_3, %all_8 : tensor<64xi32>
    %line_5 = tile.expand_dims %place axis 1 : tensor<64xi32> -> tensor<64x1xi32>
    %all_9 = tile.splat %n : i32 -> tensor<64x1xi32>
    %t_13 = arith.muli %line_5, %all_9 : tensor<64x1xi32>
    %line_6 = tile.expand_dims %cols axis 0 : tensor<64xi32> -> tensor<1x64xi32>
    %wide_5 = tile.broadcast %t_13 : tensor<64x1xi32> -> tensor<64x64xi32>
    %wide_6 = tile.broadcast %line_6 : tensor<1x64xi32> -> tensor<64x64xi32>
    %to = arith.addi %wide_5, %wide_6 : tensor<64x64xi32>
    %all_10 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
    %t_14 = tile.addptr %all_10, %to : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
    %line_7 = tile.expand_dims %gate_2 axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %wide_7 = tile.broadcast %line_7 : tensor<64x1xf32> -> tensor<64x64xf32>
    %t_15 = arith.mulf %acc, %wide_7 : tensor<64x64xf32>
    %line_8 = tile.expand_dims %seen axis 1 : tensor<64xi1> -> tensor<64x1xi1>
    %wide_8 = tile.broadcast %line_8 : tensor<64x1xi1> -> tensor<64x64xi1>
    %all_11 = tile.splat %n : i32 -> tensor<64xi32>
    %t_16 = arith.cmpi slt, %cols, %all_11 : tensor<64xi32>
    %line_9 = tile.expand_dims %t_16 axis 0 : tensor<64xi1> -> tensor<1x64xi1>
    %wide_9 = tile.broadcast %line_9 : tensor<1x64xi1> -> tensor<64x64xi1>
    %t_17 = arith.andi %wide_8, %wide_9 : tensor<64x64xi1>
    tile.store %t_14, %t_15 mask %t_17 : tensor<64x64x!tile.ptr<f32>>
  }
  tile.return
}
