// RUN: fa-opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(canonicalize,cse,loop-invariant-code-motion,tile-split-loops,canonicalize,cse))' | FileCheck %s
// Splitting what is split already changes nothing.
// RUN: fa-opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(canonicalize,cse,loop-invariant-code-motion,tile-split-loops,canonicalize,cse))' > %t.once
// RUN: fa-opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(canonicalize,cse,loop-invariant-code-motion,tile-split-loops,canonicalize,cse,tile-split-loops,canonicalize,cse))' > %t.twice
// RUN: diff %t.once %t.twice

// Keys up to and including the row's own: an interior, then the diagonal; the
// loop ends where every later key lies in the future of all rows.
// CHECK-LABEL: tile.kernel @causal
// CHECK-SAME: %[[N:[a-z]+]]: i32
tile.kernel @causal(%x: !tile.ptr<f32>, %n: i32) grid(n) -> (n ceildiv 16) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant 32 : i32
  %inf = tile.full 0xFF800000 : f32 -> tensor<16x32xf32>
  %m0 = tile.full 0xFF800000 : f32 -> tensor<16xf32>
  %l0 = tile.full 0.0 : f32 -> tensor<16xf32>
  %rows = tile.arange 0 to 16 : tensor<16xi32>
  %cols = tile.arange 0 to 32 : tensor<32xi32>
  %pid = tile.program_id x
  %start = arith.muli %pid, %c16 : i32
  %startt = tile.splat %start : i32 -> tensor<16xi32>
  %row = arith.addi %startt, %rows : tensor<16xi32>
  %row1 = tile.expand_dims %row axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %row2 = tile.broadcast %row1 : tensor<16x1xi32> -> tensor<16x32xi32>
  // One division for each bound, of a number that is not negative.
  // CHECK: %[[PID:.*]] = tile.program_id x
  // CHECK-COUNT-2: arith.divsi
  // CHECK-NOT: arith.divsi
  // CHECK: %[[LAST:.*]] = arith.trunci
  // CHECK: %[[ALL:.*]] = arith.trunci
  // CHECK: %[[I:.*]]:2 = scf.for %{{.*}} = %c0_i32 to %{{.*}} step %c32_i32
  // CHECK-NOT: arith.cmpi
  // CHECK: %[[SCORES:.*]] = tile.load
  // CHECK-NEXT: tile.max %[[SCORES]]
  // CHECK: } {tile.part = "interior"}
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[I]]#0, %{{.*}} = %[[I]]#1)
  // CHECK: arith.cmpi sle
  // CHECK: arith.select
  // CHECK: } {tile.part = "masked"}
  // CHECK-NOT: scf.for
  %m, %l = scf.for %k = %c0 to %n step %c32 iter_args(%m = %m0, %l = %l0) -> (tensor<16xf32>, tensor<16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<32xi32>
    %col = arith.addi %kt, %cols : tensor<32xi32>
    %col1 = tile.expand_dims %col axis 0 : tensor<32xi32> -> tensor<1x32xi32>
    %col2 = tile.broadcast %col1 : tensor<1x32xi32> -> tensor<16x32xi32>
    %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x32x!tile.ptr<f32>>
    %p = tile.addptr %base, %col2 : tensor<16x32x!tile.ptr<f32>>, tensor<16x32xi32>
    %scores = tile.load %p : tensor<16x32x!tile.ptr<f32>>
    %mask = arith.cmpi sle, %col2, %row2 : tensor<16x32xi32>
    %s = arith.select %mask, %scores, %inf : tensor<16x32xi1>, tensor<16x32xf32>
    %seen = tile.max %s axis 1 : tensor<16x32xf32> -> tensor<16xf32>
    %new = arith.maximumf %m, %seen : tensor<16xf32>
    %empty = arith.cmpf oeq, %new, %m0 : tensor<16xf32>
    %ref = arith.select %empty, %l0, %new : tensor<16xi1>, tensor<16xf32>
    %ref1 = tile.expand_dims %ref axis 1 : tensor<16xf32> -> tensor<16x1xf32>
    %ref2 = tile.broadcast %ref1 : tensor<16x1xf32> -> tensor<16x32xf32>
    %d = arith.subf %s, %ref2 : tensor<16x32xf32>
    %e = tile.exp %d : tensor<16x32xf32>
    %fall = arith.subf %m, %ref : tensor<16xf32>
    %alpha = tile.exp %fall : tensor<16xf32>
    %sum = tile.sum %e axis 1 : tensor<16x32xf32> -> tensor<16xf32>
    %ls = arith.mulf %l, %alpha : tensor<16xf32>
    %lnew = arith.addf %ls, %sum : tensor<16xf32>
    scf.yield %new, %lnew : tensor<16xf32>, tensor<16xf32>
  }
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %op = tile.addptr %o, %row : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
  %sum = arith.addf %m, %l : tensor<16xf32>
  tile.store %op, %sum : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// A band: keys behind the window are false first, future keys false last. The
