//===- TensorStack.cpp - Leading dimensions as two ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/TensorStack.h"

#include <algorithm>

namespace flashtile::kernels {

Tensor asStack(const Tensor &tensor) {
  if (tensor.rank() == 4)
    return tensor;
  if (tensor.rank() < 4) // in one view
    return expandedStack(tensor, leadingDims(tensor.shape()));
  int64_t outer = 1;
  for (int64_t dim = 0; dim < tensor.rank() - 3; ++dim)
    outer *= tensor.size(dim);
  return tensor.reshape(
      {outer, tensor.size(-3), tensor.size(-2), tensor.size(-1)});
}

Tensor expandedStack(const Tensor &tensor, const Shape &leading) {
  if (leading.size() > 2)
    return asStack(
        tensor.expand(withMatrix(leading, tensor.size(-2), tensor.size(-1))));
  Shape shape = {1, 1, tensor.size(-2), tensor.size(-1)};
  std::copy(leading.rbegin(), leading.rend(), shape.rbegin() + 2);
  return tensor.shape() == shape ? tensor : tensor.expand(std::move(shape));
}

MatrixOrder orderOf(const Tensor &stack) {
  // A stride that is never taken may be anything.
  if (stack.size(3) <= 1 || stack.stride(3) == 1)
    return MatrixOrder::Rows;
  if (stack.size(2) <= 1 || stack.stride(2) == 1)
    return MatrixOrder::Columns;
  return MatrixOrder::Strided;
}

std::optional<Shape> broadcastShapes(const Shape &a, const Shape &b) {
  Shape result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) {
    // Counted from the back.
    const int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t right = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (left != right && left != 1 && right != 1)
      return std::nullopt;
    result[result.size() - 1 - i] = left == 1 ? right : left;
  }
  return result;
}

Shape leadingDims(const Shape &shape) {
  return Shape(shape.begin(), shape.end() - 2);
}

Shape withMatrix(Shape shape, int64_t rows, int64_t columns) {
  shape.push_back(rows);
  shape.push_back(columns);
  return shape;
}

} // namespace flashtile::kernels
