//===- ModuleCache.cpp - Compiled code of this process --------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/ModuleCache.h"

using namespace flashtile;

ModuleCache &ModuleCache::global() {
  // More than the kernels of any program that does not generate them without
  // end. Never destroyed: kernels may be launched while the process exits.
  static auto *cache = new ModuleCache(512);
  return *cache;
}

ModuleCache::Kernels ModuleCache::get(const std::string &key,
                                      const std::function<Kernels()> &compile) {
  std::promise<Kernels> promise;
  std::list<Entry> evicted; // destroyed without the lock
  {
    std::unique_lock<std::mutex> lock(mutex);
    if (const auto place = places.find(key); place != places.end()) {
      entries.splice(entries.begin(), entries, place->second);
      const std::shared_future<Kernels> kernels = entries.front().kernels;
      lock.unlock();
      return kernels.get();
    }
    entries.push_front({key, promise.get_future().share()});
    places.emplace(entries.front().key, entries.begin());
    if (entries.size() > capacity) {
      places.erase(entries.back().key);
      evicted.splice(evicted.begin(), entries, std::prev(entries.end()));
    }
  }
  try {
    Kernels kernels = compile();
    promise.set_value(kernels);
    return kernels;
  } catch (...) {
    // Off the list first: whoever asks from now on tries again.
    forget(key);
    promise.set_exception(std::current_exception());
    throw;
  }
}

void ModuleCache::forget(const std::string &key) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto place = places.find(key);
  if (place == places.end())
    return;
  const auto entry = place->second;
  places.erase(place);
  entries.erase(entry);
}

void ModuleCache::clear() {
  std::list<Entry> removed; // destroyed without the lock
  std::lock_guard<std::mutex> lock(mutex);
  places.clear();
  removed.swap(entries);
}
