// RUN: fa-opt %s | fa-opt | FileCheck %s
// RUN: fa-opt %s --mlir-print-op-generic | fa-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @windows
tile.kernel @windows(%x: !tile.ptr<bf16>, %n: i64, %m: i64) grid(n, m) -> (1) {
  %zero = arith.constant 0 : i64
  // CHECK: tile.make_block_ptr %x shape[%n] strides[%m] offsets[%{{.*}}] : !tile.ptr<bf16> -> !tile.block_ptr<1xbf16>
  %p1 = tile.make_block_ptr %x shape [%n] strides [%m] offsets [%zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<1xbf16>
  // CHECK: tile.make_block_ptr %x shape[%n, %m] strides[%m, %n] offsets[%{{.*}}, %m] {order = array<i32: 1, 0>} : !tile.ptr<bf16> -> !tile.block_ptr<24x40xbf16>
  %p2 = tile.make_block_ptr %x shape [%n, %m] strides [%m, %n] offsets [%zero, %m]
      {order = array<i32: 1, 0>} : !tile.ptr<bf16> -> !tile.block_ptr<24x40xbf16>
  // CHECK: tile.make_block_ptr {{.*}} -> !tile.block_ptr<3x5x7xbf16>
  %p3 = tile.make_block_ptr %x shape [%n, %m, %n] strides [%m, %n, %n] offsets [%zero, %m, %n]
      : !tile.ptr<bf16> -> !tile.block_ptr<3x5x7xbf16>
  // CHECK: tile.make_block_ptr {{.*}} {order = array<i32: 2, 0, 3, 1>} : !tile.ptr<bf16> -> !tile.block_ptr<2x3x5x7xbf16>
  %p4 = tile.make_block_ptr %x shape [%n, %m, %n, %m] strides [%m, %n, %n, %n] offsets [%zero, %m, %n, %n]
      {order = array<i32: 2, 0, 3, 1>} : !tile.ptr<bf16> -> !tile.block_ptr<2x3x5x7xbf16>
  // The largest window.
  // CHECK: -> !tile.block_ptr<1024x1024xbf16>
  %p5 = tile.make_block_ptr %x shape [%n, %m] strides [%m, %n] offsets [%zero, %m]
      : !tile.ptr<bf16> -> !tile.block_ptr<1024x1024xbf16>
  // CHECK: tile.advance %{{.*}}, [%n] : !tile.block_ptr<1xbf16>
  %q1 = tile.advance %p1, [%n] : !tile.block_ptr<1xbf16>
  // CHECK: tile.advance %{{.*}}, [%n, %{{.*}}, %m, %n] : !tile.block_ptr<2x3x5x7xbf16>
  %q4 = tile.advance %p4, [%n, %zero, %m, %n] : !tile.block_ptr<2x3x5x7xbf16>
  // CHECK: %[[V:.*]] = tile.load %{{.*}} : !tile.block_ptr<24x40xbf16>
  %v = tile.load %p2 : !tile.block_ptr<24x40xbf16>
  // The default padding is not written.
  // CHECK: tile.load %{{[0-9]+}} : !tile.block_ptr<24x40xbf16>
  %v0 = tile.load %p2 padding zero : !tile.block_ptr<24x40xbf16>
  // CHECK: tile.load %{{.*}} padding nan {in_bounds = array<i1: true, false>} : !tile.block_ptr<24x40xbf16>
  %v1 = tile.load %p2 padding nan {in_bounds = array<i1: true, false>} : !tile.block_ptr<24x40xbf16>
  // CHECK: tile.load %{{.*}} padding neg_inf : !tile.block_ptr<3x5x7xbf16>
  %v2 = tile.load %p3 padding neg_inf : !tile.block_ptr<3x5x7xbf16>
  // CHECK: tile.store %{{.*}}, %[[V]] : !tile.block_ptr<24x40xbf16>
  tile.store %p2, %v : !tile.block_ptr<24x40xbf16>
  // CHECK: tile.store %{{.*}}, %{{.*}} {in_bounds = array<i1: false, true, true>} : !tile.block_ptr<3x5x7xbf16>
  tile.store %p3, %v2 {in_bounds = array<i1: false, true, true>} : !tile.block_ptr<3x5x7xbf16>
  // CHECK: tile.atomic_add %{{.*}}, %{{.*}} : !tile.block_ptr<24x40xbf16>
  %old = tile.atomic_add %p2, %v : !tile.block_ptr<24x40xbf16>
  tile.return
}

// A format with NaN but no infinity may be padded with NaN, one with both with both.
// CHECK-LABEL: tile.kernel @narrow_padding
tile.kernel @narrow_padding(%x: !tile.ptr<f8E4M3FN>, %y: !tile.ptr<f8E5M2>, %n: i64) grid(n) -> (1) {
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%n] : !tile.ptr<f8E4M3FN> -> !tile.block_ptr<20xf8E4M3FN>
  // CHECK: tile.load %{{.*}} padding nan : !tile.block_ptr<20xf8E4M3FN>
  %v = tile.load %p padding nan : !tile.block_ptr<20xf8E4M3FN>
  %q = tile.make_block_ptr %y shape [%n] strides [%n] offsets [%n] : !tile.ptr<f8E5M2> -> !tile.block_ptr<20xf8E5M2>
  // CHECK: tile.load %{{.*}} padding neg_inf : !tile.block_ptr<20xf8E5M2>
  %w = tile.load %q padding neg_inf : !tile.block_ptr<20xf8E5M2>
  tile.return
}

