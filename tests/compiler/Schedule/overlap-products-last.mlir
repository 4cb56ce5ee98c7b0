// Attention: what the first product adds to, and what is done beside the last.
//
// RUN: fa-opt %forward --tile-optimize -o %t.mlir
// RUN: fa-opt %t.mlir --pass-pipeline='builtin.module(tilegpu-specialize-arguments,tile.kernel(convert-tile-to-tilegpu{num-warps=4 target=sm_90a},cse,loop-invariant-code-motion,tilegpu-defer-sums,tilegpu-order-programs,tilegpu-specialize-warps,tilegpu-overlap-products,canonicalize,cse))' | FileCheck %s

// CHECK-LABEL: tile.kernel @flash_attention_forward(
// CHECK: %[[ZERO:cst[_0-9]*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32
// CHECK: } consumer {
// CHECK: scf.for %[[ROUND:[a-z0-9]+]] =
// Nothing but results needs the program's position: what windows of keys needed it
// for, the producer does.
// CHECK-NOT: tile.addptr
// CHECK: %[[ALL:.*]]:6 = scf.if
// Zeros remain zeros whatever the first tile scales them by, and are not scaled.
// CHECK: %{{.*}}:6 = scf.for {{.*}}= %[[ZERO]], %
// The last product.
// CHECK: } {tile.part = "masked"}
// CHECK: tilegpu.wgmma %
// CHECK-NEXT: arith.addi
// CHECK-NEXT: scf.yield
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK: arith.muli %[[ROUND]]
// CHECK: arith.divui
// CHECK: arith.remui
// CHECK: %[[L:.*]] = tile.sum %[[ALL]]#2 axis 1
// CHECK: %[[QUOTIENT:.*]] = arith.divf
// CHECK-NEXT: %[[INVERSE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[QUOTIENT]]
// CHECK: %[[LOG:.*]] = tile.log %[[L]]
// CHECK-NEXT: %[[LSE:.*]] = arith.addf %{{.*}}, %[[LOG]]
// Few elements of a thread, finished before the wait, also for an assembler.
// CHECK: tilegpu.schedule_fence first %[[INVERSE]]
// CHECK-NEXT: tilegpu.schedule_fence %[[INVERSE]]
// CHECK-NEXT: tilegpu.schedule_fence first %[[LSE]]
// CHECK-NEXT: tilegpu.schedule_fence %[[LSE]]
// CHECK-NEXT: %[[DONE:.*]]:3 = tilegpu.wgmma_wait %[[ALL]]#1, %[[INVERSE]], %[[LSE]] {pending = 0 : i32}
// CHECK: tile.broadcast %[[DONE]]#1
// CHECK: tilegpu.store %{{[^,]*}}, %[[DONE]]#2
