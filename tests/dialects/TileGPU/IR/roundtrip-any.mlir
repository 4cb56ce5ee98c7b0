// RUN: fa-opt %s | fa-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @any
// CHECK: %{{.*}} = tilegpu.any %{{.*}} : tensor<64xi1, #{{.*}}>
#lanes = #tilegpu.layout<[64], reg = [2:(1)], lane = [32:(2)], warp = []>
tile.kernel @any(%n: i32) grid(n) -> (1)
    attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 1 : i32} {
  %i = tile.arange 0 to 64 : tensor<64xi32, #lanes>
  %limit = tile.splat %n : i32 -> tensor<64xi32, #lanes>
  %beyond = arith.cmpi sge, %i, %limit : tensor<64xi32, #lanes>
  %some = tilegpu.any %beyond : tensor<64xi1, #lanes>
  tile.assert %some, "some" : i1
  tile.return
}
