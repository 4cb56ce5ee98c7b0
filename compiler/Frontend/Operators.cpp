//===- Operators.cpp - Arithmetic and comparisons -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators become arith operations on tiles of one type.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/Emitter.h"
#include "compiler/Frontend/Functions.h"

using namespace flashtile;
using namespace flashtile::dsl;
using namespace flashtile::dsl::detail;
namespace arith = mlir::arith;

/// What an operator is for: the operation on floats (void: none), and on
/// integers; i1 takes part only where `OnI1` says so.
template <typename FloatOp, typename IntOp, bool OnI1 = false>
static Value binary(llvm::StringRef symbol, const Operand &lhs,
                    const Operand &rhs, SourceLocation place) {
  Emitter emit(place, {&lhs, &rhs});
  auto [left, right] = emit.unify(lhs, rhs);
  mlir::Type element = elementOf(left);
  std::string what = message("operands of '", symbol, "'");
  emit.checkComputes(element, what);
  if (!OnI1 && element.isInteger(1))
    emit.fail("expected ", what,
              " of a type with arithmetic, but got i1; cast "
              "to i32, or use &, | and ^");
  if (llvm::isa<mlir::IntegerType>(element))
    return emit.wrap(IntOp::create(emit.b, emit.loc, left, right));
  if constexpr (std::is_void_v<FloatOp>)
    emit.fail("expected ", what, " of an integer type, but got ", element);
  else
    return emit.wrap(FloatOp::create(emit.b, emit.loc, left, right));
}

static Value compare(llvm::StringRef symbol, const Operand &lhs,
                     const Operand &rhs, arith::CmpFPredicate floats,
                     arith::CmpIPredicate integers) {
  Emitter emit(placeOf(lhs, rhs), {&lhs, &rhs});
  auto [left, right] = emit.unify(lhs, rhs);
  mlir::Type element = elementOf(left);
  std::string what = message("operands of '", symbol, "'");
  emit.checkComputes(element, what);
  if (llvm::isa<mlir::FloatType>(element))
    return emit.wrap(
        arith::CmpFOp::create(emit.b, emit.loc, floats, left, right));
  bool ordered = integers != arith::CmpIPredicate::eq &&
                 integers != arith::CmpIPredicate::ne;
  if (ordered && element.isInteger(1))
    emit.fail("expected ", what, " of a type with an order, but got i1");
  return emit.wrap(
      arith::CmpIOp::create(emit.b, emit.loc, integers, left, right));
}

/// pointer + offset, in elements.
static Value movePointer(const Emitter &emit, const Value &pointer,
                         const Operand &offset) {
  mlir::Value base = emit.use(pointer);
  if (pointer.kind() == Value::Kind::BlockPointer)
    emit.fail("expected a pointer, but got ", base.getType(),
              "; 'advance' moves a block pointer");
  mlir::Value distance;
  if (offset.value()) {
    distance = emit.useNumber(*offset.value());
    if (!elementOf(distance).isInteger(32) &&
        !elementOf(distance).isInteger(64))
      emit.fail("expected an offset of i32 or i64, but got ",
                elementOf(distance));
  } else {
    distance = emit.literal(offset, emit.i64(), {});
  }
  auto shape = emit.broadcastShape(shapeOf(base), shapeOf(distance));
  base = emit.broadcast(base, shape);
  distance = emit.broadcast(distance, shape);
  return emit.wrap(
      tile::AddPtrOp::create(emit.b, emit.loc, base.getType(), base, distance));
}

static bool isPointer(const Operand &operand) {
  return operand.value() && !operand.value()->empty() &&
         operand.value()->kind() != Value::Kind::Number;
}

/// Integer division by a literal zero is certain to be wrong.
static void checkDivisor(const Operand &lhs, const Operand &rhs) {
  if (!rhs.integer() || *rhs.integer() != 0 || !lhs.value() ||
      lhs.value()->empty() || isFloat(lhs.value()->elementType()))
    return;
  throw Error(ErrorCode::Compile, "expected a divisor other than 0 of integers",
              rhs.location());
}

Value dsl::operator+(const Operand &lhs, const Operand &rhs) {
  if (isPointer(lhs) || isPointer(rhs)) {
    Emitter emit(placeOf(lhs, rhs), {&lhs, &rhs});
    if (isPointer(lhs) && isPointer(rhs))
      emit.fail("expected a pointer and an offset, but got two pointers");
    return isPointer(lhs) ? movePointer(emit, *lhs.value(), rhs)
                          : movePointer(emit, *rhs.value(), lhs);
  }
  return binary<arith::AddFOp, arith::AddIOp>("+", lhs, rhs, placeOf(lhs, rhs));
}

Value dsl::operator-(const Operand &lhs, const Operand &rhs) {
  if (isPointer(lhs) && !isPointer(rhs)) {
    Emitter emit(placeOf(lhs, rhs), {&lhs, &rhs});
    if (rhs.value())
      return movePointer(emit, *lhs.value(), -rhs);
    // The literal may be anything, so go through its i64 constant.
    mlir::Value distance = emit.literal(rhs, emit.i64(), {});
    return movePointer(
        emit, *lhs.value(),
        Operand(-Operand(emit.wrap(distance), rhs.location()), rhs.location()));
  }
  return binary<arith::SubFOp, arith::SubIOp>("-", lhs, rhs, placeOf(lhs, rhs));
}

