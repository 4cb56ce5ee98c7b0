// z = x + y for n elements.
tile.kernel @vector_add(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>,
                        %z: !tile.ptr<f32>, %n: i32)
    grid(n) -> (n ceildiv 64) {
  %block = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  %pid = tile.program_id x
  %start = arith.muli %pid, %block : i32
  %from = arith.extsi %start : i32 to i64
  %size = arith.extsi %n : i32 to i64
  %xw = tile.make_block_ptr %x shape[%size] strides[%one] offsets[%from]
      : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  %yw = tile.make_block_ptr %y shape[%size] strides[%one] offsets[%from]
      : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  %zw = tile.make_block_ptr %z shape[%size] strides[%one] offsets[%from]
      : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  %a = tile.load %xw : !tile.block_ptr<64xf32>
  %b = tile.load %yw : !tile.block_ptr<64xf32>
  %c = arith.addf %a, %b : tensor<64xf32>
  tile.store %zw, %c : !tile.block_ptr<64xf32>
  tile.return
}
