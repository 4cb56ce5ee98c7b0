// The left operand is one tile of 256 columns, the right one 16 rows at a time.
// compile: warps=8
// compile: warps=4
// launch: q=bf16[33536] k=bf16[12544] v=bf16[64] o=f32[6304]! m=130 n=48
// launch: q=bf16[33024] k=bf16[4352] v=bf16[64] o=f32[2112]! m=128 n=16
// launch: q=bf16[16640] k=bf16[10496] v=bf16[64] o=f32[2624]! m=64 n=40

tile.kernel @k(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %m: i32, %n: i32) grid(m, n) -> (m ceildiv 128) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %s = arith.constant 64 : i64
  %cM = arith.constant 128 : i32
  %zeros = arith.constant dense<0.0> : tensor<128x64xf32>
  %pid = tile.program_id x
  %row = arith.muli %pid, %cM : i32
  %row64 = arith.extsi %row : i32 to i64
  %m64 = arith.extsi %m : i32 to i64
  %n64 = arith.extsi %n : i32 to i64
  %d256 = arith.constant 256 : i64
  %c16 = arith.constant 16 : i32
  %zz = arith.constant dense<0.0> : tensor<128x16xf32>
  %wq = tile.make_block_ptr %q shape[%m64, %d256] strides[%d256, %one] offsets[%row64, %z] : !tile.ptr<bf16> -> !tile.block_ptr<128x256xbf16>
  %tq = tile.load %wq : !tile.block_ptr<128x256xbf16>
  scf.for %j = %c0 to %n step %c16 : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %wk = tile.make_block_ptr %k shape[%n64, %d256] strides[%d256, %one] offsets[%j64, %z] : !tile.ptr<bf16> -> !tile.block_ptr<16x256xbf16>
    %tk = tile.load %wk : !tile.block_ptr<16x256xbf16>
    %kt = tile.trans %tk order [1, 0] : tensor<16x256xbf16> -> tensor<256x16xbf16>
    %d = tile.dot %tq, %kt, %zz : tensor<128x256xbf16>, tensor<256x16xbf16>, tensor<128x16xf32>
    %wo = tile.make_block_ptr %o shape[%m64, %n64] strides[%n64, %one] offsets[%row64, %j64] : !tile.ptr<f32> -> !tile.block_ptr<128x16xf32>
    tile.store %wo, %d : !tile.block_ptr<128x16xf32>
  }
  tile.return
}
