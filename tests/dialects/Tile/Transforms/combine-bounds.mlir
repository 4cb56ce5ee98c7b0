// One comparison for all bounds of a mask.
//
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-combine-bounds,canonicalize,cse))' | FileCheck %s

// A length and a row for each element: the stricter one, less where the tile
// starts, against which constant positions are compared. The last number stands
// for no limit; limits are brought to the tile before the difference, so that
// it does not wrap.
// CHECK-LABEL: tile.kernel @causal
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1> : tensor<32x1xi32>
// CHECK-DAG: %[[LAST:.*]] = arith.constant dense<2147483646> : tensor<32x1xi32>
// CHECK-DAG: %[[IOTA:.*]] = tile.arange 0 to 16
// CHECK: scf.for %[[START:.*]] = %c0_i32 to %n
// CHECK-DAG: %[[ROW:.*]] = arith.minsi %{{.*}}, %[[LAST]]
// CHECK-DAG: %[[NEXT:.*]] = arith.addi %[[ROW]], %[[ONE]]
// CHECK-DAG: %[[N:.*]] = tile.splat %n : i32 -> tensor<32x1xi32>
// CHECK-DAG: %[[LIMIT:.*]] = arith.minsi %[[N]], %[[NEXT]]
// CHECK-DAG: %[[I:.*]] = tile.expand_dims %[[IOTA]] axis 0
// CHECK-DAG: %[[S:.*]] = tile.splat %[[START]] : i32 -> tensor<32x1xi32>
// CHECK-DAG: %[[FROM:.*]] = arith.maxsi %[[LIMIT]], %[[S]]
// CHECK-DAG: %[[END:.*]] = arith.addi %[[START]], %c16_i32
// CHECK-DAG: %[[E:.*]] = tile.splat %[[END]]
// CHECK: %[[TO:.*]] = arith.minsi %[[FROM]], %[[E]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[TO]], %[[S]]
// CHECK-DAG: %[[A:.*]] = tile.broadcast %[[I]]
// CHECK-DAG: %[[B:.*]] = tile.broadcast %[[LEFT]]
// CHECK: %[[MASK:.*]] = arith.cmpi slt, %[[A]], %[[B]]
// CHECK-NOT: arith.andi
// CHECK: arith.select %[[MASK]]
tile.kernel @causal(%p: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %none = arith.constant dense<0.0> : tensor<32x16xf32>
  %some = arith.constant dense<1.0> : tensor<32x16xf32>
  %iota = tile.arange 0 to 16 : tensor<16xi32>
  %row = tile.arange 0 to 32 : tensor<32xi32>
  %rows = tile.expand_dims %row axis 1 : tensor<32xi32> -> tensor<32x1xi32>
  %r = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %none) -> (tensor<32x16xf32>) : i32 {
    %s = tile.splat %j : i32 -> tensor<16xi32>
    %k = arith.addi %s, %iota : tensor<16xi32>
    %keys = tile.expand_dims %k axis 0 : tensor<16xi32> -> tensor<1x16xi32>
    %length = tile.splat %n : i32 -> tensor<1x16xi32>
    %inside = arith.cmpi slt, %keys, %length : tensor<1x16xi32>
    %wide = tile.broadcast %keys : tensor<1x16xi32> -> tensor<32x16xi32>
    %tall = tile.broadcast %rows : tensor<32x1xi32> -> tensor<32x16xi32>
    %seen = arith.cmpi sle, %wide, %tall : tensor<32x16xi32>
    %all = tile.broadcast %inside : tensor<1x16xi1> -> tensor<32x16xi1>
    %mask = arith.andi %all, %seen : tensor<32x16xi1>
    %v = arith.select %mask, %some, %none : tensor<32x16xi1>, tensor<32x16xf32>
    %sum = arith.addf %acc, %v : tensor<32x16xf32>
    scf.yield %sum : tensor<32x16xf32>
  }
  %z = arith.constant 0 : i64
  %e = arith.constant 16 : i64
  %o = arith.constant 1 : i64
  %w = tile.make_block_ptr %p shape[%e, %e] strides[%e, %o] offsets[%z, %z] : !tile.ptr<f32> -> !tile.block_ptr<32x16xf32>
  tile.store %w, %r : !tile.block_ptr<32x16xf32>
  tile.return
}

