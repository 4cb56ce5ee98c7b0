// mbarriers, named barriers and fences, in and outside of roles.
// RUN: fa-translate --target=sm_90a --emit=ptx %s -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: %if ptxas %{ %ptxas -arch=sm_90a %t.ptx -o %t.cubin %}

// Without roles, the first warp's elected lane is the single thread, every warp
// arrives, every thread waits. The barriers are behind the 1024 bytes of scratch
// memory that the conversion needs.
// CHECK-LABEL: .entry everyone(
// CHECK: add{{.*}}, 1024;
// CHECK: mbarrier.init.shared::cta.b64 [{{.*}}], 4;
// CHECK: add{{.*}}, 1032;
// CHECK: mbarrier.init.shared::cta.b64 [{{.*}}], 4;
// CHECK: add{{.*}}, 1040;
// CHECK: mbarrier.init.shared::cta.b64 [{{.*}}], 1;
// CHECK: bar.sync 0;
// CHECK: elect.sync
// CHECK: mbarrier.arrive.expect_tx.shared::cta.b64 _, [{{.*}}], 4096;
// CHECK: setp.ne.b32 p, %r{{[0-9]+}}, 0;
// CHECK-NEXT: @p mbarrier.arrive.shared::cta.b64 _,
// CHECK: [[LOOP:W_[0-9]+]]:
// CHECK-NEXT: mbarrier.try_wait.parity.shared::cta.b64 p, [%r{{[0-9]+}}], %r{{[0-9]+}};
// CHECK-NEXT: @!p bra [[LOOP]];
// CHECK: bar.sync 0;
#row = #tilegpu.layout<[128], reg = [], lane = [32:(1)], warp = [4:(32)]>
#turned = #tilegpu.layout<[128], reg = [], lane = [32:(4)], warp = [4:(1)]>
tile.kernel @everyone(%x: !tile.ptr<i32>, %i: i32, %phase: i32) grid(i, phase) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %a = tilegpu.mbarriers {arrivals = 4 : i32} : !tilegpu.mbarriers<2>
  %b = tilegpu.mbarriers {arrivals = 1 : i32} : !tilegpu.mbarriers<1>
  tilegpu.mbarrier_expect %b[%i] {bytes = 4096 : i32} : !tilegpu.mbarriers<1>
  tilegpu.mbarrier_arrive %a[%i] : !tilegpu.mbarriers<2>
  tilegpu.mbarrier_wait %a[%i] phase %phase : !tilegpu.mbarriers<2>
  %v = tile.arange 0 to 128 : tensor<128xi32, #row>
  %w = tilegpu.convert_layout %v : tensor<128xi32, #row> -> tensor<128xi32, #turned>
  %p = tile.splat %x : !tile.ptr<i32> -> tensor<128x!tile.ptr<i32>, #turned>
  tilegpu.store %p, %w : tensor<128x!tile.ptr<i32>, #turned>, tensor<128xi32, #turned>
  tile.return
}

// In roles: the producer arrives as one thread and needs no predicate; barriers
// of the consumers, also those of conversions, leave the producer out.
// CHECK-LABEL: .entry roles(
// CHECK: bar.sync 0;
// CHECK: setmaxnreg.dec.sync.aligned.u32 24;
// CHECK: elect.sync
// CHECK-NOT: @p
// CHECK: mbarrier.arrive.shared::cta.b64 _,
// CHECK-NOT: bar.
// CHECK: fence.proxy.async.shared::cta;
// CHECK-NOT: bar.
// CHECK: setmaxnreg.inc.sync.aligned.u32 240;
// CHECK: fence.proxy.async.shared::cta;
// CHECK: bar.warp.sync
// CHECK: bar.sync 1, 256;
// CHECK-NOT: bar.sync 0
// CHECK: bar.sync %r{{[0-9]+}}, 256;
// CHECK: bar.arrive %r{{[0-9]+}}, 256;
// CHECK: bar.sync 1, 256;
// CHECK: bar.sync 1, 256;
// CHECK-NOT: bar.sync
#row8 = #tilegpu.layout<[256], reg = [], lane = [32:(1)], warp = [8:(32)]>
#turned8 = #tilegpu.layout<[256], reg = [], lane = [32:(8)], warp = [8:(1)]>
tile.kernel @roles(%x: !tile.ptr<i32>, %mine: i32, %other: i32) grid(mine, other) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 8 : i32} {
  %zero = arith.constant 0 : i32
  %b = tilegpu.mbarriers {arrivals = 1 : i32} : !tilegpu.mbarriers<1>
  tilegpu.warp_specialize {producer_registers = 24 : i32, consumer_registers = 240 : i32} producer {
    tilegpu.mbarrier_arrive %b[%zero] : !tilegpu.mbarriers<1>
    tilegpu.fence_proxy
  } consumer {
    tilegpu.fence_proxy
    tilegpu.barrier
    tilegpu.named_barrier sync %mine {threads = 256 : i32}
    tilegpu.named_barrier arrive %other {threads = 256 : i32}
    %v = tile.arange 0 to 256 : tensor<256xi32, #row8>
    %w = tilegpu.convert_layout %v : tensor<256xi32, #row8> -> tensor<256xi32, #turned8>
    %p = tile.splat %x : !tile.ptr<i32> -> tensor<256x!tile.ptr<i32>, #turned8>
    tilegpu.store %p, %w : tensor<256x!tile.ptr<i32>, #turned8>, tensor<256xi32, #turned8>
  }
  tile.return
}

