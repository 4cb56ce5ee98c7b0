// RUN: fa-translate --target=sm_90a --emit=ptx %S/../../../../kernels/flash_attention_forward.mlir -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx
// RUN: fa-translate --target=sm_80 --emit=ptx --num-warps=1 %s | FileCheck %s --check-prefix=ALL

// Where warpgroups have roles, elements of a counter are compared as constants,
// with what is left of the limit behind the thread's own part. Limits of less
// than -1 are -1, so that the smallest number does not wrap.
// CHECK: max.s32 %[[LIMIT:r[0-9]+]], %r{{[0-9]+}}, -1
// CHECK: sub.s32 %[[REST:r[0-9]+]], %[[LIMIT]],
// CHECK-DAG: setp.{{gt|lt|le|ge}}.s32 %p{{[0-9]+}}, %[[REST]], 0
// CHECK-DAG: setp.{{gt|lt|le|ge}}.s32 %p{{[0-9]+}}, %[[REST]], 1
// CHECK-DAG: setp.{{gt|lt|le|ge}}.s32 %p{{[0-9]+}}, %[[REST]], 8

// Elsewhere they are numbers.
// ALL-LABEL: .entry below(
// ALL-NOT: max.s32
// ALL: setp.{{gt|lt|le|ge}}.s32
tile.kernel @below(%z: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %at = tile.arange 0 to 128 : tensor<128xi32>
  %limit = tile.splat %n : i32 -> tensor<128xi32>
  %mask = arith.cmpi slt, %at, %limit : tensor<128xi32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %zp = tile.addptr %zs, %at : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %c = tile.full 1.0 : f32 -> tensor<128xf32>
  tile.store %zp, %c mask %mask : tensor<128x!tile.ptr<f32>>
  tile.return
}
