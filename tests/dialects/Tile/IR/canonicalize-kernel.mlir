// RUN: fa-opt %s --canonicalize --loop-invariant-code-motion | FileCheck %s

// CHECK-LABEL: tile.kernel @facts
// CHECK-SAME:    (%[[N:.*]]: i32)
// CHECK:         %[[C:.*]] = arith.constant 8 : i32
// CHECK:         %[[A:.*]] = tile.assume %[[N]] {divisible_by = 8 : i64} : i32
// CHECK:         tile.print "facts", %[[C]], %[[N]], %[[A]]
tile.kernel @facts(%n: i32) grid(n) -> (1) {
  %eight = arith.constant 8 : i32
  %0 = tile.assume %eight {min = 0 : i32} : i32
  %1 = tile.assume %n : i32
  %2 = tile.assume %n {divisible_by = 8 : i64} : i32
  tile.print "facts", %0, %1, %2 : i32, i32, i32
  tile.return
}

// What holds needs no check; what fails is kept for the launch to report.
// CHECK-LABEL: tile.kernel @asserts
// CHECK-NOT:     "holds"
// CHECK:         tile.assert %{{.*}}, "fails" : i1
// CHECK-NEXT:    tile.assert %{{.*}}, "fails in part" : tensor<2xi1>
// CHECK-NEXT:    tile.assert %c, "unknown" : i1
// CHECK-NEXT:    tile.return
tile.kernel @asserts(%c: i1) grid(c) -> (1) {
  %true = arith.constant true
  %false = arith.constant false
  %all = tile.full true -> tensor<2xi1>
  %some = arith.constant dense<[true, false]> : tensor<2xi1>
  tile.assert %true, "holds" : i1
  tile.assert %all, "holds" : tensor<2xi1>
  tile.assert %false, "fails" : i1
  tile.assert %some, "fails in part" : tensor<2xi1>
  tile.assert %c, "unknown" : i1
  tile.return
}

// A fact holds where it is stated: behind a condition, or in a loop that may run
// zero times. It goes where nothing uses it.
// CHECK-LABEL: tile.kernel @facts_are_not_hoisted
// CHECK:         scf.if
// CHECK-NEXT:      tile.assume %n {min = 1 : i32} : i32
// CHECK:         scf.for
// CHECK-NEXT:      tile.assume %n {min = 2 : i32} : i32
// CHECK-NOT:     min = 3
tile.kernel @facts_are_not_hoisted(%c: i1, %n: i32) grid(c, n) -> (1) {
  %lower = arith.constant 0 : index
  %step = arith.constant 1 : index
  %upper = arith.index_cast %n : i32 to index
  scf.if %c {
    %0 = tile.assume %n {min = 1 : i32} : i32
    tile.print "guarded", %0 : i32
  }
  scf.for %i = %lower to %upper step %step {
    %0 = tile.assume %n {min = 2 : i32} : i32
    tile.print "in a loop", %0 : i32
    %1 = tile.assume %n {min = 3 : i32} : i32
  }
  tile.return
}