// loop starts and ends where some key is visible, with masks at both ends.
// CHECK-LABEL: tile.kernel @sliding_window
tile.kernel @sliding_window(%x: !tile.ptr<f32>, %n: i32, %window: i32) grid(n, w) -> (n ceildiv 16) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %inf = tile.full 0xFF800000 : f32 -> tensor<16x16xf32>
  %m0 = tile.full 0xFF800000 : f32 -> tensor<16xf32>
  %zero = tile.full 0.0 : f32 -> tensor<16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %pid = tile.program_id x
  %start = arith.muli %pid, %c16 : i32
  %startt = tile.splat %start : i32 -> tensor<16xi32>
  %row = arith.addi %startt, %lane : tensor<16xi32>
  %row1 = tile.expand_dims %row axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %row2 = tile.broadcast %row1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %w2 = tile.splat %window : i32 -> tensor<16x16xi32>
  // CHECK-COUNT-4: arith.divsi
  // CHECK: %[[HEAD:.*]] = scf.for %{{.*}} = %[[FIRST:.*]] to %[[IFIRST:[^ ]*]] step
  // CHECK: arith.cmpi
  // CHECK: {tile.part = "masked"}
  // CHECK: %[[INTERIOR:.*]] = scf.for %{{.*}} = %[[IFIRST]] to %[[ILAST:[^ ]*]] step %{{.*}} iter_args(%{{.*}} = %[[HEAD]])
  // CHECK-NOT: arith.cmpi
  // CHECK: {tile.part = "interior"}
  // CHECK: scf.for %{{.*}} = %[[ILAST]] to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %[[INTERIOR]])
  // CHECK: arith.cmpi
  // CHECK: {tile.part = "masked"}
  // CHECK-NOT: scf.for
  %m = scf.for %k = %c0 to %n step %c16 iter_args(%m = %m0) -> (tensor<16xf32>) : i32 {
    %kt = tile.splat %k : i32 -> tensor<16xi32>
    %col = arith.addi %kt, %lane : tensor<16xi32>
    %col1 = tile.expand_dims %col axis 0 : tensor<16xi32> -> tensor<1x16xi32>
    %col2 = tile.broadcast %col1 : tensor<1x16xi32> -> tensor<16x16xi32>
    %base = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
    %p = tile.addptr %base, %col2 : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
    %scores = tile.load %p : tensor<16x16x!tile.ptr<f32>>
    %past = arith.cmpi sle, %col2, %row2 : tensor<16x16xi32>
    %age = arith.subi %row2, %col2 : tensor<16x16xi32>
    %near = arith.cmpi slt, %age, %w2 : tensor<16x16xi32>
    %mask = arith.andi %past, %near : tensor<16x16xi1>
    %s = arith.select %mask, %scores, %inf : tensor<16x16xi1>, tensor<16x16xf32>
    %seen = tile.max %s axis 1 : tensor<16x16xf32> -> tensor<16xf32>
    %new = arith.maximumf %m, %seen : tensor<16xf32>
    scf.yield %new : tensor<16xf32>
  }
  %o = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %op = tile.addptr %o, %row : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
  tile.store %op, %m : tensor<16x!tile.ptr<f32>>
  tile.return
}

// -----

