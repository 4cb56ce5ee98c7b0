// A branch changes lines that have an element of a given number. Lines lie
// across warps, of which only one has that element.
// compile: warps=4
// compile: warps=8
// compile: warps=2
// launch: x=f32[4096] o=f32[4096]! place=1300 k=-2:f32
// launch: x=f32[4096] o=f32[4096]! place=7 k=-1:f32
// launch: x=f32[4096] o=f32[4096]! place=2047 k=0:f32
// launch: x=f32[4096] o=f32[4096]! place=2047 k=1:f32
// launch: x=f32[4096] o=f32[4096]! place=600 k=2:f32
// launch: x=f32[4096] o=f32[4096]! place=600 k=9:f32

tile.kernel @k(%x: !tile.ptr<f32>, %o: !tile.ptr<f32>, %place: i32, %k: f32) grid(place) -> (1) {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 2 : i64
  %columns = arith.constant 2048 : i64
  %two = arith.constant dense<2.0> : tensor<2x2048xf32>
  %wx = tile.make_block_ptr %x shape[%rows, %columns] strides[%columns, %one] offsets[%z, %z] : !tile.ptr<f32> -> !tile.block_ptr<2x2048xf32>
  %v = tile.load %wx : !tile.block_ptr<2x2048xf32>
  %column = tile.arange 0 to 2048 : tensor<2048xi32>
  %places = tile.splat %place : i32 -> tensor<2048xi32>
  %here = arith.cmpi eq, %column, %places : tensor<2048xi32>
  %here1 = tile.expand_dims %here axis 0 : tensor<2048xi1> -> tensor<1x2048xi1>
  %here2 = tile.broadcast %here1 : tensor<1x2048xi1> -> tensor<2x2048xi1>
  %number = tile.splat %k : f32 -> tensor<2x2048xf32>
  %equal = arith.cmpf oeq, %v, %number : tensor<2x2048xf32>
  %found = arith.andi %equal, %here2 : tensor<2x2048xi1>
  %line = tile.max %found axis 1 : tensor<2x2048xi1> -> tensor<2xi1>
  %some = tile.max %line axis 0 : tensor<2xi1> -> i1
  %r = scf.if %some -> (tensor<2x2048xf32>) {
    %lines = tile.expand_dims %line axis 1 : tensor<2xi1> -> tensor<2x1xi1>
    %wide = tile.broadcast %lines : tensor<2x1xi1> -> tensor<2x2048xi1>
    %sum = arith.addf %v, %two : tensor<2x2048xf32>
    %new = arith.select %wide, %sum, %v : tensor<2x2048xi1>, tensor<2x2048xf32>
    scf.yield %new : tensor<2x2048xf32>
  } else {
    scf.yield %v : tensor<2x2048xf32>
  }
  %wo = tile.make_block_ptr %o shape[%rows, %columns] strides[%columns, %one] offsets[%z, %z] : !tile.ptr<f32> -> !tile.block_ptr<2x2048xf32>
  tile.store %wo, %r : !tile.block_ptr<2x2048xf32>
  tile.return
}
