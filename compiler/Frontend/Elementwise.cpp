//===- Elementwise.cpp - Functions of one element at a time ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exponentials and logarithms are tile operations, whose accuracy the dialect
// fixes; the others are those of math.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/Emitter.h"
#include "compiler/Frontend/Functions.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace flashtile;
using namespace flashtile::dsl;
using namespace flashtile::dsl::detail;
namespace arith = mlir::arith;
namespace math = mlir::math;

/// The operand of a function of floats.
static mlir::Value floatOperand(const Emitter &emit, llvm::StringRef name,
                                const Operand &operand) {
  if (!operand.value())
    emit.fail("expected a tile or a scalar of the kernel, but got a literal");
  mlir::Value value = emit.useNumber(*operand.value());
  emit.checkFloat(elementOf(value), message("the operand of '", name, "'"));
  return value;
}

template <typename Op>
static Value mathFunction(llvm::StringRef name, const Operand &operand,
                          SourceLocation location) {
  Emitter emit(location, {&operand});
  mlir::Value value = floatOperand(emit, name, operand);
  return emit.wrap(Op::create(emit.b, emit.loc, value));
}

static arith::FastMathFlags flagsOf(Accuracy accuracy) {
  return accuracy == Accuracy::Fast ? arith::FastMathFlags::afn
                                    : arith::FastMathFlags::none;
}

template <typename Op>
static Value tileFunction(llvm::StringRef name, const Operand &operand,
                          Accuracy accuracy, SourceLocation location) {
  Emitter emit(location, {&operand});
  mlir::Value value = floatOperand(emit, name, operand);
  return emit.wrap(
      Op::create(emit.b, emit.loc, value.getType(), value, flagsOf(accuracy)));
}

Value dsl::exp(const Operand &operand, Accuracy accuracy,
               SourceLocation location) {
  return tileFunction<tile::ExpOp>("exp", operand, accuracy, location);
}

Value dsl::exp2(const Operand &operand, Accuracy accuracy,
                SourceLocation location) {
  return tileFunction<tile::Exp2Op>("exp2", operand, accuracy, location);
}

Value dsl::log(const Operand &operand, Accuracy accuracy,
               SourceLocation location) {
  return tileFunction<tile::LogOp>("log", operand, accuracy, location);
}

Value dsl::log2(const Operand &operand, Accuracy accuracy,
                SourceLocation location) {
  return tileFunction<tile::Log2Op>("log2", operand, accuracy, location);
}

Value dsl::sqrt(const Operand &operand, SourceLocation location) {
  return mathFunction<math::SqrtOp>("sqrt", operand, location);
}

Value dsl::rsqrt(const Operand &operand, SourceLocation location) {
  return mathFunction<math::RsqrtOp>("rsqrt", operand, location);
}

Value dsl::tanh(const Operand &operand, Accuracy accuracy,
                SourceLocation location) {
  return tileFunction<math::TanhOp>("tanh", operand, accuracy, location);
}

Value dsl::erf(const Operand &operand, SourceLocation location) {
  return mathFunction<math::ErfOp>("erf", operand, location);
}

Value dsl::sin(const Operand &operand, SourceLocation location) {
  return mathFunction<math::SinOp>("sin", operand, location);
}

Value dsl::cos(const Operand &operand, SourceLocation location) {
  return mathFunction<math::CosOp>("cos", operand, location);
}

Value dsl::floor(const Operand &operand, SourceLocation location) {
  return mathFunction<math::FloorOp>("floor", operand, location);
}

Value dsl::ceil(const Operand &operand, SourceLocation location) {
  return mathFunction<math::CeilOp>("ceil", operand, location);
}

Value dsl::sigmoid(const Operand &operand, Accuracy accuracy,
                   SourceLocation location) {
  Emitter emit(location, {&operand});
  mlir::Value value = floatOperand(emit, "sigmoid", operand);
  Value decay = exp(Operand(-Operand(emit.wrap(value), location), location),
                    accuracy, location);
  Operand one(1.0, location);
  mlir::Value sum = emit.use(one + Operand(decay, location));
  mlir::Value numerator = emit.literal(one, elementOf(sum), shapeOf(sum));
  return emit.wrap(arith::DivFOp::create(emit.b, emit.loc, sum.getType(),
                                         numerator, sum, flagsOf(accuracy)));
}

Value dsl::abs(const Operand &operand, SourceLocation location) {
  Emitter emit(location, {&operand});
  if (!operand.value())
    emit.fail("expected a tile or a scalar of the kernel, but got a literal");
  mlir::Value value = emit.useNumber(*operand.value());
  mlir::Type element = elementOf(value);
  emit.checkComputes(element, "the operand of 'abs'");
  if (element.isInteger(1))
    emit.fail("expected the operand of 'abs' to be a number, but got i1");
  if (llvm::isa<mlir::FloatType>(element))
    return emit.wrap(math::AbsFOp::create(emit.b, emit.loc, value));
  return emit.wrap(math::AbsIOp::create(emit.b, emit.loc, value));
}

Value dsl::isNaN(const Operand &operand, SourceLocation location) {
  Emitter emit(location, {&operand});
  mlir::Value value = floatOperand(emit, "isNaN", operand);
  return emit.wrap(arith::CmpFOp::create(
      emit.b, emit.loc, arith::CmpFPredicate::UNO, value, value));
}