// CHECK-LABEL: tile.kernel @pointers
tile.kernel @pointers(%x: !tile.ptr<f32>, %n: i64, %k: i32, %c: i1, %f: f32) grid(n, k, c) -> (1) {
  // CHECK: tile.addptr %x, %n : !tile.ptr<f32>, i64
  %p = tile.addptr %x, %n : !tile.ptr<f32>, i64
  // CHECK: tile.addptr %x, %k : !tile.ptr<f32>, i32
  %q = tile.addptr %x, %k : !tile.ptr<f32>, i32
  %i = tile.full 3 : i64 -> tensor<3x5xi64>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<3x5x!tile.ptr<f32>>
  // CHECK: tile.addptr %{{.*}}, %{{.*}} : tensor<3x5x!tile.ptr<f32>>, tensor<3x5xi64>
  %ps = tile.addptr %xs, %i : tensor<3x5x!tile.ptr<f32>>, tensor<3x5xi64>
  // CHECK: tile.load %{{.*}} : !tile.ptr<f32>
  %v = tile.load %p : !tile.ptr<f32>
  // CHECK: tile.load %{{.*}} mask %c : !tile.ptr<f32>
  %v1 = tile.load %p mask %c : !tile.ptr<f32>
  // CHECK: tile.load %{{.*}} mask %c other %f : !tile.ptr<f32>
  %v2 = tile.load %p mask %c other %f : !tile.ptr<f32>
  %m = tile.splat %c : i1 -> tensor<3x5xi1>
  // CHECK: %[[VS:.*]] = tile.load %{{.*}} : tensor<3x5x!tile.ptr<f32>>
  %vs = tile.load %ps : tensor<3x5x!tile.ptr<f32>>
  // CHECK: tile.load %{{.*}} mask %{{.*}} other %[[VS]] {test.note} : tensor<3x5x!tile.ptr<f32>>
  %vs1 = tile.load %ps mask %m other %vs {test.note} : tensor<3x5x!tile.ptr<f32>>
  // CHECK: tile.store %{{.*}}, %f : !tile.ptr<f32>
  tile.store %p, %f : !tile.ptr<f32>
  // CHECK: tile.store %{{.*}}, %f mask %c : !tile.ptr<f32>
  tile.store %p, %f mask %c : !tile.ptr<f32>
  // CHECK: tile.store %{{.*}}, %[[VS]] mask %{{.*}} : tensor<3x5x!tile.ptr<f32>>
  tile.store %ps, %vs mask %m : tensor<3x5x!tile.ptr<f32>>
  // CHECK: tile.atomic_add %{{.*}}, %f : !tile.ptr<f32>
  %o = tile.atomic_add %p, %f : !tile.ptr<f32>
  // CHECK: tile.atomic_add %{{.*}}, %f mask %c : !tile.ptr<f32>
  %o1 = tile.atomic_add %p, %f mask %c : !tile.ptr<f32>
  // CHECK: tile.atomic_add %{{.*}}, %[[VS]] mask %{{.*}} : tensor<3x5x!tile.ptr<f32>>
  %o2 = tile.atomic_add %ps, %vs mask %m : tensor<3x5x!tile.ptr<f32>>
  tile.return
}

// CHECK-LABEL: tile.kernel @atomic_types
tile.kernel @atomic_types(%a: !tile.ptr<f64>, %b: !tile.ptr<f16>, %c: !tile.ptr<bf16>, %d: !tile.ptr<i32>, %e: !tile.ptr<i64>, %n: i64)
    grid(n) -> (1) {
  %va = tile.load %a : !tile.ptr<f64>
  // CHECK: tile.atomic_add %a, %{{.*}} : !tile.ptr<f64>
  %oa = tile.atomic_add %a, %va : !tile.ptr<f64>
  %vb = tile.load %b : !tile.ptr<f16>
  // CHECK: tile.atomic_add %b, %{{.*}} : !tile.ptr<f16>
  %ob = tile.atomic_add %b, %vb : !tile.ptr<f16>
  %vc = tile.load %c : !tile.ptr<bf16>
  // CHECK: tile.atomic_add %c, %{{.*}} : !tile.ptr<bf16>
  %oc = tile.atomic_add %c, %vc : !tile.ptr<bf16>
  %vd = tile.load %d : !tile.ptr<i32>
  // CHECK: tile.atomic_add %d, %{{.*}} : !tile.ptr<i32>
  %od = tile.atomic_add %d, %vd : !tile.ptr<i32>
  // CHECK: tile.atomic_add %e, %n : !tile.ptr<i64>
  %oe = tile.atomic_add %e, %n : !tile.ptr<i64>
  tile.return
}
