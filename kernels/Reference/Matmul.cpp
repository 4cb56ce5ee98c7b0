//===- Matmul.cpp - Products of matrices, as a reference ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/Reference/Matmul.h"

#include "kernels/Reference/AttentionProblem.h"

#include <algorithm>

namespace flashtile::reference {

[[noreturn]] static void refuse(const Tensor &a, const Tensor &b) {
  throw Error(ErrorCode::InvalidArgument,
              "expected [..., m, k] and [..., k, n] for a reference product, "
              "but got " +
                  a.describe() + " and " + b.describe());
}

/// The leading dimensions of the product.
static Shape leadingDims(const Tensor &a, const Tensor &b) {
  Shape result;
  for (int64_t dim = -std::max(a.rank(), b.rank()); dim < -2; ++dim) {
    const int64_t left = -dim <= a.rank() ? a.size(dim) : 1;
    const int64_t right = -dim <= b.rank() ? b.size(dim) : 1;
    if (left != right && left != 1 && right != 1)
      refuse(a, b);
    result.push_back(left == 1 ? right : left);
  }
  return result;
}

template <typename Real>
static Tensor product(const Tensor &a, const Tensor &b) {
  const Shape leading = leadingDims(a, b);
  auto expanded = [&](const Tensor &tensor) {
    Shape shape = leading;
    shape.push_back(tensor.size(-2));
    shape.push_back(tensor.size(-1));
    return HeadStack<Real>(tensor.expand(shape));
  };
  const HeadStack<Real> left = expanded(a), right = expanded(b);
  Shape shape = leading;
  int64_t count = 1;
  for (const int64_t extent : leading)
    count *= extent;
  shape.push_back(a.size(-2));
  shape.push_back(b.size(-1));
  const HeadStack<Real> result(shape);
  for (int64_t i = 0; i < count; ++i)
    result[i].noalias() = left[i] * right[i];
  return result.tensor();
}

Tensor matmul(const Tensor &a, const Tensor &b, DType arithmetic) {
  if (a.rank() < 2 || b.rank() < 2 || a.size(-1) != b.size(-2))
    refuse(a, b);
  AttentionOptions options;
  options.arithmetic = arithmetic;
  return withArithmetic(options, [&](auto tag) {
    return product<typename decltype(tag)::Type>(a, b);
  });
}

} // namespace flashtile::reference
