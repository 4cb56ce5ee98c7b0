// A branch that changes only elements of which one decides it is each warp's own.
//
// RUN: fa-opt %s --remarks --pass-pipeline='builtin.module(tile.kernel(tilegpu-localize-branches))' -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t

#acc = #tilegpu.layout<[64, 16], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
#across = #tilegpu.layout<[64, 16], reg = [2:(0, 1), 2:(8, 0), 4:(16, 0)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [2:(0, 8), 2:(0, 0)]>
!tile = tensor<64x16xf32, #acc>
!mask = tensor<64x16xi1, #acc>

// REMARK: [Passed] Branch {{.*}}Function=rows | Remark="warps branch for themselves"
// CHECK-LABEL: tile.kernel @rows
// CHECK: tilegpu.any by_warp %
tile.kernel @rows(%x: !tile.ptr<f32>, %n: i32) grid(n) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 64 : i64
  %columns = arith.constant 16 : i64
  %w = tile.make_block_ptr %x shape[%rows, %columns] strides[%columns, %one] offsets[%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x16xf32>
  %v = tilegpu.load %w : !tile.block_ptr<64x16xf32> -> !tile
  %bad = arith.cmpf uno, %v, %v : !tile
  %some = tilegpu.any %bad : !mask
  // A row with a bad element is bad as a whole, and a loop changes such rows.
  %r = scf.if %some -> (!tile) {
    %row = tile.max %bad axis 1 : !mask -> tensor<64xi1, #tilegpu.layout<[64], reg = [2:(8)], lane = [4:(0), 8:(1)], warp = [4:(16)]>>
    %column = tile.expand_dims %row axis 1 : tensor<64xi1, #tilegpu.layout<[64], reg = [2:(8)], lane = [4:(0), 8:(1)], warp = [4:(16)]>> -> tensor<64x1xi1, #tilegpu.layout<[64, 1], reg = [2:(8, 0)], lane = [4:(0, 0), 8:(1, 0)], warp = [4:(16, 0)]>>
    %wide = tile.broadcast %column : tensor<64x1xi1, #tilegpu.layout<[64, 1], reg = [2:(8, 0)], lane = [4:(0, 0), 8:(1, 0)], warp = [4:(16, 0)]>> -> !mask
    %looped = scf.for %i = %c0 to %n step %c1 iter_args(%old = %v) -> (!tile) : i32 {
      %sum = arith.addf %old, %old : !tile
      %new = arith.select %wide, %sum, %old : !mask, !tile
      scf.yield %new : !tile
    }
    scf.yield %looped : !tile
  } else {
    scf.yield %v : !tile
  }
  %out = arith.addf %r, %r : !tile
  tile.return
}

// Whether a line has such an element, only the branch asks: all others ask their
// own elements, and lanes tell each other nothing.
// REMARK: [Passed] Branch {{.*}}Function=lines | Remark="warps branch for themselves"
// CHECK-LABEL: tile.kernel @lines
// CHECK: %[[BAD:.*]] = arith.cmpf uno
// CHECK-NOT: tile.max
// CHECK: tilegpu.any by_warp %[[BAD]]
// CHECK-NEXT: scf.if
// CHECK-NEXT: tile.max %[[BAD]] axis 1
#line = #tilegpu.layout<[64], reg = [2:(8)], lane = [4:(0), 8:(1)], warp = [4:(16)]>
#column = #tilegpu.layout<[64, 1], reg = [2:(8, 0)], lane = [4:(0, 0), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @lines(%n: i32) grid(n) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %v = tile.full 1.0 : f32 -> !tile
  %bad = arith.cmpf uno, %v, %v : !tile
  %line = tile.max %bad axis 1 : !mask -> tensor<64xi1, #line>
  %some = tilegpu.any %line : tensor<64xi1, #line>
  %r = scf.if %some -> (!tile) {
    %column = tile.expand_dims %line axis 1 : tensor<64xi1, #line> -> tensor<64x1xi1, #column>
    %wide = tile.broadcast %column : tensor<64x1xi1, #column> -> !mask
    %sum = arith.addf %v, %v : !tile
    %new = arith.select %wide, %sum, %v : !mask, !tile
    scf.yield %new : !tile
  } else {
    scf.yield %v : !tile
  }
  %out = arith.addf %r, %r : !tile
  tile.return
}

// Both sides of all elements differ: the branch is left as it is.
// CHECK-LABEL: tile.kernel @all
// CHECK: tilegpu.any %
tile.kernel @all(%x: !tile.ptr<f32>, %n: i32) grid(n) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %v = tile.full 1.0 : f32 -> !tile
  %bad = arith.cmpf uno, %v, %v : !tile
  %some = tilegpu.any %bad : !mask
  %r = scf.if %some -> (!tile) {
    %sum = arith.addf %v, %v : !tile
    scf.yield %sum : !tile
  } else {
    scf.yield %v : !tile
  }
  %out = arith.addf %r, %r : !tile
  tile.return
}

// The rows of this layout are spread over warps.
// REMARK: [Missed] Branch {{.*}}Function=across | Reason="all warps branch together: 'tile.max' in it needs other warps"
// CHECK-LABEL: tile.kernel @across
// CHECK: tilegpu.any %
tile.kernel @across(%x: !tile.ptr<f32>, %n: i32) grid(n) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %v = tile.full 1.0 : f32 -> tensor<64x16xf32, #across>
  %bad = arith.cmpf uno, %v, %v : tensor<64x16xf32, #across>
  %some = tilegpu.any %bad : tensor<64x16xi1, #across>
  %r = scf.if %some -> (tensor<64x16xf32, #across>) {
    %row = tile.max %bad axis 1 : tensor<64x16xi1, #across> -> tensor<64xi1, #tilegpu.layout<[64], reg = [2:(8), 4:(16)], lane = [4:(0), 8:(1)], warp = [2:(0), 2:(0)]>>
    %column = tile.expand_dims %row axis 1 : tensor<64xi1, #tilegpu.layout<[64], reg = [2:(8), 4:(16)], lane = [4:(0), 8:(1)], warp = [2:(0), 2:(0)]>> -> tensor<64x1xi1, #tilegpu.layout<[64, 1], reg = [2:(8, 0), 4:(16, 0)], lane = [4:(0, 0), 8:(1, 0)], warp = [2:(0, 0), 2:(0, 0)]>>
    %wide = tile.broadcast %column : tensor<64x1xi1, #tilegpu.layout<[64, 1], reg = [2:(8, 0), 4:(16, 0)], lane = [4:(0, 0), 8:(1, 0)], warp = [2:(0, 0), 2:(0, 0)]>> -> tensor<64x16xi1, #across>
    %sum = arith.addf %v, %v : tensor<64x16xf32, #across>
    %new = arith.select %wide, %sum, %v : tensor<64x16xi1, #across>, tensor<64x16xf32, #across>
    scf.yield %new : tensor<64x16xf32, #across>
  } else {
    scf.yield %v : tensor<64x16xf32, #across>
  }
  %out = arith.addf %r, %r : tensor<64x16xf32, #across>
  tile.return
}
