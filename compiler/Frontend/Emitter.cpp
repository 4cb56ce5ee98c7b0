//===- Emitter.cpp - Checked emission of one DSL call ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which operands may be used where, what literals become, and how element types
// meet. Broadcast.cpp holds the rules of shapes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/Emitter.h"

#include <cmath>

using namespace flashtile;
using namespace flashtile::dsl;
using namespace flashtile::dsl::detail;

static std::shared_ptr<KernelState>
kernelOf(SourceLocation location, llvm::ArrayRef<const Operand *> operands) {
  for (const Operand *operand : operands)
    if (const Value *value = operand->value())
      if (!value->empty())
        return ValueAccess::kernel(*value);
  return currentKernel(location);
}

Emitter::Emitter(SourceLocation location, std::shared_ptr<KernelState> kernel)
    : state(std::move(kernel)), place(location), b(state->builder),
      loc(toMlir(location, b.getContext())) {
  if (state->status == KernelStatus::Built)
    fail("expected an open kernel, but '", state->name,
         "' has been built already");
  if (state->status == KernelStatus::GivenUp)
    fail("expected an open kernel, but '", state->name,
         "' was given up after an error");
}

Emitter::Emitter(SourceLocation location,
                 llvm::ArrayRef<const Operand *> operands)
    : Emitter(location, kernelOf(location, operands)) {}

Emitter::Emitter(SourceLocation location, const Value &value)
    : Emitter(location, value.empty() ? currentKernel(location)
                                      : ValueAccess::kernel(value)) {}

Emitter::Emitter(SourceLocation location)
    : Emitter(location, currentKernel(location)) {}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

mlir::Value Emitter::use(const Value &value) const {
  if (value.empty())
    fail("expected a value, but got an empty 'Value'");
  if (ValueAccess::kernel(value) != state)
    fail("expected a value of kernel '", state->name,
         "', but got one of kernel '", ValueAccess::kernel(value)->name, "'");
  mlir::Value result = ValueAccess::mlirValue(value);
  // Operations are only ever appended, so a value dominates this place exactly
  // if its block is this one or one around it.
  for (mlir::Block *block = b.getInsertionBlock(); block;) {
    if (block == result.getParentBlock())
      return result;
    mlir::Operation *parent = block->getParentOp();
    block = parent ? parent->getBlock() : nullptr;
  }
  fail("expected a value that exists here, but got one from inside a loop, "
       "branch or combiner; return it from there");
}

mlir::Value Emitter::useTile(const Value &value) const {
  mlir::Value result = use(value);
  if (!llvm::isa<mlir::RankedTensorType>(result.getType()))
    fail("expected a tile, but got ", result.getType());
  return result;
}

mlir::Value Emitter::useNumber(const Value &value) const {
  mlir::Value result = use(value);
  if (value.kind() != Value::Kind::Number)
    fail("expected numbers, but got ", result.getType());
  return result;
}

mlir::Value Emitter::useNumberTile(const Value &value) const {
  useNumber(value);
  return useTile(value);
}

mlir::Value Emitter::useScalarInteger(const Value &value,
                                      llvm::StringRef what) const {
  mlir::Value result = use(value);
  if (!result.getType().isInteger(32) && !result.getType().isInteger(64))
    fail("expected ", what, " to be an i32 or i64 scalar, but got ",
         result.getType());
  return result;
}

mlir::Value Emitter::widen(mlir::Value value, mlir::Type element) const {
  if (elementOf(value) == element)
    return value;
  return mlir::arith::ExtSIOp::create(
      b, loc, tile::withElementType(value.getType(), element), value);
}

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

static mlir::TypedAttr integerLiteral(const Emitter &emit, int64_t value,
                                      mlir::IntegerType type) {
  unsigned width = type.getWidth();
  if (width == 1)
    emit.fail("expected true or false beside i1, but got the literal ", value);
  if (!llvm::isIntN(width, value))
    emit.fail("expected a literal that fits ", type, ", but got ", value);
  return emit.b.getIntegerAttr(type, value);
}

static mlir::TypedAttr floatLiteral(const Emitter &emit, double value,
                                    mlir::FloatType type) {
  llvm::APFloat number(value);
  bool losesInfo = false;
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  if (std::isinf(value) && !llvm::APFloat::semanticsHasInf(semantics))
    emit.fail("expected a literal that fits ", type,
              ", which has no infinity, but got ", value);
  auto status =
      number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  if (std::isfinite(value) && (status & llvm::APFloat::opOverflow))
    emit.fail("expected a literal that fits ", type, ", but got ", value);
  return mlir::FloatAttr::get(type, number);
}

