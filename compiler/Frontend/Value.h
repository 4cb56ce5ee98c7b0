//===- Value.h - Tiles and scalars of a kernel being written --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Value stands for a tile, a scalar or a pointer of the kernel that a
// KernelBuilder is building. Its element type and shape are C++ values, known
// while the kernel is written; what it holds is known when the kernel runs.
//
// Rules that every operation follows:
//  * Shapes broadcast as in NumPy: aligned at the last dimension, extents of 1
//    repeat, scalars fit every shape.
//  * Element types are never mixed silently: f32 with bf16 is an error that
//    asks for a cast. Two exceptions: a C++ literal takes the element type of
//    the other operand, and i32 meets i64 as i64.
//  * Integers are signed. Division truncates, as in C++.
//  * A wrong use throws flashtile::Error (ErrorCode::Compile) that names the
//    line of the call.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_FRONTEND_VALUE_H
#define FLASHTILE_COMPILER_FRONTEND_VALUE_H

#include "compiler/Support/ElementType.h"
#include "compiler/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace flashtile::dsl {

namespace detail {
class KernelState;
struct ValueAccess;
} // namespace detail

/// Extents of a tile; empty for a scalar.
using Shape = std::vector<int64_t>;

/// Element types by their short names, as in `cast(p, bf16)`.
inline constexpr ElementType f64 = ElementType::F64;
inline constexpr ElementType f32 = ElementType::F32;
inline constexpr ElementType f16 = ElementType::F16;
inline constexpr ElementType bf16 = ElementType::BF16;
inline constexpr ElementType f8E4M3FN = ElementType::F8E4M3FN;
inline constexpr ElementType f8E5M2 = ElementType::F8E5M2;
inline constexpr ElementType i1 = ElementType::I1;
inline constexpr ElementType i8 = ElementType::I8;
inline constexpr ElementType i16 = ElementType::I16;
inline constexpr ElementType i32 = ElementType::I32;
inline constexpr ElementType i64 = ElementType::I64;

/// A handle: copying it copies no data, and assigning to it only makes the C++
/// variable name another value. A value of a loop body or a branch exists only
/// there; forRange and ifThenElse carry values out.
class Value {
public:
  enum class Kind {
    Number,       ///< a number or a tile of numbers
    Pointer,      ///< a pointer to an element or a tile of pointers
    BlockPointer, ///< a tile-shaped window of a strided tensor
  };

  /// Stands for nothing until a value is assigned.
  Value() = default;

  bool empty() const { return !handle; }
  Kind kind() const { return valueKind; }
  /// Of a pointer: the type that it points to.
  ElementType elementType() const { return element; }
  /// Of a block pointer: the shape of its window.
  const Shape &shape() const { return extents; }
  int64_t rank() const { return static_cast<int64_t>(extents.size()); }
  bool isScalar() const { return extents.empty(); }
  /// The type as the dialect writes it: "tensor<64x32xbf16>", "!tile.ptr<f32>".
  std::string typeText() const;

private:
  friend struct detail::ValueAccess;

  std::shared_ptr<detail::KernelState> kernel;
  void *handle = nullptr;
  Kind valueKind = Kind::Number;
  ElementType element = ElementType::F32;
  Shape extents;
};

/// Several values: what a loop carries, or what a branch gives.
using Values = std::vector<Value>;

/// An argument of an operation: a Value or a C++ literal, together with the
/// place in the source where it was passed. Conversions to it are implicit, so
/// that `x * 2` and `1.0 / x` work and errors point at their line.
class Operand {
public:
  Operand(const Value &value,
          SourceLocation location = SourceLocation::current())
      : content(value), place(location) {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Operand(T literal, SourceLocation location = SourceLocation::current())
      : place(location) {
    if constexpr (std::is_same_v<T, bool>) {
      content = literal;
    } else if constexpr (std::is_floating_point_v<T>) {
      content = static_cast<double>(literal);
    } else {
      if constexpr (std::is_unsigned_v<T>)
        if (literal > static_cast<uint64_t>(INT64_MAX))
          throw Error(ErrorCode::Compile,
                      "expected an integer of 64 signed bits, but got " +
                          std::to_string(literal),
                      location);
      content = static_cast<int64_t>(literal);
    }
  }

  const Value *value() const { return std::get_if<Value>(&content); }
  const bool *boolean() const { return std::get_if<bool>(&content); }
  const int64_t *integer() const { return std::get_if<int64_t>(&content); }
  const double *real() const { return std::get_if<double>(&content); }
  SourceLocation location() const { return place; }

private:
  std::variant<Value, bool, int64_t, double> content;
  SourceLocation place;
};

} // namespace flashtile::dsl

#endif // FLASHTILE_COMPILER_FRONTEND_VALUE_H
