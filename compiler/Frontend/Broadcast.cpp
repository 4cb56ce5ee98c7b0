//===- Broadcast.cpp - How shapes meet ------------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NumPy's rule in terms of the dialect: scalars by tile.splat, missing leading
// dimensions by tile.expand_dims, extents of 1 by tile.broadcast.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/Emitter.h"

using namespace flashtile;
using namespace flashtile::dsl;
using namespace flashtile::dsl::detail;

std::string detail::shapeText(llvm::ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(shape, stream, "x");
  return text;
}

void Emitter::checkShape(llvm::ArrayRef<int64_t> shape) const {
  constexpr int64_t limit = tile::TileDialect::kMaxTileElements;
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (extent <= 0)
      fail("expected positive extents, but got ", extent);
    if (extent > limit || (elements *= extent) > limit)
      fail("expected a tile of at most ", limit, " elements, but got ",
           shapeText(shape));
  }
}

int32_t Emitter::axis(int axis, int64_t count) const {
  if (axis < -count || axis >= count)
    fail("expected an axis between ", -count, " and ", count - 1, ", but got ",
         axis);
  return static_cast<int32_t>(axis < 0 ? axis + count : axis);
}

llvm::SmallVector<int64_t>
Emitter::broadcastShape(llvm::ArrayRef<int64_t> lhs,
                        llvm::ArrayRef<int64_t> rhs) const {
  size_t rank = std::max(lhs.size(), rhs.size());
  auto extent = [&](llvm::ArrayRef<int64_t> shape, size_t dim) -> int64_t {
    size_t missing = rank - shape.size();
    return dim < missing ? 1 : shape[dim - missing];
  };
  llvm::SmallVector<int64_t> result;
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t left = extent(lhs, dim), right = extent(rhs, dim);
    if (left != right && left != 1 && right != 1)
      fail("expected shapes that broadcast, but got ", shapeText(lhs), " and ",
           shapeText(rhs), ": dimension ", dim, " has extents ", left, " and ",
           right);
    result.push_back(left == 1 ? right : left);
  }
  checkShape(result);
  return result;
}

mlir::Value Emitter::broadcast(mlir::Value value,
                               llvm::ArrayRef<int64_t> shape) const {
  if (shapeOf(value) == shape)
    return value;
  mlir::Type type = typeOf(shape, elementOf(value));
  if (shapeOf(value).empty()) {
    mlir::TypedAttr scalar;
    if (auto constantOp = value.getDefiningOp<mlir::arith::ConstantOp>())
      return constant(mlir::DenseElementsAttr::get(
          llvm::cast<mlir::ShapedType>(type), constantOp.getValue()));
    return tile::SplatOp::create(b, loc, type, value);
  }
  while (shapeOf(value).size() < shape.size())
    value = tile::ExpandDimsOp::create(b, loc, value, 0);
  if (shapeOf(value) != shape)
    value = tile::BroadcastOp::create(b, loc, type, value);
  return value;
}

mlir::Value Emitter::fitTo(mlir::Value value, llvm::ArrayRef<int64_t> shape,
                           llvm::StringRef what) const {
  llvm::ArrayRef<int64_t> own = shapeOf(value);
  bool fits = own.size() <= shape.size();
  for (size_t dim = 0; fits && dim < own.size(); ++dim) {
    int64_t target = shape[shape.size() - own.size() + dim];
    fits = own[dim] == 1 || own[dim] == target;
  }
  if (!fits)
    fail("expected ", what, " of a shape that broadcasts to ", shapeText(shape),
         ", but got ", shapeText(own));
  return broadcast(value, shape);
}
