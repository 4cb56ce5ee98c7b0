// RUN: fa-translate --target=sm_80 --emit=ptx --num-warps=2 %s | FileCheck %s
// RUN: fa-translate --target=sm_90a --emit=ptx --num-warps=2 %s | FileCheck %s

// One program of two warps; the launch's hidden arguments come last; every
// access is predicated by its mask.
// CHECK-LABEL: .entry add(
// CHECK: add_param_6
// CHECK: .maxntid 64
// CHECK: ld.global.b32
// CHECK: add{{.*}}.f32
// CHECK: st.global.b32
tile.kernel @add(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>, %n: i32)
    grid(n) -> (n ceildiv 64) {
  %pid = tile.program_id x
  %c64 = arith.constant 64 : i32
  %start = arith.muli %pid, %c64 : i32
  %lane = tile.arange 0 to 64 : tensor<64xi32>
  %base = tile.splat %start : i32 -> tensor<64xi32>
  %at = arith.addi %base, %lane : tensor<64xi32>
  %limit = tile.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %at, %limit : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %at : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %yp = tile.addptr %ys, %at : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %zp = tile.addptr %zs, %at : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %a = tile.load %xp mask %mask : tensor<64x!tile.ptr<f32>>
  %b = tile.load %yp mask %mask : tensor<64x!tile.ptr<f32>>
  %c = arith.addf %a, %b : tensor<64xf32>
  tile.store %zp, %c mask %mask : tensor<64x!tile.ptr<f32>>
  tile.return
}
