// y = a * x in place for n elements of bf16, and a kernel without arguments.
tile.kernel @scale(%x: !tile.ptr<bf16>, %n: i64, %a: f32)
    grid(n) -> (n ceildiv 16) {
  %block = arith.constant 16 : i32
  %one = arith.constant 1 : i64
  %pid = tile.program_id x
  %start = arith.muli %pid, %block : i32
  %from = arith.extsi %start : i32 to i64
  %w = tile.make_block_ptr %x shape[%n] strides[%one] offsets[%from]
      : !tile.ptr<bf16> -> !tile.block_ptr<16xbf16>
  %v = tile.load %w : !tile.block_ptr<16xbf16>
  %f = tile.cast %v : tensor<16xbf16> -> tensor<16xf32>
  %s = tile.splat %a : f32 -> tensor<16xf32>
  %p = arith.mulf %f, %s : tensor<16xf32>
  %r = tile.cast %p : tensor<16xf32> -> tensor<16xbf16>
  tile.store %w, %r : !tile.block_ptr<16xbf16>
  tile.return
}

tile.kernel @nothing() grid() -> (1) {
  tile.return
}
