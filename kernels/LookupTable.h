//===- LookupTable.h - What was worked out before -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to the functions on tensors: finds the kernel of a configuration
// without building its program again, which Jit would need to see, and the
// tiles of a problem without asking the autotuner.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_LOOKUPTABLE_H
#define FLASHTILE_KERNELS_LOOKUPTABLE_H

#include <map>
#include <mutex>

namespace flashtile::kernels {

/// `Key` holds everything that the value depends on, the device included.
template <typename Key, typename Value>
class LookupTable {
public:
  /// The value of `key`, from `make()` on first use.
  template <typename Make>
  Value get(const Key &key, Make &&make) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      auto it = values.find(key);
      if (it != values.end())
        return it->second;
    }
    // Made outside the lock: other keys need not wait. Two threads may make the
    // same value; both are right, and the first is kept.
    Value value = make();
    std::lock_guard<std::mutex> lock(mutex);
    return values.emplace(key, value).first->second;
  }

private:
  std::mutex mutex;
  std::map<Key, Value> values;
};

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_LOOKUPTABLE_H
