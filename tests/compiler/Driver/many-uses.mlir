// Values that are made of one other value twice, and that of another one twice,
// and so on: nothing may look at each way to the first one by itself.
//
// RUN: fa-translate --target=cpu --emit=llvm %s -o %t.ll
// RUN: FileCheck %s --input-file %t.ll --check-prefix=LLVM
// RUN: fa-translate --target=sm_80 --emit=ptx %s -o %t.80.ptx
// RUN: FileCheck %s --input-file %t.80.ptx --check-prefix=PTX
// RUN: fa-translate --target=sm_90a --num-warps=8 --emit=ptx %s -o %t.90.ptx
// RUN: FileCheck %s --input-file %t.90.ptx --check-prefix=PTX

// LLVM-DAG: define void @flashtile_kernel_elements(
// PTX-DAG: .entry elements(
tile.kernel @elements(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) grid(n) -> (n ceildiv 128) {
  %c128 = arith.constant 128 : i32
  %pid = tile.program_id x
  %start = arith.muli %pid, %c128 : i32
  %r = tile.arange 0 to 128 : tensor<128xi32>
  %st = tile.splat %start : i32 -> tensor<128xi32>
  %i = arith.addi %st, %r : tensor<128xi32>
  %nt = tile.splat %n : i32 -> tensor<128xi32>
  %m = arith.cmpi slt, %i, %nt : tensor<128xi32>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %p = tile.addptr %px, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %v = tile.load %p mask %m : tensor<128x!tile.ptr<f32>>
  %f0 = arith.addf %v, %v : tensor<128xf32>
  %f1 = arith.addf %f0, %f0 : tensor<128xf32>
  %f2 = arith.addf %f1, %f1 : tensor<128xf32>
  %f3 = arith.addf %f2, %f2 : tensor<128xf32>
  %f4 = arith.addf %f3, %f3 : tensor<128xf32>
  %f5 = arith.addf %f4, %f4 : tensor<128xf32>
  %f6 = arith.addf %f5, %f5 : tensor<128xf32>
  %f7 = arith.addf %f6, %f6 : tensor<128xf32>
  %f8 = arith.addf %f7, %f7 : tensor<128xf32>
  %f9 = arith.addf %f8, %f8 : tensor<128xf32>
  %f10 = arith.addf %f9, %f9 : tensor<128xf32>
  %f11 = arith.addf %f10, %f10 : tensor<128xf32>
  %f12 = arith.addf %f11, %f11 : tensor<128xf32>
  %f13 = arith.addf %f12, %f12 : tensor<128xf32>
  %f14 = arith.addf %f13, %f13 : tensor<128xf32>
  %f15 = arith.addf %f14, %f14 : tensor<128xf32>
  %f16 = arith.addf %f15, %f15 : tensor<128xf32>
  %f17 = arith.addf %f16, %f16 : tensor<128xf32>
  %f18 = arith.addf %f17, %f17 : tensor<128xf32>
  %f19 = arith.addf %f18, %f18 : tensor<128xf32>
  %f20 = arith.addf %f19, %f19 : tensor<128xf32>
  %f21 = arith.addf %f20, %f20 : tensor<128xf32>
  %f22 = arith.addf %f21, %f21 : tensor<128xf32>
  %f23 = arith.addf %f22, %f22 : tensor<128xf32>
  %f24 = arith.addf %f23, %f23 : tensor<128xf32>
  %f25 = arith.addf %f24, %f24 : tensor<128xf32>
  %f26 = arith.addf %f25, %f25 : tensor<128xf32>
  %f27 = arith.addf %f26, %f26 : tensor<128xf32>
  %f28 = arith.addf %f27, %f27 : tensor<128xf32>
  %f29 = arith.addf %f28, %f28 : tensor<128xf32>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %q = tile.addptr %py, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  tile.store %q, %f29 mask %m : tensor<128x!tile.ptr<f32>>
  tile.return
}

