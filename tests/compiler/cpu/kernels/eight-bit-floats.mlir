// Products of 8-bit floats, and chained ones.
// compile: warps=8
// compile: warps=8 stages=3 persistent=dynamic
// compile: warps=4 persistent=static
// compile: warps=8 stages=1 persistent=off
// launch: q=f8E4M3FN[8384] k=f8E4M3FN[12864] v=f8E4M3FN[12864] o=f32[8384]! m=130 n=200
// launch: q=f8E4M3FN[8256] k=f8E4M3FN[4160] v=f8E4M3FN[4160] o=f32[8256]! m=128 n=64
// launch: q=f8E4M3FN[19264] k=f8E4M3FN[8384] v=f8E4M3FN[8384] o=f32[19264]! m=300 n=130

tile.kernel @k(%q: !tile.ptr<f8E4M3FN>, %k: !tile.ptr<f8E4M3FN>, %v: !tile.ptr<f8E4M3FN>, %o: !tile.ptr<f32>, %m: i32, %n: i32) grid(m, n) -> (m ceildiv 128) {
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
  %wqq = tile.make_block_ptr %q shape[%m64, %s] strides[%s, %one] offsets[%row64, %z] : !tile.ptr<f8E4M3FN> -> !tile.block_ptr<128x64xf8E4M3FN>
  %tq = tile.load %wqq : !tile.block_ptr<128x64xf8E4M3FN>
  %lim = arith.constant dense<2.0> : tensor<128x64xf32>
  %r = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %zeros) -> (tensor<128x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %wk = tile.make_block_ptr %k shape[%n64, %s] strides[%s, %one] offsets[%j64, %z] : !tile.ptr<f8E4M3FN> -> !tile.block_ptr<64x64xf8E4M3FN>
    %tk = tile.load %wk : !tile.block_ptr<64x64xf8E4M3FN>
    %wv = tile.make_block_ptr %v shape[%n64, %s] strides[%s, %one] offsets[%j64, %z] : !tile.ptr<f8E4M3FN> -> !tile.block_ptr<64x64xf8E4M3FN>
    %tv = tile.load %wv : !tile.block_ptr<64x64xf8E4M3FN>
    %kt = tile.trans %tk order [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %sc = tile.dot %tq, %kt, %zeros : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>
    %lo = arith.minimumf %sc, %lim : tensor<128x64xf32>
    %nlim = arith.constant dense<-2.0> : tensor<128x64xf32>
    %low = arith.maximumf %lo, %nlim : tensor<128x64xf32>
    %p = tile.cast %low : tensor<128x64xf32> -> tensor<128x64xf8E4M3FN>
    %d = tile.dot %p, %tv, %acc : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  %wo_ro = tile.make_block_ptr %o shape[%m64, %s] strides[%s, %one] offsets[%row64, %z] : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %wo_ro, %r : !tile.block_ptr<128x64xf32>
  tile.return
}
