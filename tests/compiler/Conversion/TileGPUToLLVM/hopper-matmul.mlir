// A whole kernel as the compiler is to write it: C = A * B^T in tiles of
// 128 x 128, one producer, two warpgroups of consumers, a ring of four buffers
// for each operand, one product in flight while the next is issued.
// RUN: fa-translate --target=sm_90a --emit=ptx %s -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: fa-translate --target=sm_90a --emit=llvm-dialect %s | FileCheck %s --check-prefix=HOST
// RUN: not fa-translate --target=sm_80 --emit=ptx %s 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: %if ptxas %{ %ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS %}

// What ptxas would say where it serialises products or ignores budgets of
// registers: C75xx.
// PTXAS-NOT: C75
// PTXAS: 0 bytes spill stores, 0 bytes spill loads
// PTXAS: Used 168 registers, used 2 barriers
// PTXAS-NOT: C75

// TARGET: error: expected target 'sm_90a', for which the kernel's layouts are, but got 'sm_80'

// What a launcher needs: three tensor maps after the arguments.
// HOST-DAG: #[[DEPTH:.*]] = affine_map<()[s0, s1, s2] -> (s2)>
// HOST-DAG: #[[ROWS:.*]] = affine_map<()[s0, s1, s2] -> (s0)>
// HOST-DAG: #[[COLUMNS:.*]] = affine_map<()[s0, s1, s2] -> (s1)>
// HOST: llvm.func @matmul(
// HOST-SAME: %arg5: i32, %arg6: !llvm.ptr {llvm.align = 128 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
// HOST-SAME: nvvm.maxntid = array<i32: 384, 1, 1>, nvvm.minctasm = 1 : i32
// HOST-SAME: shared_bytes = 163904
// HOST-SAME: tilegpu.num_threads = 384
// HOST-SAME: tilegpu.tensor_maps = [{argument = 0 : i64, box = array<i64: 64, 128>, element = bf16, extents = [#[[DEPTH]], #[[ROWS]]], padding = "zero", strides = [#[[DEPTH]]], swizzle = 128 : i64},
// HOST-SAME: {argument = 1 : i64,
// HOST-SAME: {argument = 2 : i64, box = array<i64: 64, 128>, element = bf16, extents = [#[[COLUMNS]], #[[ROWS]]], padding = "zero", strides = [#[[COLUMNS]]], swizzle = 128 : i64}]

// CHECK-LABEL: .entry matmul(
// CHECK: .param .align 128 .b8 matmul_param_6[128]
// CHECK: .maxntid 384
// CHECK: .minnctapersm 1
// The maps stay where they are: a copy would be in local memory.
// CHECK-NOT: .local
// CHECK-COUNT-3: cvta.param.u64
// CHECK-COUNT-4: mbarrier.init.shared::cta.b64 [{{.*}}], 1;
// CHECK-COUNT-4: mbarrier.init.shared::cta.b64 [{{.*}}], 8;
// CHECK: fence.mbarrier_init
// CHECK: fence.proxy.async;
// CHECK: bar.sync 0;
// The producer: one thread.
// CHECK: setmaxnreg.dec.sync.aligned.u32 40;
// CHECK: elect.sync
// CHECK: mbarrier.try_wait.parity
// CHECK: mbarrier.arrive.expect_tx.shared::cta.b64 _, [{{.*}}], 32768;
// CHECK-COUNT-2: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// CHECK-NOT: cp.async.bulk.tensor
// The consumers: products of one step in one group, the one before waited for.
// CHECK: setmaxnreg.inc.sync.aligned.u32 232;
// CHECK: mbarrier.try_wait.parity
// CHECK: wgmma.fence
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// CHECK-NOT: wgmma.mma_async
// CHECK: wgmma.commit_group
// CHECK-NEXT: }
// CHECK: wgmma.wait_group.sync.aligned 1;
// One arrival a warp, by a predicate and not by a branch.
// CHECK: @p mbarrier.arrive.shared::cta.b64
// CHECK: wgmma.wait_group.sync.aligned 0;
// Results are packed in pairs, stored as matrices and copied by one thread.
// CHECK-COUNT-32: cvt.rn.bf16x2.f32
// CHECK-COUNT-8: stmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: fence.proxy.async.shared::cta;
// CHECK: bar.warp.sync
// CHECK: bar.sync 1, 256;
// CHECK: elect.sync
// CHECK-COUNT-2: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
// CHECK: cp.async.bulk.commit_group;
// CHECK: cp.async.bulk.wait_group.read 0;

#rows = affine_map<()[m, n, k] -> (m)>
#columns = affine_map<()[m, n, k] -> (n)>
#depth = affine_map<()[m, n, k] -> (k)>
#acc = #tilegpu.layout<[128, 128], reg = [2:(0, 1), 2:(8, 0), 16:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0), 2:(64, 0)]>
!slot = !tilegpu.smem<128x64xbf16, swizzle = 128>
!ring = !tilegpu.ring<4 x 128x64xbf16, swizzle = 128>

