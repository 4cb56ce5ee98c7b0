//===- GradientTestSupport.h - Gradients of kernels, checked --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_KERNELS_AUTOGRAD_GRADIENTTESTSUPPORT_H
#define FLASHTILE_TESTS_KERNELS_AUTOGRAD_GRADIENTTESTSUPPORT_H

#include "kernels/Reference/Judge.h"
#include "runtime/Autograd/Autograd.h"
#include "runtime/Autograd/GradCheck.h"
#include "tests/runtime/ExpectError.h"

namespace flashtile {

/// A leaf of random numbers.
inline Tensor parameter(Shape shape, uint64_t seed, DType dtype = DType::F64) {
  return Tensor::randn(std::move(shape), dtype, seed).setRequiresGrad();
}

inline void expectClose(const Tensor &actual, const Tensor &expected,
                        double tolerance, const char *name) {
  ASSERT_TRUE(actual.defined()) << name;
  ASSERT_EQ(actual.shape(), expected.shape()) << name;
  EXPECT_LE(reference::relativeError(actual, expected), tolerance) << name;
}

} // namespace flashtile

#endif // FLASHTILE_TESTS_KERNELS_AUTOGRAD_GRADIENTTESTSUPPORT_H
