// The kernel of dk, dv and parts of dq as kernels/ has it, causal, d = 128, in
// tiles of 64 queries and 128 keys. Its three loops share two buffers for the
// left operand of dq, and reshaped tiles stay in registers: with buffers for dk
// and dv that is 65536 bytes beside rings, so blocks take programs by a counter.
//
// RUN: fa-opt %s --remarks --tile-optimize --tile-to-nvvm='target=sm_90a num-warps=8' -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file %t.mlir --check-prefix=NVVM
// RUN: fa-opt %s --tile-optimize | fa-opt --pass-pipeline='builtin.module(tile.kernel(tile-combine-bounds,cse,convert-tile-to-tilegpu{target=sm_90a num-warps=8},cse,loop-invariant-code-motion,tilegpu-specialize-warps,tilegpu-overlap-products,tilegpu-store-tiles))' | FileCheck %s
// RUN: fa-opt %s --tile-optimize | fa-opt --remarks --pass-pipeline='builtin.module(tile.kernel(tile-combine-bounds,cse,convert-tile-to-tilegpu{target=sm_90a num-warps=8},cse,loop-invariant-code-motion,tilegpu-specialize-warps{shared-limit=198655},tilegpu-overlap-products,tilegpu-store-tiles))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: fa-translate --target=sm_90a --emit=ptx --num-warps=8 %s -o %t.ptx
// RUN: %if ptxas %{ %ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS %}

// PTXAS-NOT: C75

// REMARK: [Passed] Persistent {{.*}}"a block for each multiprocessor takes one program after the other, by a counter in memory"
// REMARK-NOT: stored by threads
// REMARK: [Passed] Store {{.*}}"tiles are stored by TMA"

// NVVM: llvm.func @flash_attention_backward_keys_causal
// NVVM-SAME: tilegpu.persistent = 1 : i64

// FULL: Reason="a block for each program: beside 133120 bytes of buffers, the kernel needs 65536 of the 198655 of shared memory"

