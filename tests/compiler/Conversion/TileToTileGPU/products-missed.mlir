// Which products have lesser instructions than the target has, and why.
//
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a num-warps=8}))' --remarks \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefixes=CHECK,HOPPER
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a num-warps=2}))' --remarks \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: fa-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_80 num-warps=8}))' --remarks \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefixes=CHECK,AMPERE

// AMPERE-NOT: mma.sync

// HOPPER-NOT: Function=warpgroups
// TWO: Function=warpgroups | Reason="the product is computed by mma.sync: a warpgroup has 4 warps, and the program 2"
tile.kernel @warpgroups(%x: !tile.ptr<bf16>, %z: !tile.ptr<f32>, %s: i64) grid(s) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
  %b_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %a = tile.load %a_at : !tile.block_ptr<128x64xbf16>
  %b = tile.load %b_at : !tile.block_ptr<64x64xbf16>
  %c = tile.full 0.0 : f32 -> tensor<128x64xf32>
  %d = tile.dot %a, %b, %c : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
  %d_at = tile.make_block_ptr %z shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %d_at, %d : !tile.block_ptr<128x64xf32>
  tile.return
}

// HOPPER: Function=rows | Reason="the product is computed by mma.sync: its 16 rows are no multiple of the 128 that 8 warps take"
tile.kernel @rows(%x: !tile.ptr<bf16>, %z: !tile.ptr<f32>, %s: i64) grid(s) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<16x64xbf16>
  %b_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %a = tile.load %a_at : !tile.block_ptr<16x64xbf16>
  %b = tile.load %b_at : !tile.block_ptr<64x64xbf16>
  %c = tile.full 0.0 : f32 -> tensor<16x64xf32>
  %d = tile.dot %a, %b, %c : tensor<16x64xbf16>, tensor<64x64xbf16>, tensor<16x64xf32>
  %d_at = tile.make_block_ptr %z shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<16x64xf32>
  tile.store %d_at, %d : !tile.block_ptr<16x64xf32>
  tile.return
}

// HOPPER: Function=row | Reason="the product is computed by mma.sync: its 1 row is no multiple of the 128 that 8 warps take"
tile.kernel @row(%x: !tile.ptr<bf16>, %z: !tile.ptr<f32>, %s: i64) grid(s) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<1x64xbf16>
  %b_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %a = tile.load %a_at : !tile.block_ptr<1x64xbf16>
  %b = tile.load %b_at : !tile.block_ptr<64x64xbf16>
  %c = tile.full 0.0 : f32 -> tensor<1x64xf32>
  %d = tile.dot %a, %b, %c : tensor<1x64xbf16>, tensor<64x64xbf16>, tensor<1x64xf32>
  %d_at = tile.make_block_ptr %z shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<1x64xf32>
  tile.store %d_at, %d : !tile.block_ptr<1x64xf32>
  tile.return
}

// HOPPER: Function=columns | Reason="the product is computed by mma.sync: its 20 columns are no multiple of 8 up to 256"
tile.kernel @columns(%x: !tile.ptr<f16>, %z: !tile.ptr<f32>, %s: i64) grid(s) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f16> -> !tile.block_ptr<128x64xf16>
  %b_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f16> -> !tile.block_ptr<64x20xf16>
  %a = tile.load %a_at : !tile.block_ptr<128x64xf16>
  %b = tile.load %b_at : !tile.block_ptr<64x20xf16>
  %c = tile.full 0.0 : f32 -> tensor<128x20xf32>
  %d = tile.dot %a, %b, %c : tensor<128x64xf16>, tensor<64x20xf16>, tensor<128x20xf32>
  %d_at = tile.make_block_ptr %z shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<128x20xf32>
  tile.store %d_at, %d : !tile.block_ptr<128x20xf32>
  tile.return
}

// HOPPER: Function=wide | Reason="the product is computed by mma.sync: its 512 columns are no multiple of 8 up to 256"
tile.kernel @wide(%x: !tile.ptr<f16>, %z: !tile.ptr<f32>, %s: i64) grid(s) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f16> -> !tile.block_ptr<128x64xf16>
  %b_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f16> -> !tile.block_ptr<64x512xf16>
  %a = tile.load %a_at : !tile.block_ptr<128x64xf16>
  %b = tile.load %b_at : !tile.block_ptr<64x512xf16>
  %c = tile.full 0.0 : f32 -> tensor<128x512xf32>
  %d = tile.dot %a, %b, %c : tensor<128x64xf16>, tensor<64x512xf16>, tensor<128x512xf32>
  %d_at = tile.make_block_ptr %z shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<128x512xf32>
  tile.store %d_at, %d : !tile.block_ptr<128x512xf32>
  tile.return
}

