// Rows of x start at multiples of 16 bytes where the pointer is one of 16 bytes
// and the stride one of 4 elements: the launcher hears of it, and a second
// function takes everything else, in the same module or in one of its own.
//
// RUN: fa-opt --tilegpu-specialize-arguments %s | FileCheck %s --check-prefixes=CHECK,BOTH
// RUN: fa-opt --tilegpu-specialize-arguments=functions=fast %s | FileCheck %s --check-prefixes=CHECK,FAST
// RUN: fa-opt --tilegpu-specialize-arguments=functions=plain %s | FileCheck %s --check-prefix=PLAIN
// RUN: not fa-opt --tilegpu-specialize-arguments=functions=slow %s 2>&1 | FileCheck %s --check-prefix=SLOW

// SLOW: error: expected functions 'both', 'fast' or 'plain', but got 'slow'

// CHECK-LABEL: tile.kernel @rows(
// FAST-SAME: tilegpu.plain_elsewhere
// CHECK-SAME: tilegpu.requires = [{argument = 2 : i64, divisor = 4 : i64}, {argument = 0 : i64, divisor = 16 : i64}]
// CHECK: tile.assume %stride {divisible_by = 4 : i64}

// BOTH: tile.kernel @rows__plain(
// BOTH-SAME: tilegpu.plain
// BOTH-NOT: tile.assume
// FAST-NOT: __plain

// PLAIN-NOT: @rows(
// PLAIN: tile.kernel @rows__plain({{.*}}tilegpu.plain}
// PLAIN-NOT: tile.assume
// PLAIN-NOT: @column
tile.kernel @rows(%x: !tile.ptr<f32>, %n: i64, %stride: i64) grid(n, stride) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %columns = arith.constant 64 : i64
  %value = arith.constant dense<0.0> : tensor<16x64xf32>
  %window = tile.make_block_ptr %x shape[%n, %columns] strides[%stride, %one]
      offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<16x64xf32>
  tile.store %window, %value : !tile.block_ptr<16x64xf32>
  tile.return
}

// Windows of one dimension ask for nothing.
// CHECK-LABEL: tile.kernel @column(
// CHECK-NOT: tilegpu.requires
// BOTH-NOT: @column__plain
tile.kernel @column(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %value = arith.constant dense<0.0> : tensor<16xf32>
  %window = tile.make_block_ptr %x shape[%n] strides[%one] offsets[%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<16xf32>
  tile.store %window, %value : !tile.block_ptr<16xf32>
  tile.return
}

// Where rows start depends on an offset along them, too: 16 bytes are 8 elements
// of bf16. Constants that divide ask for nothing.
// CHECK-LABEL: tile.kernel @offset(
// CHECK-SAME: tilegpu.requires = [{argument = 2 : i64, divisor = 8 : i64}, {argument = 0 : i64, divisor = 16 : i64}]
// CHECK: %[[FROM:.*]] = tile.assume %from {divisible_by = 8 : i64}
// CHECK: offsets[%{{.*}}, %[[FROM]]]
tile.kernel @offset(%x: !tile.ptr<bf16>, %n: i64, %from: i64) grid(n, from) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %columns = arith.constant 64 : i64
  %value = arith.constant dense<0.0> : tensor<16x64xbf16>
  %window = tile.make_block_ptr %x shape[%n, %columns] strides[%columns, %one]
      offsets[%zero, %from] : !tile.ptr<bf16> -> !tile.block_ptr<16x64xbf16>
  tile.store %window, %value : !tile.block_ptr<16x64xbf16>
  tile.return
}

// Where no argument decides: a stride from memory, or no dimension with stride 1.
// CHECK-LABEL: tile.kernel @loaded(
// CHECK-NOT: tilegpu.requires
// CHECK-NOT: tile.assume
// BOTH-NOT: @loaded__plain
tile.kernel @loaded(%x: !tile.ptr<f32>, %p: !tile.ptr<i64>, %n: i64) grid(n) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %columns = arith.constant 64 : i64
  %stride = tile.load %p : !tile.ptr<i64>
  %value = arith.constant dense<0.0> : tensor<16x64xf32>
  %window = tile.make_block_ptr %x shape[%n, %columns] strides[%stride, %one]
      offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<16x64xf32>
  tile.store %window, %value : !tile.block_ptr<16x64xf32>
  %spread = tile.make_block_ptr %x shape[%n, %columns] strides[%columns, %columns]
      offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<16x64xf32>
  tile.store %spread, %value : !tile.block_ptr<16x64xf32>
  tile.return
}

// A loop along the rows, in steps that are chunks, to where the last whole step
// ends, and from there on.
// CHECK-LABEL: tile.kernel @steps(
// CHECK-SAME: tilegpu.requires = [{argument = 2 : i64, divisor = 8 : i64}, {argument = 0 : i64, divisor = 16 : i64}]
tile.kernel @steps(%x: !tile.ptr<bf16>, %k: i64, %stride: i64) grid(k, stride) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 16 : i64
  %step = arith.constant 32 : i64
  %first = arith.constant 0 : i32
  %step32 = arith.constant 32 : i32
  %value = arith.constant dense<0.0> : tensor<16x32xbf16>
  %most = arith.maxsi %k, %zero : i64
  %count = arith.divsi %most, %step : i64
  %whole = arith.muli %count, %step : i64
  %end = arith.minsi %whole, %most : i64
  %middle = arith.trunci %end : i64 to i32
  %last = arith.trunci %k : i64 to i32
  scf.for %i = %first to %middle step %step32 : i32 {
    %from = arith.extsi %i : i32 to i64
    %window = tile.make_block_ptr %x shape[%n, %k] strides[%stride, %one]
        offsets[%zero, %from] : !tile.ptr<bf16> -> !tile.block_ptr<16x32xbf16>
    tile.store %window, %value : !tile.block_ptr<16x32xbf16>
  }
  scf.for %i = %middle to %last step %step32 : i32 {
    %from = arith.extsi %i : i32 to i64
    %window = tile.make_block_ptr %x shape[%n, %k] strides[%stride, %one]
        offsets[%zero, %from] : !tile.ptr<bf16> -> !tile.block_ptr<16x32xbf16>
    tile.store %window, %value : !tile.block_ptr<16x32xbf16>
  }
  tile.return
}

// In steps of three elements, few rows start at chunks.
// CHECK-LABEL: tile.kernel @oddSteps(
// CHECK-NOT: tilegpu.requires
// BOTH-NOT: @oddSteps__plain
tile.kernel @oddSteps(%x: !tile.ptr<bf16>, %k: i64, %stride: i64) grid(k, stride) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 16 : i64
  %step = arith.constant 3 : i64
  %value = arith.constant dense<0.0> : tensor<16x32xbf16>
  scf.for %i = %zero to %k step %step : i64 {
    %window = tile.make_block_ptr %x shape[%n, %k] strides[%stride, %one]
        offsets[%zero, %i] : !tile.ptr<bf16> -> !tile.block_ptr<16x32xbf16>
    tile.store %window, %value : !tile.block_ptr<16x32xbf16>
  }
  tile.return
}
