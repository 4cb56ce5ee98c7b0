// RUN: fa-opt %s --remarks --pass-pipeline='builtin.module(tile.kernel(tilegpu-defer-sums))' -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file %t

#acc = #tilegpu.layout<[64, 16], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
#rows = #tilegpu.layout<[64], reg = [2:(8)], lane = [4:(0), 8:(1)], warp = [4:(16)]>
#column = #tilegpu.layout<[64, 1], reg = [2:(8, 0)], lane = [4:(0, 0), 8:(1, 0)], warp = [4:(16, 0)]>
!tile = tensor<64x16xf32, #acc>
!rows = tensor<64xf32, #rows>

// Each thread has four of a row's sixteen columns: its part of the sum is one
// of four columns. Both loops carry parts; they are added up behind the second.
// CHECK-LABEL: tile.kernel @two_loops
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64x4xf32, #tilegpu.layout<[64, 4], reg = [2:(8, 0)], lane = [4:(0, 1), 8:(1, 0)], warp = [4:(16, 0)]>>
// CHECK: %[[FIRST:.*]] = scf.for {{.*}} iter_args(%[[OLD:.*]] = %[[ZERO]])
// The factor of a row is that of its parts.
// CHECK:   %[[WIDE:.*]] = tile.expand_dims %{{.*}} axis 1
// CHECK:   %[[FACTOR:.*]] = tile.broadcast %[[WIDE]] : {{.*}} -> tensor<64x4xf32, 
// CHECK:   %[[SCALED:.*]] = arith.mulf %[[OLD]], %[[FACTOR]]
// CHECK:   %[[PART:.*]] = tilegpu.partial_sum %{{.*}} axis 1
// CHECK:   %[[NEW:.*]] = arith.addf %[[SCALED]], %[[PART]]
// CHECK:   scf.yield %[[NEW]]
// CHECK: %[[SECOND:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]])
// CHECK: %[[SUM:.*]] = tile.sum %[[SECOND]] axis 1
// CHECK: tilegpu.store %{{.*}}, %[[SUM]]
// REMARK-COUNT-2: [Passed] CarriedSum {{.*}}"each thread carries its part of the sum"
tile.kernel @two_loops(%o: !tile.ptr<f32>, %n: i32, %factor: f32) grid(n) -> (1)
    attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %extent = arith.constant 64 : i64
  %p = tile.full 2.0 : f32 -> !tile
  %half = tile.splat %factor : f32 -> !rows
  %init = arith.constant dense<0.0> : !rows
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%l = %init) -> (!rows) : i32 {
    %scaled = arith.mulf %l, %half : !rows
    %s = tile.sum %p axis 1 : !tile -> !rows
    %new = arith.addf %scaled, %s : !rows
    scf.yield %new : !rows
  }
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%l = %a) -> (!rows) : i32 {
    %s = tile.sum %p axis 1 : !tile -> !rows
    %new = arith.addf %s, %l : !rows
    scf.yield %new : !rows
  }
  %w = tile.make_block_ptr %o shape[%extent] strides[%one] offsets[%zero] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  tilegpu.store %w, %b : !tile.block_ptr<64xf32>, !rows
  tile.return
}

// What is no linear sum stays: the loop needs the whole sum in each iteration, it
// starts with something, or it is a maximum. No remarks.
// CHECK-LABEL: tile.kernel @others
// CHECK-NOT: tilegpu.partial_sum
// CHECK: tile.return
// REMARK-NOT: remark:
tile.kernel @others(%o: !tile.ptr<f32>, %n: i32, %x: f32) grid(n) -> (1)
    attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %extent = arith.constant 64 : i64
  %p = tile.full 2.0 : f32 -> !tile
  %init = arith.constant dense<0.0> : !rows
  %xs = tile.splat %x : f32 -> !rows
  // Used twice: as the factor of itself.
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%l = %init) -> (!rows) : i32 {
    %squared = arith.mulf %l, %l : !rows
    %s = tile.sum %p axis 1 : !tile -> !rows
    %new = arith.addf %squared, %s : !rows
    scf.yield %new : !rows
  }
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%l = %xs) -> (!rows) : i32 {
    %s = tile.sum %p axis 1 : !tile -> !rows
    %new = arith.addf %l, %s : !rows
    scf.yield %new : !rows
  }
  %m = scf.for %i = %c0 to %n step %c1 iter_args(%l = %init) -> (!rows) : i32 {
    %s = tile.max %p axis 1 : !tile -> !rows
    %new = arith.addf %l, %s : !rows
    scf.yield %new : !rows
  }
  %w = tile.make_block_ptr %o shape[%extent] strides[%one] offsets[%zero] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  tilegpu.store %w, %a : !tile.block_ptr<64xf32>, !rows
  tilegpu.store %w, %b : !tile.block_ptr<64xf32>, !rows
  tilegpu.store %w, %m : !tile.block_ptr<64xf32>, !rows
  tile.return
}
