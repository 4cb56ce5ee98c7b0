// What is computed in a loop and multiplied there.
//
// RUN: fa-opt %s --remarks --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},cse,loop-invariant-code-motion,tilegpu-specialize-warps,tilegpu-overlap-products))' -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file %t

// An operand that is computed goes through one buffer: the product has to be
// done before the next iteration writes it.
// REMARK: remark: [Missed] Overlap {{.*}}the product's operand goes through one buffer, which the next iteration writes
// CHECK-LABEL: tile.kernel @k
// CHECK: tilegpu.warp_specialize
// CHECK: scf.for
// CHECK: tilegpu.wgmma
// CHECK: tilegpu.wgmma_wait %{{.*}} {pending = 0 : i32}
// CHECK: scf.yield

tile.kernel @k(%a: !tile.ptr<bf16>, %b: !tile.ptr<i8>, %o: !tile.ptr<f32>, %m: i32, %n: i32) grid(m, n) -> (m ceildiv 64) {
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
    %wb = tile.make_block_ptr %b shape[%n64, %s] strides[%s, %one] offsets[%j64, %z] : !tile.ptr<i8> -> !tile.block_ptr<64x64xi8>
    %ib = tile.load %wb : !tile.block_ptr<64x64xi8>
    %tb = arith.sitofp %ib : tensor<64x64xi8> to tensor<64x64xbf16>
    %d = tile.dot %ta, %tb, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %wo_r = tile.make_block_ptr %o shape[%m64, %s] strides[%s, %one] offsets[%row64, %z] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %wo_r, %r : !tile.block_ptr<64x64xf32>
  tile.return
}
