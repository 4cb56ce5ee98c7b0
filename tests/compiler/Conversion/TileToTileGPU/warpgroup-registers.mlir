// Products of warpgroups need registers for their sums: of 16 warps and those that
// produce, a consumer has 112, and one instruction of 256 columns takes 128.
//
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a num-warps=16}))' | FileCheck %s --check-prefix=NARROW
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a num-warps=8}))' | FileCheck %s --check-prefix=WIDE
// RUN: fa-translate --target=sm_90a --emit=ptx --num-warps=16 %s -o %t.ptx
// RUN: %if ptxas %{ %ptxas -arch=sm_90a %t.ptx -o %t.cubin %}
//
// NARROW-NOT: tilegpu.wgmma
// NARROW: tilegpu.mma
// WIDE: tilegpu.wgmma
tile.kernel @mm(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %m: i32, %n: i32, %k: i32, %sa: i64, %sb: i64, %sc: i64)
    grid(m, n, k, sa, sb, sc) -> (m ceildiv 256, n ceildiv 256) {
  %c256 = arith.constant 256 : i32
  %c64 = arith.constant 64 : i32
  %c0 = arith.constant 0 : i32
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %zero = arith.constant dense<0.0> : tensor<256x256xf32>
  %px = tile.program_id x
  %py = tile.program_id y
  %r = arith.muli %px, %c256 : i32
  %q = arith.muli %py, %c256 : i32
  %r64 = arith.extsi %r : i32 to i64
  %q64 = arith.extsi %q : i32 to i64
  %m64 = arith.extsi %m : i32 to i64
  %n64 = arith.extsi %n : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %wa = tile.make_block_ptr %a shape[%m64, %k64] strides[%sa, %one] offsets[%r64, %z] : !tile.ptr<bf16> -> !tile.block_ptr<256x64xbf16>
  %wb = tile.make_block_ptr %b shape[%k64, %n64] strides[%sb, %one] offsets[%z, %q64] : !tile.ptr<bf16> -> !tile.block_ptr<64x256xbf16>
  %s = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<256x256xf32>) : i32 {
    %i64 = arith.extsi %i : i32 to i64
    %aa = tile.advance %wa, [%z, %i64] : !tile.block_ptr<256x64xbf16>
    %ba = tile.advance %wb, [%i64, %z] : !tile.block_ptr<64x256xbf16>
    %at = tile.load %aa : !tile.block_ptr<256x64xbf16>
    %bt = tile.load %ba : !tile.block_ptr<64x256xbf16>
    %d = tile.dot %at, %bt, %acc : tensor<256x64xbf16>, tensor<64x256xbf16>, tensor<256x256xf32>
    scf.yield %d : tensor<256x256xf32>
  }
  %wc = tile.make_block_ptr %c shape[%m64, %n64] strides[%sc, %one] offsets[%r64, %q64] : !tile.ptr<f32> -> !tile.block_ptr<256x256xf32>
  tile.store %wc, %s : !tile.block_ptr<256x256xf32>
  tile.return
}
