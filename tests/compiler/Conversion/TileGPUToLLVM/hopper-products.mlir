// Products of warpgroups: descriptors, steps and forms of the instruction. Where
// a number is checked: bits 62-63 of a descriptor are the swizzle (1: 128 bytes,
// 2: 64, 3: 32), from bit 32 on the distance of groups of eight rows, from bit
// 16 on that of boxes, both divided by 16; as are the steps.
// RUN: fa-translate --target=sm_90a --emit=ptx %s -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: %if ptxas %{ %ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS %}

// Nothing is serialised, nothing spilled.
// PTXAS-NOT: C75
// PTXAS: 0 bytes spill stores, 0 bytes spill loads
// PTXAS-NOT: C75

// K-major operands; the second warpgroup's rows start 512 units of 16 bytes on.
// CHECK-LABEL: .entry scores(
// CHECK: shfl.sync.idx
// CHECK: and.b32 {{.*}}, -512;
// CHECK: or.b64 [[A:%rd[0-9]+]], {{.*}}, 4611686293305360384;
// CHECK: or.b64 [[B:%rd[0-9]+]], {{.*}}, 4611686293305360384;
// CHECK: wgmma.fence
// CHECK-NEXT: add.s64 da, [[A]], 0;
// CHECK-NEXT: add.s64 db, [[B]], 0;
// CHECK-NEXT: {{.*}}m64n80k16.f32.f16.f16 {{{.*}}}, da, db, q, 1, 1, 0, 0;
// CHECK-NEXT: add.s64 da, [[A]], 2;
// CHECK-NEXT: add.s64 db, [[B]], 2;
// CHECK-NEXT: {{.*}}m64n80k16.f32.f16.f16 {{{.*}}}, da, db, p, 1, 1, 0, 0;
// CHECK: add.s64 da, [[A]], 6;
// CHECK-NOT: wgmma.fence
// CHECK: wgmma.commit_group
// CHECK: wgmma.wait_group.sync.aligned 0;
#scores = #tilegpu.layout<[128, 80], reg = [2:(0, 1), 2:(8, 0), 10:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0), 2:(64, 0)]>
tile.kernel @scores(%out: !tile.ptr<f32>, %x: f32) grid() -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 8 : i32} {
  %zero = arith.constant 0 : i32
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 80x64xf16, swizzle = 128>
  %b = tilegpu.slot %bs[%zero] : !tilegpu.ring<1 x 80x64xf16, swizzle = 128>
  %as = tilegpu.alloc : !tilegpu.ring<1 x 128x64xf16, swizzle = 128>
  %a = tilegpu.slot %as[%zero] : !tilegpu.ring<1 x 128x64xf16, swizzle = 128>
  %s = tilegpu.wgmma %a, %b {trans_b, warpgroups = 2 : i32}
      : !tilegpu.smem<128x64xf16, swizzle = 128>, !tilegpu.smem<80x64xf16, swizzle = 128> -> tensor<128x80xf32, #scores>
  %d = tilegpu.wgmma_wait %s {pending = 0 : i32} : tensor<128x80xf32, #scores>
  %p = tile.splat %out : !tile.ptr<f32> -> tensor<128x80x!tile.ptr<f32>, #scores>
  tilegpu.store %p, %d : tensor<128x80x!tile.ptr<f32>, #scores>, tensor<128x80xf32, #scores>
  tile.return
}