// A copy with a ragged end: masks of loads and stores go, and iterations that
// store nothing are dropped. Negative starts and a step that is not the tile's
// extent are fine.
// CHECK-LABEL: tile.kernel @masked_copy
tile.kernel @masked_copy(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %lo: i64, %hi: i64, %n: i32)
    grid(lo, hi, n) -> (1) {
  %c24 = arith.constant 24 : i64
  %lane = tile.arange 0 to 24 : tensor<24xi32>
  %nt = tile.splat %n : i32 -> tensor<24xi32>
  %c0 = arith.constant dense<0> : tensor<24xi32>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  // CHECK: scf.for {{.*}} : i64
  // CHECK: tile.load %{{.*}} mask %{{.*}}
  // CHECK: {tile.part = "masked"}
  // CHECK: scf.for {{.*}} : i64
  // CHECK-NOT: arith.cmpi
  // CHECK: tile.load %{{[0-9]*}} :
  // CHECK: tile.store %{{[0-9]*}}, %{{[0-9]*}} :
  // CHECK: {tile.part = "interior"}
  // CHECK: scf.for {{.*}} : i64
  // CHECK: {tile.part = "masked"}
  scf.for %i = %lo to %hi step %c24 : i64 {
    %i32 = arith.trunci %i : i64 to i32
    %it = tile.splat %i32 : i32 -> tensor<24xi32>
    %at = arith.addi %it, %lane : tensor<24xi32>
    %below = arith.cmpi slt, %at, %nt : tensor<24xi32>
    %above = arith.cmpi sge, %at, %c0 : tensor<24xi32>
    %mask = arith.andi %below, %above : tensor<24xi1>
    %p = tile.addptr %px, %at : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
    %q = tile.addptr %py, %at : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
    %v = tile.load %p mask %mask : tensor<24x!tile.ptr<f32>>
    tile.store %q, %v mask %mask : tensor<24x!tile.ptr<f32>>
  }
  tile.return
}

// -----

// Bounds of a block pointer: dimension 0 moves with the loop and is split on,
// dimension 1 is known to fit and needs no loop.
// CHECK-LABEL: tile.kernel @block_bounds
tile.kernel @block_bounds(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c16 = arith.constant 16 : i64
  %c8 = arith.constant 8 : i64
  %zero = tile.full 0.0 : f32 -> tensor<16x8xf32>
  // 16 rows at a time are in bounds for n / 16 iterations.
  // CHECK: %[[SPAN:.*]] = arith.maxsi %n, %c0_i64
  // CHECK: %[[TILES:.*]] = arith.divsi %[[SPAN]], %c16_i64
  // CHECK: %[[END:.*]] = arith.muli %[[TILES]], %c16_i64
  // CHECK: %[[CUT:.*]] = arith.minsi %[[END]], %[[SPAN]]
  // CHECK: scf.for %{{.*}} = %c0_i64 to %[[CUT]] step %c16_i64
  // CHECK: in_bounds = array<i1: true, true>
  // CHECK: {tile.part = "interior"}
  // CHECK: scf.for %{{.*}} = %[[CUT]] to %n step %c16_i64
  // CHECK: in_bounds = array<i1: false, true>
  // CHECK: {tile.part = "masked"}
  %sum = scf.for %i = %c0 to %n step %c16 iter_args(%s = %zero) -> (tensor<16x8xf32>) : i64 {
    %p = tile.make_block_ptr %x shape [%n, %c8] strides [%c8, %c1] offsets [%i, %c0]
        : !tile.ptr<f32> -> !tile.block_ptr<16x8xf32>
    %v = tile.load %p : !tile.block_ptr<16x8xf32>
    %t = arith.addf %s, %v : tensor<16x8xf32>
    scf.yield %t : tensor<16x8xf32>
  }
  %q = tile.make_block_ptr %y shape [%c16, %c8] strides [%c8, %c1] offsets [%c0, %c0]
      : !tile.ptr<f32> -> !tile.block_ptr<16x8xf32>
  tile.store %q, %sum : !tile.block_ptr<16x8xf32>
  tile.return
}

// -----

