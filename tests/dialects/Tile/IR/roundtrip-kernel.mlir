// RUN: fa-opt %s --split-input-file | fa-opt --split-input-file | FileCheck %s

// CHECK-LABEL: tile.kernel @no_arguments() grid() -> (1) {
tile.kernel @no_arguments() grid() -> (1) {
  tile.return
}
