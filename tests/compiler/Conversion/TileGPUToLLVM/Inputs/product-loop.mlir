module {
  tile.kernel @product(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<bf16>, %m: i32, %n: i32, %k: i32, %batch: i32, %heads: i32, %group: i32, %a_stride_outer: i64, %a_stride_inner: i64, %a_stride_row: i64, %b_stride_outer: i64, %b_stride_inner: i64, %b_stride_row: i64, %c_stride_outer: i64, %c_stride_inner: i64, %c_stride_row: i64) grid(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14) -> (d0 ceildiv 128, d1 ceildiv 128, d3) {
    %c128_i32 = arith.constant 128 : i32
    %c8_i32 = arith.constant 8 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %c1_i64 = arith.constant 1 : i64
    %0 = tile.num_programs x
    %1 = tile.num_programs y
    %2 = tile.program_id x
    %3 = tile.program_id y
    %4 = arith.muli %3, %0 : i32
    %5 = arith.addi %2, %4 : i32
    %6 = arith.muli %1, %c8_i32 : i32
    %7 = arith.divsi %5, %6 : i32
    %8 = arith.muli %7, %6 : i32
    %9 = arith.subi %5, %8 : i32
    %10 = arith.muli %7, %c8_i32 : i32
    %11 = arith.subi %0, %10 : i32
    %12 = arith.minsi %11, %c8_i32 : i32
    %13 = arith.divsi %9, %12 : i32
    %14 = arith.muli %13, %12 : i32
    %15 = arith.subi %9, %14 : i32
    %16 = arith.addi %10, %15 : i32
    %17 = arith.muli %16, %c128_i32 : i32
    %18 = arith.muli %13, %c128_i32 : i32
    %19 = tile.program_id z
    %20 = arith.divsi %19, %heads : i32
    %21 = arith.muli %20, %heads : i32
    %22 = arith.subi %19, %21 : i32
    %23 = arith.divsi %22, %group : i32
    %24 = arith.extsi %20 : i32 to i64
    %25 = arith.muli %24, %a_stride_outer : i64
    %26 = tile.addptr %a, %25 : !tile.ptr<bf16>, i64
    %27 = arith.extsi %22 : i32 to i64
    %28 = arith.muli %27, %a_stride_inner : i64
    %29 = tile.addptr %26, %28 : !tile.ptr<bf16>, i64
    %30 = arith.extsi %20 : i32 to i64
    %31 = arith.muli %30, %b_stride_outer : i64
    %32 = tile.addptr %b, %31 : !tile.ptr<bf16>, i64
    %33 = arith.extsi %23 : i32 to i64
    %34 = arith.muli %33, %b_stride_inner : i64
    %35 = tile.addptr %32, %34 : !tile.ptr<bf16>, i64
    %36 = arith.extsi %20 : i32 to i64
    %37 = arith.muli %36, %c_stride_outer : i64
    %38 = tile.addptr %c, %37 : !tile.ptr<bf16>, i64
    %39 = arith.extsi %22 : i32 to i64
    %40 = arith.muli %39, %c_stride_inner : i64
    %41 = tile.addptr %38, %40 : !tile.ptr<bf16>, i64
    %42 = scf.for %arg0 = %c0_i32 to %k step %c32_i32 iter_args(%arg1 = %cst) -> (tensor<128x128xf32>)  : i32 {
      %49 = arith.extsi %m : i32 to i64
      %50 = arith.extsi %k : i32 to i64
      %51 = arith.extsi %17 : i32 to i64
      %52 = arith.extsi %arg0 : i32 to i64
      %53 = tile.make_block_ptr %29 shape[%49, %50] strides[%a_stride_row, %c1_i64] offsets[%51, %52] : !tile.ptr<bf16> -> !tile.block_ptr<128x32xbf16>
      %54 = tile.load %53 : !tile.block_ptr<128x32xbf16>
      %55 = arith.extsi %k : i32 to i64
      %56 = arith.extsi %n : i32 to i64
      %57 = arith.extsi %arg0 : i32 to i64
      %58 = arith.extsi %18 : i32 to i64
      %59 = tile.make_block_ptr %35 shape[%55, %56] strides[%b_stride_row, %c1_i64] offsets[%57, %58] : !tile.ptr<bf16> -> !tile.block_ptr<32x128xbf16>
      %60 = tile.load %59 : !tile.block_ptr<32x128xbf16>
      %61 = tile.dot %54, %60, %arg1 : tensor<128x32xbf16>, tensor<32x128xbf16>, tensor<128x128xf32>
      scf.yield %61 : tensor<128x128xf32>
    }
    %43 = tile.cast %42 : tensor<128x128xf32> -> tensor<128x128xbf16>
    %44 = arith.extsi %m : i32 to i64
    %45 = arith.extsi %n : i32 to i64
    %46 = arith.extsi %17 : i32 to i64
    %47 = arith.extsi %18 : i32 to i64
    %48 = tile.make_block_ptr %41 shape[%44, %45] strides[%c_stride_row, %c1_i64] offsets[%46, %47] : !tile.ptr<bf16> -> !tile.block_ptr<128x128xbf16>
    tile.store %48, %43 : !tile.block_ptr<128x128xbf16>
    tile.return
  }
}


