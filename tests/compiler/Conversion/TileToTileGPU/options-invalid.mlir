// RUN: not fa-opt --convert-tile-to-tilegpu="num-warps=17" %s 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: not fa-opt --convert-tile-to-tilegpu="num-warps=0" %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not fa-opt --convert-tile-to-tilegpu="num-warps=4294967297" %s 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not fa-opt --tile-to-nvvm="num-warps=-1" %s 2>&1 | FileCheck %s --check-prefix=MINUS
// RUN: not fa-opt --tilegpu-pair-programs="num-warps=17" %s 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: fa-opt --convert-tile-to-tilegpu="num-warps=7" %s | FileCheck %s --check-prefix=SEVEN
// RUN: not fa-opt --convert-tile-to-tilegpu="target=sm_70" %s 2>&1 | FileCheck %s --check-prefix=TARGET

// WARPS: error: expected 1 to 16 warps, but got 17
// NONE: error: expected 1 to 16 warps, but got 0
// HUGE: error: expected 1 to 16 warps, but got 4294967297
// MINUS: error: expected 1 to 16 warps, but got -1
// SEVEN: tilegpu.num_warps = 7
// TARGET: error: expected target sm_80 or sm_90a, but got 'sm_70'

tile.kernel @nothing() grid() -> (1) {
  tile.return
}
