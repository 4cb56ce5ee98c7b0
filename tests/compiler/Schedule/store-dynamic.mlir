// Results of a kernel that takes programs by a counter go to memory by TMA: the
// positions that blocks are told are indices of tensor maps as those of fixed
// shares are.
//
// RUN: fa-opt %s --remarks --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu{target=sm_90a},cse,tilegpu-order-programs,tilegpu-specialize-warps,tilegpu-overlap-products,tilegpu-store-tiles,cse))' 2>&1 | FileCheck %s
//
// CHECK: Remark="a block for each multiprocessor takes one program after the other, by a counter in memory"
// CHECK: Remark="tiles are stored by TMA"
// CHECK: } consumer {
// CHECK: scf.while
// CHECK: ^bb0(%{{[a-z0-9]+}}: i32, %[[X:[a-z0-9]+]]: i32, %[[Y:[a-z0-9]+]]: i32,
// CHECK: %[[ROW:.*]] = arith.muli %[[X]], %c64
// CHECK: tilegpu.read_word
// CHECK: tilegpu.tma_store
tile.kernel @heads(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %o: !tile.ptr<bf16>, %rows: i32, %heads: i32)
    grid(rows, heads) -> (rows ceildiv 64, heads) {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %d = arith.constant 64 : i64
  %x = tile.program_id x
  %y = tile.program_id y
  %head = arith.extsi %y : i32 to i64
  %stride = arith.constant 65536 : i64
  %start = arith.muli %head, %stride : i64
  %oh = tile.addptr %o, %start : !tile.ptr<bf16>, i64
  %row = arith.muli %x, %size : i32
  %end = arith.addi %row, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %rows64 = arith.extsi %rows : i32 to i64
  %qw = tile.make_block_ptr %q shape[%rows64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = scf.for %j = %c0 to %end step %size iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %kw = tile.make_block_ptr %k shape[%rows64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %qt, %t, %init : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %p = tile.cast %s : tensor<64x64xf32> -> tensor<64x64xbf16>
    %vw = tile.make_block_ptr %k shape[%rows64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %vt = tile.load %vw : !tile.block_ptr<64x64xbf16>
    %u = tile.dot %p, %vt, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %u : tensor<64x64xf32>
  }
  %out = tile.cast %a : tensor<64x64xf32> -> tensor<64x64xbf16>
  %ow = tile.make_block_ptr %oh shape[%rows64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  tile.store %ow, %out : !tile.block_ptr<64x64xbf16>
  tile.return
}
