//===- Kernels.h - Texts that the tests compile ---------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_RUNTIME_JIT_KERNELS_H
#define FLASHTILE_TESTS_RUNTIME_JIT_KERNELS_H

namespace flashtile::testkernels {

/// z = x + y for n elements, 64 at a time; n need not be a multiple.
inline constexpr char vectorAdd[] = R"(
tile.kernel @vector_add(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>,
                        %z: !tile.ptr<f32>, %n: i32)
    grid(n) -> (n ceildiv 64) {
  %block = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  %pid = tile.program_id x
  %start = arith.muli %pid, %block : i32
  %from = arith.extsi %start : i32 to i64
  %size = arith.extsi %n : i32 to i64
  %xw = tile.make_block_ptr %x shape[%size] strides[%one] offsets[%from]
      : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  %yw = tile.make_block_ptr %y shape[%size] strides[%one] offsets[%from]
      : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  %zw = tile.make_block_ptr %z shape[%size] strides[%one] offsets[%from]
      : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  %a = tile.load %xw : !tile.block_ptr<64xf32>
  %b = tile.load %yw : !tile.block_ptr<64xf32>
  %c = arith.addf %a, %b : tensor<64xf32>
  tile.store %zw, %c : !tile.block_ptr<64xf32>
  tile.return
}
)";

/// y = x, 16 rows of 64 elements at a time. Rows are copied 16 bytes at a time
/// where the addresses allow it; another function of the kernel takes the rest.
inline constexpr char copyRows[] = R"(
tile.kernel @copy_rows(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %rows: i32,
                       %stride: i64)
    grid(rows, stride) -> (rows ceildiv 16) {
  %block = arith.constant 16 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %columns = arith.constant 64 : i64
  %pid = tile.program_id x
  %start = arith.muli %pid, %block : i32
  %from = arith.extsi %start : i32 to i64
  %size = arith.extsi %rows : i32 to i64
  %xw = tile.make_block_ptr %x shape[%size, %columns] strides[%stride, %one]
      offsets[%from, %zero] : !tile.ptr<f32> -> !tile.block_ptr<16x64xf32>
  %yw = tile.make_block_ptr %y shape[%size, %columns] strides[%stride, %one]
      offsets[%from, %zero] : !tile.ptr<f32> -> !tile.block_ptr<16x64xf32>
  %a = tile.load %xw : !tile.block_ptr<16x64xf32>
  tile.store %yw, %a : !tile.block_ptr<16x64xf32>
  tile.return
}
)";

/// y[row] = sum of x[row, :], for rows of any length, by a loop over tiles.
inline constexpr char rowSum[] = R"(
tile.kernel @row_sum(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %rows: i32,
                     %columns: i32, %stride: i64)
    grid(rows, columns, stride) -> (rows) {
  %zero = arith.constant 0 : i32
  %block = arith.constant 32 : i32
  %one = arith.constant 1 : i64
  %nothing = arith.constant dense<0.0> : tensor<32xf32>
  %row32 = tile.program_id x
  %row = arith.extsi %row32 : i32 to i64
  %at = arith.muli %row, %stride : i64
  %base = tile.addptr %x, %at : !tile.ptr<f32>, i64
  %size = arith.extsi %columns : i32 to i64
  %acc = scf.for %i = %zero to %columns step %block
      iter_args(%sum = %nothing) -> (tensor<32xf32>) : i32 {
    %from = arith.extsi %i : i32 to i64
    %w = tile.make_block_ptr %base shape[%size] strides[%one] offsets[%from]
        : !tile.ptr<f32> -> !tile.block_ptr<32xf32>
    %v = tile.load %w : !tile.block_ptr<32xf32>
    %next = arith.addf %sum, %v : tensor<32xf32>
    scf.yield %next : tensor<32xf32>
  }
  %total = tile.sum %acc axis 0 : tensor<32xf32> -> f32
  %place = tile.addptr %y, %row : !tile.ptr<f32>, i64
  %places = tile.splat %place : !tile.ptr<f32> -> tensor<1x!tile.ptr<f32>>
  %totals = tile.splat %total : f32 -> tensor<1xf32>
  tile.store %places, %totals : tensor<1x!tile.ptr<f32>>
  tile.return
}
)";

