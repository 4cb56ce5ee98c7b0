//===- DType.h - Element types of tensors and their C++ types -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor's dtype is the compiler's ElementType, so that nothing has to be
// translated between a tensor and a kernel's argument. This file ties each
// dtype to the one C++ type that reads and writes its elements, in both
// directions: dtypeOf<T> and dispatchDType.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_DTYPE_H
#define FLASHTILE_RUNTIME_DTYPE_H

#include "compiler/Support/ElementType.h"
#include "runtime/Float16.h"

#include <string>
#include <utility>

namespace flashtile {

using DType = ElementType;

/// The name of a dtype as a string, for messages.
inline std::string toString(DType dtype) {
  return std::string(elementTypeName(dtype));
}

namespace detail {
template <typename T>
struct DTypeOf; // no definition: T is not the type of any element
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::F64;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::F32;
};
template <DType type>
struct DTypeOf<NarrowFloat<type>> {
  static constexpr DType value = type;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::I1;
};
template <>
struct DTypeOf<int8_t> {
  static constexpr DType value = DType::I8;
};
template <>
struct DTypeOf<int16_t> {
  static constexpr DType value = DType::I16;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::I32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::I64;
};
} // namespace detail

/// The dtype whose elements are of the C++ type `T`.
template <typename T>
constexpr DType dtypeOf = detail::DTypeOf<T>::value;

/// A type as a value, to hand it to a generic lambda.
template <typename T>
struct TypeTag {
  using Type = T;
};

/// Calls `body(TypeTag<T>())` with the C++ type of `dtype`'s elements.
template <typename Body>
decltype(auto) dispatchDType(DType dtype, Body &&body) {
  switch (dtype) {
  case DType::F64:
    return body(TypeTag<double>());
  case DType::F32:
    return body(TypeTag<float>());
  case DType::F16:
    return body(TypeTag<Float16>());
  case DType::BF16:
    return body(TypeTag<BFloat16>());
  case DType::F8E4M3FN:
    return body(TypeTag<Float8E4M3FN>());
  case DType::F8E5M2:
    return body(TypeTag<Float8E5M2>());
  case DType::I1:
    return body(TypeTag<bool>());
  case DType::I8:
    return body(TypeTag<int8_t>());
  case DType::I16:
    return body(TypeTag<int16_t>());
  case DType::I32:
    return body(TypeTag<int32_t>());
  case DType::I64:
    return body(TypeTag<int64_t>());
  }
  __builtin_unreachable();
}

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_DTYPE_H