// LLVM-DAG: define void @flashtile_kernel_pointers(
// PTX-DAG: .entry pointers(
tile.kernel @pointers(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) grid(n) -> (n ceildiv 128) {
  %c128 = arith.constant 128 : i32
  %pid = tile.program_id x
  %start = arith.muli %pid, %c128 : i32
  %r = tile.arange 0 to 128 : tensor<128xi32>
  %st = tile.splat %start : i32 -> tensor<128xi32>
  %i = arith.addi %st, %r : tensor<128xi32>
  %nt = tile.splat %n : i32 -> tensor<128xi32>
  %m = arith.cmpi slt, %i, %nt : tensor<128xi32>
  %g0 = arith.addi %i, %i : tensor<128xi32>
  %g1 = arith.addi %g0, %g0 : tensor<128xi32>
  %g2 = arith.addi %g1, %g1 : tensor<128xi32>
  %g3 = arith.addi %g2, %g2 : tensor<128xi32>
  %g4 = arith.addi %g3, %g3 : tensor<128xi32>
  %g5 = arith.addi %g4, %g4 : tensor<128xi32>
  %g6 = arith.addi %g5, %g5 : tensor<128xi32>
  %g7 = arith.addi %g6, %g6 : tensor<128xi32>
  %g8 = arith.addi %g7, %g7 : tensor<128xi32>
  %g9 = arith.addi %g8, %g8 : tensor<128xi32>
  %g10 = arith.addi %g9, %g9 : tensor<128xi32>
  %g11 = arith.addi %g10, %g10 : tensor<128xi32>
  %g12 = arith.addi %g11, %g11 : tensor<128xi32>
  %g13 = arith.addi %g12, %g12 : tensor<128xi32>
  %g14 = arith.addi %g13, %g13 : tensor<128xi32>
  %g15 = arith.addi %g14, %g14 : tensor<128xi32>
  %g16 = arith.addi %g15, %g15 : tensor<128xi32>
  %g17 = arith.addi %g16, %g16 : tensor<128xi32>
  %g18 = arith.addi %g17, %g17 : tensor<128xi32>
  %g19 = arith.addi %g18, %g18 : tensor<128xi32>
  %g20 = arith.addi %g19, %g19 : tensor<128xi32>
  %g21 = arith.addi %g20, %g20 : tensor<128xi32>
  %g22 = arith.addi %g21, %g21 : tensor<128xi32>
  %g23 = arith.addi %g22, %g22 : tensor<128xi32>
  %g24 = arith.addi %g23, %g23 : tensor<128xi32>
  %g25 = arith.addi %g24, %g24 : tensor<128xi32>
  %g26 = arith.addi %g25, %g25 : tensor<128xi32>
  %g27 = arith.addi %g26, %g26 : tensor<128xi32>
  %g28 = arith.addi %g27, %g27 : tensor<128xi32>
  %g29 = arith.addi %g28, %g28 : tensor<128xi32>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %p = tile.addptr %px, %g29 : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %v = tile.load %p mask %m : tensor<128x!tile.ptr<f32>>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %q = tile.addptr %py, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  tile.store %q, %v mask %m : tensor<128x!tile.ptr<f32>>
  tile.return
}