Value dsl::operator*(const Operand &lhs, const Operand &rhs) {
  return binary<arith::MulFOp, arith::MulIOp>("*", lhs, rhs, placeOf(lhs, rhs));
}

Value dsl::operator/(const Operand &lhs, const Operand &rhs) {
  checkDivisor(lhs, rhs);
  return binary<arith::DivFOp, arith::DivSIOp>("/", lhs, rhs,
                                               placeOf(lhs, rhs));
}

Value dsl::operator%(const Operand &lhs, const Operand &rhs) {
  checkDivisor(lhs, rhs);
  return binary<arith::RemFOp, arith::RemSIOp>("%", lhs, rhs,
                                               placeOf(lhs, rhs));
}

Value dsl::operator&(const Operand &lhs, const Operand &rhs) {
  return binary<void, arith::AndIOp, true>("&", lhs, rhs, placeOf(lhs, rhs));
}

Value dsl::operator|(const Operand &lhs, const Operand &rhs) {
  return binary<void, arith::OrIOp, true>("|", lhs, rhs, placeOf(lhs, rhs));
}

Value dsl::operator^(const Operand &lhs, const Operand &rhs) {
  return binary<void, arith::XOrIOp, true>("^", lhs, rhs, placeOf(lhs, rhs));
}

Value dsl::operator<<(const Operand &lhs, const Operand &rhs) {
  return binary<void, arith::ShLIOp>("<<", lhs, rhs, placeOf(lhs, rhs));
}

Value dsl::operator>>(const Operand &lhs, const Operand &rhs) {
  return binary<void, arith::ShRSIOp>(">>", lhs, rhs, placeOf(lhs, rhs));
}

Value dsl::operator-(const Operand &operand) {
  Emitter emit(operand.location(), {&operand});
  if (!operand.value())
    emit.fail("expected a tile or a scalar of the kernel, but got a literal");
  mlir::Value value = emit.useNumber(*operand.value());
  mlir::Type element = elementOf(value);
  emit.checkComputes(element, "the operand of '-'");
  if (llvm::isa<mlir::FloatType>(element))
    return emit.wrap(arith::NegFOp::create(emit.b, emit.loc, value));
  return Operand(0, operand.location()) - operand;
}

Value dsl::operator!(const Operand &operand) {
  Emitter emit(operand.location(), {&operand});
  if (operand.value()) {
    mlir::Type element = elementOf(emit.useNumber(*operand.value()));
    if (!element.isInteger(1))
      emit.fail("expected the operand of '!' to be i1, but got ", element);
  }
  return operand ^ Operand(true, operand.location());
}

Value dsl::operator~(const Operand &operand) {
  if (operand.value() && !operand.value()->empty() &&
      operand.value()->elementType() == ElementType::I1)
    return !operand;
  return operand ^ Operand(-1, operand.location());
}

Value dsl::operator==(const Operand &lhs, const Operand &rhs) {
  return compare("==", lhs, rhs, arith::CmpFPredicate::OEQ,
                 arith::CmpIPredicate::eq);
}

Value dsl::operator!=(const Operand &lhs, const Operand &rhs) {
  return compare("!=", lhs, rhs, arith::CmpFPredicate::UNE,
                 arith::CmpIPredicate::ne);
}

Value dsl::operator<(const Operand &lhs, const Operand &rhs) {
  return compare("<", lhs, rhs, arith::CmpFPredicate::OLT,
                 arith::CmpIPredicate::slt);
}

Value dsl::operator<=(const Operand &lhs, const Operand &rhs) {
  return compare("<=", lhs, rhs, arith::CmpFPredicate::OLE,
                 arith::CmpIPredicate::sle);
}

Value dsl::operator>(const Operand &lhs, const Operand &rhs) {
  return compare(">", lhs, rhs, arith::CmpFPredicate::OGT,
                 arith::CmpIPredicate::sgt);
}

Value dsl::operator>=(const Operand &lhs, const Operand &rhs) {
  return compare(">=", lhs, rhs, arith::CmpFPredicate::OGE,
                 arith::CmpIPredicate::sge);
}

//===----------------------------------------------------------------------===//
// Functions of two operands
//===----------------------------------------------------------------------===//

Value dsl::maximum(const Operand &lhs, const Operand &rhs,
                   SourceLocation location) {
  return binary<arith::MaximumFOp, arith::MaxSIOp>("maximum", lhs, rhs,
                                                   location);
}

Value dsl::minimum(const Operand &lhs, const Operand &rhs,
                   SourceLocation location) {
  return binary<arith::MinimumFOp, arith::MinSIOp>("minimum", lhs, rhs,
                                                   location);
}

Value dsl::ceilDiv(const Operand &lhs, const Operand &rhs,
                   SourceLocation location) {
  checkDivisor(lhs, rhs);
  return binary<void, arith::CeilDivSIOp>("ceilDiv", lhs, rhs, location);
}

Value dsl::floorDiv(const Operand &lhs, const Operand &rhs,
                    SourceLocation location) {
  checkDivisor(lhs, rhs);
  return binary<void, arith::FloorDivSIOp>("floorDiv", lhs, rhs, location);
}

Value dsl::floorMod(const Operand &lhs, const Operand &rhs,
                    SourceLocation location) {
  Value quotient = floorDiv(lhs, rhs, location);
  Value whole =
      binary<void, arith::MulIOp>("floorMod", quotient, rhs, location);
  return binary<void, arith::SubIOp>("floorMod", lhs, whole, location);
}
