// Questions about whole tiles: one barrier, which carries the answer.
// RUN: fa-translate --target=sm_90a --emit=ptx %s -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: %if ptxas %{ %ptxas -arch=sm_90a %t.ptx -o %t.cubin %}

// All threads. The barrier also orders the store before the load after it: there
// is no other.
// CHECK-LABEL: .entry everyone(
// CHECK: st.global
// CHECK-NOT: bar
// CHECK: bar.red.or.pred %p{{[0-9]+}}, 0, %p{{[0-9]+}};
// CHECK-NOT: bar
// CHECK: ld.global
// CHECK: ret;
#row = #tilegpu.layout<[128], reg = [], lane = [32:(1)], warp = [4:(32)]>
tile.kernel @everyone(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>, %n: i32) grid(n) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %i = tile.arange 0 to 128 : tensor<128xi32, #row>
  %base = tile.splat %x : !tile.ptr<i32> -> tensor<128x!tile.ptr<i32>, #row>
  %p = tile.addptr %base, %i : tensor<128x!tile.ptr<i32>, #row>, tensor<128xi32, #row>
  tilegpu.store %p, %i : tensor<128x!tile.ptr<i32>, #row>, tensor<128xi32, #row>
  %limit = tile.splat %n : i32 -> tensor<128xi32, #row>
  %beyond = arith.cmpi sge, %i, %limit : tensor<128xi32, #row>
  %some = tilegpu.any %beyond : tensor<128xi1, #row>
  %read = tile.load %x : !tile.ptr<i32>
  %answer = arith.extui %some : i1 to i32
  %sum = arith.addi %read, %answer : i32
  tile.store %y, %sum : !tile.ptr<i32>
  tile.return
}

// In roles: the consumers among themselves. 16-bit floats that are not finite
// are found by words, two at a time.
// CHECK-LABEL: .entry roles(
// CHECK: add.s32 {{.*}}, 8388736;
// CHECK: add.s32 {{.*}}, 8388736;
// CHECK-NEXT: or.b32
// CHECK-NEXT: and.b32 {{.*}}, -2147450880;
// CHECK-NEXT: setp.ne.b32
// CHECK-NEXT: bar.red.or.pred %p{{[0-9]+}}, 1, 256, %p{{[0-9]+}};
// CHECK-NOT: bar.
// CHECK: ret;
#words = #tilegpu.layout<[1024], reg = [4:(1)], lane = [32:(4)], warp = [8:(128)]>
tile.kernel @roles(%x: !tile.ptr<bf16>, %y: !tile.ptr<i32>) grid() -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 8 : i32} {
  %zero = arith.constant 0 : i32
  %b = tilegpu.mbarriers {arrivals = 1 : i32} : !tilegpu.mbarriers<1>
  tilegpu.warp_specialize {producer_registers = 24 : i32, consumer_registers = 240 : i32} producer {
    tilegpu.mbarrier_arrive %b[%zero] : !tilegpu.mbarriers<1>
  } consumer {
    %i = tile.arange 0 to 1024 : tensor<1024xi32, #words>
    %base = tile.splat %x : !tile.ptr<bf16> -> tensor<1024x!tile.ptr<bf16>, #words>
    %p = tile.addptr %base, %i : tensor<1024x!tile.ptr<bf16>, #words>, tensor<1024xi32, #words>
    %v = tilegpu.load %p : tensor<1024x!tile.ptr<bf16>, #words> -> tensor<1024xbf16, #words>
    %inf = arith.constant dense<0x7F80> : tensor<1024xbf16, #words>
    %yes = arith.constant dense<true> : tensor<1024xi1, #words>
    %size = math.absf %v : tensor<1024xbf16, #words>
    %finite = arith.cmpf olt, %size, %inf : tensor<1024xbf16, #words>
    %not = arith.xori %finite, %yes : tensor<1024xi1, #words>
    %some = tilegpu.any %not : tensor<1024xi1, #words>
    %answer = arith.extui %some : i1 to i32
    tile.store %y, %answer : !tile.ptr<i32>
  }
  tile.return
}

