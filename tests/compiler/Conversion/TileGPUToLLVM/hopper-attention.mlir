// Flash attention forward, head dimension 128, whole tiles only, as the compiler
// is to write it: one producer, two warpgroups, rings of two buffers; the softmax
// of one block of keys runs while P * V of the block before it does, whose P is
// carried in packed registers. %scale includes log2(e).
// RUN: fa-translate --target=sm_90a --emit=ptx %s -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: %if ptxas %{ %ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS %}

// PTXAS-NOT: C75
// PTXAS: 0 bytes spill stores, 0 bytes spill loads
// PTXAS: Used 168 registers, used 2 barriers
// PTXAS-NOT: C75

// The first block of keys.
// CHECK: setmaxnreg.inc
// CHECK: wgmma.commit_group
// CHECK: wgmma.wait_group.sync.aligned 0;
// The loop: two groups are issued before the first wait.
// CHECK: mbarrier.try_wait
// CHECK: wgmma.fence
// CHECK-COUNT-8: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{.*}}, da, db, {{.*}}, 1, 1, 0, 0;
// CHECK: wgmma.commit_group
// CHECK: mbarrier.try_wait
// CHECK: wgmma.fence
// CHECK-COUNT-8: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{.*}}}, db, p, 1, 1, 1;
// CHECK: wgmma.commit_group
// CHECK: wgmma.wait_group.sync.aligned 1;
// One fused multiply-add and one exponential for each element, which run before
// the second wait; packing comes after it and takes one conversion a pair.
// CHECK-COUNT-64: fma.rn.f32
// CHECK-NOT: cvt.rn.bf16
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK-COUNT-32: cvt.rn.bf16x2.f32
// CHECK-NOT: cvt.rn.bf16.f32
// CHECK: bra

#acc = #tilegpu.layout<[128, 128], reg = [2:(0, 1), 2:(8, 0), 16:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0), 2:(64, 0)]>
#row = #tilegpu.layout<[128], reg = [2:(8)], lane = [4:(0), 8:(1)], warp = [4:(16), 2:(64)]>
#column = #tilegpu.layout<[128, 1], reg = [2:(8, 0)],
    lane = [4:(0, 0), 8:(1, 0)], warp = [4:(16, 0), 2:(64, 0)]>
#rows = affine_map<()[rows, heads] -> (rows)>
#heads = affine_map<()[rows, heads] -> (heads)>
#head = affine_map<()[rows, heads] -> (rows * 128)>
!map = !tilegpu.tensor_map<1x128x128xbf16, swizzle = 128>
!slot = !tilegpu.smem<128x128xbf16, swizzle = 128>
!ring1 = !tilegpu.ring<1 x 128x128xbf16, swizzle = 128>
!ring2 = !tilegpu.ring<2 x 128x128xbf16, swizzle = 128>
!one = !tilegpu.mbarriers<1>
!two = !tilegpu.mbarriers<2>
!score = tensor<128x128xf32, #acc>
!packed = tensor<128x128xbf16, #acc>
!rows = tensor<128xf32, #row>
!column = tensor<128x1xf32, #column>

