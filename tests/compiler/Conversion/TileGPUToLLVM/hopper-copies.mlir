// Copies by TMA, box by box, and stores of tiles to shared memory.
// RUN: fa-translate --target=sm_90a --emit=ptx %s -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: fa-translate --target=sm_90a --emit=llvm-dialect %s | FileCheck %s --check-prefix=HOST
// RUN: %if ptxas %{ %ptxas -arch=sm_90a %t.ptx -o %t.cubin %}

#n = affine_map<()[n, h] -> (n)>
#h = affine_map<()[n, h] -> (h)>
#row = affine_map<()[n, h] -> (h * 96)>

// A head of a tensor [n, h, 96]: the second box of 64 columns starts 16 * 128
// bytes on; only half of it is the tile's, all of it counts.
// CHECK-LABEL: .entry heads(
// CHECK: mbarrier.arrive.expect_tx.shared::cta.b64 _, [{{.*}}], 4096;
// CHECK: elect.sync
// CHECK: add.s32 [[SECOND:%r[0-9]+]], {{.*}}, 64;
// CHECK: [[[SLOT:%r[0-9]+]]], [[[MAP:%rd[0-9]+]], {[[X:%r[0-9]+]], [[Y:%r[0-9]+]], [[Z:%r[0-9]+]]}], [[[BAR:%r[0-9]+]]];
// CHECK: cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [{{.*}}], [[[MAP]], {[[SECOND]], [[Y]], [[Z]]}], [[[BAR]]];
// HOST: llvm.func @heads
// HOST-SAME: box = array<i64: 64, 1, 16>
// HOST-SAME: offset = 32
// HOST-SAME: padding = "nan"
tile.kernel @heads(%x: !tile.ptr<bf16>, %n: i32, %h: i32) grid(n, h) -> (h)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %map = tilegpu.tensor_map {argument = 0 : i64, extents = [96, #h, #n],
      strides = [96, #row], offset = 32 : i64, padding = #tile<padding nan>}
      : !tilegpu.tensor_map<16x1x96xbf16, swizzle = 128>
  %full = tilegpu.mbarriers {arrivals = 1 : i32} : !tilegpu.mbarriers<1>
  %ring = tilegpu.alloc : !tilegpu.ring<1 x 16x96xbf16, swizzle = 128>
  %slot = tilegpu.slot %ring[%zero] : !tilegpu.ring<1 x 16x96xbf16, swizzle = 128>
  %at = tile.program_id x
  tilegpu.mbarrier_expect %full[%zero] {bytes = 4096 : i32} : !tilegpu.mbarriers<1>
  tilegpu.tma_load %map[%n, %at, %h] to %slot signal %full[%zero]
      : !tilegpu.tensor_map<16x1x96xbf16, swizzle = 128>, !tilegpu.smem<16x96xbf16, swizzle = 128>,
        !tilegpu.mbarriers<1>
  tilegpu.mbarrier_wait %full[%zero] phase %zero : !tilegpu.mbarriers<1>
  tile.return
}

// Without a swizzle a row is one box.
// CHECK-LABEL: .entry rows(
// CHECK-COUNT-1: cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group
// CHECK-NOT: cp.async.bulk.tensor
// CHECK: cp.async.bulk.commit_group;
// CHECK: cp.async.bulk.wait_group 2;
// HOST: llvm.func @rows
// HOST-SAME: box = array<i64: 256>, element = f32
tile.kernel @rows(%x: !tile.ptr<f32>, %n: i32, %h: i32) grid(n, h) -> (h)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %map = tilegpu.tensor_map {argument = 0 : i64, extents = [#n], strides = []}
      : !tilegpu.tensor_map<256xf32, swizzle = 0>
  %ring = tilegpu.alloc : !tilegpu.ring<1 x 256xf32, swizzle = 0>
  %slot = tilegpu.slot %ring[%zero] : !tilegpu.ring<1 x 256xf32, swizzle = 0>
  tilegpu.tma_store %slot to %map[%n] : !tilegpu.smem<256xf32, swizzle = 0>,
      !tilegpu.tensor_map<256xf32, swizzle = 0>
  tilegpu.tma_store_wait {pending = 2 : i32}
  tile.return
}

// Accumulators are stored as matrices, also transposed; other layouts by vectors.
// CHECK-LABEL: .entry stores(
// CHECK-COUNT-4: stmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-COUNT-4: stmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-NOT: stmatrix
// CHECK: st.shared.v4
#acc = #tilegpu.layout<[64, 64], reg = [2:(0, 1), 2:(8, 0), 8:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
#transposed = #tilegpu.layout<[64, 64], reg = [2:(1, 0), 2:(0, 8), 8:(8, 0)],
    lane = [4:(2, 0), 8:(0, 1)], warp = [4:(0, 16)]>
#vectors = #tilegpu.layout<[64, 64], reg = [8:(0, 1), 4:(16, 0)],
    lane = [8:(0, 8), 4:(1, 0)], warp = [4:(4, 0)]>
tile.kernel @stores(%f: f32) grid() -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %ring = tilegpu.alloc : !tilegpu.ring<1 x 64x64xbf16, swizzle = 128>
  %slot = tilegpu.slot %ring[%zero] : !tilegpu.ring<1 x 64x64xbf16, swizzle = 128>
  %a = tile.splat %f : f32 -> tensor<64x64xf32, #acc>
  %an = tile.cast %a : tensor<64x64xf32, #acc> -> tensor<64x64xbf16, #acc>
  tilegpu.store_shared %an to %slot : tensor<64x64xbf16, #acc>, !tilegpu.smem<64x64xbf16, swizzle = 128>
  %t = tile.splat %f : f32 -> tensor<64x64xf32, #transposed>
  %tn = tile.cast %t : tensor<64x64xf32, #transposed> -> tensor<64x64xbf16, #transposed>
  tilegpu.store_shared %tn to %slot : tensor<64x64xbf16, #transposed>, !tilegpu.smem<64x64xbf16, swizzle = 128>
  %v = tile.splat %f : f32 -> tensor<64x64xf32, #vectors>
  %vn = tile.cast %v : tensor<64x64xf32, #vectors> -> tensor<64x64xbf16, #vectors>
  tilegpu.store_shared %vn to %slot : tensor<64x64xbf16, #vectors>, !tilegpu.smem<64x64xbf16, swizzle = 128>
  tile.return
}
