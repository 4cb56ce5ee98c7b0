//===- ArgumentValue.h - What a launch passes for one argument ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch takes C++ values; the kernel knows which types it wants. This holds
// any of those values exactly, without conversion, until the two meet.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_ARGUMENTVALUE_H
#define FLASHTILE_RUNTIME_ARGUMENTVALUE_H

#include "runtime/Tensor.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace flashtile {

/// One argument of a launch. Conversions to it are implicit:
///
///   argument of the kernel   accepts
///   pointer                  a Tensor of exactly the pointer's element type;
///                            any data pointer, unchecked; nullptr
///   i1                       bool, or the integers 0 and 1
///   i8 to i64                integers that fit (signed)
///   f32, f64, ...            numbers; rounded to the type, but a finite number
///                            must stay finite and an integer exact
class ArgumentValue {
public:
  enum class Kind : uint8_t {
    TensorValue,
    Pointer,
    Boolean,
    Signed,
    Unsigned, ///< above INT64_MAX; smaller ones are Signed
    Real,
  };

  /// Shares the tensor, so that a temporary may be passed.
  ArgumentValue(Tensor value)
      : valueKind(Kind::TensorValue), tensorValue(std::move(value)) {}
  ArgumentValue(std::nullptr_t)
      : valueKind(Kind::Pointer), pointerValue(nullptr) {}
  /// Memory of the caller, used during the launch. That a kernel does not write
  /// through a pointer to const is up to the kernel.
  template <typename T, typename = std::enable_if_t<!std::is_function_v<T>>>
  ArgumentValue(T *value)
      : valueKind(Kind::Pointer),
        pointerValue(const_cast<std::remove_cv_t<T> *>(value)) {}
  /// Text is no argument; without this it would pass as a pointer.
  ArgumentValue(const char *) = delete;

  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  ArgumentValue(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      valueKind = Kind::Boolean;
      integerValue = value;
    } else if constexpr (std::is_floating_point_v<T>) {
      valueKind = Kind::Real;
      realValue = static_cast<double>(value);
    } else {
      valueKind = Kind::Signed;
      if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8)
        if (value > static_cast<uint64_t>(INT64_MAX))
          valueKind = Kind::Unsigned;
      integerValue = static_cast<int64_t>(value);
    }
  }
  template <DType type>
  ArgumentValue(NarrowFloat<type> value)
      : ArgumentValue(static_cast<float>(value)) {}

  Kind kind() const { return valueKind; }
  const Tensor &tensor() const { return tensorValue; }
  void *pointer() const { return pointerValue; }
  int64_t integer() const { return integerValue; }
  double real() const { return realValue; }

  /// For messages: "64", "0.125", "true", "a tensor f32[2, 3] on cpu", ...
  std::string describe() const;

private:
  Kind valueKind;
  union {
    void *pointerValue = nullptr;
    int64_t integerValue;
    double realValue;
  };
  Tensor tensorValue;
};

/// An argument by the name that the kernel gives it.
struct NamedArgument {
  std::string_view name;
  ArgumentValue value;
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_ARGUMENTVALUE_H
