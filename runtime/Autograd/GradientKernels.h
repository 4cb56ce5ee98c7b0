//===- GradientKernels.h - Sums and copies of gradients on GPUs -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to GradientArithmetic.cpp. The kernels work on every device, which
// is how they are tested; the host has loops that need no compiler.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_AUTOGRAD_GRADIENTKERNELS_H
#define FLASHTILE_RUNTIME_AUTOGRAD_GRADIENTKERNELS_H

#include "compiler/Frontend/KernelBuilder.h"
#include "runtime/Tensor.h"

namespace flashtile::autograd {

/// target = source, or target += source, with conversion. The shapes are equal;
/// any strides, but the elements of `target` are in places of their own.
void launchElementwise(const Tensor &target, const Tensor &source,
                       bool accumulates);
/// Has its kernel compiled.
void prepareElementwise(const Tensor &target, const Tensor &source,
                        bool accumulates);

/// target[o, i] = sum_r source[o, r, i]. `target` is contiguous f32, or f64
/// where the source is.
void launchSum(const Tensor &target, const Tensor &source);

/// Their kernels. @gradient_copy or @gradient_add(target, source, n, and for
/// each of `rank` dimensions extent, target stride and source stride), and
/// @gradient_sum(target, source, outer, reduced, inner, the strides of the
/// source).
dsl::KernelModule buildElementwise(DType target, DType source, int64_t rank,
                                   bool accumulates);
dsl::KernelModule buildSum(DType source, bool isWide);

} // namespace flashtile::autograd

#endif // FLASHTILE_RUNTIME_AUTOGRAD_GRADIENTKERNELS_H
