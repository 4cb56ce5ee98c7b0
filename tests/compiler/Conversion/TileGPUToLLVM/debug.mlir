// RUN: fa-translate --target=sm_80 --emit=ptx %s | FileCheck %s

// The message, then a trap, in all threads after the first has printed.
// CHECK: .extern .func {{.*}} vprintf
// CHECK-LABEL: .entry k(
// CHECK: bar{{.*}}red.or.pred
// CHECK: call.uni (retval0), vprintf
// CHECK: bar.sync
// CHECK: trap;
// CHECK: call.uni (retval0), vprintf
tile.kernel @k(%n: i32) grid(n) -> (1) {
  %zero = arith.constant 0 : i32
  %positive = arith.cmpi sgt, %n, %zero : i32
  tile.assert %positive, "n must be positive" : i1
  tile.print "n", %n : i32
  tile.return
}
