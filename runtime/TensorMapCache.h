//===- TensorMapCache.h - Tensor maps of a kernel's launches --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to GpuKernel. Evaluates what the compiler says of each tensor map
// for the arguments of a launch, and keeps what came out: launches repeat their
// arguments. Of those that do not, most differ in an address: a map whose own
// inputs are the last ones is taken again, and one with the last integers is
// encoded for its address without evaluating anything. Neither allocates.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_TENSORMAPCACHE_H
#define FLASHTILE_RUNTIME_TENSORMAPCACHE_H

#include "compiler/Driver/KernelArtifact.h"
#include "runtime/LaunchArguments.h"
#include "runtime/cuda/TensorMap.h"

#include <mutex>
#include <string>
#include <vector>

namespace flashtile {

class TensorMapCache {
public:
  /// The references must outlive this.
  TensorMapCache(CudaDevice &device, const GpuEntry &entry,
                 const KernelInfo &info);

  /// Makes the maps for these arguments in the memory at `maps`, one for each
  /// of the entry's. False where one cannot be encoded; `whyNot` then names the
  /// argument, the rule and the value.
  bool find(const LaunchArguments &arguments, TensorMap *maps,
            std::string &whyNot) const;

  /// Launches with other arguments are forgotten at this many.
  static constexpr size_t capacity = 256;

private:
  /// A map, and what it was last.
  struct Map {
    const TensorMapParameter *parameter;
    std::vector<size_t> integers; ///< numbers of those it depends on
    std::vector<int64_t> values;  ///< theirs, that the description is of
    int64_t offsetBytes = 0;      ///< from the argument to the base
    TensorMapDescription description;
    TensorMap encoded;
    bool isDescribed = false, isEncoded = false;
  };
  /// What came out for the arguments whose key stands at the same place.
  struct Slot {
    bool isUsed = false;
    std::string whyNot; ///< empty: there are maps
  };

  void readKey(const LaunchArguments &arguments) const;
  /// The place of the key; `isKnown` says whether it has been there before.
  size_t findSlot(bool &isKnown) const;
  std::string encode(const LaunchArguments &arguments, TensorMap *maps) const;
  std::string encode(Map &map, const LaunchArguments &arguments) const;
  std::string describe(Map &map, const LaunchArguments &arguments) const;

  CudaDevice &device;
  const KernelInfo &info;
  std::vector<size_t> pointers; ///< places of arguments
  std::vector<size_t> integers; ///< numbers of integer arguments

  mutable std::mutex mutex;
  mutable std::vector<Map> all;
  /// The values that the maps of this launch depend on.
  mutable std::vector<int64_t> key;
  // A table of `capacity` places, where a hash picks a few.
  mutable std::vector<Slot> slots;
  mutable std::vector<int64_t> keys;
  mutable std::vector<TensorMap> encoded;
  mutable size_t replaced = 0;
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_TENSORMAPCACHE_H
