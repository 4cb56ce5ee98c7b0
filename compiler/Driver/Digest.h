//===- Digest.h - A strong hash of fields ---------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For keys that stand in place of what they were computed from. BLAKE3 from
// LLVM, which stays out of this header.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_DRIVER_DIGEST_H
#define FLASHTILE_COMPILER_DRIVER_DIGEST_H

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace flashtile {

using Digest = std::array<uint8_t, 32>;

/// Each field enters with its length, so that ("a", "bc") and ("ab", "c")
/// differ. The same on every machine.
Digest digest(std::initializer_list<std::string_view> fields);

/// 64 lower-case hexadecimal digits.
std::string hexText(const Digest &digest);

/// The bytes as a field of another digest.
inline std::string_view bytesOf(const Digest &digest) {
  return {reinterpret_cast<const char *>(digest.data()), digest.size()};
}

} // namespace flashtile

#endif // FLASHTILE_COMPILER_DRIVER_DIGEST_H