// LLVM-DAG: define void @flashtile_kernel_masks(
// PTX-DAG: .entry masks(
tile.kernel @masks(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) grid(n) -> (n ceildiv 128) {
  %c128 = arith.constant 128 : i32
  %pid = tile.program_id x
  %start = arith.muli %pid, %c128 : i32
  %r = tile.arange 0 to 128 : tensor<128xi32>
  %st = tile.splat %start : i32 -> tensor<128xi32>
  %i = arith.addi %st, %r : tensor<128xi32>
  %nt = tile.splat %n : i32 -> tensor<128xi32>
  %m = arith.cmpi slt, %i, %nt : tensor<128xi32>
  %g0 = arith.addi %i, %i : tensor<128xi32>
  %g1 = arith.addi %g0, %g0 : tensor<128xi32>
  %g2 = arith.addi %g1, %g1 : tensor<128xi32>
  %g3 = arith.addi %g2, %g2 : tensor<128xi32>
  %g4 = arith.addi %g3, %g3 : tensor<128xi32>
  %g5 = arith.addi %g4, %g4 : tensor<128xi32>
  %g6 = arith.addi %g5, %g5 : tensor<128xi32>
  %g7 = arith.addi %g6, %g6 : tensor<128xi32>
  %g8 = arith.addi %g7, %g7 : tensor<128xi32>
  %g9 = arith.addi %g8, %g8 : tensor<128xi32>
  %g10 = arith.addi %g9, %g9 : tensor<128xi32>
  %g11 = arith.addi %g10, %g10 : tensor<128xi32>
  %g12 = arith.addi %g11, %g11 : tensor<128xi32>
  %g13 = arith.addi %g12, %g12 : tensor<128xi32>
  %g14 = arith.addi %g13, %g13 : tensor<128xi32>
  %g15 = arith.addi %g14, %g14 : tensor<128xi32>
  %g16 = arith.addi %g15, %g15 : tensor<128xi32>
  %g17 = arith.addi %g16, %g16 : tensor<128xi32>
  %g18 = arith.addi %g17, %g17 : tensor<128xi32>
  %g19 = arith.addi %g18, %g18 : tensor<128xi32>
  %g20 = arith.addi %g19, %g19 : tensor<128xi32>
  %g21 = arith.addi %g20, %g20 : tensor<128xi32>
  %g22 = arith.addi %g21, %g21 : tensor<128xi32>
  %g23 = arith.addi %g22, %g22 : tensor<128xi32>
  %g24 = arith.addi %g23, %g23 : tensor<128xi32>
  %g25 = arith.addi %g24, %g24 : tensor<128xi32>
  %g26 = arith.addi %g25, %g25 : tensor<128xi32>
  %g27 = arith.addi %g26, %g26 : tensor<128xi32>
  %g28 = arith.addi %g27, %g27 : tensor<128xi32>
  %g29 = arith.addi %g28, %g28 : tensor<128xi32>
  %m2 = arith.cmpi slt, %g29, %nt : tensor<128xi32>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %p = tile.addptr %px, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %v = tile.load %p mask %m2 : tensor<128x!tile.ptr<f32>>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %q = tile.addptr %py, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  tile.store %q, %v mask %m : tensor<128x!tile.ptr<f32>>
  tile.return
}

// LLVM-DAG: define void @flashtile_kernel_bounds(
// PTX-DAG: .entry bounds(
tile.kernel @bounds(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) grid(n) -> (n ceildiv 128) {
  %c128 = arith.constant 128 : i32
  %pid = tile.program_id x
  %start = arith.muli %pid, %c128 : i32
  %r = tile.arange 0 to 128 : tensor<128xi32>
  %st = tile.splat %start : i32 -> tensor<128xi32>
  %i = arith.addi %st, %r : tensor<128xi32>
  %nt = tile.splat %n : i32 -> tensor<128xi32>
  %m = arith.cmpi slt, %i, %nt : tensor<128xi32>
  %t0 = arith.muli %n, %n : i32
  %t1 = arith.muli %t0, %t0 : i32
  %t2 = arith.muli %t1, %t1 : i32
  %t3 = arith.muli %t2, %t2 : i32
  %t4 = arith.muli %t3, %t3 : i32
  %t5 = arith.muli %t4, %t4 : i32
  %t6 = arith.muli %t5, %t5 : i32
  %t7 = arith.muli %t6, %t6 : i32
  %t8 = arith.muli %t7, %t7 : i32
  %t9 = arith.muli %t8, %t8 : i32
  %t10 = arith.muli %t9, %t9 : i32
  %t11 = arith.muli %t10, %t10 : i32
  %t12 = arith.muli %t11, %t11 : i32
  %t13 = arith.muli %t12, %t12 : i32
  %t14 = arith.muli %t13, %t13 : i32
  %t15 = arith.muli %t14, %t14 : i32
  %t16 = arith.muli %t15, %t15 : i32
  %t17 = arith.muli %t16, %t16 : i32
  %t18 = arith.muli %t17, %t17 : i32
  %t19 = arith.muli %t18, %t18 : i32
  %t20 = arith.muli %t19, %t19 : i32
  %t21 = arith.muli %t20, %t20 : i32
  %t22 = arith.muli %t21, %t21 : i32
  %t23 = arith.muli %t22, %t22 : i32
  %t24 = arith.muli %t23, %t23 : i32
  %t25 = arith.muli %t24, %t24 : i32
  %t26 = arith.muli %t25, %t25 : i32
  %t27 = arith.muli %t26, %t26 : i32
  %t28 = arith.muli %t27, %t27 : i32
  %t29 = arith.muli %t28, %t28 : i32
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %p = tile.addptr %px, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %v = tile.load %p mask %m : tensor<128x!tile.ptr<f32>>
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %lv = scf.for %j = %c0 to %t29 step %c1 iter_args(%a = %v) -> (tensor<128xf32>) : i32 {
    %z = arith.addf %a, %v : tensor<128xf32>
    scf.yield %z : tensor<128xf32>
  }
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %q = tile.addptr %py, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  tile.store %q, %lv mask %m : tensor<128x!tile.ptr<f32>>
  tile.return
}

