// RUN: fa-opt %s --verify-diagnostics --remarks --pass-pipeline='builtin.module(tile.kernel(tile-exp-to-exp2))' | FileCheck %s
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-exp-to-exp2{assume-afn=true}))' | FileCheck %s --check-prefix=AFN

// Without afn, exp keeps the accuracy of its contract; in f64 and in the narrow
// types log2(e) would cost more than it gives. The option speaks for f32 alone.
// CHECK-LABEL: tile.kernel @kept
// AFN-LABEL: tile.kernel @kept
tile.kernel @kept(%x: !tile.ptr<f32>, %a: f32, %b: f64) grid() -> (1) {
  // CHECK: tile.exp %a : f32
  // AFN: tile.exp2 %{{.*}} : f32
  // expected-remark @below {{exponential stays: it does not carry fastmath<afn>}}
  %e = tile.exp %a : f32
  // CHECK: tile.exp %b
  // AFN: tile.exp %b
  // expected-remark @below {{exponential stays: only f32 takes the detour by exp2}}
  %f = tile.exp %b fastmath<afn> : f64
  %h = tile.cast %a : f32 -> bf16
  // CHECK: tile.exp %{{.*}} fastmath<afn> : bf16
  // AFN: tile.exp %{{.*}} fastmath<afn> : bf16
  // expected-remark @below {{exponential stays: only f32 takes the detour by exp2}}
  %g = tile.exp %h fastmath<afn> : bf16
  tile.store %x, %e : !tile.ptr<f32>
  %f32 = tile.cast %f : f64 -> f32
  %g32 = tile.cast %g : bf16 -> f32
  tile.store %x, %f32 : !tile.ptr<f32>
  tile.store %x, %g32 : !tile.ptr<f32>
  tile.return
}
