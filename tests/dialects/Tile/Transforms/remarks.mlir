// RUN: fa-opt %s --tile-optimize --remarks -o %t 2>&1 | FileCheck %s
// RUN: fa-opt %s --tile-optimize -o %t 2>&1 | FileCheck %s --allow-empty --check-prefix=SILENT

// --remarks prints each decision that was left, with its place in the source,
// its pass and its kernel; without it nothing is printed.
// CHECK: remarks.mlir:[[@LINE+5]]:8: remark: [Missed] NotAfn | Category:tile-exp-to-exp2 | Function=plain
// CHECK-SAME: it does not carry fastmath<afn>
// CHECK-NOT: remark:
// SILENT-NOT: remark
tile.kernel @plain(%x: !tile.ptr<f32>, %a: f32) grid() -> (1) {
  %e = tile.exp %a : f32
  tile.store %x, %e : !tile.ptr<f32>
  tile.return
}