// LLVM-DAG: define void @flashtile_kernel_carried(
// PTX-DAG: .entry carried(
tile.kernel @carried(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) grid(n) -> (n ceildiv 128) {
  %c128 = arith.constant 128 : i32
  %pid = tile.program_id x
  %start = arith.muli %pid, %c128 : i32
  %r = tile.arange 0 to 128 : tensor<128xi32>
  %st = tile.splat %start : i32 -> tensor<128xi32>
  %i = arith.addi %st, %r : tensor<128xi32>
  %nt = tile.splat %n : i32 -> tensor<128xi32>
  %m = arith.cmpi slt, %i, %nt : tensor<128xi32>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %p = tile.addptr %px, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %v = tile.load %p mask %m : tensor<128x!tile.ptr<f32>>
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %lv, %li = scf.for %j = %c0 to %n step %c1 iter_args(%a = %v, %ii = %i) -> (tensor<128xf32>, tensor<128xi32>) : i32 {
  %u0 = arith.addi %ii, %ii : tensor<128xi32>
  %u1 = arith.addi %u0, %u0 : tensor<128xi32>
  %u2 = arith.addi %u1, %u1 : tensor<128xi32>
  %u3 = arith.addi %u2, %u2 : tensor<128xi32>
  %u4 = arith.addi %u3, %u3 : tensor<128xi32>
  %u5 = arith.addi %u4, %u4 : tensor<128xi32>
  %u6 = arith.addi %u5, %u5 : tensor<128xi32>
  %u7 = arith.addi %u6, %u6 : tensor<128xi32>
  %u8 = arith.addi %u7, %u7 : tensor<128xi32>
  %u9 = arith.addi %u8, %u8 : tensor<128xi32>
  %u10 = arith.addi %u9, %u9 : tensor<128xi32>
  %u11 = arith.addi %u10, %u10 : tensor<128xi32>
  %u12 = arith.addi %u11, %u11 : tensor<128xi32>
  %u13 = arith.addi %u12, %u12 : tensor<128xi32>
  %u14 = arith.addi %u13, %u13 : tensor<128xi32>
  %u15 = arith.addi %u14, %u14 : tensor<128xi32>
  %u16 = arith.addi %u15, %u15 : tensor<128xi32>
  %u17 = arith.addi %u16, %u16 : tensor<128xi32>
  %u18 = arith.addi %u17, %u17 : tensor<128xi32>
  %u19 = arith.addi %u18, %u18 : tensor<128xi32>
  %u20 = arith.addi %u19, %u19 : tensor<128xi32>
  %u21 = arith.addi %u20, %u20 : tensor<128xi32>
  %u22 = arith.addi %u21, %u21 : tensor<128xi32>
  %u23 = arith.addi %u22, %u22 : tensor<128xi32>
  %u24 = arith.addi %u23, %u23 : tensor<128xi32>
  %u25 = arith.addi %u24, %u24 : tensor<128xi32>
  %u26 = arith.addi %u25, %u25 : tensor<128xi32>
  %u27 = arith.addi %u26, %u26 : tensor<128xi32>
  %u28 = arith.addi %u27, %u27 : tensor<128xi32>
  %u29 = arith.addi %u28, %u28 : tensor<128xi32>
    %p2 = tile.addptr %px, %u29 : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
    %m3 = arith.cmpi slt, %u29, %nt : tensor<128xi32>
    %v2 = tile.load %p2 mask %m3 : tensor<128x!tile.ptr<f32>>
    %z = arith.addf %a, %v2 : tensor<128xf32>
    scf.yield %z, %u29 : tensor<128xf32>, tensor<128xi32>
  }
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %q = tile.addptr %py, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  tile.store %q, %lv mask %m : tensor<128x!tile.ptr<f32>>
  tile.return
}

