// Why products are waited for at once: a reason for two chained ones, one for a
// single one, and one for several.
//
// RUN: fa-opt %s --remarks --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},cse,loop-invariant-code-motion,tilegpu-specialize-warps{persistent=false num-stages=2},tilegpu-overlap-products,canonicalize,cse))' -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --input-file=%t --check-prefix=CODE
// CODE-NOT: pending = 1

// CHECK: Function=three | Reason="products are waited for: the loop has 3 products at its top, not 2; the loop has 3 products at its top, not 1; each of its products needs the one before"
tile.kernel @three(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %qw = tile.make_block_ptr %q shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %a = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %vw = tile.make_block_ptr %v shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %vt = tile.load %vw : !tile.block_ptr<64x64xbf16>
    %s = tile.dot %qt, %t, %init : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %e = tile.exp2 %s fastmath<afn> : tensor<64x64xf32>
    %p = tile.cast %e : tensor<64x64xf32> -> tensor<64x64xbf16>
    %scaled = arith.mulf %acc, %half : tensor<64x64xf32>
    %n = tile.dot %p, %vt, %scaled : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %more = tile.dot %qt, %vt, %n : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %more : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.return
}

// CHECK: Function=same_tile | Reason="products are waited for: a product's right operand is also read otherwise; the loop has 2 products at its top, not 1; each of its products needs the one before"
tile.kernel @same_tile(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %qw = tile.make_block_ptr %q shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %a = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %qt, %t, %init : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %e = tile.exp2 %s fastmath<afn> : tensor<64x64xf32>
    %p = tile.cast %e : tensor<64x64xf32> -> tensor<64x64xbf16>
    %scaled = arith.mulf %acc, %half : tensor<64x64xf32>
    %n = tile.dot %p, %kt, %scaled : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.return
}

// CHECK: Function=used | Reason="products are waited for: the second product is used in the loop; the loop has 2 products at its top, not 1; each of its products needs the one before"
tile.kernel @used(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %qw = tile.make_block_ptr %q shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %a, %b = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init, %other = %init) -> (tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %vw = tile.make_block_ptr %v shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %vt = tile.load %vw : !tile.block_ptr<64x64xbf16>
    %s = tile.dot %qt, %t, %init : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %e = tile.exp2 %s fastmath<afn> : tensor<64x64xf32>
    %p = tile.cast %e : tensor<64x64xf32> -> tensor<64x64xbf16>
    %scaled = arith.mulf %acc, %half : tensor<64x64xf32>
    %n = tile.dot %p, %vt, %scaled : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %twice = arith.addf %n, %n : tensor<64x64xf32>
    scf.yield %n, %twice : tensor<64x64xf32>, tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.store %ow, %b : !tile.block_ptr<64x64xf32>
  tile.return
}

// CHECK: Function=not_carried | Reason="products are waited for: the second product does not add to a carried tile; the loop has 2 products at its top, not 1; each of its products needs the one before"
tile.kernel @not_carried(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %qw = tile.make_block_ptr %q shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %a = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %vw = tile.make_block_ptr %v shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %vt = tile.load %vw : !tile.block_ptr<64x64xbf16>
    %s = tile.dot %qt, %t, %init : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %e = tile.exp2 %s fastmath<afn> : tensor<64x64xf32>
    %p = tile.cast %e : tensor<64x64xf32> -> tensor<64x64xbf16>
    %n = tile.dot %p, %vt, %init : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.return
}

// CHECK: Function=changed | Reason="products are waited for: the second product's sum is changed by more than a factor; the loop has 2 products at its top, not 1; each of its products needs the one before"
tile.kernel @changed(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %qw = tile.make_block_ptr %q shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %a = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %vw = tile.make_block_ptr %v shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %vt = tile.load %vw : !tile.block_ptr<64x64xbf16>
    %s = tile.dot %qt, %t, %init : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %e = tile.exp2 %s fastmath<afn> : tensor<64x64xf32>
    %p = tile.cast %e : tensor<64x64xf32> -> tensor<64x64xbf16>
    %scaled = arith.addf %acc, %half : tensor<64x64xf32>
    %n = tile.dot %p, %vt, %scaled : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.return
}

// CHECK: Function=not_added | Reason="products are waited for: the loop has 1 product at its top, not 2; the product does not add to a carried tile; there is no second product"
tile.kernel @not_added(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %qw = tile.make_block_ptr %q shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %a = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %qt, %t, %init : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %n = arith.addf %acc, %s : tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.return
}

// CHECK: Function=read | Reason="products are waited for: the loop has 1 product at its top, not 2; the product is used in the loop; there is no second product"
tile.kernel @read(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %qw = tile.make_block_ptr %q shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %a, %b = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init, %other = %init) -> (tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %n = tile.dot %qt, %t, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %m = arith.maximumf %n, %other : tensor<64x64xf32>
    scf.yield %n, %m : tensor<64x64xf32>, tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  tile.store %ow, %a : !tile.block_ptr<64x64xf32>
  tile.store %ow, %b : !tile.block_ptr<64x64xf32>
  tile.return
}

// CHECK: Function=registers | Reason="products are waited for: the loop has 1 product at its top, not 2; the product's left operand is in registers, which the next iteration writes; there is no second product"
tile.kernel @registers(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %keys: i32)
    grid(keys) -> (1) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %keys64 = arith.extsi %keys : i32 to i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %qw = tile.make_block_ptr %q shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %a, %b = scf.for %j = %c0 to %keys step %size iter_args(%acc = %init, %other = %init) -> (tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%keys64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %p = tile.cast %other : tensor<64x64xf32> -> tensor<64x64xbf16>
    %n = tile.dot %p, %t, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %m = arith.addf %other, %half : tensor<64x64xf32>
    scf.yield %n, %m : tensor<64x64xf32>, tensor<64x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%d, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
  %c = arith.addf %a, %b : tensor<64x64xf32>
  tile.store %ow, %c : !tile.block_ptr<64x64xf32>
  tile.return
}
