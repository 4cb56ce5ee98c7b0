//===- GradientArithmetic.h - Sums and copies of gradients ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tape itself computes: gradients are added, summed over what was
// broadcast, converted and copied. On the host by loops, on GPUs by kernels
// (GradientKernels.h) in the current stream. Operands may have any strides, 0
// included, and are of float types. Nothing here is recorded.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_AUTOGRAD_GRADIENTARITHMETIC_H
#define FLASHTILE_RUNTIME_AUTOGRAD_GRADIENTARITHMETIC_H

#include "runtime/Tensor.h"

namespace flashtile::autograd {

/// A new contiguous tensor of the type of `a`; the shapes are equal.
Tensor add(const Tensor &a, const Tensor &b);
/// target += source. The elements of `target` are in places of their own, and
/// the two do not overlap.
void addInto(const Tensor &target, const Tensor &source);
/// Does what of it takes memory or a compiler, so that little is left to fail.
void prepareAddInto(const Tensor &target, const Tensor &source);
/// target = source, converted; likewise.
void copyInto(const Tensor &target, const Tensor &source);
/// Always a copy; contiguous.
Tensor denseCopy(const Tensor &source);
/// The tensor itself if it is contiguous, else a copy.
Tensor dense(const Tensor &source);
/// The tensor itself if it is of that type, else a copy.
Tensor convertTo(const Tensor &source, DType dtype);
/// The same elements in row-major order: a view where the strides allow it.
Tensor denseView(const Tensor &source, const Shape &shape);
/// Sums over the dimensions that `shape`, which broadcasts to that of `source`,
/// does not have or has as 1; f16, bf16 and fp8 in f32. The tensor itself if
/// there are none.
Tensor sumTo(const Tensor &source, const Shape &shape);

} // namespace flashtile::autograd

#endif // FLASHTILE_RUNTIME_AUTOGRAD_GRADIENTARITHMETIC_H