// LLVM-DAG: define void @flashtile_kernel_place_of_addition(
// PTX-DAG: .entry place_of_addition(
tile.kernel @place_of_addition(%k: !tile.ptr<bf16>, %q: !tile.ptr<bf16>, %d: !tile.ptr<f32>, %o: !tile.ptr<f32>, %o2: !tile.ptr<f32>, %rows: i32, %mid: i32)
    grid(rows, mid) -> (rows ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %dim = arith.constant 64 : i64
  %keys = arith.constant 128 : i64
  %rows64 = arith.extsi %rows : i32 to i64
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %none2 = arith.constant dense<0.0> : tensor<128x64xf32>
  %pid = tile.program_id x
  %pid64 = arith.extsi %pid : i32 to i64
  %doff = arith.muli %pid64, %rows64 : i64
  %doff2 = arith.muli %doff, %dim : i64
  %dp = tile.addptr %d, %doff2 : !tile.ptr<f32>, i64
  %kw = tile.make_block_ptr %k shape[%keys, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
  %kt = tile.load %kw : !tile.block_ptr<128x64xbf16>
  %a1 = scf.for %j = %c0 to %rows step %size iter_args(%y = %none2) -> (tensor<128x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %qw = tile.make_block_ptr %q shape[%rows64, %dim] strides[%dim, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
    %qtrans = tile.trans %qt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %kt, %qtrans, %none2 : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %sb = tile.cast %s : tensor<128x64xf32> -> tensor<128x64xbf16>
    %y1 = tile.dot %sb, %qt, %y : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %st = tile.trans %sb order [1, 0] : tensor<128x64xbf16> -> tensor<64x128xbf16>
    %dt = tile.dot %st, %kt, %none : tensor<64x128xbf16>, tensor<128x64xbf16>, tensor<64x64xf32>
    %x0 = arith.andi %j, %mid : i32
    %x1 = arith.addi %x0, %x0 : i32
    %x2 = arith.addi %x1, %x1 : i32
    %x3 = arith.addi %x2, %x2 : i32
    %x4 = arith.addi %x3, %x3 : i32
    %x5 = arith.addi %x4, %x4 : i32
    %x6 = arith.addi %x5, %x5 : i32
    %x7 = arith.addi %x6, %x6 : i32
    %x8 = arith.addi %x7, %x7 : i32
    %x9 = arith.addi %x8, %x8 : i32
    %x10 = arith.addi %x9, %x9 : i32
    %x11 = arith.addi %x10, %x10 : i32
    %x12 = arith.addi %x11, %x11 : i32
    %x13 = arith.addi %x12, %x12 : i32
    %x14 = arith.addi %x13, %x13 : i32
    %x15 = arith.addi %x14, %x14 : i32
    %x16 = arith.addi %x15, %x15 : i32
    %x17 = arith.addi %x16, %x16 : i32
    %x18 = arith.addi %x17, %x17 : i32
    %x19 = arith.addi %x18, %x18 : i32
    %x20 = arith.addi %x19, %x19 : i32
    %x21 = arith.addi %x20, %x20 : i32
    %x22 = arith.addi %x21, %x21 : i32
    %x23 = arith.addi %x22, %x22 : i32
    %x24 = arith.addi %x23, %x23 : i32
    %x25 = arith.addi %x24, %x24 : i32
    %x26 = arith.addi %x25, %x25 : i32
    %x64 = arith.extsi %x26 : i32 to i64
    %dw = tile.make_block_ptr %dp shape[%rows64, %dim] strides[%dim, %one] offsets[%x64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
    %old = tile.atomic_add %dw, %dt : !tile.block_ptr<64x64xf32>
    scf.yield %y1 : tensor<128x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%keys, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %ow, %a1 : !tile.block_ptr<128x64xf32>
  tile.return
}

// LLVM-DAG: define void @flashtile_kernel_place_of_load(
// PTX-DAG: .entry place_of_load(
tile.kernel @place_of_load(%k: !tile.ptr<bf16>, %q: !tile.ptr<bf16>, %d: !tile.ptr<f32>, %o: !tile.ptr<f32>, %o2: !tile.ptr<f32>, %rows: i32, %mid: i32)
    grid(rows, mid) -> (rows ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %dim = arith.constant 64 : i64
  %keys = arith.constant 128 : i64
  %rows64 = arith.extsi %rows : i32 to i64
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %none2 = arith.constant dense<0.0> : tensor<128x64xf32>
  %pid = tile.program_id x
  %pid64 = arith.extsi %pid : i32 to i64
  %doff = arith.muli %pid64, %rows64 : i64
  %doff2 = arith.muli %doff, %dim : i64
  %dp = tile.addptr %d, %doff2 : !tile.ptr<f32>, i64
  %kw = tile.make_block_ptr %k shape[%keys, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
  %kt = tile.load %kw : !tile.block_ptr<128x64xbf16>
  %a1 = scf.for %j = %c0 to %rows step %size iter_args(%y = %none2) -> (tensor<128x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %x0 = arith.andi %j, %mid : i32
    %x1 = arith.addi %x0, %x0 : i32
    %x2 = arith.addi %x1, %x1 : i32
    %x3 = arith.addi %x2, %x2 : i32
    %x4 = arith.addi %x3, %x3 : i32
    %x5 = arith.addi %x4, %x4 : i32
    %x6 = arith.addi %x5, %x5 : i32
    %x7 = arith.addi %x6, %x6 : i32
    %x8 = arith.addi %x7, %x7 : i32
    %x9 = arith.addi %x8, %x8 : i32
    %x10 = arith.addi %x9, %x9 : i32
    %x11 = arith.addi %x10, %x10 : i32
    %x12 = arith.addi %x11, %x11 : i32
    %x13 = arith.addi %x12, %x12 : i32
    %x14 = arith.addi %x13, %x13 : i32
    %x15 = arith.addi %x14, %x14 : i32
    %x16 = arith.addi %x15, %x15 : i32
    %x17 = arith.addi %x16, %x16 : i32
    %x18 = arith.addi %x17, %x17 : i32
    %x19 = arith.addi %x18, %x18 : i32
    %x20 = arith.addi %x19, %x19 : i32
    %x21 = arith.addi %x20, %x20 : i32
    %x22 = arith.addi %x21, %x21 : i32
    %x23 = arith.addi %x22, %x22 : i32
    %x24 = arith.addi %x23, %x23 : i32
    %x25 = arith.addi %x24, %x24 : i32
    %x26 = arith.addi %x25, %x25 : i32
    %x64 = arith.extsi %x26 : i32 to i64
    %qw = tile.make_block_ptr %q shape[%rows64, %dim] strides[%dim, %one] offsets[%x64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
    %qtrans = tile.trans %qt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %kt, %qtrans, %none2 : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %sb = tile.cast %s : tensor<128x64xf32> -> tensor<128x64xbf16>
    %y1 = tile.dot %sb, %qt, %y : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %st = tile.trans %sb order [1, 0] : tensor<128x64xbf16> -> tensor<64x128xbf16>
    %dt = tile.dot %st, %kt, %none : tensor<64x128xbf16>, tensor<128x64xbf16>, tensor<64x64xf32>
    %dw = tile.make_block_ptr %dp shape[%rows64, %dim] strides[%dim, %one] offsets[%j64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
    %old = tile.atomic_add %dw, %dt : !tile.block_ptr<64x64xf32>
    scf.yield %y1 : tensor<128x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%keys, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %ow, %a1 : !tile.block_ptr<128x64xf32>
  tile.return
}

// LLVM-DAG: define void @flashtile_kernel_multiples(
// PTX-DAG: .entry multiples(
tile.kernel @multiples(%k: !tile.ptr<bf16>, %q: !tile.ptr<bf16>, %d: !tile.ptr<f32>, %o: !tile.ptr<f32>, %o2: !tile.ptr<f32>, %rows: i32, %mid: i32)
    grid(rows, mid) -> (rows ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %dim = arith.constant 64 : i64
  %keys = arith.constant 128 : i64
  %rows64 = arith.extsi %rows : i32 to i64
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %none2 = arith.constant dense<0.0> : tensor<128x64xf32>
  %pid = tile.program_id x
  %pid64 = arith.extsi %pid : i32 to i64
  %doff = arith.muli %pid64, %rows64 : i64
  %doff2 = arith.muli %doff, %dim : i64
  %dp = tile.addptr %d, %doff2 : !tile.ptr<f32>, i64
  %kw = tile.make_block_ptr %k shape[%keys, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<128x64xbf16>
  %kt = tile.load %kw : !tile.block_ptr<128x64xbf16>
  %a1 = scf.for %j = %c0 to %rows step %size iter_args(%y = %none2) -> (tensor<128x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %x0 = arith.addi %j, %c0 : i32
    %x1 = arith.addi %x0, %x0 : i32
    %x2 = arith.addi %x1, %x1 : i32
    %x3 = arith.addi %x2, %x2 : i32
    %x4 = arith.addi %x3, %x3 : i32
    %x5 = arith.addi %x4, %x4 : i32
    %x6 = arith.addi %x5, %x5 : i32
    %x7 = arith.addi %x6, %x6 : i32
    %x8 = arith.addi %x7, %x7 : i32
    %x9 = arith.addi %x8, %x8 : i32
    %x10 = arith.addi %x9, %x9 : i32
    %x11 = arith.addi %x10, %x10 : i32
    %x12 = arith.addi %x11, %x11 : i32
    %x13 = arith.addi %x12, %x12 : i32
    %x14 = arith.addi %x13, %x13 : i32
    %x15 = arith.addi %x14, %x14 : i32
    %x16 = arith.addi %x15, %x15 : i32
    %x17 = arith.addi %x16, %x16 : i32
    %x18 = arith.addi %x17, %x17 : i32
    %x19 = arith.addi %x18, %x18 : i32
    %x20 = arith.addi %x19, %x19 : i32
    %x21 = arith.addi %x20, %x20 : i32
    %x22 = arith.addi %x21, %x21 : i32
    %x23 = arith.addi %x22, %x22 : i32
    %x24 = arith.addi %x23, %x23 : i32
    %x25 = arith.addi %x24, %x24 : i32
    %x26 = arith.addi %x25, %x25 : i32
    %x64 = arith.extsi %x26 : i32 to i64
    %qw = tile.make_block_ptr %q shape[%rows64, %dim] strides[%dim, %one] offsets[%x64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
    %qtrans = tile.trans %qt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %kt, %qtrans, %none2 : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %sb = tile.cast %s : tensor<128x64xf32> -> tensor<128x64xbf16>
    %y1 = tile.dot %sb, %qt, %y : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %st = tile.trans %sb order [1, 0] : tensor<128x64xbf16> -> tensor<64x128xbf16>
    %dt = tile.dot %st, %kt, %none : tensor<64x128xbf16>, tensor<128x64xbf16>, tensor<64x64xf32>
    %dw = tile.make_block_ptr %dp shape[%rows64, %dim] strides[%dim, %one] offsets[%j64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>
    %old = tile.atomic_add %dw, %dt : !tile.block_ptr<64x64xf32>
    scf.yield %y1 : tensor<128x64xf32>
  }
  %ow = tile.make_block_ptr %o shape[%keys, %dim] strides[%dim, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<128x64xf32>
  tile.store %ow, %a1 : !tile.block_ptr<128x64xf32>
  tile.return
}
