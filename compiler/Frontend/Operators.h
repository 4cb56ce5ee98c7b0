//===- Operators.h - Operators on tiles and scalars -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Value.h states the rules of shapes and element types. Pointers know only
// `pointer + offset` and `pointer - offset`, in elements.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_FRONTEND_OPERATORS_H
#define FLASHTILE_COMPILER_FRONTEND_OPERATORS_H

#include "compiler/Frontend/Value.h"

namespace flashtile::dsl {

Value operator+(const Operand &lhs, const Operand &rhs);
Value operator-(const Operand &lhs, const Operand &rhs);
Value operator*(const Operand &lhs, const Operand &rhs);
/// Integers: truncates towards zero.
Value operator/(const Operand &lhs, const Operand &rhs);
/// Has the sign of the dividend, as in C++; floats as std::fmod.
Value operator%(const Operand &lhs, const Operand &rhs);
Value operator-(const Operand &operand);

/// Bitwise; on i1 logical, element by element.
Value operator&(const Operand &lhs, const Operand &rhs);
Value operator|(const Operand &lhs, const Operand &rhs);
Value operator^(const Operand &lhs, const Operand &rhs);
Value operator~(const Operand &operand);
/// Integers; `>>` keeps the sign.
Value operator<<(const Operand &lhs, const Operand &rhs);
Value operator>>(const Operand &lhs, const Operand &rhs);
/// i1 only.
Value operator!(const Operand &operand);

/// Comparisons give i1. With NaN all are false, except `!=`, which is true.
Value operator==(const Operand &lhs, const Operand &rhs);
Value operator!=(const Operand &lhs, const Operand &rhs);
Value operator<(const Operand &lhs, const Operand &rhs);
Value operator<=(const Operand &lhs, const Operand &rhs);
Value operator>(const Operand &lhs, const Operand &rhs);
Value operator>=(const Operand &lhs, const Operand &rhs);

/// These would have to decide while the kernel is written. Use & and |.
Value operator&&(const Operand &lhs, const Operand &rhs) = delete;
Value operator||(const Operand &lhs, const Operand &rhs) = delete;

inline Value &operator+=(Value &lhs, const Operand &rhs) {
  return lhs = Operand(lhs, rhs.location()) + rhs;
}
inline Value &operator-=(Value &lhs, const Operand &rhs) {
  return lhs = Operand(lhs, rhs.location()) - rhs;
}
inline Value &operator*=(Value &lhs, const Operand &rhs) {
  return lhs = Operand(lhs, rhs.location()) * rhs;
}
inline Value &operator/=(Value &lhs, const Operand &rhs) {
  return lhs = Operand(lhs, rhs.location()) / rhs;
}

} // namespace flashtile::dsl

#endif // FLASHTILE_COMPILER_FRONTEND_OPERATORS_H
