// A warning of tiles that threads have not nearly the registers for.
//
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{num-warps=4}))' --split-input-file --verify-diagnostics -o /dev/null

tile.kernel @large(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %w = tile.make_block_ptr %x shape[%n, %n] strides[%n, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<512x512xf32>
  // expected-warning@+1 {{each of 128 threads holds 2048 registers of this tile, but can have 255 in all: it will be compiled slowly, and most of it lie in memory}}
  %t = tile.load %w : !tile.block_ptr<512x512xf32>
  tile.store %w, %t : !tile.block_ptr<512x512xf32>
  tile.return
}

// -----

// Two elements of 16 bits are one register.
tile.kernel @fits(%x: !tile.ptr<bf16>, %n: i64) grid(n) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %w = tile.make_block_ptr %x shape[%n, %n] strides[%n, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<256x512xbf16>
  %t = tile.load %w : !tile.block_ptr<256x512xbf16>
  tile.store %w, %t : !tile.block_ptr<256x512xbf16>
  tile.return
}
