// Every form of output, to a file and through pipes.

// RUN: fa-translate --target=cpu --emit=llvm-dialect %s | FileCheck %s --check-prefix=DIALECT
// RUN: fa-translate --emit=llvm < %s | FileCheck %s --check-prefix=LLVM
// RUN: fa-translate %s | FileCheck %s --check-prefix=LLVM
// RUN: fa-translate --emit=asm --mcpu=host - < %s | FileCheck %s --check-prefix=ASM
// RUN: fa-translate --emit=obj %s -o %t.o
// RUN: llvm-nm %t.o | FileCheck %s --check-prefix=OBJ
// RUN: fa-translate --emit=obj %s | llvm-nm - | FileCheck %s --check-prefix=OBJ
// RUN: fa-translate --list-kernels %s | FileCheck %s --check-prefix=LIST
// RUN: fa-translate --emit=obj %s -o /dev/null

// DIALECT: llvm.func @flashtile_kernel_scale(
// DIALECT: llvm.func @flashtile_kernel_nothing(
// LLVM-NOT: llvm.func
// LLVM: define {{.*}}void @flashtile_kernel_scale(
// ASM: flashtile_kernel_scale:
// OBJ-DAG: T flashtile_kernel_nothing
// OBJ-DAG: T flashtile_kernel_scale
// LIST: scale(x: ptr<f32>, n: i32, m: i64, a: f32) grid(n ceildiv 64, (n + m) * 2)
// LIST-NEXT: nothing() grid(1)
// LIST-NOT: {{.}}

tile.kernel @scale(%x: !tile.ptr<f32>, %n: i32, %m: i64, %a: f32)
    grid(n, m) -> (n ceildiv 64, (n + m) * 2) {
  %pid = tile.program_id x
  %c64 = arith.constant 64 : i32
  %start = arith.muli %pid, %c64 : i32
  %lane = tile.arange 0 to 64 : tensor<64xi32>
  %base = tile.splat %start : i32 -> tensor<64xi32>
  %offsets = arith.addi %base, %lane : tensor<64xi32>
  %limit = tile.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %offsets, %limit : tensor<64xi32>
  %pointers = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %p = tile.addptr %pointers, %offsets : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %v = tile.load %p mask %mask : tensor<64x!tile.ptr<f32>>
  %factor = tile.splat %a : f32 -> tensor<64xf32>
  %w = arith.mulf %v, %factor : tensor<64xf32>
  tile.store %p, %w mask %mask : tensor<64x!tile.ptr<f32>>
  tile.return
}

tile.kernel @nothing() grid() -> (1) {
  tile.return
}
