//===- Emitter.h - Checked emission of one DSL call -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every function of the DSL makes an Emitter, which knows the kernel and the
// line of the call. It checks operands and throws before anything is emitted:
// MLIR is built without exceptions, so nothing may be thrown through it, and
// its own checks would abort.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_FRONTEND_EMITTER_H
#define FLASHTILE_COMPILER_FRONTEND_EMITTER_H

#include "compiler/Frontend/KernelState.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace flashtile::dsl::detail {

/// Concatenates what raw_ostream can print, types included.
template <typename... T>
std::string message(const T &...parts) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  (stream << ... << parts);
  return text;
}

class Emitter {
public:
  /// For a call with operands: the kernel is theirs.
  Emitter(SourceLocation location, llvm::ArrayRef<const Operand *> operands);
  Emitter(SourceLocation location, const Value &value);
  /// For a call without: the thread's current kernel.
  explicit Emitter(SourceLocation location);
  Emitter(SourceLocation location, std::shared_ptr<KernelState> kernel);

  [[noreturn]] void fail(const std::string &text) const {
    throw Error(ErrorCode::Compile, text, place);
  }
  template <typename... T>
  [[noreturn]] void fail(const T &...parts) const {
    fail(message(parts...));
  }

  /// The operand, once it is certain that it may be used here.
  mlir::Value use(const Value &value) const;
  mlir::Value useTile(const Value &value) const;
  /// A number or tile of numbers, no pointer.
  mlir::Value useNumber(const Value &value) const;
  mlir::Value useNumberTile(const Value &value) const;
  mlir::Value useScalarInteger(const Value &value, llvm::StringRef what) const;
  Value wrap(mlir::Value value) const {
    return ValueAccess::make(state, value);
  }

  /// A literal as attribute of an element type.
  mlir::TypedAttr literal(const Operand &operand, mlir::Type element) const;
  mlir::Value constant(mlir::TypedAttr value) const {
    return state->constant(value, loc);
  }
  /// A literal in a tile of `shape`, or a scalar where that is empty.
  mlir::Value literal(const Operand &operand, mlir::Type element,
                      llvm::ArrayRef<int64_t> shape) const;
  /// A Value or literal as a number; literals become `element`, i32 widens to
  /// an `element` of i64, and every other type is an error.
  mlir::Value number(const Operand &operand, mlir::Type element,
                     llvm::StringRef what) const;
  /// An i32, i64 or literal scalar as i64.
  mlir::Value offset(const Operand &operand, llvm::StringRef what) const;
  mlir::Value widen(mlir::Value value, mlir::Type element) const;

  /// Two operands of one element type and one shape.
  std::pair<mlir::Value, mlir::Value> unify(const Operand &lhs,
                                            const Operand &rhs) const;
  /// The element type that unify gives; null for two literals.
  mlir::Type commonElement(const Operand &lhs, const Operand &rhs) const;
  /// The NumPy rule, or an error that names both shapes.
  llvm::SmallVector<int64_t> broadcastShape(llvm::ArrayRef<int64_t> lhs,
                                            llvm::ArrayRef<int64_t> rhs) const;
  /// `value` repeated to `shape`, which it must fit.
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape) const;
  /// As broadcast, for an operand that must not enlarge what it goes with.
  mlir::Value fitTo(mlir::Value value, llvm::ArrayRef<int64_t> shape,
                    llvm::StringRef what) const;

  /// Checks extents and their product.
  void checkShape(llvm::ArrayRef<int64_t> shape) const;
  /// `axis`, counted from the front, of `count` dimensions.
  int32_t axis(int axis, int64_t count) const;
  /// Throws unless `element` has arithmetic.
  void checkComputes(mlir::Type element, llvm::StringRef what) const;
  void checkFloat(mlir::Type element, llvm::StringRef what) const;

  mlir::Type i1() const { return b.getI1Type(); }
  mlir::Type i32() const { return b.getI32Type(); }
  mlir::Type i64() const { return b.getI64Type(); }

  std::shared_ptr<KernelState> state;
  SourceLocation place;
  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// The place of a call whose operands know it.
inline SourceLocation placeOf(const Operand &lhs, const Operand &rhs) {
  return lhs.value() ? lhs.location() : rhs.location();
}

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type ? type.getShape() : llvm::ArrayRef<int64_t>();
}

inline mlir::Type elementOf(mlir::Value value) {
  return tile::getElementType(value.getType());
}

/// `element` in `shape`; the element itself where the shape is empty.
inline mlir::Type typeOf(llvm::ArrayRef<int64_t> shape, mlir::Type element) {
  if (shape.empty())
    return element;
  return mlir::RankedTensorType::get(shape, element);
}

inline bool isFp8(mlir::Type type) {
  return llvm::isa<mlir::Float8E4M3FNType, mlir::Float8E5M2Type>(type);
}

/// "64x32", or "scalar".
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// Runs the body of a loop, branch or combiner with operations going to
/// `block`. If the body throws, the operation is half done, so the kernel takes
/// no more.
template <typename Function>
auto withinBlock(const std::shared_ptr<KernelState> &state, mlir::Block *block,
                 Function &&function) {
  mlir::OpBuilder::InsertionGuard guard(state->builder);
  state->builder.setInsertionPointToEnd(block);
  try {
    return function();
  } catch (...) {
    state->status = KernelStatus::GivenUp;
    throw;
  }
}

} // namespace flashtile::dsl::detail

#endif // FLASHTILE_COMPILER_FRONTEND_EMITTER_H
