// Three warpgroups of consumers beside a producer: 12 warps, which are no power
// of two, share 192 rows. The block has 512 threads, whose registers go to those
// that compute.
//
// REQUIRES: ptxas
// RUN: fa-translate --target=sm_90a --emit=ptx --num-warps=12 %s -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx
// RUN: ptxas -arch=sm_90a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// CHECK-LABEL: .entry product(
// CHECK: .maxntid 512
// CHECK-DAG: setmaxnreg.dec.sync.aligned.u32 32
// CHECK-DAG: setmaxnreg.inc.sync.aligned.u32 160
// CHECK-DAG: cp.async.bulk.tensor
// CHECK-DAG: wgmma.mma_async.sync.aligned.m64n96k16.f32.bf16.bf16

// PTXAS-NOT: C75
// PTXAS-NOT: {{[1-9][0-9]*}} bytes spill
// PTXAS: Compiling entry function 'product{{.*}}' for 'sm_90a'
// PTXAS-NOT: C75
// PTXAS-NOT: {{[1-9][0-9]*}} bytes spill

tile.kernel @product(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>,
    %m: i32, %n: i32, %k: i32)
    grid(m, n, k) -> (m ceildiv 192, n ceildiv 96) {
  %rows_of_tile = arith.constant 192 : i32
  %columns_of_tile = arith.constant 96 : i32
  %zero = arith.constant 0 : i32
  %depth_of_tile = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  %zero_i64 = arith.constant 0 : i64
  %init = arith.constant dense<0.0> : tensor<192x96xf32>
  %pid_m = tile.program_id x
  %pid_n = tile.program_id y
  %row = arith.muli %pid_m, %rows_of_tile : i32
  %column = arith.muli %pid_n, %columns_of_tile : i32
  %row_i64 = arith.extsi %row : i32 to i64
  %column_i64 = arith.extsi %column : i32 to i64
  %rows = arith.extsi %m : i32 to i64
  %columns = arith.extsi %n : i32 to i64
  %depth = arith.extsi %k : i32 to i64
  %window_a = tile.make_block_ptr %a shape[%rows, %depth] strides[%depth, %one]
      offsets[%row_i64, %zero_i64] : !tile.ptr<bf16> -> !tile.block_ptr<192x64xbf16>
  %window_b = tile.make_block_ptr %b shape[%depth, %columns] strides[%columns, %one]
      offsets[%zero_i64, %column_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x96xbf16>
  %sum = scf.for %at = %zero to %k step %depth_of_tile
      iter_args(%acc = %init) -> (tensor<192x96xf32>) : i32 {
    %at_i64 = arith.extsi %at : i32 to i64
    %a_at = tile.advance %window_a, [%zero_i64, %at_i64] : !tile.block_ptr<192x64xbf16>
    %b_at = tile.advance %window_b, [%at_i64, %zero_i64] : !tile.block_ptr<64x96xbf16>
    %x = tile.load %a_at : !tile.block_ptr<192x64xbf16>
    %y = tile.load %b_at : !tile.block_ptr<64x96xbf16>
    %next = tile.dot %x, %y, %acc : tensor<192x64xbf16>, tensor<64x96xbf16>, tensor<192x96xf32>
    scf.yield %next : tensor<192x96xf32>
  }
  %window_c = tile.make_block_ptr %c shape[%rows, %columns] strides[%columns, %one]
      offsets[%row_i64, %column_i64] : !tile.ptr<f32> -> !tile.block_ptr<192x96xf32>
  tile.store %window_c, %sum : !tile.block_ptr<192x96xf32>
  tile.return
}
