//===- ExpToExp2.cpp - Exponentials by exp2 and one multiply-add ----------===//
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

  /// exp2(s * c - m) -> exp2(fma(s, c, -m)) for an author who wrote exp2.
  bool contract(Exp2Op op) {
    auto difference = op.getOperand().getDefiningOp<arith::SubFOp>();
    if (!difference || !isRepeated(difference.getRhs()))
      return false;
    std::optional<ScaledValue> scaled = ScaledValue::of(difference.getLhs());
    if (!scaled)
      return false;
    Value offset = negative(difference.getRhs());
    builder.setInsertionPoint(op);
    Value factor = scaled->factor.materialize(builder, op.getLoc(),
                                              scaled->value.getType());
    op.getOperandMutable().assign(math::FmaOp::create(
        builder, op.getLoc(), scaled->value, factor, offset));
    return true;
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
    if (!isa_and_nonnull<BroadcastOp, ExpandDimsOp, TransOp>(op))
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
    return negativeOf(value, negativeProducts,
                      [&](Value leaf) { return timesLog2e(leaf); });
  }

  /// -value, negated before it is repeated.
  Value negative(Value value) {
    return negativeOf(value, negatives, [](Value leaf) { return leaf; });
  }

  Value negativeOf(Value value, DenseMap<Value, Value> &known,
                   llvm::function_ref<Value(Value)> transform) {
    if (Value result = known.lookup(value))
      return result;
    Operation *op = value.getDefiningOp();
    Value result;
    if (isa_and_nonnull<BroadcastOp, ExpandDimsOp, SplatOp>(op)) {
      result = withOperand(op, negativeOf(op->getOperand(0), known, transform));
    } else {
      Value transformed = transform(value);
      builder.setInsertionPointAfterValue(transformed);
      result = builder.createOrFold<arith::NegFOp>(value.getLoc(), transformed);
    }
    return known[value] = result;
  }

  OpBuilder builder;
  DenseMap<Value, Value> products, negativeProducts, negatives;
};

struct ExpToExp2 : flashtile::tile::impl::ExpToExp2PassBase<ExpToExp2> {
  using ExpToExp2PassBase::ExpToExp2PassBase;

protected:
  void runOnOperation() override {
    SmallVector<ExpOp> exponentials;
    SmallVector<Exp2Op> powers;
    getOperation().walk([&](Operation *op) {
      if (auto exp = dyn_cast<ExpOp>(op); exp && isLicensed(exp))
        exponentials.push_back(exp);
      if (auto exp2 = dyn_cast<Exp2Op>(op); exp2 && mayApproximate(exp2))
        powers.push_back(exp2);
    });
    Exponentials rewriter(&getContext());
    for (ExpOp op : exponentials)
      numFma += rewriter.rewrite(op);
    for (Exp2Op op : powers)
      numFma += rewriter.contract(op);
    numExp += exponentials.size();
  }

  /// Whether an f32 exponential may take an argument that is rounded otherwise.
  template <typename Op>
  bool mayApproximate(Op op) {
    return flashtile::tile::getElementType(op.getType()).isF32() &&
           (assumeAfn ||
            bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn));
  }

  bool isLicensed(ExpOp op) {
    if (mayApproximate(op))
      return true;
    if (flashtile::tile::getElementType(op.getType()).isF32())
      remarkMissed(op, getArgument(), "NotAfn",
                   "exponential stays: it does not carry fastmath<afn>");
    else
      remarkMissed(op, getArgument(), "ElementType",
                   "exponential stays: only f32 takes the detour by exp2");
    return false;
  }
};

} // namespace
