//===- KernelCache.h - Compiled code on disk ------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder with one file for each key. What the payload of an entry is, only
// its user knows: object code for the host now, code for a GPU as well.
//
// The cache makes things faster or does nothing: no state of the folder makes
// a function throw, and whatever is not exactly what store() wrote is a miss.
//
// Any number of threads and processes may use a folder at once. Entries appear
// by rename, so that a reader sees a whole one, and stay readable to those who
// have opened them when they are replaced or removed.
//
// An entry is code that will run with the rights of its reader. One that
// another user than the reader or root owns, or could write to, is a miss.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_KERNELCACHE_H
#define FLASHTILE_RUNTIME_KERNELCACHE_H

#include "compiler/Driver/Digest.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace flashtile {

struct CompilerOptions;

class KernelCache {
public:
  /// Of the layout of an entry's file; entries of another version are misses.
  static constexpr uint32_t formatVersion = 1;

  /// The cache of `folder`, one for all who ask for it in this process. The
  /// folder need not exist; a relative path is taken from the current folder.
  /// Null for an empty path.
  static std::shared_ptr<KernelCache> open(const std::string &folder,
                                           uint64_t capacity);

  using Warn = std::function<void(const std::string &)>;

  /// Keeps at most about `capacity` bytes in `folder`. `warn` hears of the
  /// first entry that cannot be written; by default, it goes to stderr once per
  /// process.
  KernelCache(std::string folder, uint64_t capacity, Warn warn = {});

  /// The payload stored for `key`. A hit makes the entry the last one used,
  /// to the minute.
  std::optional<std::string> find(const Digest &key);

  /// Keeps `payload` for `key`, in the place of whatever is there, and removes
  /// the entries unused for longest where the folder grew beyond its capacity.
  /// Returns whether it is kept.
  bool store(const Digest &key, std::string_view payload);

  /// File of the entry of `key`.
  std::string path(const Digest &key) const;

private:
  void write(const std::string &file, const std::string &header,
             std::string_view payload) const;
  void account(uint64_t bytes);
  /// Removes entries until 7/8 of the capacity are left, and what writers that
  /// were killed left behind. Returns the bytes left.
  uint64_t prune() const;

  const std::string folder;
  const uint64_t capacity;
  const Warn warn;
  std::once_flag warned;

  std::mutex mutex;
  uint64_t knownBytes = 0;       ///< in the folder, as far as is known
  unsigned storesUntilPrune = 0; ///< others fill the folder too
};

/// Key of the code that `options` give for a module: changes with everything
/// that the code, the report or the messages of failed assertions depend on.
/// That is the text as it is, with its comments and locations, and the name of
/// the file; the options that change code; the environment's part of the key
/// (EnvOptions::cacheKey); the processor; the compiler, by its own build and by
/// LLVM's.
Digest kernelCacheKey(const CompilerOptions &options,
                      std::string_view environment, std::string_view fileName,
                      std::string_view text);

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_KERNELCACHE_H
