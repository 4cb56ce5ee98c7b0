// RUN: split-file %s %t
// RUN: fa-translate --target=sm_80 --emit=ptx %t/default.mlir | FileCheck %s --check-prefix=X3
// RUN: sed 's/%c :/%c precision tf32 :/' %t/default.mlir > %t/tf32.mlir
// RUN: fa-translate --target=sm_80 --emit=ptx %t/tf32.mlir | FileCheck %s --check-prefix=TF32
// RUN: sed 's/%c :/%c precision ieee :/' %t/default.mlir > %t/ieee.mlir
// RUN: fa-translate --target=sm_80 --emit=ptx %t/ieee.mlir | FileCheck %s --check-prefix=IEEE

// f32 is split in two parts of tf32 each, whose products are three; an operand
// is rounded once where tf32 is asked for; ieee multiplies in f32.
// X3-LABEL: .entry k(
// X3-COUNT-3: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// X3-NOT: mma
// X3: ret;
// TF32-LABEL: .entry k(
// TF32: cvt.rna.tf32.f32
// TF32-COUNT-1: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// TF32-NOT: mma
// TF32: ret;
// IEEE-NOT: mma
// IEEE: fma.rn.f32

//--- default.mlir
tile.kernel @k(%x: !tile.ptr<f32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 8 : i64
  %w = tile.make_block_ptr %x shape [%n, %n] strides [%n, %one] offsets [%zero, %zero]
      : !tile.ptr<f32> -> !tile.block_ptr<8x8xf32>
  %a = tile.load %w : !tile.block_ptr<8x8xf32>
  %c = tile.full 0.0 : f32 -> tensor<8x8xf32>
  %d = tile.dot %a, %a, %c : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  tile.store %w, %d : !tile.block_ptr<8x8xf32>
  tile.return
}