// One pair of buffers, which all loops use by a counter that goes on from one to
// the next and from program to program. Parts of dq are multiplied an iteration
// later, from one loop to the next, too, and nobody waits for all warps.
// CHECK: tilegpu.mbarriers {arrivals = 9 : i32} : <2>
// CHECK: %[[TURNS:.*]] = tilegpu.alloc : <2 x 64x128xbf16
// CHECK-NEXT: %[[READY:.*]] = tilegpu.mbarriers {arrivals = 8 : i32} : <2>
// CHECK-NEXT: %[[EMPTY:.*]] = tilegpu.mbarriers {arrivals = 8 : i32} : <2>
// CHECK-NOT: tilegpu.alloc : <2 x 64x128xbf16
// CHECK: tilegpu.alloc : <1 x 128x128xbf16
// CHECK-NEXT: tilegpu.tensor_map
// CHECK-NEXT: tilegpu.alloc : <1 x 128x128xbf16
// CHECK: } consumer {
// CHECK: scf.while
// CHECK-NOT: tilegpu.barrier
// CHECK: %[[FIRST:.*]]:6 = scf.for {{.*}} iter_args({{.*}}, {{.*}}, %[[N:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, {{.*}}, {{.*}} = %false
// CHECK-COUNT-2: tilegpu.load_shared
// CHECK: %[[TURN:.*]] = arith.remui %[[N]], %c2
// CHECK: tilegpu.mbarrier_wait %[[EMPTY]][%[[TURN]]]
// CHECK-NEXT: %[[SLOT:.*]] = tilegpu.slot %[[TURNS]][%[[TURN]]]
// CHECK-NEXT: tilegpu.store_shared %{{.*}} to %[[SLOT]]
// CHECK: tilegpu.wgmma %{{.*}}, %{{.*}}, %{{.*}}
// CHECK: tilegpu.mbarrier_arrive %[[READY]][%[[TURN]]]
// CHECK: tilegpu.mbarrier_wait %[[READY]]
// CHECK: tilegpu.atomic_add
// Nothing is under way when an iteration ends.
// CHECK: tilegpu.wgmma_wait %{{.*}} {pending = 0 : i32}
// CHECK-NOT: tilegpu.wgmma %
// CHECK: scf.yield
// CHECK-NOT: tilegpu.barrier
// CHECK: %[[SECOND:.*]]:6 = scf.for {{.*}} iter_args({{.*}} = %[[FIRST]]#0, {{.*}} = %[[FIRST]]#1, {{.*}} = %[[FIRST]]#2, {{.*}} = %[[FIRST]]#3, {{.*}} = %[[FIRST]]#4, {{.*}} = %[[FIRST]]#5)
// CHECK: tilegpu.slot %[[TURNS]]
// CHECK: tilegpu.atomic_add
// CHECK-NOT: tilegpu.barrier
// CHECK: %[[THIRD:.*]]:6 = scf.for {{.*}} iter_args({{.*}} = %[[SECOND]]#0
// CHECK: tilegpu.slot %[[TURNS]]
// CHECK: scf.yield
// The last part of dq.
// CHECK: tilegpu.mbarrier_wait %[[READY]]
// CHECK: tilegpu.wgmma %
// CHECK: tilegpu.atomic_add
// Keys and values are free behind the last loop, before results are stored.
// CHECK: tilegpu.mbarrier_arrive
// CHECK-NEXT: tilegpu.mbarrier_arrive
// One wait for the copies of the program before.
// CHECK: tilegpu.tma_store_wait by_warp {pending = 0 : i32, read}
// CHECK-NOT: tilegpu.tma_store_wait
// CHECK: tilegpu.tma_store %
// CHECK-NOT: tilegpu.tma_store_wait
// CHECK: tilegpu.tma_store %
// CHECK: scf.yield {{.*}}%[[THIRD]]#2, %[[THIRD]]#3
// CHECK: tilegpu.tma_store_wait {pending = 0 : i32, read}
module {
  tile.kernel @flash_attention_backward_keys_causal(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %grad_o: !tile.ptr<bf16>, %shift: !tile.ptr<f32>, %delta: !tile.ptr<f32>, %dk: !tile.ptr<bf16>, %dv: !tile.ptr<bf16>, %dq_sum: !tile.ptr<f32>, %heads_q: i32, %heads_kv: i32, %seq_q: i32, %seq_k: i32, %row_pitch: i32, %batch: i32, %q_stride_batch: i64, %q_stride_head: i64, %q_stride_row: i64, %k_stride_batch: i64, %k_stride_head: i64, %k_stride_row: i64, %v_stride_batch: i64, %v_stride_head: i64, %v_stride_row: i64, %grad_o_stride_batch: i64, %grad_o_stride_head: i64, %grad_o_stride_row: i64, %dk_stride_batch: i64, %dk_stride_head: i64, %dk_stride_row: i64, %dv_stride_batch: i64, %dv_stride_head: i64, %dv_stride_row: i64, %scale: f32) grid(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14, d15, d16, d17, d18, d19, d20, d21, d22, d23) -> (d3 ceildiv 128, d1, d5) {
    %c128_i32 = arith.constant 128 : i32
    %c0_i32 = arith.constant 0 : i32
    %c127_i32 = arith.constant 127 : i32
    %c64_i32 = arith.constant 64 : i32
    %c128_i64 = arith.constant 128 : i64
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
    %c16_i64 = arith.constant 16 : i64
    %c2048_i64 = arith.constant 2048 : i64
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<128x64xf32>
    %c16_i32 = arith.constant 16 : i32
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
    %0 = arith.extsi %row_pitch : i32 to i64
    %1 = tile.program_id x
    %2 = arith.muli %1, %c128_i32 : i32
    %3 = tile.program_id y
    %4 = tile.program_id z
    %5 = arith.extsi %4 : i32 to i64
    %6 = arith.extsi %seq_q : i32 to i64
    %7 = arith.extsi %seq_k : i32 to i64
    %8 = arith.addi %2, %c127_i32 : i32
    %9 = arith.subi %seq_k, %seq_q : i32
    %10 = arith.subi %2, %9 : i32
    %11 = arith.maxsi %10, %c0_i32 : i32
    %12 = arith.divsi %11, %c64_i32 : i32
    %13 = arith.muli %12, %c64_i32 : i32
    %14 = arith.muli %5, %k_stride_batch : i64
    %15 = tile.addptr %k, %14 : !tile.ptr<bf16>, i64
    %16 = arith.extsi %3 : i32 to i64
    %17 = arith.muli %16, %k_stride_head : i64
    %18 = tile.addptr %15, %17 : !tile.ptr<bf16>, i64
    %19 = arith.extsi %2 : i32 to i64
    %20 = tile.make_block_ptr %18 shape[%7, %c128_i64] strides[%k_stride_row, %c1_i64] offsets[%19, %c0_i64] : !tile.ptr<bf16> -> !tile.block_ptr<128x128xbf16>
    %21 = tile.load %20 : !tile.block_ptr<128x128xbf16>
    %22 = arith.muli %5, %v_stride_batch : i64
    %23 = tile.addptr %v, %22 : !tile.ptr<bf16>, i64
    %24 = arith.extsi %3 : i32 to i64
    %25 = arith.muli %24, %v_stride_head : i64
    %26 = tile.addptr %23, %25 : !tile.ptr<bf16>, i64
    %27 = arith.extsi %2 : i32 to i64
    %28 = tile.make_block_ptr %26 shape[%7, %c128_i64] strides[%v_stride_row, %c1_i64] offsets[%27, %c0_i64] : !tile.ptr<bf16> -> !tile.block_ptr<128x128xbf16>
    %29 = tile.load %28 : !tile.block_ptr<128x128xbf16>
    %30 = tile.arange 0 to 128 : tensor<128xi32>
    %31 = tile.splat %2 : i32 -> tensor<128xi32>
    %32 = arith.addi %31, %30 : tensor<128xi32>
    %33 = tile.expand_dims %32 axis 1 : tensor<128xi32> -> tensor<128x1xi32>
    %34 = arith.muli %5, %q_stride_batch : i64
    %35 = tile.addptr %q, %34 : !tile.ptr<bf16>, i64
    %36 = arith.extsi %3 : i32 to i64
    %37 = arith.muli %36, %q_stride_head : i64
    %38 = tile.addptr %35, %37 : !tile.ptr<bf16>, i64
    %39 = arith.muli %5, %grad_o_stride_batch : i64
    %40 = tile.addptr %grad_o, %39 : !tile.ptr<bf16>, i64
    %41 = arith.extsi %3 : i32 to i64
    %42 = arith.muli %41, %grad_o_stride_head : i64
    %43 = tile.addptr %40, %42 : !tile.ptr<bf16>, i64
    %44 = tile.make_block_ptr %38 shape[%6, %c128_i64] strides[%q_stride_row, %c1_i64] offsets[%c0_i64, %c0_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x128xbf16>
    %45 = tile.make_block_ptr %43 shape[%6, %c128_i64] strides[%grad_o_stride_row, %c1_i64] offsets[%c0_i64, %c0_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x128xbf16>
    %46 = arith.extsi %heads_q : i32 to i64
    %47 = arith.muli %5, %46 : i64
    %48 = arith.extsi %3 : i32 to i64
    %49 = arith.addi %47, %48 : i64
    %50 = arith.muli %49, %0 : i64
    %51 = tile.addptr %shift, %50 : !tile.ptr<f32>, i64
    %52 = tile.make_block_ptr %51 shape[%0] strides[%c1_i64] offsets[%c0_i64] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
    %53 = arith.muli %49, %0 : i64
    %54 = tile.addptr %delta, %53 : !tile.ptr<f32>, i64
    %55 = tile.make_block_ptr %54 shape[%0] strides[%c1_i64] offsets[%c0_i64] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
    %56 = arith.muli %49, %0 : i64
    %57 = arith.muli %56, %c128_i64 : i64
    %58 = tile.addptr %dq_sum, %57 : !tile.ptr<f32>, i64
    %59 = arith.divsi %0, %c16_i64 : i64
    %60 = tile.make_block_ptr %58 shape[%59, %c2048_i64] strides[%c2048_i64, %c1_i64] offsets[%c0_i64, %c0_i64] : !tile.ptr<f32> -> !tile.block_ptr<4x2048xf32>
    %61:2 = scf.for %arg0 = %13 to %seq_q step %c64_i32 iter_args(%arg1 = %cst, %arg2 = %cst) -> (tensor<128x128xf32>, tensor<128x128xf32>)  : i32 {
      %80 = tile.arange 0 to 64 : tensor<64xi32>
      %81 = tile.splat %arg0 : i32 -> tensor<64xi32>
      %82 = arith.addi %81, %80 : tensor<64xi32>
      %83 = tile.expand_dims %82 axis 0 : tensor<64xi32> -> tensor<1x64xi32>
      %84 = tile.splat %9 : i32 -> tensor<1x64xi32>
      %85 = arith.addi %83, %84 : tensor<1x64xi32>
      %86 = tile.broadcast %33 : tensor<128x1xi32> -> tensor<128x64xi32>
      %87 = tile.broadcast %85 : tensor<1x64xi32> -> tensor<128x64xi32>
      %88 = arith.cmpi sle, %86, %87 : tensor<128x64xi32>
      %89 = arith.extsi %arg0 : i32 to i64
      %90 = tile.advance %44, [%89, %c0_i64] : !tile.block_ptr<64x128xbf16>
      %91 = tile.load %90 : !tile.block_ptr<64x128xbf16>
      %92 = arith.extsi %arg0 : i32 to i64
      %93 = tile.advance %45, [%92, %c0_i64] : !tile.block_ptr<64x128xbf16>
      %94 = tile.load %93 : !tile.block_ptr<64x128xbf16>
      %95 = arith.extsi %arg0 : i32 to i64
      %96 = tile.advance %52, [%95] : !tile.block_ptr<64xf32>
      %97 = tile.load %96 : !tile.block_ptr<64xf32>
      %98 = tile.reshape %97 : tensor<64xf32> -> tensor<4x4x2x2xf32>
      %99 = tile.trans %98 order [0, 2, 1, 3] : tensor<4x4x2x2xf32> -> tensor<4x2x4x2xf32>
      %100 = tile.reshape %99 : tensor<4x2x4x2xf32> -> tensor<64xf32>
      %101 = arith.extsi %arg0 : i32 to i64
      %102 = tile.advance %55, [%101] : !tile.block_ptr<64xf32>
      %103 = tile.load %102 : !tile.block_ptr<64xf32>
      %104 = tile.reshape %103 : tensor<64xf32> -> tensor<4x4x2x2xf32>
      %105 = tile.trans %104 order [0, 2, 1, 3] : tensor<4x4x2x2xf32> -> tensor<4x2x4x2xf32>
      %106 = tile.reshape %105 : tensor<4x2x4x2xf32> -> tensor<64xf32>
      %107 = tile.trans %91 order [1, 0] : tensor<64x128xbf16> -> tensor<128x64xbf16>
      %108 = tile.dot %21, %107, %cst_0 : tensor<128x128xbf16>, tensor<128x64xbf16>, tensor<128x64xf32>
      %109 = tile.splat %scale : f32 -> tensor<128x64xf32>
      %110 = arith.mulf %108, %109 : tensor<128x64xf32>
      %111 = tile.expand_dims %100 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
      %112 = tile.broadcast %111 : tensor<1x64xf32> -> tensor<128x64xf32>
      %113 = arith.subf %110, %112 : tensor<128x64xf32>
      %114 = tile.exp %113 fastmath<afn> : tensor<128x64xf32>
      %115 = arith.select %88, %114, %cst_0 : tensor<128x64xi1>, tensor<128x64xf32>
      %116 = tile.trans %94 order [1, 0] : tensor<64x128xbf16> -> tensor<128x64xbf16>
      %117 = tile.dot %29, %116, %cst_0 : tensor<128x128xbf16>, tensor<128x64xbf16>, tensor<128x64xf32>
      %118 = tile.expand_dims %106 axis 0 : tensor<64xf32> -> tensor<1x64xf32>
      %119 = tile.broadcast %118 : tensor<1x64xf32> -> tensor<128x64xf32>
      %120 = arith.subf %117, %119 : tensor<128x64xf32>
      %121 = arith.mulf %115, %120 : tensor<128x64xf32>
      %122 = arith.select %88, %121, %cst_0 : tensor<128x64xi1>, tensor<128x64xf32>
      %123 = tile.cast %115 : tensor<128x64xf32> -> tensor<128x64xbf16>
      %124 = tile.cast %122 : tensor<128x64xf32> -> tensor<128x64xbf16>
      %125 = tile.dot %123, %94, %arg2 : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
      %126 = tile.dot %124, %91, %arg1 : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
      %127 = arith.divsi %arg0, %c16_i32 : i32
      %128 = arith.extsi %127 : i32 to i64
      %129 = tile.advance %60, [%128, %c0_i64] : !tile.block_ptr<4x2048xf32>
      %130 = tile.trans %124 order [1, 0] : tensor<128x64xbf16> -> tensor<64x128xbf16>
      %131 = tile.dot %130, %21, %cst_1 : tensor<64x128xbf16>, tensor<128x128xbf16>, tensor<64x128xf32>
      %132 = tile.reshape %131 : tensor<64x128xf32> -> tensor<4x2x8x16x4x2xf32>
      %133 = tile.trans %132 order [0, 3, 2, 4, 1, 5] : tensor<4x2x8x16x4x2xf32> -> tensor<4x16x8x4x2x2xf32>
      %134 = tile.reshape %133 : tensor<4x16x8x4x2x2xf32> -> tensor<4x2048xf32>
      %135 = tile.atomic_add %129, %134 : !tile.block_ptr<4x2048xf32>
      scf.yield %126, %125 : tensor<128x128xf32>, tensor<128x128xf32>
    }
    %62 = tile.splat %scale : f32 -> tensor<128x128xf32>
    %63 = arith.mulf %61#0, %62 : tensor<128x128xf32>
    %64 = arith.muli %5, %dk_stride_batch : i64
    %65 = tile.addptr %dk, %64 : !tile.ptr<bf16>, i64
    %66 = arith.extsi %3 : i32 to i64
    %67 = arith.muli %66, %dk_stride_head : i64
    %68 = tile.addptr %65, %67 : !tile.ptr<bf16>, i64
    %69 = arith.extsi %2 : i32 to i64
    %70 = tile.make_block_ptr %68 shape[%7, %c128_i64] strides[%dk_stride_row, %c1_i64] offsets[%69, %c0_i64] : !tile.ptr<bf16> -> !tile.block_ptr<128x128xbf16>
    %71 = tile.cast %63 : tensor<128x128xf32> -> tensor<128x128xbf16>
    tile.store %70, %71 : !tile.block_ptr<128x128xbf16>
    %72 = arith.muli %5, %dv_stride_batch : i64
    %73 = tile.addptr %dv, %72 : !tile.ptr<bf16>, i64
    %74 = arith.extsi %3 : i32 to i64
    %75 = arith.muli %74, %dv_stride_head : i64
    %76 = tile.addptr %73, %75 : !tile.ptr<bf16>, i64
    %77 = arith.extsi %2 : i32 to i64
    %78 = tile.make_block_ptr %76 shape[%7, %c128_i64] strides[%dv_stride_row, %c1_i64] offsets[%77, %c0_i64] : !tile.ptr<bf16> -> !tile.block_ptr<128x128xbf16>
    %79 = tile.cast %61#1 : tensor<128x128xf32> -> tensor<128x128xbf16>
    tile.store %78, %79 : !tile.block_ptr<128x128xbf16>
    tile.return
  }
}
