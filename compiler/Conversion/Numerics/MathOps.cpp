//===- MathOps.cpp - Operations of math that others are put together to ---===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On tiles and on scalars, before anybody asks where they are: a few
// comparisons, powers by squaring. LLVM ends the process where a target has no
// code for an operation.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Numerics/Numerics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace {
/// Writes operations on tiles or scalars of one type.
class Expansion {
public:
  explicit Expansion(Operation *op)
      : b(op->getLoc(), op), type(op->getOperand(0).getType()) {}

  Value isInfinite(Value x) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, size(x),
                                 constant(infinity()));
  }

  /// Neither zero, nor subnormal, nor infinite, nor NaN.
  Value isNormal(Value x) {
    Value large = arith::CmpFOp::create(
        b, arith::CmpFPredicate::OGE, size(x),
        constant(APFloat::getSmallestNormalized(semantics())));
    Value finite =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, size(x),
                              constant(APFloat::getLargest(semantics())));
    return arith::AndIOp::create(b, large, finite);
  }

  /// NaN where an operand is.
  Value clamped(Value x, Value least, Value most) {
    return arith::MinimumFOp::create(b, arith::MaximumFOp::create(b, x, least),
                                     most);
  }

  /// By negative exponents 1 / base^-exponent without what is behind the
  /// point, and 0 for a base of 0.
  Value power(Value base, Value exponent) {
    const unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    auto whole = [&](const APInt &value) { return constant(value); };
    Value zero = whole(APInt::getZero(width)), one = whole(APInt(width, 1)),
          minusOne = whole(APInt::getAllOnes(width));
    auto hasBit = [&](unsigned bit) -> Value {
      Value mask = whole(APInt::getOneBitSet(width, bit));
      return equal(arith::AndIOp::create(b, exponent, mask), mask);
    };
    Value power = one, square = base;
    for (unsigned bit = 0; bit + 1 < width; ++bit) {
      if (bit)
        square = arith::MulIOp::create(b, square, square);
      power =
          select(hasBit(bit), arith::MulIOp::create(b, power, square), power);
    }
    Value inverse =
        select(equal(base, minusOne), select(hasBit(0), minusOne, one),
               select(equal(base, one), one, zero));
    Value isNegative =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, exponent, zero);
    return select(isNegative, inverse, power);
  }

  ImplicitLocOpBuilder b;

private:
  const llvm::fltSemantics &semantics() {
    return cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics();
  }
  /// A format without infinities has no number that compares equal.
  APFloat infinity() {
    return APFloat::semanticsHasInf(semantics()) ? APFloat::getInf(semantics())
                                                 : APFloat::getNaN(semantics());
  }
  Value size(Value x) { return math::AbsFOp::create(b, x); }
  Value equal(Value lhs, Value rhs) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lhs, rhs);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, condition, yes, no);
  }
  template <typename T>
  Value constant(const T &value) {
    TypedAttr attribute;
    if constexpr (std::is_same_v<T, APFloat>)
      attribute = b.getFloatAttr(getElementTypeOrSelf(type), value);
    else
      attribute = b.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto tile = dyn_cast<RankedTensorType>(type))
      attribute = DenseElementsAttr::get(tile, Attribute(attribute));
    return arith::ConstantOp::create(b, attribute);
  }

  Type type;
};
} // namespace

void flashtile::numeric::expandMathOps(Operation *kernel) {
  kernel->walk([](Operation *op) {
    if (!isa<math::IsInfOp, math::IsNormalOp, math::IPowIOp, math::ClampFOp,
             math::SincosOp>(op))
      return;
    Expansion expand(op);
    ValueRange operands = op->getOperands();
    SmallVector<Value> results;
    if (isa<math::IsInfOp>(op)) {
      results = {expand.isInfinite(operands[0])};
    } else if (isa<math::IsNormalOp>(op)) {
      results = {expand.isNormal(operands[0])};
    } else if (isa<math::IPowIOp>(op)) {
      results = {expand.power(operands[0], operands[1])};
    } else if (auto clamp = dyn_cast<math::ClampFOp>(op)) {
      results = {
          expand.clamped(clamp.getValue(), clamp.getMin(), clamp.getMax())};
    } else {
      results = {math::SinOp::create(expand.b, operands[0]),
                 math::CosOp::create(expand.b, operands[0])};
    }
    op->replaceAllUsesWith(results);
    op->erase();
  });
}
