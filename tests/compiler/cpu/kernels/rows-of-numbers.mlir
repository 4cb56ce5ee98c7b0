// A row of numbers that the loop loads is added to every product.
// compile: 
// compile: warps=4 stages=3
// compile: warps=4 stages=1 persistent=off
// compile: persistent=static
// compile: persistent=dynamic stages=3
// compile: persistent=off stages=4
// launch: a=bf16[26064] b=bf16[12864] o=f32[8384]! m=130 n=200 x=f32[264]
// launch: a=bf16[4160] b=bf16[4160] o=f32[4160]! m=64 n=64 x=f32[128]
// launch: a=bf16[9024] b=bf16[8256] o=f32[4544]! m=70 n=128 x=f32[192]

tile.kernel @k(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %m: i32, %n: i32, %x: !tile.ptr<f32>) grid(m, n) -> (m ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %s = arith.constant 64 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %pid = tile.program_id x
  %row = arith.muli %pid, %c64 : i32
  %row64 = arith.extsi %row : i32 to i64
  %m64 = arith.extsi %m : i32 to i64
  %n64 = arith.extsi %n : i32 to i64
  %r = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %zeros) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %wa = tile.make_block_ptr %a shape[%m64, %n64] strides[%n64, %one] offsets[%row64, %j64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %ta = tile.load %wa : !tile.block_ptr<64x64xbf16>
    %wb = tile.make_block_ptr %b shape[%n64, %s] strides[%s, %one] offsets[%j64, %z] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %tb = tile.load %wb : !tile.block_ptr<64x64xbf16>
    %wx = tile.make_block_ptr %x shape[%n64] strides[%one] offsets[%j64] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
    %tx = tile.load %wx : !tile.block_ptr<64xf32>
    %d = tile.dot %ta, %tb, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %xr = tile.expand_dims %tx axis 0 : tensor<64xf32> -> tensor<1x64xf32>
    %xt = tile.broadcast %xr : tensor<1x64xf32> -> tensor<64x64xf32>
    %e = arith.addf %d, %xt : tensor<64x64xf32>
    scf.yield %e : tensor<64x64xf32>
  }
  %wo_r = tile.make_block_ptr %o shape[%m64, %s] strides[%s, %one] offsets[%row64, %z] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %wo_r, %r : !tile.block_ptr<64x64xf32>
  tile.return
}
