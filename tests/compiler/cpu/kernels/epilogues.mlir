// A result goes to two tensors, once of 16 bits, and its sums by rows to a third.
// compile: warps=8
// compile: warps=8 stages=3 persistent=dynamic
// compile: warps=4 persistent=static
// compile: warps=8 stages=1 persistent=off
// compile: warps=3
// compile: warps=5 stages=3
// compile: warps=6
// compile: warps=7 stages=1
// launch: q=bf16[8384] k=bf16[12864] v=bf16[12864] o=f32[8384]! o2=bf16[8384]! m=130 n=200 y=f32[194]!
// launch: q=bf16[8256] k=bf16[4160] v=bf16[4160] o=f32[8256]! o2=bf16[8256]! m=128 n=64 y=f32[192]!
// launch: q=bf16[19264] k=bf16[8256] v=bf16[8256] o=f32[19264]! o2=bf16[19264]! m=300 n=128 y=f32[364]!

tile.kernel @k(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %o2: !tile.ptr<bf16>, %m: i32, %n: i32, %y: !tile.ptr<f32>) grid(m, n) -> (m ceildiv 128) {
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
    %d = tile.dot %tq, %tk, %acc : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  %wo_ro = tile.make_block_ptr %o shape[%m64, %s] strides[%s, %one] offsets[%row64, %z] : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %wo_ro, %r : !tile.block_ptr<128x64xf32>
  %rb = tile.cast %r : tensor<128x64xf32> -> tensor<128x64xbf16>
  %wo_rbo2 = tile.make_block_ptr %o2 shape[%m64, %s] strides[%s, %one] offsets[%row64, %z] : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
  tile.store %wo_rbo2, %rb : !tile.block_ptr<128x64xbf16>
  %rs = tile.sum %r axis 1 : tensor<128x64xf32> -> tensor<128xf32>
  %wy = tile.make_block_ptr %y shape[%m64] strides[%one] offsets[%row64] : !tile.ptr<f32> -> !tile.block_ptr<128xf32>
  tile.store %wy, %rs : !tile.block_ptr<128xf32>
  tile.return
}
