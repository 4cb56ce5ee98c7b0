//===- Shape.cpp - Arithmetic on shapes and strides -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Shape.h"

#include "compiler/Support/EnumCheck.h"
#include "compiler/Support/Error.h"

#include <algorithm>

using namespace flashtile;

std::string flashtile::toString(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

int64_t flashtile::checkedElementCount(const Shape &shape, ElementType type) {
  checkElementType("an element type", type);
  bool isEmpty = false;
  int64_t bytes = static_cast<int64_t>(elementSize(type));
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0)
      throw Error(ErrorCode::InvalidArgument,
                  "expected the extents of a shape to be 0 or more, but got " +
                      std::to_string(shape[i]) + " for dimension " +
                      std::to_string(i) + " of " + toString(shape));
    isEmpty |= shape[i] == 0;
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(shape[i], 1), &bytes))
      throw Error(ErrorCode::InvalidArgument,
                  "the size of a tensor of shape " + toString(shape) +
                      " and type " + std::string(elementTypeName(type)) +
                      " exceeds 63 bits");
  }
  return isEmpty ? 0 : bytes / static_cast<int64_t>(elementSize(type));
}

int64_t flashtile::checkedByteSpan(const Shape &shape, const Shape &strides,
                                   ElementType type) {
  const int64_t count = checkedElementCount(shape, type);
  if (strides.size() != shape.size())
    throw Error(ErrorCode::InvalidArgument,
                "expected " + std::to_string(shape.size()) +
                    " strides for shape " + toString(shape) + ", but got " +
                    std::to_string(strides.size()));
  int64_t last = 0; // index of the last element
  bool overflows = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (strides[i] < 0)
      throw Error(ErrorCode::InvalidArgument,
                  "expected strides of 0 or more, but got " +
                      std::to_string(strides[i]) + " for dimension " +
                      std::to_string(i));
    int64_t reach;
    overflows |= __builtin_mul_overflow(std::max<int64_t>(shape[i] - 1, 0),
                                        strides[i], &reach) ||
                 __builtin_add_overflow(last, reach, &last);
  }
  int64_t bytes = 0;
  overflows |= __builtin_add_overflow(last, 1, &last) ||
               __builtin_mul_overflow(
                   last, static_cast<int64_t>(elementSize(type)), &bytes);
  if (overflows)
    throw Error(ErrorCode::InvalidArgument,
                "the extent of shape " + toString(shape) + " with strides " +
                    toString(strides) + " exceeds 63 bits");
  return count ? bytes : 0;
}

Shape flashtile::rowMajorStrides(const Shape &shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}
