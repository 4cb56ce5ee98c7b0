// What may print makes ptxas run the products of warpgroups one after the other:
// a remark names it where it stands.
// RUN: fa-opt %s --tile-optimize --tile-to-nvvm="target=sm_90a num-warps=4 functions=fast" \
// RUN:   --remarks -o %t 2>&1 | FileCheck %s
// RUN: fa-opt %s --tile-optimize --tile-to-nvvm="target=sm_80 num-warps=4" \
// RUN:   --remarks -o %t 2>&1 | FileCheck %s --check-prefix=OTHERS
// RUN: fa-translate %s --target=sm_90a --emit=ptx -o %t.ptx
// RUN: %if ptxas %{ %ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS %}
// RUN: fa-translate %s --target=sm_90a --emit=ptx --plain -o %t.ptx
// RUN: %if ptxas %{ %ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PLAIN %}

// Functions of mma.sync may call what they like.
// OTHERS-NOT: products of warpgroups
// PLAIN-NOT: C75

// PTXAS-DAG: (C7510) {{.*}} in the function 'product'
// PTXAS-DAG: (C7510) {{.*}} in the function 'printed'
// PTXAS-DAG: (C7510) {{.*}} in the function 'checked'
// PTXAS-NOT: in the function 'quiet'

// CHECK: calls-beside-products.mlir:[[#@LINE+10]]:3: remark:
// CHECK-SAME: products of warpgroups run one after the other: 'tile.assert' is a call, and ptxas lets them overlap in functions without calls only (C7510)"
tile.kernel @product(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %k: i64)
    grid(k) -> (1) {
  %c0_64 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c128 = arith.constant 128 : i64
  %c64 = arith.constant 64 : i64
  %positive = arith.cmpi sgt, %k, %c0_64 : i64

  tile.assert %positive, "k must be positive" : i1
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %as = tile.make_block_ptr %a shape[%c64, %k] strides[%k, %c1]
      offsets[%c0_64, %c0_64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %bs = tile.make_block_ptr %b shape[%k, %c128] strides[%c128, %c1]
      offsets[%c0_64, %c0_64] : !tile.ptr<bf16> -> !tile.block_ptr<64x128xbf16>
  %cs = tile.make_block_ptr %c shape[%c64, %c128] strides[%c128, %c1]
      offsets[%c0_64, %c0_64] : !tile.ptr<f32> -> !tile.block_ptr<64x128xf32>
  %sum = scf.for %i = %c0_64 to %k step %c64 iter_args(%acc = %zero)
      -> tensor<64x128xf32> : i64 {
    %ap = tile.advance %as, [%c0_64, %i] : !tile.block_ptr<64x64xbf16>
    %bp = tile.advance %bs, [%i, %c0_64] : !tile.block_ptr<64x128xbf16>
    %at = tile.load %ap : !tile.block_ptr<64x64xbf16>
    %bt = tile.load %bp : !tile.block_ptr<64x128xbf16>
    %next = tile.dot %at, %bt, %acc
        : tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<64x128xf32>
    scf.yield %next : tensor<64x128xf32>
  }
  tile.store %cs, %sum : !tile.block_ptr<64x128xf32>
  tile.return
}

// CHECK: calls-beside-products.mlir:[[#@LINE+25]]:3: remark:
// CHECK-SAME: products of warpgroups run one after the other: 'tile.print' is a call, {{.*}}; there is 1 more"
tile.kernel @printed(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %k: i64)
    grid(k) -> (1) {
  %c0_64 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c128 = arith.constant 128 : i64
  %c64 = arith.constant 64 : i64
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %as = tile.make_block_ptr %a shape[%c64, %k] strides[%k, %c1]
      offsets[%c0_64, %c0_64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %bs = tile.make_block_ptr %b shape[%k, %c128] strides[%c128, %c1]
      offsets[%c0_64, %c0_64] : !tile.ptr<bf16> -> !tile.block_ptr<64x128xbf16>
  %cs = tile.make_block_ptr %c shape[%c64, %c128] strides[%c128, %c1]
      offsets[%c0_64, %c0_64] : !tile.ptr<f32> -> !tile.block_ptr<64x128xf32>
  %sum = scf.for %i = %c0_64 to %k step %c64 iter_args(%acc = %zero)
      -> tensor<64x128xf32> : i64 {
    %ap = tile.advance %as, [%c0_64, %i] : !tile.block_ptr<64x64xbf16>
    %bp = tile.advance %bs, [%i, %c0_64] : !tile.block_ptr<64x128xbf16>
    %at = tile.load %ap : !tile.block_ptr<64x64xbf16>
    %bt = tile.load %bp : !tile.block_ptr<64x128xbf16>
    %next = tile.dot %at, %bt, %acc
        : tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<64x128xf32>
    scf.yield %next : tensor<64x128xf32>
  }
  tile.print "stored", %k : i64
  tile.print "also", %c64 : i64
  tile.store %cs, %sum : !tile.block_ptr<64x128xf32>
  tile.return
}

// CHECK: calls-beside-products.mlir:[[#@LINE+15]]:10: remark:
// CHECK-SAME: products of warpgroups run one after the other: the loop's step is checked when the kernel runs, by a call, {{.*}}"
tile.kernel @checked(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %k: i64, %step: i64)
    grid(k, step) -> (1) {
  %c0_64 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c128 = arith.constant 128 : i64
  %c64 = arith.constant 64 : i64
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %as = tile.make_block_ptr %a shape[%c64, %k] strides[%k, %c1]
      offsets[%c0_64, %c0_64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %bs = tile.make_block_ptr %b shape[%k, %c128] strides[%c128, %c1]
      offsets[%c0_64, %c0_64] : !tile.ptr<bf16> -> !tile.block_ptr<64x128xbf16>
  %cs = tile.make_block_ptr %c shape[%c64, %c128] strides[%c128, %c1]
      offsets[%c0_64, %c0_64] : !tile.ptr<f32> -> !tile.block_ptr<64x128xf32>
  %sum = scf.for %i = %c0_64 to %k step %step iter_args(%acc = %zero)
      -> tensor<64x128xf32> : i64 {
    %ap = tile.advance %as, [%c0_64, %i] : !tile.block_ptr<64x64xbf16>
    %bp = tile.advance %bs, [%i, %c0_64] : !tile.block_ptr<64x128xbf16>
    %at = tile.load %ap : !tile.block_ptr<64x64xbf16>
    %bt = tile.load %bp : !tile.block_ptr<64x128xbf16>
    %next = tile.dot %at, %bt, %acc
        : tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<64x128xf32>
    scf.yield %next : tensor<64x128xf32>
  }
  tile.store %cs, %sum : !tile.block_ptr<64x128xf32>
  tile.return
}

// CHECK-NOT: run one after the other
tile.kernel @quiet(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %k: i64)
    grid(k) -> (1) {
  %c0_64 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c128 = arith.constant 128 : i64
  %c64 = arith.constant 64 : i64
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %as = tile.make_block_ptr %a shape[%c64, %k] strides[%k, %c1]
      offsets[%c0_64, %c0_64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %bs = tile.make_block_ptr %b shape[%k, %c128] strides[%c128, %c1]
      offsets[%c0_64, %c0_64] : !tile.ptr<bf16> -> !tile.block_ptr<64x128xbf16>
  %cs = tile.make_block_ptr %c shape[%c64, %c128] strides[%c128, %c1]
      offsets[%c0_64, %c0_64] : !tile.ptr<f32> -> !tile.block_ptr<64x128xf32>
  %sum = scf.for %i = %c0_64 to %k step %c64 iter_args(%acc = %zero)
      -> tensor<64x128xf32> : i64 {
    %ap = tile.advance %as, [%c0_64, %i] : !tile.block_ptr<64x64xbf16>
    %bp = tile.advance %bs, [%i, %c0_64] : !tile.block_ptr<64x128xbf16>
    %at = tile.load %ap : !tile.block_ptr<64x64xbf16>
    %bt = tile.load %bp : !tile.block_ptr<64x128xbf16>
    %next = tile.dot %at, %bt, %acc
        : tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<64x128xf32>
    scf.yield %next : tensor<64x128xf32>
  }
  tile.store %cs, %sum : !tile.block_ptr<64x128xf32>
  tile.return
}