tile.kernel @attention(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<bf16>,
                       %rows: i32, %heads: i32, %scale: f32)
    grid(rows, heads) -> (rows ceildiv 128, heads)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 8 : i32} {
  %zero = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %size = arith.constant 128 : i32
  %x = tile.program_id x
  %h = tile.program_id y
  %row = arith.muli %x, %size : i32
  %steps = arith.divui %rows, %size : i32
  %mapq = tilegpu.tensor_map {argument = 0 : i64, extents = [128, #rows, #heads], strides = [128, #head]} : !map
  %mapk = tilegpu.tensor_map {argument = 1 : i64, extents = [128, #rows, #heads], strides = [128, #head]} : !map
  %mapv = tilegpu.tensor_map {argument = 2 : i64, extents = [128, #rows, #heads], strides = [128, #head]} : !map
  %mapo = tilegpu.tensor_map {argument = 3 : i64, extents = [128, #rows, #heads], strides = [128, #head]} : !map
  %qfull = tilegpu.mbarriers {arrivals = 1 : i32} : !one
  %kfull = tilegpu.mbarriers {arrivals = 1 : i32} : !two
  %kempty = tilegpu.mbarriers {arrivals = 8 : i32} : !two
  %vfull = tilegpu.mbarriers {arrivals = 1 : i32} : !two
  %vempty = tilegpu.mbarriers {arrivals = 8 : i32} : !two
  %qring = tilegpu.alloc : !ring1
  %kring = tilegpu.alloc : !ring2
  %vring = tilegpu.alloc : !ring2
  %qs = tilegpu.slot %qring[%zero] : !ring1
  tilegpu.warp_specialize {producer_registers = 24 : i32, consumer_registers = 240 : i32} producer {
    tilegpu.mbarrier_expect %qfull[%zero] {bytes = 32768 : i32} : !one
    tilegpu.tma_load %mapq[%zero, %row, %h] to %qs signal %qfull[%zero] : !map, !slot, !one
    scf.for %j = %zero to %steps step %c1 : i32 {
      %at = arith.remui %j, %c2 : i32
      %round = arith.divui %j, %c2 : i32
      %parity = arith.remui %round, %c2 : i32
      %free = arith.subi %c1, %parity : i32
      %first = arith.muli %j, %size : i32
      tilegpu.mbarrier_wait %kempty[%at] phase %free : !two
      tilegpu.mbarrier_expect %kfull[%at] {bytes = 32768 : i32} : !two
      %ks = tilegpu.slot %kring[%at] : !ring2
      tilegpu.tma_load %mapk[%zero, %first, %h] to %ks signal %kfull[%at] : !map, !slot, !two
      tilegpu.mbarrier_wait %vempty[%at] phase %free : !two
      tilegpu.mbarrier_expect %vfull[%at] {bytes = 32768 : i32} : !two
      %vs = tilegpu.slot %vring[%at] : !ring2
      tilegpu.tma_load %mapv[%zero, %first, %h] to %vs signal %vfull[%at] : !map, !slot, !two
    }
  } consumer {
    %factor = tile.splat %scale : f32 -> !score
    %rfactor = tile.splat %scale : f32 -> !rows
    %none = tile.full 0xFF800000 : f32 -> !rows
    %o0 = tile.full 0.0 : f32 -> !score
    %l0 = tile.full 0.0 : f32 -> !rows
    tilegpu.mbarrier_wait %qfull[%zero] phase %zero : !one
    tilegpu.mbarrier_wait %kfull[%zero] phase %zero : !two
    %k0 = tilegpu.slot %kring[%zero] : !ring2
    %i0 = tilegpu.wgmma %qs, %k0 {trans_b, warpgroups = 2 : i32} : !slot, !slot -> !score
    %s0 = tilegpu.wgmma_wait %i0 {pending = 0 : i32} : !score
    tilegpu.mbarrier_arrive %kempty[%zero] : !two
    %mx1 = tile.max %s0 axis 1 : !score -> !rows
    %m1 = arith.maximumf %none, %mx1 : !rows
    %ms1 = arith.mulf %m1, %rfactor : !rows
    %mn1 = arith.negf %ms1 : !rows
    %mc1 = tile.expand_dims %mn1 axis 1 : !rows -> !column
    %mb1 = tile.broadcast %mc1 : !column -> !score
    %sc1 = math.fma %s0, %factor, %mb1 : !score
    %p1 = tile.exp2 %sc1 fastmath<afn> : !score
    %d1 = arith.subf %none, %m1 : !rows
    %ds1 = arith.mulf %d1, %rfactor : !rows
    %a1 = tile.exp2 %ds1 fastmath<afn> : !rows
    %la1 = arith.mulf %l0, %a1 : !rows
    %sum1 = tile.sum %p1 axis 1 : !score -> !rows
    %l1 = arith.addf %la1, %sum1 : !rows
    %pk1 = tile.cast %p1 : !score -> !packed
    %f:4 = scf.for %j = %c1 to %steps step %c1 iter_args(%m = %m1, %l = %l1, %oo = %o0, %pp = %pk1)
        -> (!rows, !rows, !score, !packed) : i32 {
      %at = arith.remui %j, %c2 : i32
      %round = arith.divui %j, %c2 : i32
      %parity = arith.remui %round, %c2 : i32
      tilegpu.mbarrier_wait %kfull[%at] phase %parity : !two
      %ks = tilegpu.slot %kring[%at] : !ring2
      %is = tilegpu.wgmma %qs, %ks {trans_b, warpgroups = 2 : i32} : !slot, !slot -> !score
      %before = arith.subi %j, %c1 : i32
      %vat = arith.remui %before, %c2 : i32
      %vround = arith.divui %before, %c2 : i32
      %vparity = arith.remui %vround, %c2 : i32
      tilegpu.mbarrier_wait %vfull[%vat] phase %vparity : !two
      %vs = tilegpu.slot %vring[%vat] : !ring2
      %io = tilegpu.wgmma %pp, %vs, %oo {warpgroups = 2 : i32} : !packed, !slot -> !score
      %s = tilegpu.wgmma_wait %is {pending = 1 : i32} : !score
      tilegpu.mbarrier_arrive %kempty[%at] : !two
      %mx2 = tile.max %s axis 1 : !score -> !rows
      %m2 = arith.maximumf %m, %mx2 : !rows
      %ms2 = arith.mulf %m2, %rfactor : !rows
      %mn2 = arith.negf %ms2 : !rows
      %mc2 = tile.expand_dims %mn2 axis 1 : !rows -> !column
      %mb2 = tile.broadcast %mc2 : !column -> !score
      %sc2 = math.fma %s, %factor, %mb2 : !score
      %p2 = tile.exp2 %sc2 fastmath<afn> : !score
      %d2 = arith.subf %m, %m2 : !rows
      %ds2 = arith.mulf %d2, %rfactor : !rows
      %a2 = tile.exp2 %ds2 fastmath<afn> : !rows
      %la2 = arith.mulf %l, %a2 : !rows
      %sum2 = tile.sum %p2 axis 1 : !score -> !rows
      %l2 = arith.addf %la2, %sum2 : !rows
      %w:2 = tilegpu.wgmma_wait %io, %p2 {pending = 0 : i32} : !score, !score
      tilegpu.mbarrier_arrive %vempty[%vat] : !two
      %pk2 = tile.cast %w#1 : !score -> !packed
      %ac = tile.expand_dims %a2 axis 1 : !rows -> !column
      %ab = tile.broadcast %ac : !column -> !score
      %on = arith.mulf %w#0, %ab : !score
      scf.yield %m2, %l2, %on, %pk2 : !rows, !rows, !score, !packed
    }
    %last = arith.subi %steps, %c1 : i32
    %vat = arith.remui %last, %c2 : i32
    %vround = arith.divui %last, %c2 : i32
    %vparity = arith.remui %vround, %c2 : i32
    tilegpu.mbarrier_wait %vfull[%vat] phase %vparity : !two
    %vs = tilegpu.slot %vring[%vat] : !ring2
    %io = tilegpu.wgmma %f#3, %vs, %f#2 {warpgroups = 2 : i32} : !packed, !slot -> !score
    %of = tilegpu.wgmma_wait %io {pending = 0 : i32} : !score
    %lc = tile.expand_dims %f#1 axis 1 : !rows -> !column
    %lb = tile.broadcast %lc : !column -> !score
    %od = arith.divf %of, %lb : !score
    %on = tile.cast %od : !score -> !packed
    // Every warpgroup is done with Q, whose place the result takes.
    tilegpu.barrier
    tilegpu.store_shared %on to %qs : !packed, !slot
    tilegpu.fence_proxy
    tilegpu.barrier
    tilegpu.tma_store %qs to %mapo[%zero, %row, %h] : !slot, !map
    tilegpu.tma_store_wait {pending = 0 : i32, read}
  }
  tile.return
}
