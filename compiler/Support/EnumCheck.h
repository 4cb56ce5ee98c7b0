//===- EnumCheck.h - Values of enumerations that callers give -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A caller may have cast a number of a file or of another language to one of
// our enumerations. Public calls refuse one that has no name before they act
// on it, so that it does not mean whatever a switch falls through to.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_SUPPORT_ENUMCHECK_H
#define FLASHTILE_COMPILER_SUPPORT_ENUMCHECK_H

#include "compiler/Support/ElementType.h"
#include "compiler/Support/Error.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace flashtile {

/// Apart from the check, which is part of every call.
template <typename NameOf>
[[noreturn]] void failEnum(std::string_view what, long long got, size_t count,
                           NameOf nameOf) {
  std::string message = "expected " + std::string(what) + " to be ";
  for (size_t i = 0; i < count; ++i)
    message += std::string(i == 0           ? ""
                           : i + 1 == count ? " or "
                                            : ", ") +
               std::string(nameOf(i)) + " (" + std::to_string(i) + ")";
  throw Error(ErrorCode::InvalidArgument,
              message + ", but got the number " + std::to_string(got));
}

/// Throws InvalidArgument unless `value` is one of those named, which are the
/// numbers from 0 on.
template <typename Enum, size_t N>
void checkEnum(std::string_view what, Enum value,
               const std::string_view (&names)[N]) {
  const auto number = static_cast<long long>(value);
  if (number < 0 || number >= static_cast<long long>(N))
    failEnum(what, number, N, [&](size_t i) { return names[i]; });
}

/// The same for element types.
inline void checkElementType(std::string_view what, ElementType type) {
  constexpr auto count = static_cast<size_t>(ElementType::I64) + 1;
  if (static_cast<size_t>(type) >= count)
    failEnum(what, static_cast<long long>(type), count, [](size_t i) {
      return elementTypeName(static_cast<ElementType>(i));
    });
}

} // namespace flashtile

#endif // FLASHTILE_COMPILER_SUPPORT_ENUMCHECK_H
