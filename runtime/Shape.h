//===- Shape.h - Arithmetic on shapes and strides -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only place where extents are multiplied. Whatever passed one of these
// checks can be indexed, in elements and in bytes, without overflow of int64_t.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_SHAPE_H
#define FLASHTILE_RUNTIME_SHAPE_H

#include "compiler/Support/ElementType.h"

#include <cstdint>
#include <string>
#include <vector>

namespace flashtile {

/// Extents, strides, indices or permutations: one entry per dimension.
using Shape = std::vector<int64_t>;

/// "[2, 3]"
std::string toString(const Shape &shape);

/// The number of elements of `shape`. Throws InvalidArgument for a negative
/// extent, and where the bytes of elements of type `type` do not fit into
/// int64_t; extents of 0 count as 1 in that, so that strides fit as well.
int64_t checkedElementCount(const Shape &shape, ElementType type);

/// The distance in bytes from the first element to the end of the last one; 0
/// without elements. `strides` are in elements. Throws InvalidArgument if there
/// is not one stride per extent, if one is negative, or on overflow.
int64_t checkedByteSpan(const Shape &shape, const Shape &strides,
                        ElementType type);

/// The strides of `shape` in row-major order without gaps. `shape` has passed
/// checkedElementCount.
Shape rowMajorStrides(const Shape &shape);

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_SHAPE_H
