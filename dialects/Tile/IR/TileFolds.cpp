//===- TileFolds.cpp - Folders --------------------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constant folding and the identities that need no pattern driver.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/IR/TileDialect.h"

#include "mlir/Dialect/CommonFolders.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace flashtile::tile;

/// A splat of `type` from the scalar constant `value`; null where pointers or
/// a missing constant prevent it.
static DenseElementsAttr splat(Type type, Attribute value) {
  if (!isa_and_nonnull<IntegerAttr, FloatAttr>(value))
    return {};
  return DenseElementsAttr::get(cast<ShapedType>(type), value);
}

/// The same splat in another shape; null where `constant` is no splat.
static DenseElementsAttr reshapeSplat(Type type, Attribute constant) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(constant);
  if (!elements || !elements.isSplat())
    return {};
  return elements.resizeSplat(cast<ShapedType>(type));
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  return splat(getType(), adaptor.getValue());
}

OpFoldResult FullOp::fold(FoldAdaptor) {
  return splat(getType(), getValueAttr());
}

OpFoldResult ExpandDimsOp::fold(FoldAdaptor adaptor) {
  return reshapeSplat(getType(), adaptor.getOperand());
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  // broadcast(broadcast(x)) -> broadcast(x)
  if (auto inner = getOperand().getDefiningOp<BroadcastOp>()) {
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  return reshapeSplat(getType(), adaptor.getOperand());
}

OpFoldResult TransOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int32_t> order = getOrder();
  bool identity = true;
  for (auto [position, dim] : llvm::enumerate(order))
    identity &= int64_t(position) == dim;
  if (identity)
    return getOperand();
  // trans(trans(x, p), q) -> trans(x, p[q])
  if (auto inner = getOperand().getDefiningOp<TransOp>()) {
    SmallVector<int32_t> composed;
    for (int32_t dim : order)
      composed.push_back(inner.getOrder()[dim]);
    setOrder(composed);
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  return reshapeSplat(getType(), adaptor.getOperand());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  // reshape(reshape(x)) -> reshape(x)
  if (auto inner = getOperand().getDefiningOp<ReshapeOp>()) {
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  if (auto elements = dyn_cast_or_null<DenseElementsAttr>(adaptor.getOperand()))
    return elements.reshape(cast<ShapedType>(getType()));
  return {};
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// Folds f32 and f64 through the host's libm; narrower types are left to the
/// target, whose rounding they follow.
template <typename Fn>
static Attribute foldUnary(Attribute operand, Fn evaluate) {
  return constFoldUnaryOpConditional<FloatAttr, FloatAttr::ValueType, void>(
      ArrayRef<Attribute>(operand),
      [&](const APFloat &value) -> std::optional<APFloat> {
        const llvm::fltSemantics &semantics = value.getSemantics();
        bool isDouble = &semantics == &APFloat::IEEEdouble();
        if (!isDouble && &semantics != &APFloat::IEEEsingle())
          return std::nullopt;
        double result = evaluate(isDouble ? value.convertToDouble()
                                          : double(value.convertToFloat()));
        // One NaN, whichever the host's libm gives.
        if (std::isnan(result))
          return APFloat::getQNaN(semantics);
        return isDouble ? APFloat(result) : APFloat(float(result));
      });
}

OpFoldResult ExpOp::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getOperand(), [](double x) { return std::exp(x); });
}

OpFoldResult Exp2Op::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getOperand(), [](double x) { return std::exp2(x); });
}

OpFoldResult LogOp::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getOperand(), [](double x) { return std::log(x); });
}

OpFoldResult Log2Op::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getOperand(), [](double x) { return std::log2(x); });
}

/// Whether every value of `from` is a value of `to`.
static bool widens(FloatType from, FloatType to) {
  if (from == to)
    return true;
  if (isa<Float64Type>(to))
    return true;
  if (isa<Float32Type>(to))
    return !isa<Float64Type>(from);
  // Both fp8 formats are subsets of f16; f8E5M2 and f8E4M3FN of bf16 as well.
  return isa<Float16Type, BFloat16Type>(to) &&
         isa<Float8E4M3FNType, Float8E5M2Type>(from);
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  auto to = cast<FloatType>(flashtile::tile::getElementType(getType()));
  // A cast to f8E5M2 is not the identity on f8E5M2: infinities saturate.
  bool mayBeIdentity = !isa<Float8E5M2Type>(to);
  if (mayBeIdentity && getOperand().getType() == getType())
    return getOperand();
  // cast(cast(x: A -> B): B -> A) -> x where B holds every value of A.
  if (auto inner = getOperand().getDefiningOp<CastOp>()) {
    Type source = inner.getOperand().getType();
    auto narrow = cast<FloatType>(flashtile::tile::getElementType(source));
    auto wide = cast<FloatType>(
        flashtile::tile::getElementType(getOperand().getType()));
    if (mayBeIdentity && source == getType() && widens(narrow, wide))
      return inner.getOperand();
  }
  auto convert = [&](const APFloat &value) -> std::optional<APFloat> {
    // Saturation differs from APFloat's rounding to NaN or infinity.
    if (to.getWidth() == 8)
      return std::nullopt;
    APFloat result = value;
    bool losesInfo;
    result.convert(to.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return result;
  };
  if (auto scalar = dyn_cast_or_null<FloatAttr>(adaptor.getOperand())) {
    std::optional<APFloat> value = convert(scalar.getValue());
    return value ? OpFoldResult(FloatAttr::get(to, *value)) : OpFoldResult();
  }
  auto elements = dyn_cast_or_null<DenseElementsAttr>(adaptor.getOperand());
  if (!elements || !elements.isSplat())
    return {};
  std::optional<APFloat> value = convert(elements.getSplatValue<APFloat>());
  if (!value)
    return {};
  return DenseElementsAttr::get(cast<ShapedType>(getType()),
                                FloatAttr::get(to, *value));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Max and min of a splat are its value.
static Attribute foldExtremeOfSplat(Type result, Attribute operand) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(operand);
  if (!elements || !elements.isSplat())
    return {};
  if (!isa<ShapedType>(result))
    return elements.getSplatValue<Attribute>();
  return elements.resizeSplat(cast<ShapedType>(result));
}

OpFoldResult MaxOp::fold(FoldAdaptor adaptor) {
  return foldExtremeOfSplat(getType(), adaptor.getOperand());
}

OpFoldResult MinOp::fold(FoldAdaptor adaptor) {
  return foldExtremeOfSplat(getType(), adaptor.getOperand());
}

OpFoldResult SumOp::fold(FoldAdaptor adaptor) {
  // Only the sum of zeros is independent of rounding and of the order.
  auto elements = dyn_cast_or_null<DenseElementsAttr>(adaptor.getOperand());
  if (!elements || !elements.isSplat() ||
      (!matchPattern(Attribute(elements), m_AnyZeroFloat()) &&
       !matchPattern(Attribute(elements), m_Zero())))
    return {};
  return foldExtremeOfSplat(getType(), elements);
}