tile.kernel @matmul(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<bf16>,
                    %m: i32, %n: i32, %k: i32)
    grid(m, n, k) -> (m ceildiv 128, n ceildiv 128)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 8 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %four = arith.constant 4 : i32
  %depth = arith.constant 64 : i32
  %size = arith.constant 128 : i32
  %x = tile.program_id x
  %y = tile.program_id y
  %row = arith.muli %x, %size : i32
  %column = arith.muli %y, %size : i32
  %steps = arith.ceildivsi %k, %depth : i32
  %mapA = tilegpu.tensor_map {argument = 0 : i64, extents = [#depth, #rows], strides = [#depth]}
      : !tilegpu.tensor_map<128x64xbf16, swizzle = 128>
  %mapB = tilegpu.tensor_map {argument = 1 : i64, extents = [#depth, #columns], strides = [#depth]}
      : !tilegpu.tensor_map<128x64xbf16, swizzle = 128>
  %mapC = tilegpu.tensor_map {argument = 2 : i64, extents = [#columns, #rows], strides = [#columns]}
      : !tilegpu.tensor_map<128x128xbf16, swizzle = 128>
  %full = tilegpu.mbarriers {arrivals = 1 : i32} : !tilegpu.mbarriers<4>
  %empty = tilegpu.mbarriers {arrivals = 8 : i32} : !tilegpu.mbarriers<4>
  %ringA = tilegpu.alloc : !ring
  %ringB = tilegpu.alloc : !ring
  %ringC = tilegpu.alloc : !tilegpu.ring<1 x 128x128xbf16, swizzle = 128>
  tilegpu.warp_specialize {producer_registers = 40 : i32, consumer_registers = 232 : i32} producer {
    scf.for %j = %zero to %steps step %one : i32 {
      %at = arith.remui %j, %four : i32
      %round = arith.divui %j, %four : i32
      %parity = arith.remui %round, %two : i32
      %free = arith.subi %one, %parity : i32
      tilegpu.mbarrier_wait %empty[%at] phase %free : !tilegpu.mbarriers<4>
      tilegpu.mbarrier_expect %full[%at] {bytes = 32768 : i32} : !tilegpu.mbarriers<4>
      %slotA = tilegpu.slot %ringA[%at] : !ring
      %slotB = tilegpu.slot %ringB[%at] : !ring
      %x0 = arith.muli %j, %depth : i32
      tilegpu.tma_load %mapA[%x0, %row] to %slotA signal %full[%at]
          : !tilegpu.tensor_map<128x64xbf16, swizzle = 128>, !slot, !tilegpu.mbarriers<4>
      tilegpu.tma_load %mapB[%x0, %column] to %slotB signal %full[%at]
          : !tilegpu.tensor_map<128x64xbf16, swizzle = 128>, !slot, !tilegpu.mbarriers<4>
    }
  } consumer {
    %start = tile.full 0.0 : f32 -> tensor<128x128xf32, #acc>
    %sum = scf.for %j = %zero to %steps step %one iter_args(%old = %start)
        -> (tensor<128x128xf32, #acc>) : i32 {
      %at = arith.remui %j, %four : i32
      %round = arith.divui %j, %four : i32
      %parity = arith.remui %round, %two : i32
      tilegpu.mbarrier_wait %full[%at] phase %parity : !tilegpu.mbarriers<4>
      %slotA = tilegpu.slot %ringA[%at] : !ring
      %slotB = tilegpu.slot %ringB[%at] : !ring
      %issued = tilegpu.wgmma %slotA, %slotB, %old {trans_b, warpgroups = 2 : i32}
          : !slot, !slot -> tensor<128x128xf32, #acc>
      // The product before this one is done: its buffers are free.
      %new = tilegpu.wgmma_wait %issued {pending = 1 : i32} : tensor<128x128xf32, #acc>
      %first = arith.cmpi eq, %j, %zero : i32
      %before = arith.subi %j, %one : i32
      %free = arith.remui %before, %four : i32
      scf.if %first {
      } else {
        tilegpu.mbarrier_arrive %empty[%free] : !tilegpu.mbarriers<4>
      }
      scf.yield %new : tensor<128x128xf32, #acc>
    }
    %done = tilegpu.wgmma_wait %sum {pending = 0 : i32} : tensor<128x128xf32, #acc>
    %narrow = tile.cast %done : tensor<128x128xf32, #acc> -> tensor<128x128xbf16, #acc>
    %slotC = tilegpu.slot %ringC[%zero] : !tilegpu.ring<1 x 128x128xbf16, swizzle = 128>
    tilegpu.store_shared %narrow to %slotC
        : tensor<128x128xbf16, #acc>, !tilegpu.smem<128x128xbf16, swizzle = 128>
    tilegpu.fence_proxy
    tilegpu.barrier
    tilegpu.tma_store %slotC to %mapC[%column, %row]
        : !tilegpu.smem<128x128xbf16, swizzle = 128>, !tilegpu.tensor_map<128x128xbf16, swizzle = 128>
    tilegpu.tma_store_wait {pending = 0 : i32, read}
  }
  tile.return
}