// A word is read by the lane that arrives for its warp. The others, which would
// read what is there by then, get it from that one.
// CHECK-LABEL: .entry words(
// CHECK: elect.sync
// CHECK: st.shared.u32
// CHECK: setmaxnreg.inc.sync.aligned.u32 240;
// CHECK: setp.ne.b32 p, [[FIRST:%r[0-9]+]], 0;
// CHECK-NEXT: mov.b32 [[WORD:%r[0-9]+]], 0;
// CHECK-NEXT: @p ld.shared.u32 [[WORD]],
// CHECK: shfl.sync.idx.b32 %r{{[0-9]+}}, [[WORD]], 0,
// CHECK: setp.ne.b32 p, [[FIRST]], 0;
// CHECK-NEXT: @p mbarrier.arrive.shared::cta.b64
tile.kernel @words(%x: !tile.ptr<i32>, %n: i32) grid(n) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 8 : i32} {
  %zero = arith.constant 0 : i32
  %words = tilegpu.words : !tilegpu.words<1>
  %full = tilegpu.mbarriers {arrivals = 1 : i32} : !tilegpu.mbarriers<1>
  %empty = tilegpu.mbarriers {arrivals = 8 : i32} : !tilegpu.mbarriers<1>
  tilegpu.warp_specialize {producer_registers = 24 : i32, consumer_registers = 240 : i32} producer {
    tilegpu.write_word %n to %words[%zero] : !tilegpu.words<1>
    tilegpu.mbarrier_arrive %full[%zero] : !tilegpu.mbarriers<1>
  } consumer {
    tilegpu.mbarrier_wait %full[%zero] phase %zero : !tilegpu.mbarriers<1>
    %word = tilegpu.read_word %words[%zero] : !tilegpu.words<1>
    tilegpu.mbarrier_arrive %empty[%zero] : !tilegpu.mbarriers<1>
    %v = tile.splat %word : i32 -> tensor<256xi32, #row8>
    %p = tile.splat %x : !tile.ptr<i32> -> tensor<256x!tile.ptr<i32>, #row8>
    tilegpu.store %p, %v : tensor<256x!tile.ptr<i32>, #row8>, tensor<256xi32, #row8>
  }
  tile.return
}

// Waits return what they take: nothing is computed from it above them.
// CHECK-LABEL: .entry waits(
// CHECK-NOT: add{{.*}}f32
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: add{{.*}}f32
#acc = #tilegpu.layout<[64, 8], reg = [2:(0, 1), 2:(8, 0)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @waits(%x: !tile.ptr<f32>, %f: f32) grid() -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %a = tile.splat %f : f32 -> tensor<64x8xf32, #acc>
  %v:2 = tilegpu.wgmma_wait %a, %a {pending = 1 : i32} : tensor<64x8xf32, #acc>, tensor<64x8xf32, #acc>
  %s = arith.addf %v#0, %v#1 : tensor<64x8xf32, #acc>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<64x8x!tile.ptr<f32>, #acc>
  tilegpu.store %p, %s : tensor<64x8x!tile.ptr<f32>, #acc>, tensor<64x8xf32, #acc>
  tile.return
}

