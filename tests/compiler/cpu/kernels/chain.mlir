// Two products with work between them, without rescaling.
// compile: warps=8
// compile: warps=8 stages=3 persistent=dynamic
// compile: warps=4 persistent=static
// compile: warps=8 stages=1 persistent=off
// compile: warps=3
// compile: warps=5 stages=3
// compile: warps=6
// compile: warps=7 stages=1
// launch: q=bf16[8384] k=bf16[12864] v=bf16[12864] o=f32[8384]! m=130 n=200
// launch: q=bf16[8256] k=bf16[4160] v=bf16[4160] o=f32[8256]! m=128 n=64
// launch: q=bf16[19264] k=bf16[8256] v=bf16[8256] o=f32[19264]! m=300 n=128
// launch: q=bf16[4160] k=bf16[576] v=bf16[576] o=f32[4160]! m=64 n=8
// launch: q=bf16[128] k=bf16[21184] v=bf16[21184] o=f32[128]! m=1 n=330

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
  %wqq = tile.make_block_ptr %q shape[%m64, %s] strides[%s, %one] offsets[%row64, %z] : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
  %tq = tile.load %wqq : !tile.block_ptr<128x64xbf16>
  %r = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %zeros) -> (tensor<128x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %wk = tile.make_block_ptr %k shape[%n64, %s] strides[%s, %one] offsets[%j64, %z] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %tk = tile.load %wk : !tile.block_ptr<64x64xbf16>
    %wv = tile.make_block_ptr %v shape[%n64, %s] strides[%s, %one] offsets[%j64, %z] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %tv = tile.load %wv : !tile.block_ptr<64x64xbf16>
    %kt = tile.trans %tk order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %sc = tile.dot %tq, %kt, %zeros : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %lim = arith.constant dense<100.0> : tensor<128x64xf32>
    %low = arith.minimumf %sc, %lim : tensor<128x64xf32>
    %p = tile.cast %low : tensor<128x64xf32> -> tensor<128x64xbf16>
    %d = tile.dot %p, %tv, %acc : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  %wo_ro = tile.make_block_ptr %o shape[%m64, %s] strides[%s, %one] offsets[%row64, %z] : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %wo_ro, %r : !tile.block_ptr<128x64xf32>
  tile.return
}
