//===- Digest.cpp - A strong hash of fields -------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Digest.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"

using namespace flashtile;

Digest flashtile::digest(std::initializer_list<std::string_view> fields) {
  llvm::BLAKE3 hasher;
  for (const std::string_view field : fields) {
    uint8_t length[8];
    llvm::support::endian::write64le(length, field.size());
    hasher.update(length);
    hasher.update(llvm::StringRef(field.data(), field.size()));
  }
  return hasher.final();
}

std::string flashtile::hexText(const Digest &digest) {
  return llvm::toHex(digest, /*LowerCase=*/true);
}
