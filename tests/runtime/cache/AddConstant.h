//===- AddConstant.h - A kernel for tests of the cache --------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_RUNTIME_CACHE_ADDCONSTANT_H
#define FLASHTILE_TESTS_RUNTIME_CACHE_ADDCONSTANT_H

#include "runtime/Jit.h"
#include "runtime/Tensor.h"

#include <string>

namespace flashtile::testkernels {

/// x += constant, for n elements. Tells its own constant from any other when it
/// is run.
inline std::string addConstant(int constant) {
  return R"(
tile.kernel @add_constant(%x: !tile.ptr<f32>, %n: i32)
    grid(n) -> (n ceildiv 16) {
  %block = arith.constant 16 : i32
  %one = arith.constant 1 : i64
  %pid = tile.program_id x
  %start = arith.muli %pid, %block : i32
  %from = arith.extsi %start : i32 to i64
  %size = arith.extsi %n : i32 to i64
  %w = tile.make_block_ptr %x shape[%size] strides[%one] offsets[%from]
      : !tile.ptr<f32> -> !tile.block_ptr<16xf32>
  %a = tile.load %w : !tile.block_ptr<16xf32>
  %c = arith.constant dense<)" +
         std::to_string(constant) + R"(.0> : tensor<16xf32>
  %b = arith.addf %a, %c : tensor<16xf32>
  tile.store %w, %b : !tile.block_ptr<16xf32>
  tile.return
}
)";
}

/// Whether `kernel` is addConstant(constant), by what it does.
inline bool adds(const Kernel &kernel, int constant) {
  const Tensor x = Tensor::full({21}, 0.5, DType::F32);
  kernel(x, 20);
  for (int i = 0; i < 20; ++i)
    if (x.at<float>({i}) != 0.5f + static_cast<float>(constant))
      return false;
  return x.at<float>({20}) == 0.5f;
}

} // namespace flashtile::testkernels

#endif // FLASHTILE_TESTS_RUNTIME_CACHE_ADDCONSTANT_H
