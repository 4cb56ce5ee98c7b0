// The causal forward at 64 x 64 tiles, d = 64, as flashAttention builds it for
// GPUs: its loop ends at the position of the program, and rows that hidden
// elements reached are mended behind it.
//
// RUN: fa-opt %s --remarks --tilegpu-pair-programs -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t
// RUN: fa-opt %t --tile-optimize | FileCheck %s --check-prefix=SPLIT

// REMARK: remark: [Passed] Programs {{.*}}3 programs along x are warpgroups of one block

// Loops end where the last of the three programs does.
// CHECK: %[[X:.*]] = tile.program_id x
// CHECK: %[[FIRST:.*]] = arith.muli %[[X]], %c3_i32 : i32
// CHECK: %[[ROW:.*]] = arith.muli %[[FIRST]], %c64_i32 : i32
// CHECK: %[[BEHIND:.*]] = arith.addi %[[ROW]], %c64_i32 : i32
// CHECK: %[[SEEN:.*]] = arith.addi %[[BEHIND]], %{{.*}} : i32
// CHECK: %[[TWO:.*]] = arith.constant 128 : i32
// CHECK: %[[LAST:.*]] = arith.addi %[[SEEN]], %[[TWO]] : i32
// CHECK: %[[END:.*]] = arith.minsi %seq_k, %[[LAST]] : i32
// CHECK: scf.for %{{.*}} to %[[END]] {{.*}} -> (tensor<192xf32>, tensor<192xf32>, tensor<192x64xf32>)
// CHECK: tile.max {{.*}} axis 0 : tensor<192xi1> -> i1
// CHECK: scf.if {{.*}} -> (tensor<192x64xf32>)
// CHECK: arith.minsi %seq_k
// CHECK: scf.for

