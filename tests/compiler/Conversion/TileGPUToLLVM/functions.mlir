// RUN: fa-translate --target=sm_80 --emit=ptx %s | FileCheck %s

// No library is called.
// CHECK-NOT: .extern .func
// CHECK-LABEL: .entry fast(
// CHECK: ex2.approx.ftz.f32
tile.kernel @fast(%x: !tile.ptr<f32>) grid() -> (1) {
  %v = tile.load %x : !tile.ptr<f32>
  %e = tile.exp %v fastmath<afn> : f32
  tile.store %x, %e : !tile.ptr<f32>
  tile.return
}

// CHECK-LABEL: .entry exact(
// CHECK-NOT: ex2.approx
// CHECK: fma.rn.f32
tile.kernel @exact(%x: !tile.ptr<f32>) grid() -> (1) {
  %v = tile.load %x : !tile.ptr<f32>
  %e = tile.exp %v : f32
  tile.store %x, %e : !tile.ptr<f32>
  tile.return
}

// Sines are computed in f64, for f32 too, and rounded once.
// CHECK-LABEL: .entry sine(
// CHECK: fma.rn.f64
// CHECK: cvt.rn.f32.f64
tile.kernel @sine(%x: !tile.ptr<f32>) grid() -> (1) {
  %v = tile.load %x : !tile.ptr<f32>
  %e = math.sin %v : f32
  tile.store %x, %e : !tile.ptr<f32>
  tile.return
}

// tanh and erf of f32 have code of their own.
// CHECK-LABEL: .entry hyperbolic(
// CHECK-NOT: f64
// CHECK: div.rn.f32
// CHECK: copysign.f32
tile.kernel @hyperbolic(%x: !tile.ptr<f32>) grid() -> (1) {
  %v = tile.load %x : !tile.ptr<f32>
  %t = math.tanh %v : f32
  %e = math.erf %t : f32
  tile.store %x, %e : !tile.ptr<f32>
  tile.return
}

// CHECK-LABEL: .entry fast_tanh(
// CHECK: ex2.approx.ftz.f32
// CHECK: rcp.approx.ftz.f32
// CHECK-NOT: tanh.approx
// CHECK: copysign.f32
tile.kernel @fast_tanh(%x: !tile.ptr<f32>) grid() -> (1) {
  %v = tile.load %x : !tile.ptr<f32>
  %t = math.tanh %v fastmath<afn> : f32
  tile.store %x, %t : !tile.ptr<f32>
  tile.return
}

// What f16 does not show is not computed.
// CHECK-LABEL: .entry narrow_tanh(
// CHECK: tanh.approx.f32
tile.kernel @narrow_tanh(%x: !tile.ptr<f16>) grid() -> (1) {
  %v = tile.load %x : !tile.ptr<f16>
  %t = math.tanh %v fastmath<afn> : f16
  tile.store %x, %t : !tile.ptr<f16>
  tile.return
}

// CHECK-LABEL: .entry reciprocal(
// CHECK: rcp.approx.ftz.f32
// CHECK: div
tile.kernel @reciprocal(%x: !tile.ptr<f32>) grid() -> (1) {
  %v = tile.load %x : !tile.ptr<f32>
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %r = arith.divf %one, %v fastmath<afn> : f32
  %q = arith.divf %two, %r : f32
  tile.store %x, %q : !tile.ptr<f32>
  tile.return
}

// Elements of their own are a table.
// CHECK-LABEL: .entry table(
// CHECK: ld.global{{.*}}.b32
tile.kernel @table(%x: !tile.ptr<i32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 8 : i64
  %w = tile.make_block_ptr %x shape [%n] strides [%one] offsets [%zero]
      : !tile.ptr<i32> -> !tile.block_ptr<8xi32>
  %t = arith.constant dense<[3, 1, 4, 1, 5, 9, 2, 6]> : tensor<8xi32>
  tile.store %w, %t : !tile.block_ptr<8xi32>
  tile.return
}
