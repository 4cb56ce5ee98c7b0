// Elements are stored at their ranks.
// compile:
// compile: warps=1 stages=1
// compile: warps=8 stages=3
// launch: x=f32[77] y=f32[77]! order=i32[77]! n=77

tile.kernel @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %order: !tile.ptr<i32>, %n: i32) grid(n) -> (1) {
  %f = arith.constant dense<1.000000000e+03> : tensor<96xf32>
  %i = tile.arange 0 to 96 : tensor<96xi32>
  %all = tile.splat %n : i32 -> tensor<96xi32>
  %inside = arith.cmpi slt, %i, %all : tensor<96xi32>
  %all_2 = tile.splat %x : !tile.ptr<f32> -> tensor<96x!tile.ptr<f32>>
  %t = tile.addptr %all_2, %i : tensor<96x!tile.ptr<f32>>, tensor<96xi32>
  %x_2 = tile.load %t mask %inside : tensor<96x!tile.ptr<f32>>
  %key = arith.select %inside, %x_2, %f : tensor<96xi1>, tensor<96xf32>
  %mine = tile.expand_dims %key axis 1 : tensor<96xf32> -> tensor<96x1xf32>
  %other = tile.expand_dims %key axis 0 : tensor<96xf32> -> tensor<1x96xf32>
  %wide = tile.broadcast %other : tensor<1x96xf32> -> tensor<96x96xf32>
  %wide_2 = tile.broadcast %mine : tensor<96x1xf32> -> tensor<96x96xf32>
  %t_2 = arith.cmpf olt, %wide, %wide_2 : tensor<96x96xf32>
  %wide_3 = tile.broadcast %other : tensor<1x96xf32> -> tensor<96x96xf32>
  %wide_4 = tile.broadcast %mine : tensor<96x1xf32> -> tensor<96x96xf32>
  %t_3 = arith.cmpf oeq, %wide_3, %wide_4 : tensor<96x96xf32>
  %line = tile.expand_dims %i axis 0 : tensor<96xi32> -> tensor<1x96xi32>
  %line_2 = tile.expand_dims %i axis 1 : tensor<96xi32> -> tensor<96x1xi32>
  %wide_5 = tile.broadcast %line : tensor<1x96xi32> -> tensor<96x96xi32>
  %wide_6 = tile.broadcast %line_2 : tensor<96x1xi32> -> tensor<96x96xi32>
  %t_4 = arith.cmpi slt, %wide_5, %wide_6 : tensor<96x96xi32>
  %t_5 = arith.andi %t_3, %t_4 : tensor<96x96xi1>
  %less = arith.ori %t_2, %t_5 : tensor<96x96xi1>
  %t_6 = arith.extui %less : tensor<96x96xi1> to tensor<96x96xi32>
  %rank = tile.sum %t_6 axis 1 : tensor<96x96xi32> -> tensor<96xi32>
  %all_3 = tile.splat %y : !tile.ptr<f32> -> tensor<96x!tile.ptr<f32>>
  %t_7 = tile.addptr %all_3, %rank : tensor<96x!tile.ptr<f32>>, tensor<96xi32>
  tile.store %t_7, %x_2 mask %inside : tensor<96x!tile.ptr<f32>>
  %all_4 = tile.splat %order : !tile.ptr<i32> -> tensor<96x!tile.ptr<i32>>
  %t_8 = tile.addptr %all_4, %rank : tensor<96x!tile.ptr<i32>>, tensor<96xi32>
  tile.store %t_8, %i mask %inside : tensor<96x!tile.ptr<i32>>
  tile.return
}