// HOPPER: Function=depth | Reason="the product is computed by mma.sync: its depth of 24 is no multiple of 16, and not along the rows of both operands"
tile.kernel @depth(%x: !tile.ptr<f16>, %z: !tile.ptr<f32>, %s: i64) grid(s) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f16> -> !tile.block_ptr<128x24xf16>
  %b_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f16> -> !tile.block_ptr<24x64xf16>
  %a = tile.load %a_at : !tile.block_ptr<128x24xf16>
  %b = tile.load %b_at : !tile.block_ptr<24x64xf16>
  %c = tile.full 0.0 : f32 -> tensor<128x64xf32>
  %d = tile.dot %a, %b, %c : tensor<128x24xf16>, tensor<24x64xf16>, tensor<128x64xf32>
  %d_at = tile.make_block_ptr %z shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %d_at, %d : !tile.block_ptr<128x64xf32>
  tile.return
}

// HOPPER: Function=integers | Reason="the product is computed by mma.sync: its operands are i8, those of warpgroups are f16 or bf16"
tile.kernel @integers(%x: !tile.ptr<i8>, %z: !tile.ptr<i32>, %s: i64) grid(s) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<i8> -> !tile.block_ptr<128x64xi8>
  %b_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<i8> -> !tile.block_ptr<64x64xi8>
  %a = tile.load %a_at : !tile.block_ptr<128x64xi8>
  %b = tile.load %b_at : !tile.block_ptr<64x64xi8>
  %c = tile.full 0 : i32 -> tensor<128x64xi32>
  %d = tile.dot %a, %b, %c : tensor<128x64xi8>, tensor<64x64xi8>, tensor<128x64xi32>
  %d_at = tile.make_block_ptr %z shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<i32> -> !tile.block_ptr<128x64xi32>
  tile.store %d_at, %d : !tile.block_ptr<128x64xi32>
  tile.return
}

// HOPPER: Function=singles | Reason="the product is computed by mma.sync: its operands are f32, those of warpgroups are f16 or bf16"
tile.kernel @singles(%x: !tile.ptr<f32>, %z: !tile.ptr<f32>, %s: i64) grid(s) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  %b_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %a = tile.load %a_at : !tile.block_ptr<128x64xf32>
  %b = tile.load %b_at : !tile.block_ptr<64x64xf32>
  %c = tile.full 0.0 : f32 -> tensor<128x64xf32>
  %d = tile.dot %a, %b, %c : tensor<128x64xf32>, tensor<64x64xf32>, tensor<128x64xf32>
  %d_at = tile.make_block_ptr %z shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %d_at, %d : !tile.block_ptr<128x64xf32>
  tile.return
}

// fp8 is multiplied as f16.
// HOPPER-NOT: Function=bytes
tile.kernel @bytes(%x: !tile.ptr<f8E4M3FN>, %z: !tile.ptr<f32>, %s: i64) grid(s) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f8E4M3FN> -> !tile.block_ptr<128x64xf8E4M3FN>
  %b_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f8E4M3FN> -> !tile.block_ptr<64x64xf8E4M3FN>
  %a = tile.load %a_at : !tile.block_ptr<128x64xf8E4M3FN>
  %b = tile.load %b_at : !tile.block_ptr<64x64xf8E4M3FN>
  %c = tile.full 0.0 : f32 -> tensor<128x64xf32>
  %d = tile.dot %a, %b, %c : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>
  %d_at = tile.make_block_ptr %z shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %d_at, %d : !tile.block_ptr<128x64xf32>
  tile.return
}

// CHECK: Function=doubles | Reason="the product is computed by multiply-adds of threads: its operands are f64"
tile.kernel @doubles(%x: !tile.ptr<f64>, %z: !tile.ptr<f64>, %s: i64) grid(s) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f64> -> !tile.block_ptr<128x64xf64>
  %b_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f64> -> !tile.block_ptr<64x64xf64>
  %a = tile.load %a_at : !tile.block_ptr<128x64xf64>
  %b = tile.load %b_at : !tile.block_ptr<64x64xf64>
  %c = tile.full 0.0 : f64 -> tensor<128x64xf64>
  %d = tile.dot %a, %b, %c : tensor<128x64xf64>, tensor<64x64xf64>, tensor<128x64xf64>
  %d_at = tile.make_block_ptr %z shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f64> -> !tile.block_ptr<128x64xf64>
  tile.store %d_at, %d : !tile.block_ptr<128x64xf64>
  tile.return
}

// CHECK: Function=exact | Reason="the product is computed by multiply-adds of threads: its precision is ieee"
tile.kernel @exact(%x: !tile.ptr<f32>, %z: !tile.ptr<f32>, %s: i64) grid(s) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  %b_at = tile.make_block_ptr %x shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %a = tile.load %a_at : !tile.block_ptr<128x64xf32>
  %b = tile.load %b_at : !tile.block_ptr<64x64xf32>
  %c = tile.full 0.0 : f32 -> tensor<128x64xf32>
  %d = tile.dot %a, %b, %c precision ieee : tensor<128x64xf32>, tensor<64x64xf32>, tensor<128x64xf32>
  %d_at = tile.make_block_ptr %z shape[%s, %s] strides[%s, %one] offsets[%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %d_at, %d : !tile.block_ptr<128x64xf32>
  tile.return
}
