// A tile whose tensor has rows of any length, which the launcher is asked to
// check, and buffers for fewer and fewer columns.
//
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},cse,loop-invariant-code-motion,tilegpu-specialize-warps{persistent=true num-stages=2},tilegpu-store-tiles))' | FileCheck %s
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},cse,loop-invariant-code-motion,tilegpu-specialize-warps{persistent=true num-stages=2},tilegpu-store-tiles{shared-limit=60000}))' | FileCheck %s --check-prefix=PARTS
// RUN: fa-opt %s --remarks --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},cse,loop-invariant-code-motion,tilegpu-specialize-warps{persistent=true num-stages=2},tilegpu-store-tiles{shared-limit=50000}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: fa-translate %s --target=sm_90a --emit=ptx --num-warps=4 --num-stages=4 | FileCheck %s --check-prefix=PTX

// What TMA cannot do is asked of arguments beside what was asked already.
// CHECK-LABEL: tile.kernel @product
// CHECK-SAME: tilegpu.requires = [{argument = 0 : i64, divisor = 16 : i64}, {argument = 3 : i64, divisor = 8 : i64}]
// CHECK: tilegpu.tensor_map {argument = 2 : i64, {{.*}} : <16x128xbf16, swizzle = 128>
// CHECK: tilegpu.alloc : <1 x 64x128xbf16, swizzle = 128>
// CHECK-COUNT-1: tilegpu.tma_store {{.*}} by_warp : <64x128xbf16, swizzle = 128>
// CHECK-NOT: tilegpu.tma_store{{ }}

// Two rings of two buffers take 49152 bytes, and the tile 16384.
// PARTS-LABEL: tile.kernel @product
// PARTS: tilegpu.tensor_map {argument = 2 : i64, {{.*}} : <16x64xbf16, swizzle = 128>
// PARTS: tilegpu.alloc : <1 x 64x64xbf16, swizzle = 128>
// PARTS: tilegpu.tma_store_wait by_warp {pending = 0 : i32, read}
// PARTS: tilegpu.store_shared %[[TILE:.*]] to %{{[^ ]*}} : tensor<64x128xbf16
// PARTS: tilegpu.fence_proxy
// PARTS: tilegpu.tma_store %{{.*}}[%[[COLUMN:[^ ]*]], %[[ROW:[^ ]*]]] by_warp
// PARTS: tilegpu.tma_store_wait by_warp {pending = 0 : i32, read}
// PARTS: tilegpu.store_shared %[[TILE]] to %{{[^ ]*}} {first_column = 64 : i64}
// PARTS: %[[NEXT:.*]] = arith.addi %[[COLUMN]], %
// PARTS: tilegpu.tma_store %{{.*}}[%[[NEXT]], %[[ROW]]] by_warp

// NONE: Reason="a tile is stored by threads: a buffer for it would make 57344 bytes of shared memory, more than 50000"

// The registers of the first columns, then the others.
// PTX-LABEL: .entry product(
// PTX: stmatrix
// PTX: cp.async.bulk.tensor.2d.global.shared::cta
tile.kernel @product(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<bf16>, %n: i32, %k: i32)
    grid(n, k) -> (n ceildiv 128)
    attributes {tilegpu.requires = [{argument = 0 : i64, divisor = 16 : i64}]} {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %width = arith.constant 128 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 64 : i64
  %n64 = arith.extsi %n : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %x = tile.program_id x
  %at = arith.muli %x, %width : i32
  %at64 = arith.extsi %at : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %j = %c0 to %k step %size iter_args(%acc = %init) -> (tensor<64x128xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %aw = tile.make_block_ptr %a shape[%rows, %k64] strides[%k64, %one] offsets[%zero, %j64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %bw = tile.make_block_ptr %b shape[%k64, %n64] strides[%n64, %one] offsets[%j64, %at64] : !tile.ptr<bf16> -> !tile.block_ptr<64x128xbf16>
    %at0 = tile.load %aw : !tile.block_ptr<64x64xbf16>
    %bt = tile.load %bw : !tile.block_ptr<64x128xbf16>
    %s = tile.dot %at0, %bt, %acc : tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<64x128xf32>
    scf.yield %s : tensor<64x128xf32>
  }
  %r = tile.cast %sum : tensor<64x128xf32> -> tensor<64x128xbf16>
  %cw = tile.make_block_ptr %c shape[%rows, %n64] strides[%n64, %one] offsets[%zero, %at64] : !tile.ptr<bf16> -> !tile.block_ptr<64x128xbf16>
  tile.store %cw, %r : !tile.block_ptr<64x128xbf16>
  tile.return
}