/// out[0] and on: the scalar arguments as they arrived, each in a buffer of its
/// type.
inline constexpr char scalars[] = R"(
tile.kernel @scalars(%flag: i1, %a: i8, %b: i16, %c: i32, %d: i64, %e: f32,
                     %f: f64, %ints: !tile.ptr<i64>, %reals: !tile.ptr<f64>)
    grid(flag, a, b, c, d) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %three = arith.constant 3 : i64
  %four = arith.constant 4 : i64
  %flag64 = arith.extui %flag : i1 to i64
  %a64 = arith.extsi %a : i8 to i64
  %b64 = arith.extsi %b : i16 to i64
  %c64 = arith.extsi %c : i32 to i64
  %e64 = arith.extf %e : f32 to f64
  %i0 = tile.splat %ints : !tile.ptr<i64> -> tensor<1x!tile.ptr<i64>>
  %at1 = tile.addptr %ints, %one : !tile.ptr<i64>, i64
  %i1 = tile.splat %at1 : !tile.ptr<i64> -> tensor<1x!tile.ptr<i64>>
  %at2 = tile.addptr %ints, %two : !tile.ptr<i64>, i64
  %i2 = tile.splat %at2 : !tile.ptr<i64> -> tensor<1x!tile.ptr<i64>>
  %at3 = tile.addptr %ints, %three : !tile.ptr<i64>, i64
  %i3 = tile.splat %at3 : !tile.ptr<i64> -> tensor<1x!tile.ptr<i64>>
  %at4 = tile.addptr %ints, %four : !tile.ptr<i64>, i64
  %i4 = tile.splat %at4 : !tile.ptr<i64> -> tensor<1x!tile.ptr<i64>>
  %v0 = tile.splat %flag64 : i64 -> tensor<1xi64>
  %v1 = tile.splat %a64 : i64 -> tensor<1xi64>
  %v2 = tile.splat %b64 : i64 -> tensor<1xi64>
  %v3 = tile.splat %c64 : i64 -> tensor<1xi64>
  %v4 = tile.splat %d : i64 -> tensor<1xi64>
  tile.store %i0, %v0 : tensor<1x!tile.ptr<i64>>
  tile.store %i1, %v1 : tensor<1x!tile.ptr<i64>>
  tile.store %i2, %v2 : tensor<1x!tile.ptr<i64>>
  tile.store %i3, %v3 : tensor<1x!tile.ptr<i64>>
  tile.store %i4, %v4 : tensor<1x!tile.ptr<i64>>
  %r0 = tile.splat %reals : !tile.ptr<f64> -> tensor<1x!tile.ptr<f64>>
  %atr = tile.addptr %reals, %one : !tile.ptr<f64>, i64
  %r1 = tile.splat %atr : !tile.ptr<f64> -> tensor<1x!tile.ptr<f64>>
  %w0 = tile.splat %e64 : f64 -> tensor<1xf64>
  %w1 = tile.splat %f : f64 -> tensor<1xf64>
  tile.store %r0, %w0 : tensor<1x!tile.ptr<f64>>
  tile.store %r1, %w1 : tensor<1x!tile.ptr<f64>>
  tile.return
}
)";

/// Counts in out[id] the programs that run there, over a grid of three axes.
inline constexpr char countPrograms[] = R"(
tile.kernel @count(%out: !tile.ptr<i32>, %gx: i64, %gy: i64, %gz: i64)
    grid(gx, gy, gz) -> (gx, gy, gz) {
  %x = tile.program_id x
  %y = tile.program_id y
  %z = tile.program_id z
  %nx = tile.num_programs x
  %ny = tile.num_programs y
  %zy = arith.muli %z, %ny : i32
  %zy1 = arith.addi %zy, %y : i32
  %zyx = arith.muli %zy1, %nx : i32
  %id = arith.addi %zyx, %x : i32
  %at = tile.addptr %out, %id : !tile.ptr<i32>, i32
  %places = tile.splat %at : !tile.ptr<i32> -> tensor<1x!tile.ptr<i32>>
  %one = arith.constant dense<1> : tensor<1xi32>
  %old = tile.load %places : tensor<1x!tile.ptr<i32>>
  %new = arith.addi %old, %one : tensor<1xi32>
  tile.store %places, %new : tensor<1x!tile.ptr<i32>>
  tile.return
}
)";

/// Fails in program `bad` of n; the others store 1.
inline constexpr char failing[] = R"(
tile.kernel @failing(%out: !tile.ptr<i32>, %n: i32, %bad: i32)
    grid(n, bad) -> (n) {
  %x = tile.program_id x
  %good = arith.cmpi ne, %x, %bad : i32
  tile.assert %good, "not this program" : i1
  %at = tile.addptr %out, %x : !tile.ptr<i32>, i32
  %places = tile.splat %at : !tile.ptr<i32> -> tensor<1x!tile.ptr<i32>>
  %one = arith.constant dense<1> : tensor<1xi32>
  tile.store %places, %one : tensor<1x!tile.ptr<i32>>
  tile.return
}
)";

inline constexpr char nothing[] = R"(
tile.kernel @nothing() grid() -> (1) {
  tile.return
}
)";

} // namespace flashtile::testkernels

#endif // FLASHTILE_TESTS_RUNTIME_JIT_KERNELS_H
