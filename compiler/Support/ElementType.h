//===- ElementType.h - Element types shared by compiler and runtime -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element types of the tile dialect as a plain enumeration, so that public
// headers can name them without any header of MLIR or LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_SUPPORT_ELEMENTTYPE_H
#define FLASHTILE_COMPILER_SUPPORT_ELEMENTTYPE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace flashtile {

/// Element type of a tensor or a tile. `I1` is stored as one byte, 0 or 1.
enum class ElementType : uint8_t {
  F64,
  F32,
  F16,
  BF16,
  F8E4M3FN,
  F8E5M2,
  I1,
  I8,
  I16,
  I32,
  I64,
};

/// Size of one stored element, in bytes.
constexpr size_t elementSize(ElementType type) {
  switch (type) {
  case ElementType::F64:
  case ElementType::I64:
    return 8;
  case ElementType::F32:
  case ElementType::I32:
    return 4;
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::I16:
    return 2;
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
  case ElementType::I1:
  case ElementType::I8:
    return 1;
  }
  return 0;
}

constexpr bool isFloat(ElementType type) { return type <= ElementType::F8E5M2; }

/// MLIR's spelling: "f32", "bf16", "f8E4M3FN", "i32", ...
constexpr std::string_view elementTypeName(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return "f64";
  case ElementType::F32:
    return "f32";
  case ElementType::F16:
    return "f16";
  case ElementType::BF16:
    return "bf16";
  case ElementType::F8E4M3FN:
    return "f8E4M3FN";
  case ElementType::F8E5M2:
    return "f8E5M2";
  case ElementType::I1:
    return "i1";
  case ElementType::I8:
    return "i8";
  case ElementType::I16:
    return "i16";
  case ElementType::I32:
    return "i32";
  case ElementType::I64:
    return "i64";
  }
  return "?";
}

/// The inverse of elementTypeName; nothing for an unknown spelling.
constexpr std::optional<ElementType> parseElementType(std::string_view name) {
  for (uint8_t i = 0; i <= static_cast<uint8_t>(ElementType::I64); ++i)
    if (elementTypeName(static_cast<ElementType>(i)) == name)
      return static_cast<ElementType>(i);
  return std::nullopt;
}

} // namespace flashtile

#endif // FLASHTILE_COMPILER_SUPPORT_ELEMENTTYPE_H
