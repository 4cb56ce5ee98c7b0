// Loops of attention that go on where another ended are one sequence: the tiles
// without a mask, then those with one. Warpgroups take turns.
//
// RUN: fa-opt %forward --tile-optimize -o %t.mlir
// RUN: fa-opt %t.mlir --remarks --pass-pipeline='builtin.module(tilegpu-specialize-arguments,tile.kernel(convert-tile-to-tilegpu{num-warps=4 target=sm_90a},cse,loop-invariant-code-motion,tilegpu-defer-sums,tilegpu-specialize-warps,tilegpu-overlap-products))' -o %t.one 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: FileCheck %s --input-file=%t.one

// ONE: Remark="the first product of a tile runs beside the second of the one before"
// ONE: Remark="the first product of a tile runs beside the second of the one before"
// ONE: Remark="the loop goes on while the last product of the one before runs"
// A single warpgroup has nobody to take turns with.
// ONE-NOT: in turns

// CHECK-LABEL: tile.kernel @flash_attention_forward(
// CHECK: } consumer {
// If any of the loops runs: the first tile is that of the first that does.
// CHECK: scf.if %{{.*}} -> (
// CHECK: %[[FIRST:.*]]:{{[0-9]+}} = scf.if %{{.*}} -> ({{.*}}) {
// CHECK: tilegpu.wgmma
// CHECK: } else {
// CHECK: tilegpu.wgmma
// CHECK: }
// CHECK: %[[INNER:.*]]:{{[0-9]+}} = scf.for {{.*}} iter_args({{.*}} = %[[FIRST]]#0
// CHECK: }
// CHECK: scf.for {{.*}} iter_args({{.*}} = %[[INNER]]#0
// Nothing was waited for between the loops: the last product is behind both.
// CHECK: }
// CHECK: tilegpu.wgmma
// CHECK: tilegpu.wgmma_wait
