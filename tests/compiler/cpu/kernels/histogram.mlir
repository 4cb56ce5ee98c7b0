// Many elements add to the same places.
// compile:
// compile: warps=1 stages=1
// compile: warps=8 stages=3
// launch: x=i32[1000] counts=i32[64]! sums=f32[64]! n=1000

tile.kernel @k(%x: !tile.ptr<i32>, %counts: !tile.ptr<i32>, %sums: !tile.ptr<f32>, %n: i32) grid(n) -> (n ceildiv 256) {
  %c256 = arith.constant 256 : i32
  %cm1 = arith.constant dense<-1> : tensor<256xi32>
  %c3 = arith.constant dense<3> : tensor<256xi32>
  %c5 = arith.constant dense<5> : tensor<256xi32>
  %c1 = arith.constant dense<1> : tensor<256xi32>
  %i = tile.arange 0 to 256 : tensor<256xi32>
  %t = tile.program_id x
  %t_2 = arith.muli %t, %c256 : i32
  %all = tile.splat %t_2 : i32 -> tensor<256xi32>
  %place = arith.addi %i, %all : tensor<256xi32>
  %all_2 = tile.splat %n : i32 -> tensor<256xi32>
  %inside = arith.cmpi slt, %place, %all_2 : tensor<256xi32>
  %all_3 = tile.splat %x : !tile.ptr<i32> -> tensor<256x!tile.ptr<i32>>
  %t_3 = tile.addptr %all_3, %place : tensor<256x!tile.ptr<i32>>, tensor<256xi32>
  %x_2 = tile.load %t_3 mask %inside other %cm1 : tensor<256x!tile.ptr<i32>>
  %t_4 = arith.muli %x_2, %x_2 : tensor<256xi32>
  %t_5 = arith.addi %t_4, %x_2 : tensor<256xi32>
  %t_6 = arith.remsi %place, %c3 : tensor<256xi32>
  %t_7 = arith.addi %t_5, %t_6 : tensor<256xi32>
  %bin = arith.muli %t_7, %c5 : tensor<256xi32>
  %t_8 = arith.cmpi sge, %x_2, %cm1 : tensor<256xi32>
  %seen = arith.andi %inside, %t_8 : tensor<256xi1>
  %all_4 = tile.splat %counts : !tile.ptr<i32> -> tensor<256x!tile.ptr<i32>>
  %t_9 = tile.addptr %all_4, %bin : tensor<256x!tile.ptr<i32>>, tensor<256xi32>
  %old = tile.atomic_add %t_9, %c1 mask %seen : tensor<256x!tile.ptr<i32>>
  %t_10 = arith.addi %bin, %c1 : tensor<256xi32>
  %all_5 = tile.splat %sums : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %t_11 = tile.addptr %all_5, %t_10 : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %t_12 = arith.sitofp %x_2 : tensor<256xi32> to tensor<256xf32>
  %pair = tile.atomic_add %t_11, %t_12 mask %seen : tensor<256x!tile.ptr<f32>>
  tile.return
}