// Fences of the schedule compare one element, the last or the first one that the
// thread holds, with what no instruction makes.
// CHECK-LABEL: .entry schedule(
// CHECK: setp.eq.b32 p, [[SUM:%r[0-9]+]], 0x7fc0dead; mov.u32 a, 0; @p ld.volatile.shared.b32 a, [a];
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: setp.eq.b32 p, {{%r[0-9]+}}, 0x7fc0dead; @!p bra [[DONE:FENCE_[0-9]+]]; nanosleep.u32 0; [[DONE]]:
// CHECK: wgmma.wait_group.sync.aligned 0;
tile.kernel @schedule(%x: !tile.ptr<f32>, %f: f32) grid() -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %a = tile.splat %f : f32 -> tensor<64x8xf32, #acc>
  %s = arith.addf %a, %a : tensor<64x8xf32, #acc>
  tilegpu.schedule_fence first %s : tensor<64x8xf32, #acc>
  %v = tilegpu.wgmma_wait %a {pending = 1 : i32} : tensor<64x8xf32, #acc>
  %t = arith.mulf %v, %s : tensor<64x8xf32, #acc>
  tilegpu.schedule_fence %t : tensor<64x8xf32, #acc>
  %w = tilegpu.wgmma_wait %t {pending = 0 : i32} : tensor<64x8xf32, #acc>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<64x8x!tile.ptr<f32>, #acc>
  tilegpu.store %p, %w : tensor<64x8x!tile.ptr<f32>, #acc>, tensor<64x8xf32, #acc>
  tile.return
}

// What is made of a held tile's elements but the first comes behind the wait, where
// it stood before: selections that depend on what was waited for.
// CHECK-LABEL: .entry hold(
// CHECK: mul.rn.f32 [[FIRST:%r[0-9]+]], [[A:%r[0-9]+]], [[A]]
// CHECK: setp.eq.b32 p, [[FIRST]], 0x7fc0dead; mov.u32 a, 0;
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: setp.eq.b32 [[NEVER:%p[0-9]+]], [[DONE:%r[0-9]+]], 2143346349
// CHECK: selp.f32 [[BEHIND:%r[0-9]+]], [[DONE]], {{%r[0-9]+}}, [[NEVER]]
// CHECK: mul.rn.f32 {{%r[0-9]+}}, [[BEHIND]], [[BEHIND]]
tile.kernel @hold(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) grid() -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<64x8x!tile.ptr<f32>, #acc>
  %a = tilegpu.load %p : tensor<64x8x!tile.ptr<f32>, #acc> -> tensor<64x8xf32, #acc>
  %s = arith.mulf %a, %a : tensor<64x8xf32, #acc>
  tilegpu.schedule_fence first %s : tensor<64x8xf32, #acc>
  %r = tilegpu.load %p : tensor<64x8x!tile.ptr<f32>, #acc> -> tensor<64x8xf32, #acc>
  %v = tilegpu.wgmma_wait %r {pending = 0 : i32} : tensor<64x8xf32, #acc>
  tilegpu.schedule_hold %a behind %v : tensor<64x8xf32, #acc>, tensor<64x8xf32, #acc>
  %t = arith.addf %v, %s : tensor<64x8xf32, #acc>
  %q = tile.splat %y : !tile.ptr<f32> -> tensor<64x8x!tile.ptr<f32>, #acc>
  tilegpu.store %q, %t : tensor<64x8x!tile.ptr<f32>, #acc>, tensor<64x8xf32, #acc>
  tile.return
}

// What has been stored cannot come later: nothing is held.
// CHECK-LABEL: .entry used(
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK-NOT: selp
tile.kernel @used(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) grid() -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<64x8x!tile.ptr<f32>, #acc>
  %q = tile.splat %y : !tile.ptr<f32> -> tensor<64x8x!tile.ptr<f32>, #acc>
  %a = tilegpu.load %p : tensor<64x8x!tile.ptr<f32>, #acc> -> tensor<64x8xf32, #acc>
  %r = tilegpu.load %p : tensor<64x8x!tile.ptr<f32>, #acc> -> tensor<64x8xf32, #acc>
  %s = arith.mulf %a, %a : tensor<64x8xf32, #acc>
  tilegpu.store %q, %s : tensor<64x8x!tile.ptr<f32>, #acc>, tensor<64x8xf32, #acc>
  %v = tilegpu.wgmma_wait %r {pending = 0 : i32} : tensor<64x8xf32, #acc>
  tilegpu.schedule_hold %a behind %v : tensor<64x8xf32, #acc>, tensor<64x8xf32, #acc>
  %t = arith.addf %v, %a : tensor<64x8xf32, #acc>
  tilegpu.store %q, %t : tensor<64x8x!tile.ptr<f32>, #acc>, tensor<64x8xf32, #acc>
  tile.return
}
