//===- TileShapeOps.cpp - Building and shaping tiles ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verification and type inference of the operations that build tiles.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/IR/TileDialect.h"

using namespace mlir;
using namespace flashtile::tile;

LogicalResult ArangeOp::verify() {
  int64_t start = int32_t(getStart()), end = int32_t(getEnd());
  if (end <= start)
    return emitOpError("expected 'start' < 'end', but got ")
           << start << " to " << end;
  auto type = cast<RankedTensorType>(getType());
  if (type.getRank() != 1 || type.getDimSize(0) != end - start)
    return emitOpError("expected a result of ")
           << end - start << " elements and rank 1, but got " << type;
  return success();
}

LogicalResult SplatOp::verify() {
  Type element = flashtile::tile::getElementType(getType());
  if (getValue().getType() != element)
    return emitOpError("expected 'value' of type ")
           << element << ", but got " << getValue().getType();
  return success();
}

LogicalResult FullOp::verify() {
  Type element = flashtile::tile::getElementType(getType());
  if (!isa<IntegerAttr, FloatAttr>(getValueAttr()))
    return emitOpError("expected 'value' to be a number, but got ")
           << getValueAttr();
  if (getValueAttr().getType() != element)
    return emitOpError("expected 'value' of type ")
           << element << ", but got " << getValueAttr().getType();
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto from = cast<RankedTensorType>(getOperand().getType());
  auto to = cast<RankedTensorType>(getType());
  if (from.getElementType() != to.getElementType())
    return emitOpError("expected elements of type ")
           << from.getElementType() << ", but got " << to.getElementType();
  if (from.getRank() != to.getRank())
    return emitOpError("expected operand and result of one rank, but got ")
           << from.getRank() << " and " << to.getRank()
           << "; 'tile.expand_dims' raises the rank";
  for (int64_t dim = 0; dim < from.getRank(); ++dim)
    if (from.getDimSize(dim) != 1 && from.getDimSize(dim) != to.getDimSize(dim))
      return emitOpError("expected extent 1 or ")
             << to.getDimSize(dim) << " in dimension " << dim << ", but got "
             << from.getDimSize(dim);
  return success();
}

LogicalResult ReshapeOp::verify() {
  auto from = cast<RankedTensorType>(getOperand().getType());
  auto to = cast<RankedTensorType>(getType());
  if (from.getElementType() != to.getElementType())
    return emitOpError("expected elements of type ")
           << from.getElementType() << ", but got " << to.getElementType();
  if (from.getNumElements() != to.getNumElements())
    return emitOpError("expected ")
           << from.getNumElements() << " elements, but " << to << " has "
           << to.getNumElements();
  return success();
}

//===----------------------------------------------------------------------===//
// Type inference
//===----------------------------------------------------------------------===//

using EmitError = function_ref<InFlightDiagnostic()>;

LogicalResult ExpandDimsOp::inferTypes(Adaptor adaptor, EmitError emitError,
                                       SmallVectorImpl<Type> &inferred) {
  auto type = dyn_cast<RankedTensorType>(adaptor.getOperand().getType());
  if (!type)
    return emitError() << "expected a tile to expand, but got "
                       << adaptor.getOperand().getType();
  int64_t axis = int32_t(adaptor.getAxis());
  if (axis < 0 || axis > type.getRank())
    return emitError() << "expected 'axis' between 0 and " << type.getRank()
                       << ", but got " << axis;
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + axis, 1);
  inferred.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult TransOp::inferTypes(Adaptor adaptor, EmitError emitError,
                                  SmallVectorImpl<Type> &inferred) {
  auto type = dyn_cast<RankedTensorType>(adaptor.getOperand().getType());
  if (!type)
    return emitError() << "expected a tile to permute, but got "
                       << adaptor.getOperand().getType();
  ArrayRef<int32_t> order = adaptor.getOrder();
  if (!isPermutation(order, type.getRank()))
    return emitError() << "expected 'order' to be a permutation of the "
                       << type.getRank() << " dimensions of " << type
                       << ", but got [" << order << "]";
  SmallVector<int64_t> shape;
  for (int32_t dim : order)
    shape.push_back(type.getDimSize(dim));
  inferred.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult CatOp::inferTypes(Adaptor adaptor, EmitError emitError,
                                SmallVectorImpl<Type> &inferred) {
  auto lhs = dyn_cast<RankedTensorType>(adaptor.getLhs().getType());
  auto rhs = dyn_cast<RankedTensorType>(adaptor.getRhs().getType());
  if (!lhs || !rhs || lhs.getElementType() != rhs.getElementType() ||
      lhs.getRank() != rhs.getRank())
    return emitError()
           << "expected tiles of one rank and element type, but got "
           << adaptor.getLhs().getType() << " and "
           << adaptor.getRhs().getType();
  int64_t axis = int32_t(adaptor.getAxis());
  if (axis < 0 || axis >= lhs.getRank())
    return emitError() << "expected 'axis' between 0 and " << lhs.getRank() - 1
                       << ", but got " << axis;
  SmallVector<int64_t> shape(lhs.getShape());
  for (int64_t dim = 0; dim < lhs.getRank(); ++dim)
    if (dim != axis && shape[dim] != rhs.getDimSize(dim))
      return emitError() << "expected equal extents in dimension " << dim
                         << ", but got " << shape[dim] << " and "
                         << rhs.getDimSize(dim);
  // Unsigned: generic text can hold extents whose sum does not fit.
  shape[axis] = int64_t(uint64_t(shape[axis]) + uint64_t(rhs.getDimSize(axis)));
  if (shape[axis] < 0)
    return emitError() << "expected parts of a tile of at most "
                       << TileDialect::kMaxTileElements << " elements, but got "
                       << lhs << " and " << rhs;
  inferred.push_back(RankedTensorType::get(shape, lhs.getElementType()));
  return success();
}

LogicalResult JoinOp::inferTypes(Adaptor adaptor, EmitError emitError,
                                 SmallVectorImpl<Type> &inferred) {
  auto type = dyn_cast<RankedTensorType>(adaptor.getLhs().getType());
  if (!type || adaptor.getRhs().getType() != type)
    return emitError() << "expected two tiles of one type, but got "
                       << adaptor.getLhs().getType() << " and "
                       << adaptor.getRhs().getType();
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(2);
  inferred.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}
