// Two products with a reduction of 16-bit elements between them.
// compile: warps=8
// compile: warps=8 stages=3 persistent=dynamic
// compile: warps=4 persistent=static
// compile: warps=8 stages=1 persistent=off
// launch: q=bf16[8384] k=bf16[12864] v=bf16[12864] o=f32[8384]! m=130 n=200
// launch: q=bf16[8256] k=bf16[4160] v=bf16[4160] o=f32[8256]! m=128 n=64
// launch: q=bf16[4160] k=bf16[576] v=bf16[576] o=f32[4160]! m=64 n=8

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
    // What is left of the largest of a row, in the narrow type.
    %w = tile.cast %sc : tensor<128x64xf32> -> tensor<128x64xbf16>
    %top = tile.max %w axis 1 : tensor<128x64xbf16> -> tensor<128xbf16>
    %column = tile.expand_dims %top axis 1 : tensor<128xbf16> -> tensor<128x1xbf16>
    %tops = tile.broadcast %column : tensor<128x1xbf16> -> tensor<128x64xbf16>
    %less = arith.subf %w, %tops : tensor<128x64xbf16>
    %least = arith.constant dense<-64.0> : tensor<128x64xbf16>
    %p = arith.maximumf %less, %least : tensor<128x64xbf16>
    %d = tile.dot %p, %tv, %acc : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  %wo_ro = tile.make_block_ptr %o shape[%m64, %s] strides[%s, %one] offsets[%row64, %z] : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %wo_ro, %r : !tile.block_ptr<128x64xf32>
  tile.return
}
