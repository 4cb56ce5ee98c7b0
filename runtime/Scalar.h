//===- Scalar.h - One number of any element type --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The argument type of `fill` and its like: any number, kept exactly, until
// the tensor's dtype is known. Integers keep all 64 bits and do not pass
// through double.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_SCALAR_H
#define FLASHTILE_RUNTIME_SCALAR_H

#include "runtime/DType.h"

#include <cmath>
#include <type_traits>

namespace flashtile {

class Scalar {
public:
  /// From any element type, and from the integer types that fit into int64_t.
  template <typename T,
            typename = std::enable_if_t<std::is_integral_v<T> &&
                                        (sizeof(T) < 8 || std::is_signed_v<T>)>>
  Scalar(T value) : isInteger(true), integer(value) {}
  Scalar(double value) : isInteger(false), real(value) {}
  Scalar(float value) : isInteger(false), real(value) {}
  template <DType type>
  Scalar(NarrowFloat<type> value)
      : isInteger(false), real(static_cast<float>(value)) {}

  /// The value as an element of type `T`, by the rules of convertElement.
  template <typename T>
  T to() const;

private:
  bool isInteger;
  union {
    int64_t integer;
    double real;
  };
};

/// Converts one element, as Tensor::to does for all of them. To a float type:
/// rounds once, to nearest even, with the overflow rules of Float16.h. From a
/// float to an integer: truncates, saturates, and turns NaN into 0. Between
/// integers: keeps the low bits. To bool: whether the value differs from 0.
template <typename To, typename From>
To convertElement(From value) {
  constexpr DType to = dtypeOf<To>, from = dtypeOf<From>;
  if constexpr (to == from) {
    return value;
  } else if constexpr (elementSize(from) < 4 && isFloat(from)) {
    return convertElement<To>(static_cast<float>(value));
  } else if constexpr (to == DType::I1) {
    return value != From(0);
  } else if constexpr (!isFloat(to) && isFloat(from)) {
    // -2^(n-1) is a float of any width, and so is 2^(n-1), which is too large.
    constexpr From limit =
        static_cast<From>(uint64_t(1) << (sizeof(To) * 8 - 1));
    if (std::isnan(value))
      return 0;
    if (value >= limit)
      return static_cast<To>(~(uint64_t(1) << (sizeof(To) * 8 - 1)));
    if (value < -limit)
      return static_cast<To>(uint64_t(1) << (sizeof(To) * 8 - 1));
    return static_cast<To>(value);
  } else if constexpr (isFloat(to) && elementSize(to) < 4 && !isFloat(from)) {
    return To(static_cast<int64_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <typename T>
T Scalar::to() const {
  return isInteger ? convertElement<T>(integer) : convertElement<T>(real);
}

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_SCALAR_H