// A in registers; B is K x N in two boxes, 8192 bytes apart.
// CHECK-LABEL: .entry values(
// CHECK: or.b64 [[B:%rd[0-9]+]], {{.*}}, 4611686293338849280;
// CHECK: wgmma.fence
// CHECK-NEXT: add.s64 db, [[B]], 0;
// CHECK-NEXT: {{.*}}m64n128k16.f32.bf16.bf16 {{{.*}}}, {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, db, p, 1, 1, 1;
// CHECK-NEXT: add.s64 db, [[B]], 128;
// CHECK: add.s64 db, [[B]], 384;
#values = #tilegpu.layout<[64, 128], reg = [2:(0, 1), 2:(8, 0), 16:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
#values_a = #tilegpu.layout<[64, 64], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8), 4:(0, 16)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @values(%out: !tile.ptr<f32>, %in: !tile.ptr<bf16>, %x: f32) grid() -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 64x128xbf16, swizzle = 128>
  %b = tilegpu.slot %bs[%zero] : !tilegpu.ring<1 x 64x128xbf16, swizzle = 128>
  %from = tile.splat %in : !tile.ptr<bf16> -> tensor<64x64x!tile.ptr<bf16>, #values_a>
  %a = tilegpu.load %from : tensor<64x64x!tile.ptr<bf16>, #values_a> -> tensor<64x64xbf16, #values_a>
  %c = tile.splat %x : f32 -> tensor<64x128xf32, #values>
  %s = tilegpu.wgmma %a, %b, %c {warpgroups = 1 : i32}
      : tensor<64x64xbf16, #values_a>, !tilegpu.smem<64x128xbf16, swizzle = 128> -> tensor<64x128xf32, #values>
  %d = tilegpu.wgmma_wait %s {pending = 0 : i32} : tensor<64x128xf32, #values>
  %p = tile.splat %out : !tile.ptr<f32> -> tensor<64x128x!tile.ptr<f32>, #values>
  tilegpu.store %p, %d : tensor<64x128x!tile.ptr<f32>, #values>, tensor<64x128xf32, #values>
  tile.return
}

// A is K x M: a box of 64 columns for each block of rows.
// CHECK-LABEL: .entry transposed(
// CHECK: 4611686293322072064;
// CHECK: wgmma.fence
// CHECK: m64n64k16.f32.bf16.bf16 {{{.*}}}, da, db, q, 1, 1, 1, 0;
// CHECK-NEXT: add.s64 da, {{.*}}, 128;
// CHECK-NEXT: add.s64 db, {{.*}}, 2;
#transposed = #tilegpu.layout<[128, 64], reg = [2:(0, 1), 2:(8, 0), 8:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0), 2:(64, 0)]>
tile.kernel @transposed(%out: !tile.ptr<f32>, %x: f32) grid() -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 8 : i32} {
  %zero = arith.constant 0 : i32
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 64x32xbf16, swizzle = 128>
  %b = tilegpu.slot %bs[%zero] : !tilegpu.ring<1 x 64x32xbf16, swizzle = 128>
  %as = tilegpu.alloc : !tilegpu.ring<1 x 32x128xbf16, swizzle = 128>
  %a = tilegpu.slot %as[%zero] : !tilegpu.ring<1 x 32x128xbf16, swizzle = 128>
  %s = tilegpu.wgmma %a, %b {trans_a, trans_b, warpgroups = 2 : i32}
      : !tilegpu.smem<32x128xbf16, swizzle = 128>, !tilegpu.smem<64x32xbf16, swizzle = 128> -> tensor<128x64xf32, #transposed>
  %d = tilegpu.wgmma_wait %s {pending = 0 : i32} : tensor<128x64xf32, #transposed>
  %p = tile.splat %out : !tile.ptr<f32> -> tensor<128x64x!tile.ptr<f32>, #transposed>
  tilegpu.store %p, %d : tensor<128x64x!tile.ptr<f32>, #transposed>, tensor<128x64xf32, #transposed>
  tile.return
}

// Rows wider than the swizzle's span go on in the next box.
// CHECK-LABEL: .entry boxes(
// CHECK: -9223371899415756800;
// CHECK: -4611685949707845632;
// CHECK: wgmma.fence
// CHECK: add.s64 da, {{.*}}, 2;
// CHECK-NEXT: add.s64 db, {{.*}}, 32;
// CHECK: add.s64 da, {{.*}}, 256;
// CHECK-NEXT: add.s64 db, {{.*}}, 64;
// CHECK: add.s64 da, {{.*}}, 258;
// CHECK-NEXT: add.s64 db, {{.*}}, 96;
#boxes = #tilegpu.layout<[64, 16], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @boxes(%out: !tile.ptr<f32>, %x: f32) grid() -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 16x64xbf16, swizzle = 32>
  %b = tilegpu.slot %bs[%zero] : !tilegpu.ring<1 x 16x64xbf16, swizzle = 32>
  %as = tilegpu.alloc : !tilegpu.ring<1 x 64x64xbf16, swizzle = 64>
  %a = tilegpu.slot %as[%zero] : !tilegpu.ring<1 x 64x64xbf16, swizzle = 64>
  %s = tilegpu.wgmma %a, %b {trans_b, warpgroups = 1 : i32}
      : !tilegpu.smem<64x64xbf16, swizzle = 64>, !tilegpu.smem<16x64xbf16, swizzle = 32> -> tensor<64x16xf32, #boxes>
  %d = tilegpu.wgmma_wait %s {pending = 0 : i32} : tensor<64x16xf32, #boxes>
  %p = tile.splat %out : !tile.ptr<f32> -> tensor<64x16x!tile.ptr<f32>, #boxes>
  tilegpu.store %p, %d : tensor<64x16x!tile.ptr<f32>, #boxes>, tensor<64x16xf32, #boxes>
  tile.return
}

