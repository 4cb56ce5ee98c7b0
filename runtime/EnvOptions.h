//===- EnvOptions.h - The environment, read in one place ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The variables of EnvOptions.def as a struct. Nothing else calls getenv, so
// the table is complete by construction: the documentation is printed from it,
// and the key of the kernel cache cannot miss a variable that changes code.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_ENVOPTIONS_H
#define FLASHTILE_RUNTIME_ENVOPTIONS_H

#include <cstdint>
#include <string>
#include <vector>

namespace flashtile {

using EnvCount = unsigned;
/// A number of bytes.
using EnvBytes = uint64_t;

/// One of a few words, which EnvOptions.cpp lists for each `Kind`.
template <typename Kind>
struct EnvWord {
  EnvWord(const char *text) : text(text) {}
  operator const std::string &() const { return text; }
  std::string text;
};
using EnvPersistence = EnvWord<struct PersistenceWords>;
using EnvTarget = EnvWord<struct TargetWords>;

/// Programs of one warpgroup that run as one block.
struct EnvPrograms {
  EnvPrograms(unsigned count) : count(count) {}
  operator unsigned() const { return count; }
  unsigned count;
};

struct EnvOptions {
#define FLASHTILE_ENV_OPTION(member, type, defaultValue, inCacheKey, name,     \
                             doc)                                              \
  type member = defaultValue;
#include "runtime/EnvOptions.def"

  /// Reads the environment as it is now. Throws InvalidArgument, with the
  /// variable, its value and what is allowed, for a value that is malformed.
  static EnvOptions read();

  /// Folder of the kernel cache: `cacheDir`, or else flashtile in
  /// $XDG_CACHE_HOME or in ~/.cache. Empty where the cache is off or the user
  /// has no home.
  std::string kernelCacheFolder() const;

  /// The variables that change the code of a kernel, as lines "NAME=value".
  std::string cacheKey() const;
};

/// A row of the table, for documentation.
struct EnvOptionInfo {
  const char *name;
  const char *type; ///< what a value looks like
  const char *defaultValue;
  bool isInCacheKey;
  const char *doc;
};

/// All rows, sorted by name.
const std::vector<EnvOptionInfo> &envOptionTable();

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_ENVOPTIONS_H
