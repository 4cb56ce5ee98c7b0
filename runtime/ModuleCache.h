//===- ModuleCache.h - Compiled code of this process ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to Jit. Keys hold the whole text, so no two texts are ever taken for
// one another. Who asks for a module that another thread is compiling waits for
// that thread.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_MODULECACHE_H
#define FLASHTILE_RUNTIME_MODULECACHE_H

#include "runtime/Kernel.h"

#include <functional>
#include <future>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>

namespace flashtile {

class ModuleCache {
public:
  using Kernels = std::shared_ptr<const std::vector<Kernel>>;

  /// The cache of this process.
  static ModuleCache &global();

  /// Keeps at most `capacity` modules; those unused for longest go first.
  explicit ModuleCache(size_t capacity) : capacity(capacity) {}

  /// The module of `key`, from `compile` if it is not there. An exception of
  /// `compile` goes to all who wait for it and is not kept.
  Kernels get(const std::string &key, const std::function<Kernels()> &compile);

  void clear();

private:
  struct Entry {
    std::string key;
    std::shared_future<Kernels> kernels;
  };

  void forget(const std::string &key);

  const size_t capacity;
  std::mutex mutex;
  std::list<Entry> entries; ///< last used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> places;
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_MODULECACHE_H
