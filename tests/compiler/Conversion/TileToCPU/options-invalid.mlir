// RUN: not fa-opt --convert-tile-to-cpu="lanes=5" %s 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not fa-opt --convert-tile-to-cpu="lanes=0" %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not fa-opt --convert-tile-to-cpu="registers=8" %s 2>&1 | FileCheck %s --check-prefix=REGISTERS
// RUN: not fa-opt --convert-tile-to-cpu="lanes=many" %s 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not fa-opt --convert-tile-to-cpu="width=8" %s 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not fa-opt --tile-to-cpu="lanes=32" %s 2>&1 | FileCheck %s --check-prefix=PIPELINE

// LANES: error: expected 4, 8 or 16 lanes and 16 or 32 registers, but got 5 and 16
// NONE: error: expected 4, 8 or 16 lanes and 16 or 32 registers, but got 0 and 16
// REGISTERS: error: expected 4, 8 or 16 lanes and 16 or 32 registers, but got 8 and 8
// TEXT: for the --lanes option: 'many' value invalid
// NAME: no such option width
// PIPELINE: error: expected 4, 8 or 16 lanes and 16 or 32 registers, but got 32 and 16
tile.kernel @k() grid() -> (1) {
  tile.return
}
