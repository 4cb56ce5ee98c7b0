// RUN: fa-opt %s --remarks --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},tilegpu-specialize-warps{persistent=false}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: fa-opt %s --remarks --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},tilegpu-specialize-warps{shared-limit=32768}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: fa-opt %s --remarks --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},tilegpu-specialize-warps{shared-limit=16384}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=TINY
// RUN: not fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},tilegpu-specialize-warps{persistent=maybe}))' 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},tilegpu-specialize-warps{num-stages=0}))' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},tilegpu-specialize-warps{num-stages=9223372036854775807}))' 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},tilegpu-specialize-warps{shared-limit=-1}))' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},tilegpu-store-tiles{shared-limit=-1}))' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},tilegpu-stage-loads{shared-limit=-1}))' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: fa-opt %s --remarks --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_80},tilegpu-specialize-warps))' 2>&1 | FileCheck %s --check-prefix=AMPERE

// NEVER: a block for each program: persistent = off asks for that
// NEVER: a producer warp loads by TMA
// Rings live as long as a persistent block; with one program, their place is free
// again when the result goes through shared memory.
// SMALL: a block for each program: beside 24576 bytes of buffers, the kernel needs {{[0-9]+}} of the 32768 of shared memory
// SMALL: a producer warp loads by TMA
// TINY: no producer warp: two buffers of 8192 bytes beside 8192 exceed the 16384 bytes of shared memory
// ERROR: error: expected 'persistent' to be auto, off, static or dynamic, but got 'maybe'
// NONE: error: expected 1 to 8 stages, but got 0
// HUGE: error: expected 1 to 8 stages, but got 9223372036854775807
// NEGATIVE: error: expected at least 0 bytes of shared memory, but got -1
// AMPERE-NOT: remark:
// AMPERE-NOT: tilegpu.warp_specialize
tile.kernel @k(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %n: i32) grid(n) -> (n ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %x = tile.program_id x
  %n64 = arith.extsi %n : i32 to i64
  %row = arith.muli %x, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %qw = tile.make_block_ptr %q shape[%n64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %a = scf.for %j = %c0 to %n step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%n64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %qt, %t, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %s : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%n64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.return
}
