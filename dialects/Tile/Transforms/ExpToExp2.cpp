//===- ExpToExp2.cpp - Exponentials by exp2 and one multiply-add
//--------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %p = tile.exp (%s * splat(%c) - broadcast(%m))
//
// becomes
//
//   %c2 = %c * log2(e)                                       // scalar
//   %p = tile.exp2 fma(%s, splat(%c2), broadcast(-(%m * log2(e))))
//
// Products with log2(e) are made where the multiplied value is defined, and
// pushed through what repeats values, so that they cost a scalar or a row.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/Passes.h"
#include "dialects/Tile/Transforms/Remark.h"
#include "dialects/Tile/Transforms/UniformFactor.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/Support/MathExtras.h"

namespace flashtile::tile {
#define GEN_PASS_DEF_EXPTOEXP2PASS
#include "dialects/Tile/Transforms/Passes.h.inc"
} // namespace flashtile::tile

using namespace mlir;
using namespace flashtile::tile;

namespace {

/// Rewrites the exponentials of one kernel.
class Exponentials {
public:
  explicit Exponentials(MLIRContext *context) : builder(context) {}

  /// Replaces `op`; true where that took a multiply-add.
  bool rewrite(ExpOp op) {
    Location loc = op.getLoc();
    auto difference = op.getOperand().getDefiningOp<arith::SubFOp>();
    bool fused = difference && isRepeated(difference.getRhs());
    builder.setInsertionPoint(op);
    Value exponent;
    if (fused) {
      std::optional<ScaledValue> scaled = ScaledValue::of(difference.getLhs());
      Value base = scaled ? scaled->value : difference.getLhs();
      Value factor = scaled
                         ? factorTimesLog2e(scaled->factor, loc, base.getType())
                         : log2e(loc, base.getType());
      Value offset = negativeTimesLog2e(difference.getRhs());
      builder.setInsertionPoint(op);
      exponent = math::FmaOp::create(builder, loc, base, factor, offset);
    } else if (difference) {
      Value lhs = timesLog2e(difference.getLhs());
      Value rhs = timesLog2e(difference.getRhs());
      builder.setInsertionPoint(op);
      exponent = arith::SubFOp::create(builder, loc, lhs, rhs);
    } else {
      exponent = timesLog2e(op.getOperand());
    }
    builder.setInsertionPoint(op);
    Value result =
        Exp2Op::create(builder, loc, op.getType(), exponent, op.getFastmath());
    op.replaceAllUsesWith(result);
    op.erase();
    return fused;
  }

private:
  /// Whether a tile has fewer distinct elements than elements.
  static bool isRepeated(Value value) {
    return isa<RankedTensorType>(value.getType()) &&
           (value.getDefiningOp<BroadcastOp>() || UniformFactor::of(value));
  }

  /// The constant log2(e).
  Value log2e(Location loc, Type type) {
    Attribute element = builder.getF32FloatAttr(llvm::numbers::log2ef);
    if (auto tile = dyn_cast<RankedTensorType>(type))
      element = DenseElementsAttr::get(tile, element);
    return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(element));
  }

