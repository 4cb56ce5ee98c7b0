// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a num-warps=8},cse))' -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: fa-opt %t.mlir --convert-tilegpu-to-llvm | FileCheck %s --check-prefix=CODE

// The transpose of what was computed is a left operand: it is transposed on its
// way to memory, by registers' places at first and then by the instruction, and
// is read row by row. A row of it lies in two boxes of 128 bytes.
// CHECK-LABEL: tile.kernel @turned
// CHECK: %[[W:.*]] = tile.cast %{{.*}} -> tensor<128x128xbf16
// CHECK: %[[T:.*]] = tile.trans %[[W]] order [1, 0] : {{.*}} -> tensor<128x128xbf16
// CHECK: %[[S:.*]] = tilegpu.stage %[[T]] {{.*}} -> <128x128xbf16, swizzle = 128>
// CHECK: tilegpu.wgmma %[[S]], %{{.*}} {warpgroups = 2 : i32}
// CODE-LABEL: llvm.func @turned
// CODE-COUNT-8: stmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CODE-NOT: stmatrix
tile.kernel @turned(%k: !tile.ptr<bf16>, %q: !tile.ptr<bf16>, %d: !tile.ptr<f32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %dim = arith.constant 64 : i64
  %keys = arith.constant 128 : i64
  %none = arith.constant dense<0.0> : tensor<128x128xf32>
  %none2 = arith.constant dense<0.0> : tensor<128x64xf32>
  %kw = tile.make_block_ptr %k shape[%keys, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
  %kt = tile.load %kw : !tile.block_ptr<128x64xbf16>
  %qw = tile.make_block_ptr %q shape[%keys, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<128x64xbf16>
  %t = tile.trans %qt order [1, 0] : tensor<128x64xbf16> -> tensor<64x128xbf16>
  %s = tile.dot %kt, %t, %none : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
  %w = tile.cast %s : tensor<128x128xf32> -> tensor<128x128xbf16>
  %wt = tile.trans %w order [1, 0] : tensor<128x128xbf16> -> tensor<128x128xbf16>
  %r = tile.dot %wt, %kt, %none2 : tensor<128x128xbf16>, tensor<128x64xbf16>, tensor<128x64xf32>
  %dw = tile.make_block_ptr %d shape[%keys, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %dw, %r : !tile.block_ptr<128x64xf32>
  tile.return
}