mlir::TypedAttr Emitter::literal(const Operand &operand,
                                 mlir::Type element) const {
  if (auto type = llvm::dyn_cast<mlir::IntegerType>(element)) {
    if (const bool *flag = operand.boolean()) {
      if (type.getWidth() != 1)
        fail("expected a number beside ", type, ", but got the literal ",
             *flag ? "true" : "false");
      return b.getIntegerAttr(type, *flag);
    }
    if (const double *real = operand.real())
      fail("expected an integer literal beside ", type, ", but got ", *real,
           "; cast the operand to a float type first");
    return integerLiteral(*this, *operand.integer(), type);
  }
  if (auto type = llvm::dyn_cast<mlir::FloatType>(element)) {
    if (const bool *flag = operand.boolean())
      fail("expected a number beside ", type, ", but got the literal ",
           *flag ? "true" : "false");
    double value = operand.real() ? *operand.real()
                                  : static_cast<double>(*operand.integer());
    return floatLiteral(*this, value, type);
  }
  fail("expected numbers beside a literal, but got ", element);
}

mlir::Value Emitter::literal(const Operand &operand, mlir::Type element,
                             llvm::ArrayRef<int64_t> shape) const {
  mlir::TypedAttr value = literal(operand, element);
  if (shape.empty())
    return constant(value);
  return constant(mlir::DenseElementsAttr::get(
      mlir::RankedTensorType::get(shape, element), value));
}

mlir::Value Emitter::number(const Operand &operand, mlir::Type element,
                            llvm::StringRef what) const {
  if (!operand.value())
    return literal(operand, element, {});
  mlir::Value value = useNumber(*operand.value());
  mlir::Type own = elementOf(value);
  if (own.isInteger(32) && element.isInteger(64))
    return widen(value, element);
  if (own != element)
    fail("expected ", what, " of ", element, ", but got ", own,
         "; cast it first");
  return value;
}

mlir::Value Emitter::offset(const Operand &operand,
                            llvm::StringRef what) const {
  if (!operand.value())
    return literal(operand, i64(), {});
  return widen(useScalarInteger(*operand.value(), what), i64());
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

void Emitter::checkComputes(mlir::Type element, llvm::StringRef what) const {
  if (isFp8(element))
    fail("expected ", what, " of a type with arithmetic, but got ", element,
         "; cast to f16, bf16 or f32 first");
}

void Emitter::checkFloat(mlir::Type element, llvm::StringRef what) const {
  if (!llvm::isa<mlir::FloatType>(element))
    fail("expected ", what, " of a float type, but got ", element);
  checkComputes(element, what);
}

mlir::Type Emitter::commonElement(const Operand &lhs,
                                  const Operand &rhs) const {
  if (!lhs.value() && !rhs.value())
    return {};
  if (!lhs.value())
    return elementOf(useNumber(*rhs.value()));
  mlir::Type left = elementOf(useNumber(*lhs.value()));
  if (!rhs.value())
    return left;
  mlir::Type right = elementOf(useNumber(*rhs.value()));
  if (left == right)
    return left;
  bool indices = (left.isInteger(32) || left.isInteger(64)) &&
                 (right.isInteger(32) || right.isInteger(64));
  if (!indices)
    fail("expected operands of one element type, but got ", left, " and ",
         right, "; cast one of them");
  return i64();
}

std::pair<mlir::Value, mlir::Value> Emitter::unify(const Operand &lhs,
                                                   const Operand &rhs) const {
  mlir::Type element = commonElement(lhs, rhs);
  if (!element)
    fail("expected a tile or a scalar of the kernel, but got two literals");
  if (!lhs.value()) {
    mlir::Value right = use(*rhs.value());
    return {literal(lhs, element, shapeOf(right)), right};
  }
  mlir::Value left = widen(use(*lhs.value()), element);
  if (!rhs.value())
    return {left, literal(rhs, element, shapeOf(left))};
  mlir::Value right = widen(use(*rhs.value()), element);
  llvm::SmallVector<int64_t> shape =
      broadcastShape(shapeOf(left), shapeOf(right));
  return {broadcast(left, shape), broadcast(right, shape)};
}