  /// factor * log2(e) in every element of `type`: where the factor is defined,
  /// or, for a constant, at the builder's position.
  Value factorTimesLog2e(const UniformFactor &factor, Location loc, Type type) {
    if (std::optional<APFloat> constant = factor.getConstant()) {
      Attribute element = builder.getF32FloatAttr(
          float(constant->convertToFloat() * llvm::numbers::log2e));
      if (auto tile = dyn_cast<RankedTensorType>(type))
        element = DenseElementsAttr::get(tile, element);
      return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(element));
    }
    Value product = timesLog2e(factor.getScalar());
    if (!isa<RankedTensorType>(type))
      return product;
    builder.setInsertionPointAfterValue(product);
    return SplatOp::create(builder, loc, type, product);
  }

  /// value * log2(e), made right after the value.
  Value timesLog2e(Value value) {
    Value &known = products[value];
    if (!known)
      // The recursion may move the table's entries.
      return products[value] = makeProduct(value);
    return known;
  }

  Value makeProduct(Value value) {
    Location loc = value.getLoc();
    Type type = value.getType();
    builder.setInsertionPointAfterValue(value);
    if (std::optional<UniformFactor> factor = UniformFactor::of(value))
      if (factor->getConstant() || isa<RankedTensorType>(type))
        return factorTimesLog2e(*factor, loc, type);
    if (Value product = productOfShape(value))
      return product;
    if (std::optional<ScaledValue> scaled = ScaledValue::of(value)) {
      Value factor = factorTimesLog2e(scaled->factor, loc, type);
      // A constant has been made here; other factors come from further up.
      if (!scaled->factor.getConstant())
        builder.setInsertionPointAfterValue(value);
      return arith::MulFOp::create(builder, loc, scaled->value, factor);
    }
    if (auto select = value.getDefiningOp<arith::SelectOp>())
      if (isUnmoved(select.getTrueValue()) || isUnmoved(select.getFalseValue()))
        return productOfGuard(select);
    builder.setInsertionPointAfterValue(value);
    Value constant = log2e(loc, type);
    return arith::MulFOp::create(builder, loc, value, constant);
  }

  /// Products go before what repeats values.
  Value productOfShape(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !isa<BroadcastOp, ExpandDimsOp, TransOp>(op))
      return {};
    Value operand = timesLog2e(op->getOperand(0));
    return withOperand(op, operand);
  }

  /// A copy of `op` with another operand, after it.
  Value withOperand(Operation *op, Value operand) {
    builder.setInsertionPointAfter(op);
    IRMapping mapping;
    mapping.map(op->getOperand(0), operand);
    return builder.clone(*op, mapping)->getResult(0);
  }

  /// Constants that log2(e) leaves as they are.
  static bool isUnmoved(Value value) {
    std::optional<APFloat> constant = getConstantFloat(value);
    return constant && !constant->isFiniteNonZero();
  }

  /// select(c, 0, x) * log2(e) = select(c, 0, x * log2(e)): x may be a product.
  Value productOfGuard(arith::SelectOp op) {
    Value yes = op.getTrueValue(), no = op.getFalseValue();
    if (!isUnmoved(yes))
      yes = timesLog2e(yes);
    if (!isUnmoved(no))
      no = timesLog2e(no);
    builder.setInsertionPointAfter(op);
    return arith::SelectOp::create(builder, op.getLoc(), op.getCondition(), yes,
                                   no);
  }

  /// -value * log2(e), negated before it is repeated.
  Value negativeTimesLog2e(Value value) {
    if (Value known = negatives.lookup(value))
      return known;
    Operation *op = value.getDefiningOp();
    Value result;
    if (op && isa<BroadcastOp, ExpandDimsOp, SplatOp>(op)) {
      result = withOperand(op, negativeTimesLog2e(op->getOperand(0)));
    } else {
      Value product = timesLog2e(value);
      builder.setInsertionPointAfterValue(product);
      result = builder.createOrFold<arith::NegFOp>(value.getLoc(), product);
    }
    return negatives[value] = result;
  }

  OpBuilder builder;
  DenseMap<Value, Value> products, negatives;
};

struct ExpToExp2 : flashtile::tile::impl::ExpToExp2PassBase<ExpToExp2> {
  using ExpToExp2PassBase::ExpToExp2PassBase;

  void runOnOperation() override {
    SmallVector<ExpOp> exponentials;
    getOperation().walk([&](ExpOp op) {
      if (isLicensed(op))
        exponentials.push_back(op);
    });
    Exponentials rewriter(&getContext());
    for (ExpOp op : exponentials)
      numFma += rewriter.rewrite(op);
    numExp += exponentials.size();
  }

  bool isLicensed(ExpOp op) {
    Type element = flashtile::tile::getElementType(op.getType());
    if (!element.isF32()) {
      remarkMissed(op, getArgument(), "ElementType",
                   "exponential stays: only f32 takes the detour by exp2");
      return false;
    }
    if (assumeAfn ||
        bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn))
      return true;
    remarkMissed(op, getArgument(), "NotAfn",
                 "exponential stays: it does not carry fastmath<afn>");
    return false;
  }
};

} // namespace