Value dsl::isFinite(const Operand &operand, SourceLocation location) {
  Emitter emit(location, {&operand});
  mlir::Value value = floatOperand(emit, "isFinite", operand);
  mlir::Value infinity = emit.literal(Operand(INFINITY, location),
                                      elementOf(value), shapeOf(value));
  mlir::Value size = math::AbsFOp::create(emit.b, emit.loc, value);
  // Ordered: NaN is not finite.
  return emit.wrap(arith::CmpFOp::create(
      emit.b, emit.loc, arith::CmpFPredicate::OLT, size, infinity));
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

/// The element type of two literals.
static mlir::Type literalElement(const Emitter &emit, const Operand &lhs,
                                 const Operand &rhs) {
  if (lhs.real() || rhs.real())
    return emit.b.getF32Type();
  return lhs.boolean() && rhs.boolean() ? emit.i1() : emit.i32();
}

Value dsl::where(const Operand &condition, const Operand &lhs,
                 const Operand &rhs, SourceLocation location) {
  Emitter emit(location, {&condition, &lhs, &rhs});
  if (!condition.value())
    emit.fail("expected a condition of the kernel, but got a literal");
  mlir::Value mask = emit.useNumber(*condition.value());
  if (!elementOf(mask).isInteger(1))
    emit.fail("expected a condition of i1, but got ", elementOf(mask));

  mlir::Type element = emit.commonElement(lhs, rhs);
  if (!element)
    element = literalElement(emit, lhs, rhs);
  // Check shapes before anything is emitted.
  llvm::SmallVector<int64_t> shape(shapeOf(mask));
  for (const Operand *operand : {&lhs, &rhs})
    if (operand->value())
      shape = emit.broadcastShape(shape, shapeOf(emit.use(*operand->value())));
  auto arm = [&](const Operand &operand) {
    if (!operand.value())
      return emit.literal(operand, element, shape);
    return emit.broadcast(emit.widen(emit.use(*operand.value()), element),
                          shape);
  };
  mlir::Value yes = arm(lhs), no = arm(rhs);
  // A scalar condition chooses between whole tiles.
  if (!shapeOf(mask).empty())
    mask = emit.broadcast(mask, shape);
  return emit.wrap(arith::SelectOp::create(emit.b, emit.loc, mask, yes, no));
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static mlir::Value zeroLike(const Emitter &emit, mlir::Value value) {
  return emit.constant(
      llvm::cast<mlir::TypedAttr>(emit.b.getZeroAttr(value.getType())));
}

static mlir::Value toBool(const Emitter &emit, mlir::Value value) {
  mlir::Value zero = zeroLike(emit, value);
  if (llvm::isa<mlir::FloatType>(elementOf(value)))
    return arith::CmpFOp::create(emit.b, emit.loc, arith::CmpFPredicate::UNE,
                                 value, zero);
  return arith::CmpIOp::create(emit.b, emit.loc, arith::CmpIPredicate::ne,
                               value, zero);
}

static mlir::Value floatCast(const Emitter &emit, mlir::Value value,
                             mlir::Type element) {
  if (elementOf(value) == element)
    return value;
  return tile::CastOp::create(
      emit.b, emit.loc, tile::withElementType(value.getType(), element), value);
}

static mlir::Value integerCast(const Emitter &emit, mlir::Value value,
                               mlir::Type element) {
  mlir::Type type = tile::withElementType(value.getType(), element);
  unsigned from = elementOf(value).getIntOrFloatBitWidth();
  if (from > element.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(emit.b, emit.loc, type, value);
  if (from == 1)
    return arith::ExtUIOp::create(emit.b, emit.loc, type, value);
  return arith::ExtSIOp::create(emit.b, emit.loc, type, value);
}

Value dsl::cast(const Value &operand, ElementType type,
                SourceLocation location) {
  Emitter emit(location, operand);
  mlir::Value value = emit.useNumber(operand);
  mlir::Type from = elementOf(value), to = toMlir(type, emit.b.getContext());
  if (from == to)
    return operand;
  bool fromFloat = llvm::isa<mlir::FloatType>(from);
  bool toFloat = llvm::isa<mlir::FloatType>(to);
  if (fromFloat && toFloat)
    return emit.wrap(floatCast(emit, value, to));
  // fp8 has no conversions to and from integers of its own.
  mlir::Type f32Type = emit.b.getF32Type();
  if (isFp8(from))
    value = floatCast(emit, value, f32Type);
  if (to.isInteger(1))
    return emit.wrap(toBool(emit, value));
  if (!fromFloat && !toFloat)
    return emit.wrap(integerCast(emit, value, to));
  if (fromFloat)
    return emit.wrap(arith::FPToSIOp::create(
        emit.b, emit.loc, tile::withElementType(value.getType(), to), value));
  // Exact in every float type, and no conversion on any target.
  if (from.isInteger(1)) {
    mlir::Value one = emit.literal(Operand(1), to, shapeOf(value));
    mlir::Value zero = emit.literal(Operand(0), to, shapeOf(value));
    return emit.wrap(
        arith::SelectOp::create(emit.b, emit.loc, value, one, zero));
  }
  mlir::Type middle =
      tile::withElementType(value.getType(), isFp8(to) ? f32Type : to);
  mlir::Value converted =
      arith::SIToFPOp::create(emit.b, emit.loc, middle, value);
  return emit.wrap(floatCast(emit, converted, to));
}
