// A branch changes columns that have an element of a given number. Columns lie
// across warps, of which only some have that element.
// compile: warps=4
// compile: warps=8
// compile: warps=1
// launch: x=f32[1024] o=f32[1024]! place=13 k=-2:f32
// launch: x=f32[1024] o=f32[1024]! place=0 k=0:f32
// launch: x=f32[1024] o=f32[1024]! place=40 k=1:f32
// launch: x=f32[1024] o=f32[1024]! place=63 k=2:f32
// launch: x=f32[1024] o=f32[1024]! place=63 k=9:f32

tile.kernel @k(%x: !tile.ptr<f32>, %o: !tile.ptr<f32>, %place: i32, %k: f32) grid(place) -> (1) {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 64 : i64
  %columns = arith.constant 16 : i64
  %two = arith.constant dense<2.0> : tensor<64x16xf32>
  %wx = tile.make_block_ptr %x shape[%rows, %columns] strides[%columns, %one] offsets[%z, %z] : !tile.ptr<f32> -> !tile.block_ptr<64x16xf32>
  %v = tile.load %wx : !tile.block_ptr<64x16xf32>
  %row = tile.arange 0 to 64 : tensor<64xi32>
  %places = tile.splat %place : i32 -> tensor<64xi32>
  %here = arith.cmpi eq, %row, %places : tensor<64xi32>
  %here1 = tile.expand_dims %here axis 1 : tensor<64xi1> -> tensor<64x1xi1>
  %here2 = tile.broadcast %here1 : tensor<64x1xi1> -> tensor<64x16xi1>
  %number = tile.splat %k : f32 -> tensor<64x16xf32>
  %equal = arith.cmpf oeq, %v, %number : tensor<64x16xf32>
  %found = arith.andi %equal, %here2 : tensor<64x16xi1>
  %column = tile.max %found axis 0 : tensor<64x16xi1> -> tensor<16xi1>
  %line = tile.max %found axis 1 : tensor<64x16xi1> -> tensor<64xi1>
  %some = tile.max %line axis 0 : tensor<64xi1> -> i1
  %r = scf.if %some -> (tensor<64x16xf32>) {
    %lines = tile.expand_dims %column axis 0 : tensor<16xi1> -> tensor<1x16xi1>
    %wide = tile.broadcast %lines : tensor<1x16xi1> -> tensor<64x16xi1>
    %sum = arith.addf %v, %two : tensor<64x16xf32>
    %new = arith.select %wide, %sum, %v : tensor<64x16xi1>, tensor<64x16xf32>
    scf.yield %new : tensor<64x16xf32>
  } else {
    scf.yield %v : tensor<64x16xf32>
  }
  %wo = tile.make_block_ptr %o shape[%rows, %columns] strides[%columns, %one] offsets[%z, %z] : !tile.ptr<f32> -> !tile.block_ptr<64x16xf32>
  tile.store %wo, %r : !tile.block_ptr<64x16xf32>
  tile.return
}
