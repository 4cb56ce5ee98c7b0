//===- TensorMapCache.h - Tensor maps of a kernel's launches --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to GpuKernel. Evaluates what the compiler says of each tensor map
// for the arguments of a launch, and keeps what came out: launches repeat their
// arguments, and to encode a map takes longer than to find it.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_TENSORMAPCACHE_H
#define FLASHTILE_RUNTIME_TENSORMAPCACHE_H

#include "compiler/Driver/KernelArtifact.h"
#include "runtime/LaunchArguments.h"
#include "runtime/cuda/TensorMap.h"

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace flashtile {

class TensorMapCache {
public:
  /// The references must outlive this.
  TensorMapCache(CudaDevice &device, const GpuEntry &entry,
                 const KernelInfo &info);

  /// Writes the maps for these arguments to `maps`, one for each of the
  /// entry's. False where one cannot be encoded; `whyNot` then names the
  /// argument, the rule and the value.
  bool find(const LaunchArguments &arguments, TensorMap *maps,
            std::string &whyNot) const;

  /// Launches with other arguments are forgotten at this many.
  static constexpr size_t capacity = 256;

private:
  /// The values that the maps depend on.
  using Key = std::vector<int64_t>;
  struct Encoded {
    Key key;
    std::vector<TensorMap> maps; ///< empty where `whyNot` is not
    std::string whyNot;
  };

  template <typename Function>
  void forEachInput(const LaunchArguments &arguments, Function function) const;
  Encoded encode(const LaunchArguments &arguments) const;
  std::string describe(const TensorMapParameter &map,
                       const LaunchArguments &arguments,
                       TensorMapDescription &description) const;

  CudaDevice &device;
  const GpuEntry &entry;
  const KernelInfo &info;
  std::vector<size_t> pointers; ///< places of arguments
  std::vector<size_t> integers; ///< numbers of integer arguments
  mutable std::mutex mutex;
  mutable std::unordered_map<uint64_t, Encoded> all; ///< by hash of the key
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_TENSORMAPCACHE_H
