// Zeros are not scaled where the maximum is over the scores whose exponentials are
// the weights: what is NaN in the factor is NaN in these. It may not be where the
// maximum is over others.
//
// RUN: fa-opt %s --pass-pipeline='builtin.module(tilegpu-specialize-arguments,tile.kernel(convert-tile-to-tilegpu{num-warps=8 target=sm_90a},cse,loop-invariant-code-motion,tilegpu-defer-sums,tilegpu-order-programs,tilegpu-specialize-warps,tilegpu-overlap-products,canonicalize,cse))' | FileCheck %s

// CHECK-LABEL: tile.kernel @same(
// CHECK: %[[ZERO:cst[_0-9]*]] = arith.constant dense<0.000000e+00> : tensor<128x64xf32
// CHECK: } consumer {
// CHECK: tilegpu.wgmma %
// CHECK: scf.for {{.*}} = %[[ZERO]], %
tile.kernel @same(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %m: i32, %n: i32) grid(m, n) -> (m ceildiv 128) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %s = arith.constant 64 : i64
  %cM = arith.constant 128 : i32
  %zeros = arith.constant dense<0.0> : tensor<128x64xf32>
  %nothing = arith.constant dense<0xFF800000> : tensor<128xf32>
  %pid = tile.program_id x
  %row = arith.muli %pid, %cM : i32
  %row64 = arith.extsi %row : i32 to i64
  %m64 = arith.extsi %m : i32 to i64
  %n64 = arith.extsi %n : i32 to i64
  %wqq = tile.make_block_ptr %q shape[%m64, %s] strides[%s, %one] offsets[%row64, %z] : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
  %tq = tile.load %wqq : !tile.block_ptr<128x64xbf16>
  %r:2 = scf.for %j = %c0 to %n step %c64 iter_args(%old = %nothing, %acc = %zeros) -> (tensor<128xf32>, tensor<128x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %wk = tile.make_block_ptr %k shape[%n64, %s] strides[%s, %one] offsets[%j64, %z] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %tk = tile.load %wk : !tile.block_ptr<64x64xbf16>
    %wv = tile.make_block_ptr %v shape[%n64, %s] strides[%s, %one] offsets[%j64, %z] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %tv = tile.load %wv : !tile.block_ptr<64x64xbf16>
    %kt = tile.trans %tk order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %sc = tile.dot %tq, %kt, %zeros : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %top = tile.max %sc axis 1 : tensor<128x64xf32> -> tensor<128xf32>
    %most = arith.maximumf %old, %top : tensor<128xf32>
    %most1 = tile.expand_dims %most axis 1 : tensor<128xf32> -> tensor<128x1xf32>
    %most2 = tile.broadcast %most1 : tensor<128x1xf32> -> tensor<128x64xf32>
    %less = arith.subf %sc, %most2 : tensor<128x64xf32>
    %e = tile.exp2 %less fastmath<afn> : tensor<128x64xf32>
    %change = arith.subf %old, %most : tensor<128xf32>
    %f = tile.exp2 %change fastmath<afn> : tensor<128xf32>
    %f1 = tile.expand_dims %f axis 1 : tensor<128xf32> -> tensor<128x1xf32>
    %f2 = tile.broadcast %f1 : tensor<128x1xf32> -> tensor<128x64xf32>
    %scaled = arith.mulf %acc, %f2 : tensor<128x64xf32>
    %w = tile.cast %e : tensor<128x64xf32> -> tensor<128x64xbf16>
    %d = tile.dot %w, %tv, %scaled : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    scf.yield %most, %d : tensor<128xf32>, tensor<128x64xf32>
  }
  %wo_ro = tile.make_block_ptr %o shape[%m64, %s] strides[%s, %one] offsets[%row64, %z] : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %wo_ro, %r#1 : !tile.block_ptr<128x64xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @other(