// A conjunct that the loop does not change decides at run time whether there
// is an interior at all.
// CHECK-LABEL: tile.kernel @invariant_conjunct
tile.kernel @invariant_conjunct(%y: !tile.ptr<f32>, %n: i32, %rows: i32) grid(n, rows) -> (1) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %end = arith.index_cast %n : i32 to index
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %one = tile.full 1.0 : f32 -> tensor<16x16xf32>
  %zero = tile.full 0.0 : f32 -> tensor<16x16xf32>
  %nt = tile.splat %n : i32 -> tensor<16x16xi32>
  %rt = tile.splat %rows : i32 -> tensor<16x16xi32>
  %row1 = tile.expand_dims %lane axis 1 : tensor<16xi32> -> tensor<16x1xi32>
  %row = tile.broadcast %row1 : tensor<16x1xi32> -> tensor<16x16xi32>
  // CHECK: %[[FULL:.*]] = arith.cmpi sle, %{{.*}}, %c0_i64
  // CHECK: %[[CUT:.*]] = arith.select %[[FULL]], %{{.*}}, %c0_i64
  // CHECK: %[[CUTI:.*]] = arith.index_cast %[[CUT]] : i64 to index
  // CHECK: scf.for %{{.*}} = %c0 to %[[CUTI]] step
  // CHECK: {tile.part = "interior"}
  // CHECK: scf.for %{{.*}} = %[[CUTI]] to %{{.*}} step
  // CHECK: {tile.part = "masked"}
  %sum = scf.for %i = %c0 to %end step %c16 iter_args(%s = %zero) -> (tensor<16x16xf32>) {
    %i32 = arith.index_cast %i : index to i32
    %it = tile.splat %i32 : i32 -> tensor<16xi32>
    %at = arith.addi %it, %lane : tensor<16xi32>
    %col1 = tile.expand_dims %at axis 0 : tensor<16xi32> -> tensor<1x16xi32>
    %col = tile.broadcast %col1 : tensor<1x16xi32> -> tensor<16x16xi32>
    %in = arith.cmpi slt, %col, %nt : tensor<16x16xi32>
    %exists = arith.cmpi slt, %row, %rt : tensor<16x16xi32>
    %mask = arith.andi %in, %exists : tensor<16x16xi1>
    %v = arith.select %mask, %one, %zero : tensor<16x16xi1>, tensor<16x16xf32>
    %t = arith.addf %s, %v : tensor<16x16xf32>
    scf.yield %t : tensor<16x16xf32>
  }
  %p = tile.splat %y : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  tile.store %p, %sum : tensor<16x16x!tile.ptr<f32>>
  tile.return
}

// -----

// Lengths that are promised to be multiples of the tile need no mask at all, and
// the loop stays one.
// CHECK-LABEL: tile.kernel @known_multiple
tile.kernel @known_multiple(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %length: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = tile.assume %length {divisible_by = 16 : i64} : i32
  %rows = arith.extsi %n : i32 to i64
  %sum0 = tile.full 0.0 : f32 -> tensor<16xf32>
  %lane = tile.arange 0 to 16 : tensor<16xi32>
  %limit = tile.splat %n : i32 -> tensor<16xi32>
  // CHECK-NOT: arith.divsi
  // CHECK: scf.for %{{.*}} = %c0_i32 to %{{.*}} step %c16_i32
  // CHECK-NOT: arith.cmpi
  // CHECK: tile.load %{{.*}} {in_bounds = array<i1: true>}
  // CHECK-NOT: arith.select
  // CHECK: scf.yield
  // CHECK-NOT: scf.for
  %sum = scf.for %i = %c0 to %n step %c16 iter_args(%s = %sum0) -> (tensor<16xf32>) : i32 {
    %at64 = arith.extsi %i : i32 to i64
    %p = tile.make_block_ptr %x shape [%rows] strides [%one] offsets [%at64]
        : !tile.ptr<f32> -> !tile.block_ptr<16xf32>
    %v = tile.load %p : !tile.block_ptr<16xf32>
    %it = tile.splat %i : i32 -> tensor<16xi32>
    %at = arith.addi %it, %lane : tensor<16xi32>
    %mask = arith.cmpi slt, %at, %limit : tensor<16xi32>
    %w = arith.select %mask, %v, %sum0 : tensor<16xi1>, tensor<16xf32>
    %t = arith.addf %s, %w : tensor<16xf32>
    scf.yield %t : tensor<16xf32>
  }
  %o = tile.splat %y : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  tile.store %o, %sum : tensor<16x!tile.ptr<f32>>
  tile.return
}
