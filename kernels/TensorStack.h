//===- TensorStack.h - Leading dimensions as two --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to the functions on tensors: kernels take [outer, inner, row,
// column], where tensors have any number of leading dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_TENSORSTACK_H
#define FLASHTILE_KERNELS_TENSORSTACK_H

#include "kernels/MatmulKernel.h"
#include "runtime/Tensor.h"

#include <optional>

namespace flashtile::kernels {

/// A tensor of two dimensions or more as [outer, inner, row, column], where the
/// last of its leading dimensions is the inner one. A view, unless there are
/// more than two leading dimensions that are not one block of memory.
Tensor asStack(const Tensor &tensor);

/// The same of a tensor whose leading dimensions are repeated to `leading`.
Tensor expandedStack(const Tensor &tensor, const Shape &leading);

/// Which elements of the matrices of a stack follow each other.
MatrixOrder orderOf(const Tensor &stack);

/// Extents that two lists of leading dimensions broadcast to; nothing where
/// they do not.
std::optional<Shape> broadcastShapes(const Shape &a, const Shape &b);

/// The leading dimensions of a shape: all but the last two.
Shape leadingDims(const Shape &shape);

/// `shape` with two more dimensions.
Shape withMatrix(Shape shape, int64_t rows, int64_t columns);

/// The largest extent of a matrix: kernels count in i32, and a tile beyond.
constexpr int64_t kMaxExtent = 1073741823;

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_TENSORSTACK_H
