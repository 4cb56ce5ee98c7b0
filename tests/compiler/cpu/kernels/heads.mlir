// Five terms of places: batch, head, group, rows and columns.
// compile: warps=8
// compile: warps=8 stages=3 persistent=dynamic
// compile: warps=4 persistent=static
// compile: warps=8 stages=1 persistent=off
// launch: q=bf16[33344] k=bf16[18496] v=bf16[64] o=bf16[33344]! m=130 n=72 h=2 b=2
// launch: q=bf16[12352] k=bf16[12352] v=bf16[64] o=bf16[12352]! m=64 n=64 h=3 b=1
// launch: q=bf16[16448] k=bf16[16704] v=bf16[64] o=bf16[16448]! m=128 n=130 h=1 b=2

tile.kernel @k(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<bf16>, %m: i32, %n: i32, %h: i32, %b: i32) grid(m, n, h, b) -> (m ceildiv 128, h, b) {
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
  %hy = tile.program_id y
  %bz = tile.program_id z
  %h64 = arith.extsi %h : i32 to i64
  %hy64 = arith.extsi %hy : i32 to i64
  %bz64 = arith.extsi %bz : i32 to i64
  %sm = arith.muli %m64, %s : i64
  %sn = arith.muli %n64, %s : i64
  %bh = arith.muli %bz64, %h64 : i64
  %i = arith.addi %bh, %hy64 : i64
  %qo = arith.muli %i, %sm : i64
  %ko = arith.muli %i, %sn : i64
  %qb = tile.addptr %q, %qo : !tile.ptr<bf16>, i64
  %kb = tile.addptr %k, %ko : !tile.ptr<bf16>, i64
  %ob = tile.addptr %o, %qo : !tile.ptr<bf16>, i64
  %wqq = tile.make_block_ptr %qb shape[%m64, %s] strides[%s, %one] offsets[%row64, %z] : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
  %tq = tile.load %wqq : !tile.block_ptr<128x64xbf16>
  %r = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %zeros) -> (tensor<128x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %wk = tile.make_block_ptr %kb shape[%n64, %s] strides[%s, %one] offsets[%j64, %z] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %tk = tile.load %wk : !tile.block_ptr<64x64xbf16>
    %d = tile.dot %tq, %tk, %acc : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  %rb = tile.cast %r : tensor<128x64xf32> -> tensor<128x64xbf16>
  %wo_rbob = tile.make_block_ptr %ob shape[%m64, %s] strides[%s, %one] offsets[%row64, %z] : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
  tile.store %wo_rbob, %rb : !tile.block_ptr<128x64xbf16>
  tile.return
}
