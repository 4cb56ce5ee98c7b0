//===- UniformFactor.cpp - Products with one scalar -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/UniformFactor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace flashtile::tile {

/// Looks through what repeats a scalar.
static Value findScalar(Value value) {
  while (isa<RankedTensorType>(value.getType())) {
    Operation *op = value.getDefiningOp();
    if (!op || !isa<SplatOp, BroadcastOp, ExpandDimsOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return value;
}

std::optional<UniformFactor> UniformFactor::of(Value value) {
  UniformFactor factor;
  factor.constant = getConstantFloat(value);
  if (!factor.constant)
    factor.scalar = findScalar(value);
  if (!factor.constant && !factor.scalar)
    return std::nullopt;
  factor.positive = flashtile::tile::isPositiveNormal(value);
  return factor;
}

bool UniformFactor::operator==(const UniformFactor &other) const {
  if (constant && other.constant)
    return constant->bitwiseIsEqual(*other.constant);
  return !constant && !other.constant && scalar == other.scalar;
}

Value UniformFactor::materialize(OpBuilder &builder, Location loc,
                                 Type type) const {
  if (constant) {
    Attribute element =
        FloatAttr::get(flashtile::tile::getElementType(type), *constant);
    if (auto tile = dyn_cast<RankedTensorType>(type))
      element = DenseElementsAttr::get(tile, element);
    return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(element));
  }
  if (!isa<RankedTensorType>(type))
    return scalar;
  return SplatOp::create(builder, loc, type, scalar);
}

std::optional<ScaledValue> ScaledValue::of(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product)
    return std::nullopt;
  if (std::optional<UniformFactor> factor = UniformFactor::of(product.getRhs()))
    return ScaledValue{product.getLhs(), *factor};
  if (std::optional<UniformFactor> factor = UniformFactor::of(product.getLhs()))
    return ScaledValue{product.getRhs(), *factor};
  return std::nullopt;
}

} // namespace flashtile::tile