// Two blocks of rows in a warpgroup, one group of instructions.
// CHECK-LABEL: .entry blocks(
// CHECK: wgmma.fence
// CHECK: add.s64 da, {{.*}}, 0;
// CHECK-NEXT: add.s64 db, {{.*}}, 0;
// CHECK: m64n16k16
// CHECK-NEXT: add.s64 da, {{.*}}, 128;
// CHECK-NEXT: add.s64 db, {{.*}}, 0;
// CHECK-NEXT: {{.*}}m64n16k16.f32.bf16.bf16 {{{.*}}}, da, db, q,
// CHECK-NEXT: wgmma.commit_group
#blocks = #tilegpu.layout<[128, 16], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8), 2:(64, 0)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @blocks(%out: !tile.ptr<f32>, %x: f32) grid() -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 16x16xbf16, swizzle = 32>
  %b = tilegpu.slot %bs[%zero] : !tilegpu.ring<1 x 16x16xbf16, swizzle = 32>
  %as = tilegpu.alloc : !tilegpu.ring<1 x 128x16xbf16, swizzle = 32>
  %a = tilegpu.slot %as[%zero] : !tilegpu.ring<1 x 128x16xbf16, swizzle = 32>
  %s = tilegpu.wgmma %a, %b {trans_b, warpgroups = 1 : i32}
      : !tilegpu.smem<128x16xbf16, swizzle = 32>, !tilegpu.smem<16x16xbf16, swizzle = 32> -> tensor<128x16xf32, #blocks>
  %d = tilegpu.wgmma_wait %s {pending = 0 : i32} : tensor<128x16xf32, #blocks>
  %p = tile.splat %out : !tile.ptr<f32> -> tensor<128x16x!tile.ptr<f32>, #blocks>
  tilegpu.store %p, %d : tensor<128x16x!tile.ptr<f32>, #blocks>, tensor<128x16xf32, #blocks>
  tile.return
}

// More than 256 columns take two instructions.
// CHECK-LABEL: .entry wide(
// CHECK: 4611686293313683456;
// CHECK: wgmma.fence
// CHECK: m64n256k16
// CHECK-NEXT: add.s64 da, {{.*}}, 0;
// CHECK-NEXT: add.s64 db, {{.*}}, 512;
// CHECK-NEXT: {{.*}}m64n64k16
#wide = #tilegpu.layout<[64, 320], reg = [2:(0, 1), 2:(8, 0), 40:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @wide(%out: !tile.ptr<f32>, %x: f32) grid() -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 16x320xbf16, swizzle = 128>
  %b = tilegpu.slot %bs[%zero] : !tilegpu.ring<1 x 16x320xbf16, swizzle = 128>
  %as = tilegpu.alloc : !tilegpu.ring<1 x 64x16xbf16, swizzle = 32>
  %a = tilegpu.slot %as[%zero] : !tilegpu.ring<1 x 64x16xbf16, swizzle = 32>
  %s = tilegpu.wgmma %a, %b {warpgroups = 1 : i32}
      : !tilegpu.smem<64x16xbf16, swizzle = 32>, !tilegpu.smem<16x320xbf16, swizzle = 128> -> tensor<64x320xf32, #wide>
  %d = tilegpu.wgmma_wait %s {pending = 0 : i32} : tensor<64x320xf32, #wide>
  %p = tile.splat %out : !tile.ptr<f32> -> tensor<64x320x!tile.ptr<f32>, #wide>
  tilegpu.store %p, %d : tensor<64x320x!tile.ptr<f32>, #wide>, tensor<64x320xf32, #wide>
  tile.return
}