// Bounds on both sides: a comparison for each. Written either way round. Where
// one has nothing to be combined with, it stays.
// CHECK-LABEL: tile.kernel @window
// CHECK: scf.for
// CHECK: %[[DOWN:.*]] = arith.cmpi sge
// CHECK: arith.minsi
// CHECK: %[[UP:.*]] = arith.cmpi slt
// CHECK: arith.andi %[[DOWN]], %[[UP]]
// CHECK-NOT: arith.cmpi
// CHECK: scf.yield
tile.kernel @window(%p: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %none = arith.constant dense<0.0> : tensor<32x16xf32>
  %some = arith.constant dense<1.0> : tensor<32x16xf32>
  %iota = tile.arange 0 to 16 : tensor<16xi32>
  %row = tile.arange 0 to 32 : tensor<32xi32>
  %rows = tile.expand_dims %row axis 1 : tensor<32xi32> -> tensor<32x1xi32>
  %width = arith.constant dense<8> : tensor<32x1xi32>
  %first = arith.subi %rows, %width : tensor<32x1xi32>
  %r = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %none) -> (tensor<32x16xf32>) : i32 {
    %s = tile.splat %j : i32 -> tensor<16xi32>
    %k = arith.addi %iota, %s : tensor<16xi32>
    %keys = tile.expand_dims %k axis 0 : tensor<16xi32> -> tensor<1x16xi32>
    %wide = tile.broadcast %keys : tensor<1x16xi32> -> tensor<32x16xi32>
    %length = tile.splat %n : i32 -> tensor<32x16xi32>
    %tall = tile.broadcast %rows : tensor<32x1xi32> -> tensor<32x16xi32>
    %low = tile.broadcast %first : tensor<32x1xi32> -> tensor<32x16xi32>
    %inside = arith.cmpi sgt, %length, %wide : tensor<32x16xi32>
    %seen = arith.cmpi sge, %tall, %wide : tensor<32x16xi32>
    %near = arith.cmpi sge, %wide, %low : tensor<32x16xi32>
    %two = arith.andi %near, %seen : tensor<32x16xi1>
    %mask = arith.andi %two, %inside : tensor<32x16xi1>
    %v = arith.select %mask, %some, %none : tensor<32x16xi1>, tensor<32x16xf32>
    %sum = arith.addf %acc, %v : tensor<32x16xf32>
    scf.yield %sum : tensor<32x16xf32>
  }
  %z = arith.constant 0 : i64
  %e = arith.constant 16 : i64
  %o = arith.constant 1 : i64
  %w = tile.make_block_ptr %p shape[%e, %e] strides[%e, %o] offsets[%z, %z] : !tile.ptr<f32> -> !tile.block_ptr<32x16xf32>
  tile.store %w, %r : !tile.block_ptr<32x16xf32>
  tile.return
}

// One bound stays, as do unsigned comparisons.
// CHECK-LABEL: tile.kernel @single
// CHECK: scf.for
// CHECK-NOT: arith.subi
// CHECK: arith.cmpi slt
// CHECK: arith.cmpi ult
// CHECK: arith.andi
tile.kernel @single(%p: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %none = arith.constant dense<0.0> : tensor<16xf32>
  %some = arith.constant dense<1.0> : tensor<16xf32>
  %iota = tile.arange 0 to 16 : tensor<16xi32>
  %r = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %none) -> (tensor<16xf32>) : i32 {
    %s = tile.splat %j : i32 -> tensor<16xi32>
    %k = arith.addi %s, %iota : tensor<16xi32>
    %length = tile.splat %n : i32 -> tensor<16xi32>
    %inside = arith.cmpi slt, %k, %length : tensor<16xi32>
    %other = arith.cmpi ult, %k, %length : tensor<16xi32>
    %mask = arith.andi %inside, %other : tensor<16xi1>
    %v = arith.select %mask, %some, %none : tensor<16xi1>, tensor<16xf32>
    %sum = arith.addf %acc, %v : tensor<16xf32>
    scf.yield %sum : tensor<16xf32>
  }
  %z = arith.constant 0 : i64
  %e = arith.constant 16 : i64
  %o = arith.constant 1 : i64
  %w = tile.make_block_ptr %p shape[%e] strides[%o] offsets[%z] : !tile.ptr<f32> -> !tile.block_ptr<16xf32>
  tile.store %w, %r : !tile.block_ptr<16xf32>
  tile.return
}

