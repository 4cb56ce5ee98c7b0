// RUN: not fa-opt --convert-tile-to-tilegpu="num-warps=9" %s 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: not fa-opt --convert-tile-to-tilegpu="target=sm_70" %s 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not fa-opt --convert-tile-to-tilegpu %s 2>&1 | FileCheck %s

// WARPS: error: expected 1 to 8 warps, but got 9
// TARGET: error: expected target sm_80 or sm_90a, but got 'sm_70'

tile.kernel @join() grid() -> (1) {
  %a = tile.arange 0 to 8 : tensor<8xi32>
  %f = arith.sitofp %a : tensor<8xi32> to tensor<8xf32>
  // CHECK: [[@LINE+1]]:8: error: 'tile.join' op is not supported on tiles by the gpu targets yet
  %t = tile.join %f, %f : tensor<8xf32> -> tensor<8x2xf32>
  tile.return
}