// Rows of one core matrix need no swizzle.
// CHECK-LABEL: .entry plain(
// CHECK: , 34360262656;
// CHECK: wgmma.fence
// CHECK: m64n8k16
// CHECK-NEXT: add.s64 db, {{.*}}, 16;
#plain = #tilegpu.layout<[64, 8], reg = [2:(0, 1), 2:(8, 0), 1:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
#plain_a = #tilegpu.layout<[64, 32], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8), 2:(0, 16)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @plain(%out: !tile.ptr<f32>, %in: !tile.ptr<f16>, %x: f32) grid() -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 32x8xf16, swizzle = 0>
  %b = tilegpu.slot %bs[%zero] : !tilegpu.ring<1 x 32x8xf16, swizzle = 0>
  %from = tile.splat %in : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>, #plain_a>
  %a = tilegpu.load %from : tensor<64x32x!tile.ptr<f16>, #plain_a> -> tensor<64x32xf16, #plain_a>
  %c = tile.splat %x : f32 -> tensor<64x8xf32, #plain>
  %s = tilegpu.wgmma %a, %b, %c {warpgroups = 1 : i32}
      : tensor<64x32xf16, #plain_a>, !tilegpu.smem<32x8xf16, swizzle = 0> -> tensor<64x8xf32, #plain>
  %d = tilegpu.wgmma_wait %s {pending = 0 : i32} : tensor<64x8xf32, #plain>
  %p = tile.splat %out : !tile.ptr<f32> -> tensor<64x8x!tile.ptr<f32>, #plain>
  tilegpu.store %p, %d : tensor<64x8x!tile.ptr<f32>, #plain>, tensor<64x8xf32, #plain>
  tile.return
}

// Both formats of 8 bits, mixed.
// CHECK-LABEL: .entry float8(
// CHECK: wgmma.fence
// CHECK: m64n32k32.f32.e4m3.e5m2 {{{.*}}}, da, db, q, 1, 1;
#float8 = #tilegpu.layout<[64, 32], reg = [2:(0, 1), 2:(8, 0), 4:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @float8(%out: !tile.ptr<f32>, %x: f32) grid() -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 32x64xf8E5M2, swizzle = 64>
  %b = tilegpu.slot %bs[%zero] : !tilegpu.ring<1 x 32x64xf8E5M2, swizzle = 64>
  %as = tilegpu.alloc : !tilegpu.ring<1 x 64x64xf8E4M3FN, swizzle = 64>
  %a = tilegpu.slot %as[%zero] : !tilegpu.ring<1 x 64x64xf8E4M3FN, swizzle = 64>
  %s = tilegpu.wgmma %a, %b {trans_b, warpgroups = 1 : i32}
      : !tilegpu.smem<64x64xf8E4M3FN, swizzle = 64>, !tilegpu.smem<32x64xf8E5M2, swizzle = 64> -> tensor<64x32xf32, #float8>
  %d = tilegpu.wgmma_wait %s {pending = 0 : i32} : tensor<64x32xf32, #float8>
  %p = tile.splat %out : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>, #float8>
  tilegpu.store %p, %d : tensor<64x32x!tile.ptr<f32>, #float8>, tensor<64x32xf32, #float8>
  tile.return
}

// The same, A in registers.
// CHECK-LABEL: .entry float8_registers(
// CHECK: m64n16k32.f32.e5m2.e4m3 {{{.*}}}, {%r{{[0-9]+}}, {{.*}}}, db, q, 1, 1;
#float8_registers = #tilegpu.layout<[64, 16], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
#float8_registers_a = #tilegpu.layout<[64, 32], reg = [4:(0, 1), 2:(8, 0), 2:(0, 16), 1:(0, 32)],
    lane = [4:(0, 4), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @float8_registers(%out: !tile.ptr<f32>, %in: !tile.ptr<f8E5M2>, %x: f32) grid() -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 16x32xf8E4M3FN, swizzle = 32>
  %b = tilegpu.slot %bs[%zero] : !tilegpu.ring<1 x 16x32xf8E4M3FN, swizzle = 32>
  %from = tile.splat %in : !tile.ptr<f8E5M2> -> tensor<64x32x!tile.ptr<f8E5M2>, #float8_registers_a>
  %a = tilegpu.load %from : tensor<64x32x!tile.ptr<f8E5M2>, #float8_registers_a> -> tensor<64x32xf8E5M2, #float8_registers_a>
  %s = tilegpu.wgmma %a, %b {trans_b, warpgroups = 1 : i32}
      : tensor<64x32xf8E5M2, #float8_registers_a>, !tilegpu.smem<16x32xf8E4M3FN, swizzle = 32> -> tensor<64x16xf32, #float8_registers>
  %d = tilegpu.wgmma_wait %s {pending = 0 : i32} : tensor<64x16xf32, #float8_registers>
  %p = tile.splat %out : !tile.ptr<f32> -> tensor<64x16x!tile.ptr<f32>, #float8_registers>
  tilegpu.store %p, %d : tensor<64x16x!tile.ptr<f32>, #float8_registers>, tensor<64x16xf32, #float8_registers>
  tile.return
}