// A loop that may not run orders nothing: the load after it waits.
// CHECK-LABEL: .entry perhaps(
// CHECK: st.global
// CHECK: bar.red.or.pred
// CHECK: bar.sync 0;
// CHECK: ld.global
tile.kernel @perhaps(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>, %n: i32) grid(n) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %no = arith.constant false
  %i = tile.arange 0 to 128 : tensor<128xi32, #row>
  %base = tile.splat %x : !tile.ptr<i32> -> tensor<128x!tile.ptr<i32>, #row>
  %p = tile.addptr %base, %i : tensor<128x!tile.ptr<i32>, #row>, tensor<128xi32, #row>
  tilegpu.store %p, %i : tensor<128x!tile.ptr<i32>, #row>, tensor<128xi32, #row>
  %found = scf.for %k = %zero to %n step %one iter_args(%before = %no) -> (i1) : i32 {
    %limit = tile.splat %k : i32 -> tensor<128xi32, #row>
    %beyond = arith.cmpi eq, %i, %limit : tensor<128xi32, #row>
    %some = tilegpu.any %beyond : tensor<128xi1, #row>
    %either = arith.ori %before, %some : i1
    scf.yield %either : i1
  }
  %read = tile.load %x : !tile.ptr<i32>
  %answer = arith.extui %found : i1 to i32
  %sum = arith.addi %read, %answer : i32
  tile.store %y, %sum : !tile.ptr<i32>
  tile.return
}

// Floats of 32 bits that are not finite: 0 times each is added up, in four chains.
// CHECK-LABEL: .entry floats(
// CHECK: mul.rn.f32 %[[A:r[0-9]+]], %{{r[0-9]+}}, 0f00000000;
// CHECK-NEXT: mul.rn.f32 %{{r[0-9]+}}, %{{r[0-9]+}}, 0f00000000;
// CHECK-NEXT: mul.rn.f32 %{{r[0-9]+}}, %{{r[0-9]+}}, 0f00000000;
// CHECK-NEXT: mul.rn.f32 %{{r[0-9]+}}, %{{r[0-9]+}}, 0f00000000;
// CHECK-NEXT: fma.rn.f32 %{{r[0-9]+}}, %{{r[0-9]+}}, 0f00000000, %[[A]];
// CHECK: setp.nan.f32 %[[P:p[0-9]+]],
// CHECK-NEXT: vote.sync.any.pred %p{{[0-9]+}}, %[[P]], -1;
#numbers = #tilegpu.layout<[1024], reg = [8:(1)], lane = [32:(8)], warp = [4:(256)]>
tile.kernel @floats(%x: !tile.ptr<f32>, %y: !tile.ptr<i32>) grid() -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %i = tile.arange 0 to 1024 : tensor<1024xi32, #numbers>
  %base = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>, #numbers>
  %p = tile.addptr %base, %i : tensor<1024x!tile.ptr<f32>, #numbers>, tensor<1024xi32, #numbers>
  %v = tilegpu.load %p : tensor<1024x!tile.ptr<f32>, #numbers> -> tensor<1024xf32, #numbers>
  %inf = arith.constant dense<0x7F800000> : tensor<1024xf32, #numbers>
  %yes = arith.constant dense<true> : tensor<1024xi1, #numbers>
  %size = math.absf %v : tensor<1024xf32, #numbers>
  %finite = arith.cmpf olt, %size, %inf : tensor<1024xf32, #numbers>
  %not = arith.xori %finite, %yes : tensor<1024xi1, #numbers>
  %some = tilegpu.any by_warp %not : tensor<1024xi1, #numbers>
  %answer = arith.extui %some : i1 to i32
  tile.store %y, %answer : !tile.ptr<i32>
  tile.return
}