// CHECK: %[[ZERO:cst[_0-9]*]] = arith.constant dense<0.000000e+00> : tensor<128x64xf32
// CHECK: } consumer {
// CHECK: tilegpu.wgmma %
// CHECK: %[[SCALED:[0-9]+]] = arith.mulf %{{[0-9]+}}, %[[ZERO]] :
// CHECK: scf.for {{.*}} = %[[SCALED]], %
tile.kernel @other(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %m: i32, %n: i32) grid(m, n) -> (m ceildiv 128) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %s = arith.constant 64 : i64
  %cM = arith.constant 128 : i32
  %zeros = arith.constant dense<0.0> : tensor<128x64xf32>
  %nothing = arith.constant dense<0xFF800000> : tensor<128xf32>
  %pid = tile.program_id x
  %row = arith.muli %pid, %cM : i32
  %row64 = arith.extsi %row : i32 to i64
  %m64 = arith.extsi %m : i32 to i64
  %n64 = arith.extsi %n : i32 to i64
  %ones = arith.constant dense<1> : tensor<128xi32>
  %sixtyfour = arith.constant dense<64> : tensor<128xi32>
  %numbers = tile.arange 0 to 128 : tensor<128xi32>
  %odd = arith.andi %numbers, %ones : tensor<128xi32>
  %from = arith.muli %odd, %sixtyfour : tensor<128xi32>
  %from1 = tile.expand_dims %from axis 1 : tensor<128xi32> -> tensor<128x1xi32>
  %from2 = tile.broadcast %from1 : tensor<128x1xi32> -> tensor<128x64xi32>
  %columns = tile.arange 0 to 64 : tensor<64xi32>
  %wqq = tile.make_block_ptr %q shape[%m64, %s] strides[%s, %one] offsets[%row64, %z] : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
  %tq = tile.load %wqq : !tile.block_ptr<128x64xbf16>
  %r:2 = scf.for %j = %c0 to %n step %c64 iter_args(%old = %nothing, %acc = %zeros) -> (tensor<128xf32>, tensor<128x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %wk = tile.make_block_ptr %k shape[%n64, %s] strides[%s, %one] offsets[%j64, %z] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %tk = tile.load %wk : !tile.block_ptr<64x64xbf16>
    %wv = tile.make_block_ptr %v shape[%n64, %s] strides[%s, %one] offsets[%j64, %z] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %tv = tile.load %wv : !tile.block_ptr<64x64xbf16>
    %kt = tile.trans %tk order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %sc = tile.dot %tq, %kt, %zeros : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %js = tile.splat %j : i32 -> tensor<64xi32>
    %place = arith.addi %js, %columns : tensor<64xi32>
    %place1 = tile.expand_dims %place axis 0 : tensor<64xi32> -> tensor<1x64xi32>
    %place2 = tile.broadcast %place1 : tensor<1x64xi32> -> tensor<128x64xi32>
    %seen = arith.cmpi sge, %place2, %from2 : tensor<128x64xi32>
    %minus = arith.constant dense<0xFF800000> : tensor<128x64xf32>
    %scores = arith.select %seen, %sc, %minus : tensor<128x64xi1>, tensor<128x64xf32>
    %top = tile.max %scores axis 1 : tensor<128x64xf32> -> tensor<128xf32>
    %most = arith.maximumf %old, %top : tensor<128xf32>
    %most1 = tile.expand_dims %most axis 1 : tensor<128xf32> -> tensor<128x1xf32>
    %most2 = tile.broadcast %most1 : tensor<128x1xf32> -> tensor<128x64xf32>
    %less = arith.subf %sc, %most2 : tensor<128x64xf32>
    %e = tile.exp2 %less fastmath<afn> : tensor<128x64xf32>
    %change = arith.subf %old, %most : tensor<128xf32>
    %f = tile.exp2 %change fastmath<afn> : tensor<128xf32>
    %f1 = tile.expand_dims %f axis 1 : tensor<128xf32> -> tensor<128x1xf32>
    %f2 = tile.broadcast %f1 : tensor<128x1xf32> -> tensor<128x64xf32>
    %scaled = arith.mulf %acc, %f2 : tensor<128x64xf32>
    %w = tile.cast %e : tensor<128x64xf32> -> tensor<128x64xbf16>
    %d = tile.dot %w, %tv, %scaled : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    scf.yield %most, %d : tensor<128xf32>, tensor<128x64xf32>
  }
  %wo_ro = tile.make_block_ptr %o shape[%m64, %s] strides[%s, %one] offsets[%row64, %z] : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %wo_ro, %r#1 : !tile.block_ptr<128x64xf32>
  tile.return
}
