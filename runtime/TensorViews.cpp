//===- TensorViews.cpp - Other shapes of the same memory ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function computes a shape, strides and an offset; makeView checks the
// size. No stride ever becomes negative, so a view lies between its first
// element and its last.
//
//===----------------------------------------------------------------------===//

#include "compiler/Support/Error.h"
#include "runtime/TensorImpl.h"

#include <algorithm>
#include <optional>

using namespace flashtile;
using Kind = autograd::ViewRecord::Kind;

Tensor Tensor::makeView(Shape shape, Shape strides, int64_t byteOffset) const {
  return Tensor(std::make_shared<Impl>(get().storage, std::move(shape),
                                       std::move(strides), dtype(),
                                       byteOffset));
}

Tensor Tensor::slice(int64_t dim, int64_t begin, int64_t end,
                     int64_t step) const {
  const size_t d = resolveDim(dim);
  const int64_t extent = shape()[d];
  if (begin < 0 || begin > end || end > extent)
    throw Error(
        ErrorCode::InvalidArgument,
        "expected a slice with 0 <= begin <= end <= " + std::to_string(extent) +
            ", but got " + std::to_string(begin) + " to " +
            std::to_string(end) + " of dimension " + std::to_string(d));
  if (step <= 0)
    throw Error(ErrorCode::InvalidArgument,
                "expected the step of a slice to be positive, but got " +
                    std::to_string(step));
  Shape newShape = shape(), newStrides = strides();
  // Without the sum (end - begin + step - 1), which can overflow.
  newShape[d] = begin == end ? 0 : (end - begin - 1) / step + 1;
  if (newShape[d] > 1)
    newStrides[d] *= step;
  // An empty slice at the end starts nowhere; the old start is inside.
  const int64_t skipped = begin == end ? 0 : begin * strides()[d];
  return recorded(makeView(std::move(newShape), std::move(newStrides),
                           byteOffset() + skipped * static_cast<int64_t>(
                                                        elementSize(dtype()))),
                  {Kind::Slice, {static_cast<int64_t>(d), begin, end, step}});
}

Tensor Tensor::narrow(int64_t dim, int64_t begin, int64_t length) const {
  const int64_t extent = size(dim);
  if (begin < 0 || begin > extent || length < 0 || length > extent - begin)
    throw Error(ErrorCode::InvalidArgument,
                "expected a range within the " + std::to_string(extent) +
                    " elements of the dimension, but got " +
                    std::to_string(length) + " from " + std::to_string(begin));
  return slice(dim, begin, begin + length);
}

Tensor Tensor::select(int64_t dim, int64_t index) const {
  const int64_t extent = size(dim);
  if (index < 0 || index >= extent)
    throw Error(ErrorCode::InvalidArgument,
                "expected an index from 0 to " + std::to_string(extent - 1) +
                    ", but got " + std::to_string(index));
  return slice(dim, index, index + 1).squeeze(dim);
}

Tensor Tensor::transpose(int64_t dim0, int64_t dim1) const {
  const size_t a = resolveDim(dim0), b = resolveDim(dim1);
  Shape newShape = shape(), newStrides = strides();
  std::swap(newShape[a], newShape[b]);
  std::swap(newStrides[a], newStrides[b]);
  return recorded(
      makeView(std::move(newShape), std::move(newStrides), byteOffset()),
      {Kind::Transpose, {static_cast<int64_t>(a), static_cast<int64_t>(b)}});
}

Tensor Tensor::permute(const Shape &order) const {
  std::vector<bool> isTaken(shape().size());
  Shape newShape, newStrides;
  for (int64_t dim : order) {
    const size_t d = resolveDim(dim);
    newShape.push_back(shape()[d]);
    newStrides.push_back(strides()[d]);
    isTaken[d] = true;
  }
  if (order.size() != isTaken.size() ||
      std::find(isTaken.begin(), isTaken.end(), false) != isTaken.end())
    throw Error(ErrorCode::InvalidArgument,
                "expected each of the " + std::to_string(rank()) +
                    " dimensions once, but got " + toString(order));
  return recorded(
      makeView(std::move(newShape), std::move(newStrides), byteOffset()),
      {Kind::Permute, order});
}

/// Replaces an extent of -1 and checks the number of elements.
static void resolveViewShape(Shape &newShape, const Tensor &tensor) {
  const Shape wanted = newShape;
  const auto isInferred = [](int64_t extent) { return extent == -1; };
  const auto inferred =
      std::find_if(newShape.begin(), newShape.end(), isInferred);
  const bool infers = inferred != newShape.end();
  if (infers) {
    if (std::count_if(newShape.begin(), newShape.end(), isInferred) > 1)
      throw Error(ErrorCode::InvalidArgument,
                  "expected at most one extent of -1, but got " +
                      toString(wanted));
    *inferred = 1;
  }
  const int64_t count = checkedElementCount(newShape, tensor.dtype());
  if (infers && count && tensor.numel() % count == 0)
    *inferred = tensor.numel() / count;
  else if (infers ? true : count != tensor.numel())
    throw Error(ErrorCode::InvalidArgument,
                "cannot view the " + std::to_string(tensor.numel()) +
                    " elements of shape " + toString(tensor.shape()) + " as " +
                    toString(wanted));
}

