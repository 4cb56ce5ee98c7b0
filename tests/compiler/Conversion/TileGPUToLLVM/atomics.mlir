// RUN: fa-translate --target=sm_80 --emit=ptx %s | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: fa-translate --target=sm_90a --emit=ptx %s | FileCheck %s --check-prefixes=CHECK,SM90

// One thread adds, and all get the result: by a shuffle from the first lane and
// through shared memory from the first warp.
// CHECK-LABEL: .entry used(
// CHECK: atom.relaxed.gpu.global.add.u32
// CHECK: shfl.sync.idx.b32
// CHECK: st.shared.b32
// CHECK: bar.sync
// CHECK: ld.shared.b32
tile.kernel @used(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>) grid() -> (1) {
  %one = arith.constant 1 : i32
  %old = tile.atomic_add %x, %one : !tile.ptr<i32>
  tile.store %y, %old : !tile.ptr<i32>
  tile.return
}

// CHECK-LABEL: .entry unused(
// CHECK: atom.relaxed.gpu.global.add.noftz.f16
// SM80: atom{{.*}}.cas
// SM90: atom.relaxed.gpu.global.add.noftz.bf16
// CHECK-NOT: shfl
// CHECK: ret;
tile.kernel @unused(%x: !tile.ptr<f16>, %y: !tile.ptr<bf16>) grid() -> (1) {
  %h = arith.constant 1.0 : f16
  %a = tile.atomic_add %x, %h : !tile.ptr<f16>
  %b = arith.constant 1.0 : bf16
  %c = tile.atomic_add %y, %b : !tile.ptr<bf16>
  tile.return
}
