// RUN: fa-opt %S/Inputs/flash-attention-causal.mlir --tile-optimize | FileCheck %s
// RUN: fa-opt %S/Inputs/flash-attention-causal.mlir --tile-optimize --tile-optimize | FileCheck %s

// The whole pipeline on flash attention as it is written: nothing in the input
// shortens the loop, separates the diagonal or mentions exp2.

// CHECK-LABEL: tile.kernel @flash_attention_causal
// CHECK-SAME: %q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>
// The scale and log2(e) are one scalar, once.
// CHECK: %[[SCALE:.*]] = tile.assume %softmax_scale
// CHECK: %[[C:.*]] = arith.mulf %[[SCALE]], %{{.*}} : f32
// CHECK: %[[CT:.*]] = tile.splat %[[C]] : f32 -> tensor<64x64xf32>
// The future is not visited: the loops end before the keys do.
// CHECK: %[[CUT:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK: %[[END:.*]] = arith.trunci %{{.*}} : i64 to i32

// The interior: no masks, no bounds, no pointers carried, maximum unscaled.
// CHECK: %[[I:.*]]:3 = scf.for %[[N:.*]] = %c0_i32 to %[[CUT]] step %c64_i32
// CHECK-NOT: arith.cmpi
// CHECK-NOT: tile.advance
// CHECK: %[[N64:.*]] = arith.extsi %[[N]] : i32 to i64
// CHECK-DAG: tile.make_block_ptr %k shape[%{{.*}}, %c64_i64] strides[%c64_i64, %c1_i64] offsets[%[[N64]], %c0_i64]
// CHECK-DAG: tile.make_block_ptr %v shape[%{{.*}}, %c64_i64] strides[%c64_i64, %c1_i64] offsets[%[[N64]], %c0_i64]
// CHECK-COUNT-2: in_bounds = array<i1: true, true>
// CHECK: %[[S:.*]] = tile.dot
// CHECK: tile.max %[[S]] axis 1
// CHECK-NOT: tensor<64x64xi1>
// One multiply-add and one exp2 for a score.
// CHECK: %[[E:.*]] = math.fma %[[S]], %[[CT]], %{{.*}} : tensor<64x64xf32>
// CHECK-NEXT: tile.exp2 %[[E]] fastmath<afn> : tensor<64x64xf32>
// CHECK-NOT: math.fma
// CHECK-NOT: tile.exp2 {{.*}} : tensor<64x64xf32>
// CHECK-NOT: tile.exp {{.*}}
// CHECK: } {tile.part = "interior"}

// The diagonal and the ragged end: masked, and the same otherwise.
// CHECK: scf.for %{{.*}} = %[[CUT]] to %[[END]] step %c64_i32 iter_args(%{{.*}} = %[[I]]#0, %{{.*}} = %[[I]]#1, %{{.*}} = %[[I]]#2)
// CHECK: %[[S2:.*]] = tile.dot
// CHECK: arith.cmpi slt
// CHECK: arith.cmpi sle
// CHECK: %[[MASKED:.*]] = arith.select %{{.*}}, %[[S2]], %{{.*}} : tensor<64x64xi1>
// CHECK: tile.max %[[MASKED]] axis 1
// CHECK: math.fma %[[MASKED]], %[[CT]], %{{.*}} : tensor<64x64xf32>
// CHECK-NEXT: tile.exp2
// CHECK-NOT: tile.exp {{.*}}
// CHECK: } {tile.part = "masked"}
// CHECK-NOT: scf.for

// The log-sum-exp after the loops gets the scale back.
// CHECK: arith.mulf %{{.*}}#0, %{{.*}} : tensor<64xf32>
// CHECK: tile.log
