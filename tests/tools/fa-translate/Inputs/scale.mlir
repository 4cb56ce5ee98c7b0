tile.kernel @scale(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32, %s: f32)
    grid(n) -> (n ceildiv 256) {
  %block = arith.constant 256 : i32
  %one = arith.constant 1 : i64
  %pid = tile.program_id x
  %start = arith.muli %pid, %block : i32
  %from = arith.extsi %start : i32 to i64
  %size = arith.extsi %n : i32 to i64
  %xw = tile.make_block_ptr %x shape[%size] strides[%one] offsets[%from]
      : !tile.ptr<f32> -> !tile.block_ptr<256xf32>
  %yw = tile.make_block_ptr %y shape[%size] strides[%one] offsets[%from]
      : !tile.ptr<f32> -> !tile.block_ptr<256xf32>
  %a = tile.load %xw : !tile.block_ptr<256xf32>
  %f = tile.splat %s : f32 -> tensor<256xf32>
  %b = arith.mulf %a, %f : tensor<256xf32>
  tile.store %yw, %b : !tile.block_ptr<256xf32>
  tile.return
}
