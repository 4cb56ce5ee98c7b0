// Two warpgroups that share the columns of a product have the same rows of its
// left operand in registers.
// RUN: fa-opt %s --remarks --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a num-warps=8},cse,loop-invariant-code-motion,tilegpu-specialize-warps{persistent=off num-stages=2},tilegpu-hoist-operands,canonicalize,cse))' -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t
// RUN: fa-translate --target=sm_90a --num-warps=8 --emit=ptx %s -o %t.ptx
// RUN: %if ptxas %{ %ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS %}

// REMARK: [Passed] Operand {{.*}}192 columns of a left operand that the loop does not change are read once
// REMARK-NOT: Operand
// CHECK: tilegpu.load_shared {{.*}} -> tensor<64x192xbf16, #tilegpu.layout<[64, 192], {{.*}}, warp = [4:(16, 0), 1:(64, 0), 2:(0, 0)]>>
// CHECK: tilegpu.wgmma {{.*}} head({{.*}}) {column_groups = 2 : i32, trans_b, warpgroups = 2 : i32}
// PTXAS-NOT: C75
// PTXAS: 0 bytes spill stores
tile.kernel @gradients(%k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %q: !tile.ptr<bf16>, %g: !tile.ptr<bf16>, %dk: !tile.ptr<f32>, %dv: !tile.ptr<f32>, %rows: i32)
    grid(rows) -> (rows ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 256 : i64
  %rows64 = arith.extsi %rows : i32 to i64
  %x = tile.program_id x
  %first = arith.muli %x, %size : i32
  %first64 = arith.extsi %first : i32 to i64
  %kw = tile.make_block_ptr %k shape[%rows64, %d] strides[%d, %one] offsets[%first64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x256xbf16>
  %kt = tile.load %kw : !tile.block_ptr<64x256xbf16>
  %vw = tile.make_block_ptr %v shape[%rows64, %d] strides[%d, %one] offsets[%first64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x256xbf16>
  %vt = tile.load %vw : !tile.block_ptr<64x256xbf16>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %wide = arith.constant dense<0.0> : tensor<64x256xf32>
  %sums:2 = scf.for %j = %c0 to %rows step %size iter_args(%acc = %wide, %acc2 = %wide) -> (tensor<64x256xf32>, tensor<64x256xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %qw = tile.make_block_ptr %q shape[%rows64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x256xbf16>
    %qt = tile.load %qw : !tile.block_ptr<64x256xbf16>
    %gw = tile.make_block_ptr %g shape[%rows64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x256xbf16>
    %gt = tile.load %gw : !tile.block_ptr<64x256xbf16>
    %qtt = tile.trans %qt order [1, 0] : tensor<64x256xbf16> -> tensor<256x64xbf16>
    %s = tile.dot %kt, %qtt, %none : tensor<64x256xbf16>, tensor<256x64xbf16>, tensor<64x64xf32>
    %p = tile.exp %s : tensor<64x64xf32>
    %gtt = tile.trans %gt order [1, 0] : tensor<64x256xbf16> -> tensor<256x64xbf16>
    %dp = tile.dot %vt, %gtt, %none : tensor<64x256xbf16>, tensor<256x64xbf16>, tensor<64x64xf32>
    %ds = arith.mulf %p, %dp : tensor<64x64xf32>
    %w = tile.cast %p : tensor<64x64xf32> -> tensor<64x64xbf16>
    %u = tile.cast %ds : tensor<64x64xf32> -> tensor<64x64xbf16>
    %next = tile.dot %w, %gt, %acc : tensor<64x64xbf16>, tensor<64x256xbf16>, tensor<64x256xf32>
    %next2 = tile.dot %u, %qt, %acc2 : tensor<64x64xbf16>, tensor<64x256xbf16>, tensor<64x256xf32>
    scf.yield %next, %next2 : tensor<64x256xf32>, tensor<64x256xf32>
  }
  %dvw = tile.make_block_ptr %dv shape[%rows64, %d] strides[%d, %one] offsets[%first64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x256xf32>
  tile.store %dvw, %sums#0 : !tile.block_ptr<64x256xf32>
  %dkw = tile.make_block_ptr %dk shape[%rows64, %d] strides[%d, %one] offsets[%first64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x256xf32>
  tile.store %dkw, %sums#1 : !tile.block_ptr<64x256xf32>
  tile.return
}
