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