/// The strides of `newShape` over the memory of `tensor`, if there are any.
static std::optional<Shape> computeViewStrides(const Tensor &tensor,
                                               const Shape &newShape) {
  if (tensor.numel() == 0)
    return rowMajorStrides(newShape);
  const Shape &shape = tensor.shape(), &strides = tensor.strides();
  Shape newStrides(newShape.size(), 1);
  // From the back, gather old dimensions that follow each other without a gap
  // into a chunk, and spread the new ones with the same product over it.
  size_t next = newShape.size();
  int64_t chunk = 1, base = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (chunk == 1)
      base = strides[i];
    chunk *= shape[i];
    // The chunk ends where the one before does not continue it.
    size_t before = i;
    while (before > 0 && shape[before - 1] == 1)
      --before;
    if (before > 0 && (chunk == 1 || strides[before - 1] == chunk * base))
      continue;
    int64_t spread = 1;
    while (next > 0 && (spread < chunk || newShape[next - 1] == 1)) {
      newStrides[--next] = spread * base;
      spread *= newShape[next];
    }
    if (spread != chunk)
      return std::nullopt;
    chunk = 1;
  }
  return newStrides;
}

Tensor Tensor::view(Shape newShape) const {
  resolveViewShape(newShape, *this);
  std::optional<Shape> newStrides = computeViewStrides(*this, newShape);
  if (!newStrides)
    throw Error(ErrorCode::InvalidArgument,
                "a tensor of shape " + toString(shape()) + " and strides " +
                    toString(strides()) + " cannot be viewed as " +
                    toString(newShape) +
                    " without a copy; call contiguous() first, or reshape()");
  return recorded(
      makeView(std::move(newShape), std::move(*newStrides), byteOffset()),
      {Kind::Reshape});
}

Tensor Tensor::reshape(Shape newShape) const {
  resolveViewShape(newShape, *this);
  if (newShape == shape())
    return *this;
  if (std::optional<Shape> newStrides = computeViewStrides(*this, newShape))
    return recorded(
        makeView(std::move(newShape), std::move(*newStrides), byteOffset()),
        {Kind::Reshape});
  return contiguous().view(std::move(newShape));
}

Tensor Tensor::expand(Shape newShape) const {
  const auto fail = [&](const std::string &reason) {
    throw Error(ErrorCode::InvalidArgument,
                "cannot expand shape " + toString(shape()) + " to " +
                    toString(newShape) + ": " + reason);
  };
  if (newShape.size() < shape().size())
    fail("it has fewer dimensions");
  const size_t added = newShape.size() - shape().size();
  Shape newStrides(newShape.size(), 0);
  for (size_t i = added; i < newShape.size(); ++i) {
    const int64_t extent = shape()[i - added];
    if (newShape[i] == -1)
      newShape[i] = extent;
    if (newShape[i] == extent)
      newStrides[i] = strides()[i - added];
    else if (extent != 1)
      fail("extent " + std::to_string(extent) + " is not 1");
  }
  return recorded(
      makeView(std::move(newShape), std::move(newStrides), byteOffset()),
      {Kind::Expand});
}

Tensor Tensor::squeeze(int64_t dim) const {
  const size_t d = resolveDim(dim);
  if (shape()[d] != 1)
    throw Error(ErrorCode::InvalidArgument,
                "expected dimension " + std::to_string(d) +
                    " to have extent 1, but it has " +
                    std::to_string(shape()[d]));
  Shape newShape = shape(), newStrides = strides();
  newShape.erase(newShape.begin() + static_cast<ptrdiff_t>(d));
  newStrides.erase(newStrides.begin() + static_cast<ptrdiff_t>(d));
  return recorded(
      makeView(std::move(newShape), std::move(newStrides), byteOffset()),
      {Kind::Reshape});
}

Tensor Tensor::squeeze() const {
  Shape newShape, newStrides;
  for (size_t i = 0; i < shape().size(); ++i)
    if (shape()[i] != 1) {
      newShape.push_back(shape()[i]);
      newStrides.push_back(strides()[i]);
    }
  return recorded(
      makeView(std::move(newShape), std::move(newStrides), byteOffset()),
      {Kind::Reshape});
}

Tensor Tensor::unsqueeze(int64_t dim) const {
  const int64_t n = rank();
  if (dim < -n - 1 || dim > n)
    throw Error(ErrorCode::InvalidArgument,
                "expected a place from " + std::to_string(-n - 1) + " to " +
                    std::to_string(n) + " for a new dimension, but got " +
                    std::to_string(dim));
  const ptrdiff_t d = dim < 0 ? dim + n + 1 : dim;
  Shape newShape = shape(), newStrides = strides();
  // The stride that keeps a contiguous tensor's strides row-major.
  const int64_t stride =
      d == n ? 1 : std::max<int64_t>(shape()[d], 1) * strides()[d];
  newShape.insert(newShape.begin() + d, 1);
  newStrides.insert(newStrides.begin() + d, stride);
  return recorded(
      makeView(std::move(newShape), std::move(newStrides), byteOffset()),
      {Kind::Reshape});
}