// f32 is read as tf32.
// CHECK-LABEL: .entry tf32(
// CHECK: m64n24k8.f32.tf32.tf32 {{{.*}}}, da, db, q, 1, 1;
#tf32 = #tilegpu.layout<[64, 24], reg = [2:(0, 1), 2:(8, 0), 3:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @tf32(%out: !tile.ptr<f32>, %x: f32) grid() -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 24x32xf32, swizzle = 128>
  %b = tilegpu.slot %bs[%zero] : !tilegpu.ring<1 x 24x32xf32, swizzle = 128>
  %as = tilegpu.alloc : !tilegpu.ring<1 x 64x32xf32, swizzle = 128>
  %a = tilegpu.slot %as[%zero] : !tilegpu.ring<1 x 64x32xf32, swizzle = 128>
  %s = tilegpu.wgmma %a, %b {trans_b, warpgroups = 1 : i32}
      : !tilegpu.smem<64x32xf32, swizzle = 128>, !tilegpu.smem<24x32xf32, swizzle = 128> -> tensor<64x24xf32, #tf32>
  %d = tilegpu.wgmma_wait %s {pending = 0 : i32} : tensor<64x24xf32, #tf32>
  %p = tile.splat %out : !tile.ptr<f32> -> tensor<64x24x!tile.ptr<f32>, #tf32>
  tilegpu.store %p, %d : tensor<64x24x!tile.ptr<f32>, #tf32>, tensor<64x24xf32, #tf32>
  tile.return
}

// The same, A in registers.
// CHECK-LABEL: .entry tf32_registers(
// CHECK: m64n24k8.f32.tf32.tf32 {{{.*}}}, {%r{{[0-9]+}}, {{.*}}}, db, p, 1, 1;
// CHECK-NEXT: add.s64 db, {{.*}}, 2;
#tf32_registers = #tilegpu.layout<[64, 24], reg = [2:(0, 1), 2:(8, 0), 3:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
#tf32_registers_a = #tilegpu.layout<[64, 16], reg = [2:(8, 0), 2:(0, 4), 2:(0, 8)],
    lane = [4:(0, 1), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @tf32_registers(%out: !tile.ptr<f32>, %in: !tile.ptr<f32>, %x: f32) grid() -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 24x16xf32, swizzle = 64>
  %b = tilegpu.slot %bs[%zero] : !tilegpu.ring<1 x 24x16xf32, swizzle = 64>
  %from = tile.splat %in : !tile.ptr<f32> -> tensor<64x16x!tile.ptr<f32>, #tf32_registers_a>
  %a = tilegpu.load %from : tensor<64x16x!tile.ptr<f32>, #tf32_registers_a> -> tensor<64x16xf32, #tf32_registers_a>
  %c = tile.splat %x : f32 -> tensor<64x24xf32, #tf32_registers>
  %s = tilegpu.wgmma %a, %b, %c {trans_b, warpgroups = 1 : i32}
      : tensor<64x16xf32, #tf32_registers_a>, !tilegpu.smem<24x16xf32, swizzle = 64> -> tensor<64x24xf32, #tf32_registers>
  %d = tilegpu.wgmma_wait %s {pending = 0 : i32} : tensor<64x24xf32, #tf32_registers>
  %p = tile.splat %out : !tile.ptr<f32> -> tensor<64x24x!tile.ptr<f32>, #tf32_registers>
  tilegpu.store %p, %d : tensor<64x24x!tile.ptr<f32>, #tf32_registers>, tensor<64x24xf32, #tf32_registers>
  tile.return
}