// A condition on rows alone is part of their limits: no counter is below the
// least number.
// CHECK-LABEL: tile.kernel @rows
// CHECK-DAG: %[[NEVER:.*]] = arith.constant dense<-2147483648> : tensor<32x1xi32>
// CHECK: scf.for %[[START:.*]] = %c0_i32 to %n
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %{{.*}} : tensor<32x1xi32>
// CHECK: %[[LIMIT:.*]] = arith.select %[[BELOW]], %{{.*}}, %[[NEVER]]
// CHECK: arith.maxsi %[[LIMIT]], %{{.*}} : tensor<32x1xi32>
// CHECK: %[[MASK:.*]] = arith.cmpi slt, %{{.*}} : tensor<32x16xi32>
// CHECK-NOT: arith.andi
// CHECK: arith.select %[[MASK]]
tile.kernel @rows(%p: !tile.ptr<f32>, %n: i32, %m: i32) grid(n, m) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %none = arith.constant dense<0.0> : tensor<32x16xf32>
  %some = arith.constant dense<1.0> : tensor<32x16xf32>
  %iota = tile.arange 0 to 16 : tensor<16xi32>
  %row = tile.arange 0 to 32 : tensor<32xi32>
  %rows = tile.expand_dims %row axis 1 : tensor<32xi32> -> tensor<32x1xi32>
  %r = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %none) -> (tensor<32x16xf32>) : i32 {
    %s = tile.splat %j : i32 -> tensor<16xi32>
    %k = arith.addi %s, %iota : tensor<16xi32>
    %keys = tile.expand_dims %k axis 0 : tensor<16xi32> -> tensor<1x16xi32>
    %length = tile.splat %n : i32 -> tensor<1x16xi32>
    %inside = arith.cmpi slt, %keys, %length : tensor<1x16xi32>
    %count = tile.splat %m : i32 -> tensor<32x1xi32>
    %below = arith.cmpi slt, %rows, %count : tensor<32x1xi32>
    %all = tile.broadcast %inside : tensor<1x16xi1> -> tensor<32x16xi1>
    %these = tile.broadcast %below : tensor<32x1xi1> -> tensor<32x16xi1>
    %mask = arith.andi %all, %these : tensor<32x16xi1>
    %v = arith.select %mask, %some, %none : tensor<32x16xi1>, tensor<32x16xf32>
    %sum = arith.addf %acc, %v : tensor<32x16xf32>
    scf.yield %sum : tensor<32x16xf32>
  }
  %z = arith.constant 0 : i64
  %e = arith.constant 16 : i64
  %o = arith.constant 1 : i64
  %w = tile.make_block_ptr %p shape[%e, %e] strides[%e, %o] offsets[%z, %z] : !tile.ptr<f32> -> !tile.block_ptr<32x16xf32>
  tile.store %w, %r : !tile.block_ptr<32x16xf32>
  tile.return
}

// One bound, but two numbers for each position: they go to the limit.
// CHECK-LABEL: tile.kernel @shifted
// CHECK-DAG: %[[IOTA:.*]] = tile.arange 0 to 16
// CHECK: scf.for %[[START:.*]] = %c0_i32 to %n
// CHECK-DAG: %[[FIRST:.*]] = arith.addi {{.*}} : i32
// CHECK-DAG: %[[I:.*]] = tile.expand_dims %[[IOTA]] axis 0
// CHECK: %[[LIMIT:.*]] = arith.subi %{{.*}} : tensor<32x1xi32>
// CHECK-DAG: %[[A:.*]] = tile.broadcast %[[I]]
// CHECK-DAG: %[[B:.*]] = tile.broadcast %[[LIMIT]]
// CHECK: %[[MASK:.*]] = arith.cmpi sgt, %[[A]], %[[B]]
// CHECK-NOT: arith.cmpi
// CHECK: arith.select %[[MASK]]
tile.kernel @shifted(%p: !tile.ptr<f32>, %n: i32, %m: i32) grid(n, m) -> (1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %none = arith.constant dense<0.0> : tensor<32x16xf32>
  %some = arith.constant dense<1.0> : tensor<32x16xf32>
  %iota = tile.arange 0 to 16 : tensor<16xi32>
  %row = tile.arange 0 to 32 : tensor<32xi32>
  %rows = tile.expand_dims %row axis 1 : tensor<32xi32> -> tensor<32x1xi32>
  %tall = tile.broadcast %rows : tensor<32x1xi32> -> tensor<32x16xi32>
  %offset = tile.splat %m : i32 -> tensor<1x16xi32>
  %r = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %none) -> (tensor<32x16xf32>) : i32 {
    %s = tile.splat %j : i32 -> tensor<16xi32>
    %k = arith.addi %s, %iota : tensor<16xi32>
    %keys = tile.expand_dims %k axis 0 : tensor<16xi32> -> tensor<1x16xi32>
    %moved = arith.addi %keys, %offset : tensor<1x16xi32>
    %wide = tile.broadcast %moved : tensor<1x16xi32> -> tensor<32x16xi32>
    %mask = arith.cmpi sle, %tall, %wide : tensor<32x16xi32>
    %v = arith.select %mask, %some, %none : tensor<32x16xi1>, tensor<32x16xf32>
    %sum = arith.addf %acc, %v : tensor<32x16xf32>
    scf.yield %sum : tensor<32x16xf32>
  }
  %z = arith.constant 0 : i64
  %e = arith.constant 16 : i64
  %o = arith.constant 1 : i64
  %w = tile.make_block_ptr %p shape[%e, %e] strides[%e, %o] offsets[%z, %z] : !tile.ptr<f32> -> !tile.block_ptr<32x16xf32>
  tile.store %w, %r : !tile.block_ptr<32x16xf32>
  tile.return
}
