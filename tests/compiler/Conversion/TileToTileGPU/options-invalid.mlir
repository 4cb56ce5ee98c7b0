// RUN: not fa-opt --convert-tile-to-tilegpu="num-warps=17" %s 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: not fa-opt --convert-tile-to-tilegpu="target=sm_70" %s 2>&1 | FileCheck %s --check-prefix=TARGET

// WARPS: error: expected 1 to 16 warps, but got 17
// TARGET: error: expected target sm_80 or sm_90a, but got 'sm_70'

tile.kernel @nothing() grid() -> (1) {
  tile.return
}
