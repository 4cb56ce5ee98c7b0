//===- TileShapeOps.cpp - Building and shaping tiles ------------------------ ===//
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

// ODS hands attributes over as properties when there are any.
LogicalResult ExpandDimsOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &inferred) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto type = dyn_cast<RankedTensorType>(adaptor.getOperand().getType());
  if (!type)
    return emitOptionalError(location, "expected a tile to expand");
  int64_t axis = int32_t(adaptor.getAxis());
  if (axis < 0 || axis > type.getRank())
    return emitOptionalError(location, "expected 'axis' between 0 and ",
                             type.getRank(), ", but got ", axis);
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + axis, 1);
  inferred.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult TransOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &inferred) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto type = dyn_cast<RankedTensorType>(adaptor.getOperand().getType());
  if (!type)
    return emitOptionalError(location, "expected a tile to transpose");
  ArrayRef<int32_t> order = adaptor.getOrder();
  int64_t rank = type.getRank();
  SmallVector<bool> seen(rank, false);
  SmallVector<int64_t> shape;
  for (int32_t dim : order) {
    if (dim < 0 || dim >= rank || seen[dim])
      return emitOptionalError(location, "expected 'order' to be a permutation "
                                         "of the ",
                               rank, " dimensions");
    seen[dim] = true;
    shape.push_back(type.getDimSize(dim));
  }
  if (int64_t(order.size()) != rank)
    return emitOptionalError(location, "expected 'order' to list ", rank,
                             " dimensions, but it lists ", order.size());
  inferred.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult CatOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &inferred) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto lhs = dyn_cast<RankedTensorType>(adaptor.getLhs().getType());
  auto rhs = dyn_cast<RankedTensorType>(adaptor.getRhs().getType());
  if (!lhs || !rhs || lhs.getElementType() != rhs.getElementType() ||
      lhs.getRank() != rhs.getRank())
    return emitOptionalError(
        location, "expected tiles of one rank and element type, but got ",
        adaptor.getLhs().getType(), " and ", adaptor.getRhs().getType());
  int64_t axis = int32_t(adaptor.getAxis());
  if (axis < 0 || axis >= lhs.getRank())
    return emitOptionalError(location, "expected 'axis' between 0 and ",
                             lhs.getRank() - 1, ", but got ", axis);
  SmallVector<int64_t> shape(lhs.getShape());
  for (int64_t dim = 0; dim < lhs.getRank(); ++dim)
    if (dim != axis && shape[dim] != rhs.getDimSize(dim))
      return emitOptionalError(location, "expected equal extents in dimension ",
                               dim, ", but got ", shape[dim], " and ",
                               rhs.getDimSize(dim));
  shape[axis] += rhs.getDimSize(axis);
  inferred.push_back(RankedTensorType::get(shape, lhs.getElementType()));
  return success();
}

LogicalResult JoinOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &inferred) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto type = dyn_cast<RankedTensorType>(adaptor.getLhs().getType());
  if (!type)
    return emitOptionalError(location, "expected tiles to join");
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(2);
  inferred.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}