// No program visits more than it did but for tiles that its neighbours see.
// SPLIT: scf.for
// SPLIT: } {tile.part = "interior"}
// SPLIT: scf.for
// SPLIT: } {tile.part = "masked"}
tile.kernel @flash_attention_forward_causal(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<bf16>, %lse: !tile.ptr<f32>, %heads_q: i32, %heads_kv: i32, %seq_q: i32, %seq_k: i32, %batch: i32, %q_stride_batch: i64, %q_stride_head: i64, %q_stride_row: i64, %k_stride_batch: i64, %k_stride_head: i64, %k_stride_row: i64, %v_stride_batch: i64, %v_stride_head: i64, %v_stride_row: i64, %o_stride_batch: i64, %o_stride_head: i64, %o_stride_row: i64, %scale: f32) grid(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14, d15, d16) -> (d2 ceildiv 64, d0, d4) {
  %c64_i32 = arith.constant 64 : i32
  %c64_i64 = arith.constant 64 : i64
  %c1_i64 = arith.constant 1 : i64
  %c0_i64 = arith.constant 0 : i64
  %cst = arith.constant dense<0xFF800000> : tensor<64xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<64xf32>
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %c0_i32 = arith.constant 0 : i32
  %cst_2 = arith.constant dense<0xFF800000> : tensor<64x64xf32>
  %cst_3 = arith.constant dense<0x7F800000> : tensor<64x64xf32>
  %cst_4 = arith.constant dense<true> : tensor<64x64xi1>
  %c1_i32 = arith.constant 1 : i32
  %cst_5 = arith.constant dense<0.000000e+00> : tensor<64x1xf32>
  %cst_6 = arith.constant dense<1.000000e+00> : tensor<64x1xf32>
  %0 = tile.assume %scale {min = 1.17549435E-38 : f32} : f32
  %1 = tile.program_id x
  %2 = arith.muli %1, %c64_i32 : i32
  %3 = tile.program_id y
  %4 = arith.divsi %heads_q, %heads_kv : i32
  %5 = arith.divsi %3, %4 : i32
  %6 = arith.extsi %5 : i32 to i64
  %7 = arith.extsi %3 : i32 to i64
  %8 = tile.program_id z
  %9 = arith.extsi %8 : i32 to i64
  %10 = arith.extsi %seq_q : i32 to i64
  %11 = arith.extsi %seq_k : i32 to i64
  %12 = arith.muli %9, %q_stride_batch : i64
  %13 = tile.addptr %q, %12 : !tile.ptr<bf16>, i64
  %14 = arith.muli %7, %q_stride_head : i64
  %15 = tile.addptr %13, %14 : !tile.ptr<bf16>, i64
  %16 = arith.extsi %2 : i32 to i64
  %17 = tile.make_block_ptr %15 shape[%10, %c64_i64] strides[%q_stride_row, %c1_i64] offsets[%16, %c0_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %18 = tile.load %17 : !tile.block_ptr<64x64xbf16>
  %19 = arith.muli %9, %k_stride_batch : i64
  %20 = tile.addptr %k, %19 : !tile.ptr<bf16>, i64
  %21 = arith.muli %6, %k_stride_head : i64
  %22 = tile.addptr %20, %21 : !tile.ptr<bf16>, i64
  %23 = tile.make_block_ptr %22 shape[%11, %c64_i64] strides[%k_stride_row, %c1_i64] offsets[%c0_i64, %c0_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %24 = arith.muli %9, %v_stride_batch : i64
  %25 = tile.addptr %v, %24 : !tile.ptr<bf16>, i64
  %26 = arith.muli %6, %v_stride_head : i64
  %27 = tile.addptr %25, %26 : !tile.ptr<bf16>, i64
  %28 = tile.make_block_ptr %27 shape[%11, %c64_i64] strides[%v_stride_row, %c1_i64] offsets[%c0_i64, %c0_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %29 = arith.extsi %2 : i32 to i64
  %30 = tile.make_block_ptr %15 shape[%10, %c64_i64] strides[%q_stride_row, %c1_i64] offsets[%29, %c0_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %31 = tile.make_block_ptr %22 shape[%11, %c64_i64] strides[%k_stride_row, %c1_i64] offsets[%c0_i64, %c0_i64] : !tile.ptr<bf16> -> !tile.block_ptr<1x64xbf16>
  %32 = tile.make_block_ptr %27 shape[%11, %c64_i64] strides[%v_stride_row, %c1_i64] offsets[%c0_i64, %c0_i64] : !tile.ptr<bf16> -> !tile.block_ptr<1x64xbf16>
  %33 = tile.arange 0 to 64 : tensor<64xi32>
  %34 = tile.splat %2 : i32 -> tensor<64xi32>
  %35 = arith.addi %34, %33 : tensor<64xi32>
  %36 = arith.subi %seq_k, %seq_q : i32
  %37 = tile.splat %36 : i32 -> tensor<64xi32>
  %38 = arith.addi %35, %37 : tensor<64xi32>
  %39 = tile.expand_dims %38 axis 1 : tensor<64xi32> -> tensor<64x1xi32>
  %40 = arith.addi %2, %c64_i32 : i32
  %41 = arith.addi %40, %36 : i32
  %42 = arith.minsi %seq_k, %41 : i32
  %43:3 = scf.for %arg0 = %c0_i32 to %42 step %c64_i32 iter_args(%arg1 = %cst, %arg2 = %cst_0, %arg3 = %cst_1) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>)  : i32 {
    %73 = tile.arange 0 to 64 : tensor<64xi32>
    %74 = tile.splat %arg0 : i32 -> tensor<64xi32>
    %75 = arith.addi %74, %73 : tensor<64xi32>
    %76 = tile.expand_dims %75 axis 0 : tensor<64xi32> -> tensor<1x64xi32>
    %77 = tile.splat %seq_k : i32 -> tensor<1x64xi32>
    %78 = arith.cmpi slt, %76, %77 : tensor<1x64xi32>
    %79 = tile.broadcast %76 : tensor<1x64xi32> -> tensor<64x64xi32>
    %80 = tile.broadcast %39 : tensor<64x1xi32> -> tensor<64x64xi32>
    %81 = arith.cmpi sle, %79, %80 : tensor<64x64xi32>
    %82 = tile.broadcast %78 : tensor<1x64xi1> -> tensor<64x64xi1>
    %83 = arith.andi %82, %81 : tensor<64x64xi1>
    %84 = arith.extsi %arg0 : i32 to i64
    %85 = tile.advance %23, [%84, %c0_i64] : !tile.block_ptr<64x64xbf16>
    %86 = tile.load %85 : !tile.block_ptr<64x64xbf16>
    %87 = tile.trans %86 order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %88 = tile.dot %18, %87, %cst_1 : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %89 = tile.splat %0 : f32 -> tensor<64x64xf32>
    %90 = arith.mulf %88, %89 : tensor<64x64xf32>
    %91 = arith.select %83, %90, %cst_2 : tensor<64x64xi1>, tensor<64x64xf32>
    %92 = tile.max %91 axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %93 = arith.maximumf %arg1, %92 : tensor<64xf32>
    %94 = arith.cmpf oeq, %93, %cst : tensor<64xf32>
    %95 = arith.select %94, %cst_0, %93 : tensor<64xi1>, tensor<64xf32>
    %96 = tile.expand_dims %95 axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %97 = tile.broadcast %96 : tensor<64x1xf32> -> tensor<64x64xf32>
    %98 = arith.subf %91, %97 : tensor<64x64xf32>
    %99 = tile.exp %98 fastmath<afn> : tensor<64x64xf32>
    %100 = arith.subf %arg1, %95 : tensor<64xf32>
    %101 = tile.exp %100 fastmath<afn> : tensor<64xf32>
    %102 = arith.extsi %arg0 : i32 to i64
    %103 = tile.advance %28, [%102, %c0_i64] : !tile.block_ptr<64x64xbf16>
    %104 = tile.load %103 : !tile.block_ptr<64x64xbf16>
    %105 = arith.mulf %arg2, %101 : tensor<64xf32>
    %106 = tile.sum %99 axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %107 = arith.addf %105, %106 : tensor<64xf32>
    %108 = tile.expand_dims %101 axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %109 = tile.broadcast %108 : tensor<64x1xf32> -> tensor<64x64xf32>
    %110 = arith.mulf %arg3, %109 : tensor<64x64xf32>
    %111 = tile.cast %99 : tensor<64x64xf32> -> tensor<64x64xbf16>
    %112 = tile.dot %111, %104, %110 : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %93, %107, %112 : tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>
  }
  %44 = math.absf %43#2 : tensor<64x64xf32>
  %45 = arith.cmpf olt, %44, %cst_3 : tensor<64x64xf32>
  %46 = arith.xori %45, %cst_4 : tensor<64x64xi1>
  %47 = tile.max %46 axis 1 : tensor<64x64xi1> -> tensor<64xi1>
  %48 = tile.max %47 axis 0 : tensor<64xi1> -> i1
  %49 = scf.if %48 -> (tensor<64x64xf32>) {
    %73 = tile.max %46 axis 1 : tensor<64x64xi1> -> tensor<64xi1>
    %74 = tile.expand_dims %73 axis 1 : tensor<64xi1> -> tensor<64x1xi1>
    %75 = arith.cmpf oeq, %43#0, %cst : tensor<64xf32>
    %76 = arith.select %75, %cst_0, %43#0 : tensor<64xi1>, tensor<64xf32>
    %77 = tile.broadcast %74 : tensor<64x1xi1> -> tensor<64x64xi1>
    %78 = arith.select %77, %cst_1, %43#2 : tensor<64x64xi1>, tensor<64x64xf32>
    %79 = scf.for %arg0 = %c0_i32 to %42 step %c1_i32 iter_args(%arg1 = %78) -> (tensor<64x64xf32>)  : i32 {
      %80 = scf.for %arg2 = %c0_i32 to %c64_i32 step %c64_i32 iter_args(%arg3 = %cst_0) -> (tensor<64xf32>)  : i32 {
        %101 = arith.extsi %arg2 : i32 to i64
        %102 = tile.advance %30, [%c0_i64, %101] : !tile.block_ptr<64x64xbf16>
        %103 = tile.load %102 : !tile.block_ptr<64x64xbf16>
        %104 = tile.cast %103 : tensor<64x64xbf16> -> tensor<64x64xf32>
        %105 = arith.extsi %arg0 : i32 to i64
        %106 = arith.extsi %arg2 : i32 to i64
        %107 = tile.advance %31, [%105, %106] : !tile.block_ptr<1x64xbf16>
        %108 = tile.load %107 : !tile.block_ptr<1x64xbf16>
        %109 = tile.cast %108 : tensor<1x64xbf16> -> tensor<1x64xf32>
        %110 = tile.broadcast %109 : tensor<1x64xf32> -> tensor<64x64xf32>
        %111 = arith.mulf %104, %110 : tensor<64x64xf32>
        %112 = tile.sum %111 axis 1 : tensor<64x64xf32> -> tensor<64xf32>
        %113 = arith.addf %arg3, %112 : tensor<64xf32>
        scf.yield %113 : tensor<64xf32>
      }
      %81 = tile.splat %0 : f32 -> tensor<64xf32>
      %82 = arith.mulf %80, %81 : tensor<64xf32>
      %83 = arith.subf %82, %76 : tensor<64xf32>
      %84 = tile.exp %83 fastmath<afn> : tensor<64xf32>
      %85 = tile.expand_dims %84 axis 1 : tensor<64xf32> -> tensor<64x1xf32>
      %86 = tile.cast %85 : tensor<64x1xf32> -> tensor<64x1xbf16>
      %87 = tile.cast %86 : tensor<64x1xbf16> -> tensor<64x1xf32>
      %88 = arith.extsi %arg0 : i32 to i64
      %89 = tile.advance %32, [%88, %c0_i64] : !tile.block_ptr<1x64xbf16>
      %90 = tile.load %89 : !tile.block_ptr<1x64xbf16>
      %91 = tile.cast %90 : tensor<1x64xbf16> -> tensor<1x64xf32>
      %92 = tile.splat %arg0 : i32 -> tensor<64x1xi32>
      %93 = arith.cmpi sge, %39, %92 : tensor<64x1xi32>
      %94 = arith.andi %74, %93 : tensor<64x1xi1>
      %95 = tile.broadcast %87 : tensor<64x1xf32> -> tensor<64x64xf32>
      %96 = tile.broadcast %91 : tensor<1x64xf32> -> tensor<64x64xf32>
      %97 = arith.mulf %95, %96 : tensor<64x64xf32>
      %98 = arith.addf %arg1, %97 : tensor<64x64xf32>
      %99 = tile.broadcast %94 : tensor<64x1xi1> -> tensor<64x64xi1>
      %100 = arith.select %99, %98, %arg1 : tensor<64x64xi1>, tensor<64x64xf32>
      scf.yield %100 : tensor<64x64xf32>
    }
    scf.yield %79 : tensor<64x64xf32>
  } else {
    scf.yield %43#2 : tensor<64x64xf32>
  }
  %50 = tile.expand_dims %43#1 axis 1 : tensor<64xf32> -> tensor<64x1xf32>
  %51 = arith.cmpf oeq, %50, %cst_5 : tensor<64x1xf32>
  %52 = arith.divf %cst_6, %50 : tensor<64x1xf32>
  %53 = tile.broadcast %52 : tensor<64x1xf32> -> tensor<64x64xf32>
  %54 = arith.mulf %49, %53 : tensor<64x64xf32>
  %55 = tile.broadcast %51 : tensor<64x1xi1> -> tensor<64x64xi1>
  %56 = arith.select %55, %cst_1, %54 : tensor<64x64xi1>, tensor<64x64xf32>
  %57 = tile.cast %56 : tensor<64x64xf32> -> tensor<64x64xbf16>
  %58 = arith.muli %9, %o_stride_batch : i64
  %59 = tile.addptr %o, %58 : !tile.ptr<bf16>, i64
  %60 = arith.muli %7, %o_stride_head : i64
  %61 = tile.addptr %59, %60 : !tile.ptr<bf16>, i64
  %62 = arith.extsi %2 : i32 to i64
  %63 = tile.make_block_ptr %61 shape[%10, %c64_i64] strides[%o_stride_row, %c1_i64] offsets[%62, %c0_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  tile.store %63, %57 : !tile.block_ptr<64x64xbf16>
  %64 = tile.log %43#1 : tensor<64xf32>
  %65 = arith.addf %43#0, %64 : tensor<64xf32>
  %66 = arith.extsi %heads_q : i32 to i64
  %67 = arith.muli %9, %66 : i64
  %68 = arith.addi %67, %7 : i64
  %69 = arith.muli %68, %10 : i64
  %70 = tile.addptr %lse, %69 : !tile.ptr<f32>, i64
  %71 = arith.extsi %2 : i32 to i64
  %72 = tile.make_block_ptr %70 shape[%10] strides[%c1_i64] offsets[%71] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  tile.store %72, %65 : !tile.block_ptr<64xf32>
  tile.return
}
