//===- PlainModule.h - Functions that few launches need -------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to GpuModule and GpuKernel. Kernels are compiled for arguments whose
// alignment allows fast copies. The functions for all other arguments are a
// module of their own, which is compiled at the first launch that needs it:
// most programs never do, and compiling both would take twice the time.
//
// Thread safety: all functions may be called at the same time. Launches that
// need the module wait for the one that is compiling it.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_PLAINMODULE_H
#define FLASHTILE_RUNTIME_PLAINMODULE_H

#include "compiler/Driver/Compiler.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace flashtile {

class GpuKernel;
class GpuModule;

class PlainModule {
public:
  /// A module for the GPU, from the cache on disk or compiled; throws as
  /// Jit::compile does.
  using Compile = std::function<std::unique_ptr<CompiledModule>()>;

  explicit PlainModule(Compile compile) : compile(std::move(compile)) {}
  ~PlainModule();

  /// The kernel of this name, whose module is compiled if it is not there.
  /// Throws what compiling throws, and Internal where the kernel is missing;
  /// the next call tries again.
  const GpuKernel &kernel(const std::string &name);

  /// The module if it is there, or null.
  const GpuModule *ifLoaded() const {
    return loaded.load(std::memory_order_acquire);
  }

private:
  const Compile compile;
  std::mutex mutex; ///< while compiling
  std::unique_ptr<const CompiledModule> storage;
  std::atomic<const GpuModule *> loaded{nullptr};
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_PLAINMODULE_H
