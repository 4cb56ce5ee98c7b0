// A kernel whose tiles cannot be in the registers of its threads gets one
// warning, at the loop; with enough warps it gets none.
// RUN: fa-opt %s --tile-optimize --tile-to-nvvm="num-warps=1 functions=fast" -o %t 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not=warning:
// RUN: fa-opt %s --tile-optimize --tile-to-nvvm="num-warps=4 functions=fast" -o %t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ENOUGH --allow-empty
// RUN: fa-opt %s --tile-optimize \
// RUN:     --tile-to-nvvm="target=sm_90a num-warps=16 num-stages=1" -o %t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ENOUGH --allow-empty

// CHECK: too-few-warps.mlir:[[#@LINE+16]]:10: warning: the tiles of this loop take at least 512 registers of each thread, which has 255: what does not fit is kept in slow local memory; use more than 1 warp or smaller tiles
// ENOUGH-NOT: warning:
tile.kernel @product(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %k: i64)
    grid(k) -> (1) {
  %c0 = arith.constant 0 : i32
  %c0_64 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c128 = arith.constant 128 : i64
  %c32 = arith.constant 32 : i64
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %as = tile.make_block_ptr %a shape[%c128, %k] strides[%k, %c1]
      offsets[%c0_64, %c0_64] : !tile.ptr<bf16> -> !tile.block_ptr<128x32xbf16>
  %bs = tile.make_block_ptr %b shape[%k, %c128] strides[%c128, %c1]
      offsets[%c0_64, %c0_64] : !tile.ptr<bf16> -> !tile.block_ptr<32x128xbf16>
  %cs = tile.make_block_ptr %c shape[%c128, %c128] strides[%c128, %c1]
      offsets[%c0_64, %c0_64] : !tile.ptr<f32> -> !tile.block_ptr<128x128xf32>
  %sum = scf.for %i = %c0_64 to %k step %c32 iter_args(%acc = %zero)
      -> tensor<128x128xf32> : i64 {
    %ap = tile.advance %as, [%c0_64, %i] : !tile.block_ptr<128x32xbf16>
    %bp = tile.advance %bs, [%i, %c0_64] : !tile.block_ptr<32x128xbf16>
    %at = tile.load %ap : !tile.block_ptr<128x32xbf16>
    %bt = tile.load %bp : !tile.block_ptr<32x128xbf16>
    %next = tile.dot %at, %bt, %acc
        : tensor<128x32xbf16>, tensor<32x128xbf16>, tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }
  tile.store %cs, %sum : !tile.block_ptr<128x128xf32>
  tile.return
}
