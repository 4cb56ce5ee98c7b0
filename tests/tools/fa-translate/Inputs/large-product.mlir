// Operands of half a megabyte in shared memory.
tile.kernel @d(%a: !tile.ptr<bf16>, %c: !tile.ptr<f32>) grid() -> (1) {
  %z = arith.constant 0 : i64
  %o = arith.constant 1 : i64
  %m = arith.constant 64 : i64
  %n = arith.constant 64 : i64
  %k = arith.constant 2048 : i64
  %pa = tile.make_block_ptr %a shape[%m, %k] strides[%k, %o] offsets[%z, %z] : !tile.ptr<bf16> -> !tile.block_ptr<64x2048xbf16>
  %pb = tile.make_block_ptr %a shape[%k, %n] strides[%n, %o] offsets[%z, %z] : !tile.ptr<bf16> -> !tile.block_ptr<2048x64xbf16>
  %pc = tile.make_block_ptr %c shape[%m, %n] strides[%n, %o] offsets[%z, %z] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %ta = tile.load %pa : !tile.block_ptr<64x2048xbf16>
  %tb = tile.load %pb : !tile.block_ptr<2048x64xbf16>
  %zero = tile.full 0.0 : f32 -> tensor<64x64xf32>
  %d = tile.dot %ta, %tb, %zero : tensor<64x2048xbf16>, tensor<2048x64xbf16>, tensor<64x64xf32>
  tile.store %pc, %d : !tile.block_ptr<64x64xf32>
  tile.return
}
