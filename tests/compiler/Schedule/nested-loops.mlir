// RUN: fa-opt %s --split-input-file --remarks --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},tilegpu-specialize-warps{persistent=off num-stages=3},canonicalize))' 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: fa-opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},tilegpu-specialize-warps{persistent=dynamic num-stages=3},canonicalize))' | FileCheck %s --check-prefix=DYNAMIC

// Two loops over keys in a loop over heads, which loads a tile of its own. Both
// roles carry the counters of all rings through the outer loop, and each counts
// where it loads. The inner loops share a ring.
// CHECK-LABEL: tile.kernel @heads
// REMARK: [Passed] Roles {{.*}}2 producer warps load by TMA through rings of 3 buffers
// CHECK: %[[QRING:.*]] = tilegpu.alloc : <3 x 64x64xbf16, swizzle = 128>
// CHECK-NEXT: %[[QFULL:.*]] = tilegpu.mbarriers {arrivals = 1 : i32} : <3>
// CHECK-NEXT: %[[QEMPTY:.*]] = tilegpu.mbarriers {arrivals = 4 : i32} : <3>
// CHECK: %[[KRING:.*]] = tilegpu.alloc : <3 x 64x64xbf16, swizzle = 128>
// CHECK-NEXT: %[[KFULL:.*]] = tilegpu.mbarriers {arrivals = 1 : i32} : <3>
// CHECK-NEXT: %[[KEMPTY:.*]] = tilegpu.mbarriers {arrivals = 4 : i32} : <3>
// The first producer has no inner loops.
// CHECK: scf.for %[[H:.*]] = %c0{{.*}} to %{{.*}} step %c1{{.*}} iter_args(%[[C:.*]] = %c0{{.*}}) -> (i32)
// CHECK-NOT: scf.for
// CHECK:   %[[SLOT:.*]] = arith.remui %[[C]], %c3
// CHECK:   tilegpu.mbarrier_wait %[[QEMPTY]][%[[SLOT]]]
// CHECK:   tilegpu.tma_load %{{.*}}[%{{.*}}, %{{.*}}, %[[H]]] to %{{.*}} signal %[[QFULL]][%[[SLOT]]]
// CHECK:   %[[NEXT:.*]] = arith.addi %[[C]], %c1
// CHECK:   scf.yield %[[NEXT]]
// CHECK: } else {
// CHECK: scf.for {{.*}} iter_args(%[[C:.*]] = %c0{{.*}}) -> (i32)
// CHECK:   %[[A:.*]] = scf.for {{.*}} iter_args(%[[IN:.*]] = %[[C]]) -> (i32)
// CHECK:     %[[SLOT:.*]] = arith.remui %[[IN]], %c3
// CHECK:     tilegpu.mbarrier_wait %[[KEMPTY]][%[[SLOT]]]
// CHECK:     tilegpu.tma_load {{.*}} signal %[[KFULL]][%[[SLOT]]]
// CHECK:   %[[B:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[A]]) -> (i32)
// CHECK:   scf.yield %[[B]] : i32
// CHECK: } consumer {
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[CQ:.*]] = %c0{{.*}}, %[[CK:.*]] = %c0{{.*}})
// CHECK:   %[[QSLOT:.*]] = arith.remui %[[CQ]], %c3
// CHECK:   tilegpu.mbarrier_wait %[[QFULL]][%[[QSLOT]]]
// CHECK:   %[[A:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %[[SUM]], %[[IN:.*]] = %[[CK]])
// CHECK:     %[[SLOT:.*]] = arith.remui %[[IN]], %c3
// CHECK:     tilegpu.mbarrier_wait %[[KFULL]][%[[SLOT]]]
// CHECK:     tilegpu.mbarrier_arrive %[[KEMPTY]][%[[SLOT]]]
// CHECK:   %[[B:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %[[A]]#0, %{{.*}} = %[[A]]#1)
// CHECK:   tilegpu.mbarrier_arrive %[[QEMPTY]][%[[QSLOT]]]
// CHECK:   %[[NEXT:.*]] = arith.addi %[[CQ]], %c1
// CHECK:   scf.yield %[[B]]#0, %[[NEXT]], %[[B]]#1
//
// Programs are long: the next one is taken behind the copies.
// DYNAMIC-LABEL: tile.kernel @heads
// DYNAMIC: scf.while
// DYNAMIC-NOT: tilegpu.take_program
// DYNAMIC: scf.for
// DYNAMIC: scf.yield
// DYNAMIC: tilegpu.take_program
// DYNAMIC: tilegpu.write_word
tile.kernel @heads(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %rows: i32, %middle: i32, %keys: i32, %heads: i32)
    grid(rows, middle, keys, heads) -> (rows ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %x = tile.program_id x
  %row = arith.muli %x, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %rows64 = arith.extsi %rows : i32 to i64
  %keys64 = arith.extsi %keys : i32 to i64
  %pitch = arith.muli %rows64, %d : i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %h = %c0 to %heads step %c1 iter_args(%outer = %init) -> (tensor<64x64xf32>) : i32 {
    %h64 = arith.extsi %h : i32 to i64
    %place = arith.muli %h64, %pitch : i64
    %qh = tile.addptr %q, %place : !tile.ptr<bf16>, i64
    %qw = tile.make_block_ptr %qh shape[%rows64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
    %a = scf.for %j = %c0 to %middle step %size iter_args(%acc = %outer) -> (tensor<64x64xf32>) : i32 {
      %j64 = arith.extsi %j : i32 to i64
      %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
      %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
      %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
      %s = tile.dot %qt, %t, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      scf.yield %s : tensor<64x64xf32>
    }
    %b = scf.for %j = %middle to %keys step %size iter_args(%acc = %a) -> (tensor<64x64xf32>) : i32 {
      %j64 = arith.extsi %j : i32 to i64
      %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
      %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
      %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
      %s = tile.dot %qt, %t, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      scf.yield %s : tensor<64x64xf32>
    }
    scf.yield %b : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%rows64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// -----

// A loop whose end the outer loop has computed from memory.
// CHECK-LABEL: tile.kernel @loaded_end
// CHECK-NOT: warp_specialize
// REMARK: [Missed] Roles {{.*}}the bounds of a loop depend on what the kernel computes
tile.kernel @loaded_end(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %ends: !tile.ptr<i32>, %rows: i32, %heads: i32)
    grid(rows, heads) -> (rows ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %rows64 = arith.extsi %rows : i32 to i64
  %qw = tile.make_block_ptr %q shape[%rows64, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %h = %c0 to %heads step %c1 iter_args(%outer = %init) -> (tensor<64x64xf32>) : i32 {
    %at = tile.addptr %ends, %h : !tile.ptr<i32>, i32
    %end = tile.load %at : !tile.ptr<i32>
    %a = scf.for %j = %c0 to %end step %size iter_args(%acc = %outer) -> (tensor<64x64xf32>) : i32 {
      %j64 = arith.extsi %j : i32 to i64
      %kw = tile.make_block_ptr %k shape[%rows64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
      %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
      %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
      %s = tile.dot %qt, %t, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      scf.yield %s : tensor<64x64xf32>
    }
    scf.yield %a : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%rows64, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}
