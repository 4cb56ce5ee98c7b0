//===- TensorMemory.h - Tensors as memory of kernels ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests that judge what the code of a kernel writes by references, which
// take tensors.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_COMPILER_CPU_TENSORMEMORY_H
#define FLASHTILE_TESTS_COMPILER_CPU_TENSORMEMORY_H

#include "runtime/Tensor.h"
#include "tests/compiler/cpu/KernelRunner.h"

namespace flashtile::cputest {

/// The same elements.
inline Memory memoryOf(const Tensor &tensor) {
  const std::vector<double> values = tensor.toVector<double>();
  return make(tensor.dtype(), tensor.numel(),
              [&](int64_t i) { return values[static_cast<size_t>(i)]; });
}

/// A copy.
inline Tensor tensorOf(Memory &memory, const Shape &shape) {
  return Tensor::fromData(memory.data(), shape, memory.type());
}

} // namespace flashtile::cputest

#endif // FLASHTILE_TESTS_COMPILER_CPU_TENSORMEMORY_H
