// Tiles for products are copied in the background: those of a loop for later
// iterations, through rings of 2 or 3 buffers.
//
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu,cse,loop-invariant-code-motion,tilegpu-stage-loads{num-stages=2},canonicalize,cse))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu,cse,loop-invariant-code-motion,tilegpu-stage-loads{num-stages=3},canonicalize,cse))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,THREE
// RUN: not fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu,cse,loop-invariant-code-motion,tilegpu-stage-loads{num-stages=9},canonicalize,cse))' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NINE

// NINE: error: expected 1 to 8 stages, but got 9

// All but one buffer are filled before the loop, as far as it runs; one without
// iterations touches no memory.
// CHECK-LABEL: tile.kernel @ring
// TWO: %[[A:.*]] = tilegpu.alloc : <2 x 64x32xbf16, swizzle = 64>
// TWO: %[[B:.*]] = tilegpu.alloc : <2 x 32x64xbf16, swizzle = 128>
// THREE: %[[A:.*]] = tilegpu.alloc : <3 x 64x32xbf16, swizzle = 64>
// THREE: %[[B:.*]] = tilegpu.alloc : <3 x 32x64xbf16, swizzle = 128>
// CHECK: tilegpu.barrier
// CHECK: %[[RUNS:.*]] = arith.cmpi sgt, %n, %c0_i32
// CHECK-NEXT: scf.if %[[RUNS]] {
// CHECK: %[[A0:.*]] = tilegpu.slot %[[A]][%c0_i32]
// CHECK: tilegpu.copy_async %{{.*}} to %[[A0]]
// CHECK: %[[B0:.*]] = tilegpu.slot %[[B]][%c0_i32]
// CHECK: tilegpu.copy_async %{{.*}} to %[[B0]]
// CHECK: }
// CHECK-NEXT: tilegpu.commit_copies
// THREE: %[[MORE:.*]] = arith.cmpi ugt, %n, %c32_i32
// THREE: %[[BOTH:.*]] = arith.andi %[[RUNS]], %[[MORE]]
// THREE: scf.if %[[BOTH]] {
// THREE: tilegpu.slot %[[A]][%c1_i32]
// THREE: tilegpu.slot %[[B]][%c1_i32]
// THREE: }
// THREE-NEXT: tilegpu.commit_copies
// CHECK: scf.for %[[K:.*]] = %c0_i32 to %n step %c32_i32 iter_args(%{{.*}} = %{{.*}}, %[[NOW:.*]] = %c0_i32)
// TWO-NEXT: tilegpu.wait_copies {pending = 0 : i32}
// THREE-NEXT: tilegpu.wait_copies {pending = 1 : i32}
// CHECK-NEXT: tilegpu.barrier
// The buffer of the iteration before, which all have read.
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[NOW]], %c0_i32
// CHECK: %[[LAST:.*]] = arith.subi %[[NOW]], %c1_i32
// TWO: %[[FREE:.*]] = arith.select %[[FIRST]], %c1_i32, %[[LAST]]
// THREE: %[[FREE:.*]] = arith.select %[[FIRST]], %c2_i32, %[[LAST]]
// CHECK: %[[LEFT:.*]] = arith.subi %n, %[[K]]
// CHECK: %[[ENOUGH:.*]] = arith.cmpi ugt, %[[LEFT]], %c32_i32
// THREE: %[[AFTER:.*]] = arith.subi %[[LEFT]], %c32_i32
// THREE: %[[AND:.*]] = arith.cmpi ugt, %[[AFTER]], %c32_i32
// THREE: %[[ALL:.*]] = arith.andi %[[ENOUGH]], %[[AND]]
// CHECK: %[[AN:.*]] = tilegpu.slot %[[A]][%[[NOW]]]
// CHECK: %[[BN:.*]] = tilegpu.slot %[[B]][%[[NOW]]]
// Nothing else happens here: copies start when the operands have been read.
// CHECK: tilegpu.mma %[[AN]], %[[BN]],
// TWO: scf.if %[[ENOUGH]] {
// TWO: arith.addi %[[K]], %c32_i32
// THREE: scf.if %[[ALL]] {
// THREE: arith.addi %[[K]], %c64_i32
// CHECK: tilegpu.slot %[[A]][%[[FREE]]]
// CHECK: tilegpu.copy_async
// CHECK: tilegpu.slot %[[B]][%[[FREE]]]
// CHECK: tilegpu.copy_async
// CHECK: }
// Also where there is nothing to copy: waits count groups.
// CHECK-NEXT: tilegpu.commit_copies
// CHECK: %[[NEXT:.*]] = arith.addi %[[NOW]], %c1_i32
// TWO: %[[WRAPS:.*]] = arith.cmpi eq, %[[NEXT]], %c2_i32
// THREE: %[[WRAPS:.*]] = arith.cmpi eq, %[[NEXT]], %c3_i32
// CHECK: arith.select %[[WRAPS]], %c0_i32, %[[NEXT]]
tile.kernel @ring(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 64 : i64
  %stride = arith.constant 4096 : i64
  %n64 = arith.extsi %n : i32 to i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %a0 = tile.make_block_ptr %x shape[%rows, %n64] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x32xbf16>
  %b0 = tile.make_block_ptr %y shape[%n64, %rows] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<32x64xbf16>
  %c = tile.make_block_ptr %z shape[%rows, %rows] strides[%rows, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zeros) -> (tensor<64x64xf32>) : i32 {
    %k64 = arith.extsi %k : i32 to i64
    %a_at = tile.advance %a0, [%zero, %k64] : !tile.block_ptr<64x32xbf16>
    %a = tile.load %a_at : !tile.block_ptr<64x32xbf16>
    %b_at = tile.advance %b0, [%k64, %zero] : !tile.block_ptr<32x64xbf16>
    %b = tile.load %b_at : !tile.block_ptr<32x64xbf16>
    %next = tile.dot %a, %b, %acc : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %c, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// A tile for all iterations: the loop waits for it with the others. Behind the
// loop, which may have had no iterations, nothing is under way any more.
// CHECK-LABEL: tile.kernel @invariant
// CHECK: tilegpu.alloc : <1 x 64x32xbf16, swizzle = 64>
// CHECK-NEXT: tilegpu.barrier
// CHECK: tilegpu.copy_async
// CHECK-NEXT: tilegpu.commit_copies
// CHECK-NOT: tilegpu.wait_copies
// CHECK: scf.for
// CHECK: tilegpu.wait_copies
// CHECK: scf.yield %{{.*}}, %{{.*}} : tensor
// CHECK-NEXT: }
// CHECK-NEXT: tilegpu.wait_copies {pending = 0 : i32}
// CHECK-NEXT: tilegpu.barrier
// CHECK: tilegpu.store
tile.kernel @invariant(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 64 : i64
  %stride = arith.constant 4096 : i64
  %n64 = arith.extsi %n : i32 to i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %a0 = tile.make_block_ptr %x shape[%rows, %n64] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x32xbf16>
  %b0 = tile.make_block_ptr %y shape[%n64, %rows] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<32x64xbf16>
  %c = tile.make_block_ptr %z shape[%rows, %rows] strides[%rows, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %a = tile.load %a0 : !tile.block_ptr<64x32xbf16>
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zeros) -> (tensor<64x64xf32>) : i32 {
    %k64 = arith.extsi %k : i32 to i64
    %b_at = tile.advance %b0, [%k64, %zero] : !tile.block_ptr<32x64xbf16>
    %b = tile.load %b_at : !tile.block_ptr<32x64xbf16>
    %next = tile.dot %a, %b, %acc : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %c, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// Without a loop: the wait is as late as can be.
// CHECK-LABEL: tile.kernel @straight
// CHECK: tilegpu.copy_async
// CHECK-NOT: tilegpu.wait_copies
// CHECK: tilegpu.copy_async
// CHECK-NEXT: tilegpu.commit_copies
// CHECK: tilegpu.wait_copies {pending = 0 : i32}
// CHECK-NEXT: tilegpu.barrier
// CHECK: tilegpu.mma
tile.kernel @straight(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 64 : i64
  %stride = arith.constant 4096 : i64
  %n64 = arith.extsi %n : i32 to i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %a0 = tile.make_block_ptr %x shape[%rows, %n64] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x32xbf16>
  %b0 = tile.make_block_ptr %y shape[%n64, %rows] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<32x64xbf16>
  %c = tile.make_block_ptr %z shape[%rows, %rows] strides[%rows, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %a = tile.load %a0 : !tile.block_ptr<64x32xbf16>
  %b = tile.load %b0 : !tile.block_ptr<32x64xbf16>
  %sum = tile.dot %a, %b, %zeros : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
  tile.store %c, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// What is stored between a load and its use may be what was loaded: wait at once.
// CHECK-LABEL: tile.kernel @store_between
// CHECK: tilegpu.copy_async %{{.*}} : <64x32xbf16>
// CHECK-NEXT: tilegpu.commit_copies
// CHECK-NEXT: tilegpu.wait_copies {pending = 0 : i32}
// CHECK-NEXT: tilegpu.barrier
// CHECK: tilegpu.copy_async %{{.*}} : <32x64xbf16>
// CHECK-NEXT: tilegpu.commit_copies
// CHECK-NEXT: tilegpu.wait_copies {pending = 0 : i32}
// CHECK-NEXT: tilegpu.barrier
// CHECK: tilegpu.store
// CHECK-NOT: tilegpu.wait_copies
// CHECK: tilegpu.mma
tile.kernel @store_between(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 64 : i64
  %stride = arith.constant 4096 : i64
  %n64 = arith.extsi %n : i32 to i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %a0 = tile.make_block_ptr %x shape[%rows, %n64] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x32xbf16>
  %b0 = tile.make_block_ptr %y shape[%n64, %rows] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<32x64xbf16>
  %c = tile.make_block_ptr %z shape[%rows, %rows] strides[%rows, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %a = tile.load %a0 : !tile.block_ptr<64x32xbf16>
  %b = tile.load %b0 : !tile.block_ptr<32x64xbf16>
  tile.store %c, %zeros : !tile.block_ptr<64x64xf32>
  %sum = tile.dot %a, %b, %zeros : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
  tile.store %c, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// Also where it is in a branch, or an addition, and where a loop uses the tile.
// CHECK-LABEL: tile.kernel @atomic_between
// CHECK: tilegpu.copy_async
// CHECK-NEXT: tilegpu.commit_copies
// CHECK-NEXT: tilegpu.wait_copies {pending = 0 : i32}
// CHECK-NEXT: tilegpu.barrier
// CHECK: scf.if
// CHECK: atomic_add
// CHECK: scf.for
tile.kernel @atomic_between(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 64 : i64
  %stride = arith.constant 4096 : i64
  %n64 = arith.extsi %n : i32 to i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %a0 = tile.make_block_ptr %x shape[%rows, %n64] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x32xbf16>
  %b0 = tile.make_block_ptr %y shape[%n64, %rows] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<32x64xbf16>
  %c = tile.make_block_ptr %z shape[%rows, %rows] strides[%rows, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %a = tile.load %a0 : !tile.block_ptr<64x32xbf16>
  %some = arith.cmpi sgt, %n, %c32 : i32
  scf.if %some {
    %ones = arith.constant dense<1.0> : tensor<64xf32>
    %places = tile.splat %z : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
    %old = tile.atomic_add %places, %ones : tensor<64x!tile.ptr<f32>>
  }
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zeros) -> (tensor<64x64xf32>) : i32 {
    %k64 = arith.extsi %k : i32 to i64
    %b_at = tile.advance %b0, [%k64, %zero] : !tile.block_ptr<32x64xbf16>
    %b = tile.load %b_at : !tile.block_ptr<32x64xbf16>
    %next = tile.dot %a, %b, %acc : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %c, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// Short code, for arguments that are not aligned: copied where it is needed.
// CHECK-LABEL: tile.kernel @plain
// CHECK: scf.for
// CHECK: tilegpu.copy_async
// CHECK: tilegpu.commit_copies
// CHECK: tilegpu.wait_copies {pending = 0 : i32}
// CHECK-NEXT: tilegpu.barrier
// CHECK: tilegpu.mma
tile.kernel @plain(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>, %n: i32) grid(n) -> (1) attributes {tilegpu.plain} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 64 : i64
  %stride = arith.constant 4096 : i64
  %n64 = arith.extsi %n : i32 to i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %a0 = tile.make_block_ptr %x shape[%rows, %n64] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x32xbf16>
  %b0 = tile.make_block_ptr %y shape[%n64, %rows] strides[%stride, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<32x64xbf16>
  %c = tile.make_block_ptr %z shape[%rows, %rows] strides[%rows, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zeros) -> (tensor<64x64xf32>) : i32 {
    %k64 = arith.extsi %k : i32 to i64
    %a_at = tile.advance %a0, [%zero, %k64] : !tile.block_ptr<64x32xbf16>
    %a = tile.load %a_at : !tile.block_ptr<64x32xbf16>
    %b_at = tile.advance %b0, [%k64, %zero] : !tile.block_ptr<32x64xbf16>
    %b = tile.load %b_at : !tile.block_ptr<32x64xbf16>
    %next = tile.dot %a, %b, %acc : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %c, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}

// The page of a later iteration is read when its copy starts.
// CHECK-LABEL: tile.kernel @pages
// CHECK: scf.if
// CHECK: %[[FIRST:.*]] = tile.load %{{.*}} : !tile.ptr<i32>
// CHECK: tile.addptr %x, %[[FIRST]]
// CHECK: tilegpu.copy_async
// CHECK: scf.for
// CHECK: tilegpu.mma
// CHECK: scf.if
// CHECK: %[[LATER:.*]] = tile.load %{{.*}} : !tile.ptr<i32>
// CHECK: tile.addptr %x, %[[LATER]]
// CHECK: tilegpu.copy_async
// CHECK-NOT: tile.load
// CHECK: tile.return
tile.kernel @pages(%x: !tile.ptr<bf16>, %pages: !tile.ptr<i32>, %z: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 64 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.full 1.0 : bf16 -> tensor<64x64xbf16>
  %c = tile.make_block_ptr %z shape[%rows, %rows] strides[%rows, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (tensor<64x64xf32>) : i32 {
    %at = tile.addptr %pages, %k : !tile.ptr<i32>, i32
    %page = tile.load %at : !tile.ptr<i32>
    %base = tile.addptr %x, %page : !tile.ptr<bf16>, i32
    %b_at = tile.make_block_ptr %base shape[%rows, %rows] strides[%rows, %one] offsets[%zero, %zero]
        : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %b = tile.load %b_at : !tile.block_ptr<64x64xbf16>
    %next = tile.dot %a, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %c, %sum : !tile.block_ptr<64x64xf32>
  tile.return
}
