// Tiles between registers and buffers on sm_80: no stmatrix there.
// RUN: fa-translate --target=sm_80 --emit=ptx %s -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: %if ptxas %{ %ptxas -arch=sm_80 %t.ptx -o %t.cubin %}

// Fragments by ldmatrix, also from the other dimension; f32 as words.
// CHECK-LABEL: .entry tiles(
// CHECK-NOT: stmatrix
// CHECK-COUNT-16: st.shared.b32
// CHECK: bar.sync 0;
// CHECK-COUNT-4: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-COUNT-4: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-NOT: ldmatrix
// CHECK: ld.shared.v4
#acc = #tilegpu.layout<[64, 64], reg = [2:(0, 1), 2:(8, 0), 8:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
#transposed = #tilegpu.layout<[64, 64], reg = [2:(1, 0), 2:(0, 8), 8:(8, 0)],
    lane = [4:(2, 0), 8:(0, 1)], warp = [4:(0, 16)]>
#vectors = #tilegpu.layout<[64, 64], reg = [8:(0, 1), 4:(16, 0)],
    lane = [8:(0, 8), 4:(1, 0)], warp = [4:(4, 0)]>
tile.kernel @tiles(%x: !tile.ptr<bf16>, %f: f32) grid() -> (1)
    attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %ring = tilegpu.alloc : !tilegpu.ring<1 x 64x64xbf16, swizzle = 128>
  %slot = tilegpu.slot %ring[%zero] : !tilegpu.ring<1 x 64x64xbf16, swizzle = 128>
  %wide = tile.splat %f : f32 -> tensor<64x64xf32, #acc>
  %tile = tile.cast %wide : tensor<64x64xf32, #acc> -> tensor<64x64xbf16, #acc>
  tilegpu.store_shared %tile to %slot : tensor<64x64xbf16, #acc>, !tilegpu.smem<64x64xbf16, swizzle = 128>
  tilegpu.barrier
  %a = tilegpu.load_shared %slot : !tilegpu.smem<64x64xbf16, swizzle = 128> -> tensor<64x64xbf16, #acc>
  %pa = tile.splat %x : !tile.ptr<bf16> -> tensor<64x64x!tile.ptr<bf16>, #acc>
  tilegpu.store %pa, %a : tensor<64x64x!tile.ptr<bf16>, #acc>, tensor<64x64xbf16, #acc>
  %b = tilegpu.load_shared %slot : !tilegpu.smem<64x64xbf16, swizzle = 128> -> tensor<64x64xbf16, #transposed>
  %pb = tile.splat %x : !tile.ptr<bf16> -> tensor<64x64x!tile.ptr<bf16>, #transposed>
  tilegpu.store %pb, %b : tensor<64x64x!tile.ptr<bf16>, #transposed>, tensor<64x64xbf16, #transposed>
  %c = tilegpu.load_shared %slot : !tilegpu.smem<64x64xbf16, swizzle = 128> -> tensor<64x64xbf16, #vectors>
  %pc = tile.splat %x : !tile.ptr<bf16> -> tensor<64x64x!tile.ptr<bf16>, #vectors>
  tilegpu.store %pc, %c : tensor<64x64x!tile.ptr<bf16>, #vectors>, tensor<64x64xbf16, #vectors>
  tile.return
}

// 32 pieces of 16 bytes: one warp copies them, where four would write the same
// bytes at the same time.
// CHECK-LABEL: .entry small(
// CHECK: and.b32 [[WARP:%r[0-9]+]], %r{{[0-9]+}}, 96;
// CHECK: setp.ne.b32 [[OTHER:%p[0-9]+]], [[WARP]], 0;
// CHECK: @[[OTHER]] bra
// CHECK: cp.async.cg.shared.global{{.*}}, 16
// CHECK-NOT: cp.async.cg
tile.kernel @small(%x: !tile.ptr<f16>) grid() -> (1)
    attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 4 : i32,
                tilegpu.requires = [{argument = 0 : i32, divisor = 16 : i64}]} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %begin = arith.constant 0 : i64
  %extent = arith.constant 16 : i64
  %ring = tilegpu.alloc : !tilegpu.ring<1 x 16x16xf16, swizzle = 32>
  %slot = tilegpu.slot %ring[%zero] : !tilegpu.ring<1 x 16x16xf16, swizzle = 32>
  %w = tile.make_block_ptr %x shape[%extent, %extent] strides[%extent, %one] offsets[%begin, %begin]
      : !tile.ptr<f16> -> !tile.block_ptr<16x16xf16>
  tilegpu.copy_async %w to %slot : !tile.block_ptr<16x16xf16>, !tilegpu.smem<16x16xf16, swizzle = 32>
  tilegpu.commit_copies
  tilegpu.wait_copies {pending = 0 : i32}
  tile.return
}
