// RUN: fa-opt %s | fa-opt | FileCheck %s

#acc = #tilegpu.layout<[64, 16], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
#operand = #tilegpu.layout<[64, 16], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>

// CHECK-LABEL: tile.kernel @products
tile.kernel @products(%i: i32) grid(i) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %as = tilegpu.alloc : !tilegpu.ring<1 x 64x16xbf16, swizzle = 32>
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 16x16xbf16, swizzle = 32>
  %a = tilegpu.slot %as[%i] : !tilegpu.ring<1 x 64x16xbf16, swizzle = 32>
  %b = tilegpu.slot %bs[%i] : !tilegpu.ring<1 x 16x16xbf16, swizzle = 32>
  // CHECK: %[[S:.*]] = tilegpu.wgmma %{{.*}}, %{{.*}} {trans_b, warpgroups = 1 : i32} : !tilegpu.smem<64x16xbf16, swizzle = 32>, <16x16xbf16, swizzle = 32> -> tensor<64x16xf32, #{{.*}}>
  %s = tilegpu.wgmma %a, %b {trans_b, warpgroups = 1 : i32}
      : !tilegpu.smem<64x16xbf16, swizzle = 32>, !tilegpu.smem<16x16xbf16, swizzle = 32>
      -> tensor<64x16xf32, #acc>
  // CHECK: tilegpu.load_shared %{{.*}} : <64x16xbf16, swizzle = 32> -> tensor<64x16xbf16, #{{.*}}>
  %p = tilegpu.load_shared %a : !tilegpu.smem<64x16xbf16, swizzle = 32> -> tensor<64x16xbf16, #operand>
  // CHECK: %[[T:.*]] = tilegpu.wgmma %{{.*}}, %{{.*}}, %[[S]] {warpgroups = 1 : i32} : tensor<64x16xbf16, #{{.*}}>, <16x16xbf16, swizzle = 32> -> tensor
  %t = tilegpu.wgmma %p, %b, %s {warpgroups = 1 : i32}
      : tensor<64x16xbf16, #operand>, !tilegpu.smem<16x16xbf16, swizzle = 32>
      -> tensor<64x16xf32, #acc>
  // CHECK: tilegpu.wgmma_wait %[[S]], %[[T]] {pending = 0 : i32} : tensor<64x16xf32, #{{.*}}>, tensor<64x16xf32, #{{.*}}>
  %d:2 = tilegpu.wgmma_wait %s, %t {pending = 0 : i32}
      : tensor<64x16xf32, #acc>, tensor<64x16xf32, #acc>
  tile.return
}

#rows = affine_map<()[rows, columns] -> (rows)>
#area = affine_map<()[rows, columns] -> (rows * columns)>

// CHECK-LABEL: tile.kernel @copies
tile.kernel @copies(%x: !tile.ptr<bf16>, %rows: i32, %columns: i32) grid(rows, columns) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 8 : i32} {
  %zero = arith.constant 0 : i32
  // CHECK: %[[MAP:.*]] = tilegpu.tensor_map {argument = 0 : i64, extents = [64, #{{.*}}], strides = [64]} : <64x64xbf16, swizzle = 128>
  %map = tilegpu.tensor_map {argument = 0 : i64, extents = [64, #rows], strides = [64]}
      : !tilegpu.tensor_map<64x64xbf16, swizzle = 128>
  // CHECK: tilegpu.tensor_map {argument = 0 : i64, extents = [#{{.*}}], offset = #{{.*}}, padding = #tile<padding nan>, strides = []} : <256xbf16, swizzle = 0>
  %flat = tilegpu.tensor_map {argument = 0 : i64, extents = [#area], strides = [],
      offset = #rows, padding = #tile<padding nan>} : !tilegpu.tensor_map<256xbf16, swizzle = 0>
  // CHECK: %[[FULL:.*]] = tilegpu.mbarriers {arrivals = 1 : i32} : <2>
  %full = tilegpu.mbarriers {arrivals = 1 : i32} : !tilegpu.mbarriers<2>
  %ring = tilegpu.alloc : !tilegpu.ring<2 x 64x64xbf16, swizzle = 128>
  %slot = tilegpu.slot %ring[%zero] : !tilegpu.ring<2 x 64x64xbf16, swizzle = 128>
  // CHECK: tilegpu.warp_specialize {consumer_registers = 240 : i32, producer_registers = 24 : i32} producer {
  tilegpu.warp_specialize {producer_registers = 24 : i32, consumer_registers = 240 : i32} producer {
    // CHECK: tilegpu.mbarrier_expect %[[FULL]][%{{.*}}] {bytes = 8192 : i32} : <2>
    tilegpu.mbarrier_expect %full[%zero] {bytes = 8192 : i32} : !tilegpu.mbarriers<2>
    // CHECK: tilegpu.tma_load %[[MAP]][%{{.*}}, %{{.*}}] to %[[SLOT:.*]] signal %[[FULL]][%{{.*}}] : <64x64xbf16, swizzle = 128>, <64x64xbf16, swizzle = 128>, <2>
    tilegpu.tma_load %map[%zero, %rows] to %slot signal %full[%zero]
        : !tilegpu.tensor_map<64x64xbf16, swizzle = 128>,
          !tilegpu.smem<64x64xbf16, swizzle = 128>, !tilegpu.mbarriers<2>
  // CHECK: } consumer {
  } consumer {
    // CHECK: tilegpu.mbarrier_wait %[[FULL]][%{{.*}}] phase %{{.*}} : <2>
    tilegpu.mbarrier_wait %full[%zero] phase %zero : !tilegpu.mbarriers<2>
    // CHECK: tilegpu.mbarrier_arrive %[[FULL]][%{{.*}}] : <2>
    tilegpu.mbarrier_arrive %full[%zero] : !tilegpu.mbarriers<2>
    // CHECK: tilegpu.named_barrier sync %{{.*}} {threads = 256 : i32}
    tilegpu.named_barrier sync %rows {threads = 256 : i32}
    // CHECK: tilegpu.named_barrier arrive %{{.*}} {threads = 128 : i32}
    tilegpu.named_barrier arrive %rows {threads = 128 : i32}
    // CHECK: tilegpu.fence_proxy
    tilegpu.fence_proxy
    // CHECK: tilegpu.tma_store %[[SLOT]] to %[[MAP]][%{{.*}}, %{{.*}}] : <64x64xbf16, swizzle = 128>, <64x64xbf16, swizzle = 128>
    tilegpu.tma_store %slot to %map[%zero, %rows]
        : !tilegpu.smem<64x64xbf16, swizzle = 128>, !tilegpu.tensor_map<64x64xbf16, swizzle = 128>
    // CHECK: tilegpu.tma_store_wait {pending = 1 : i32, read}
    tilegpu.tma_store_wait {pending = 1 : i32, read}
    // CHECK: tilegpu.tma_store_wait {pending = 0 : i32}
    tilegpu.tma_store_wait {pending = 0 : i32}
  }
  tile.return
}
