//===- GpuKernel.h - A kernel on a GPU, with all of its functions ---------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to Kernel and Jit. A kernel may have several functions: with tensor
// maps, which not every tensor qualifies for, and without. A launch takes the
// first whose maps can be encoded; where none can, the plain function of
// another module, which is compiled then.
//
// Thread safety: launches of any number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_GPUKERNEL_H
#define FLASHTILE_RUNTIME_GPUKERNEL_H

#include "runtime/Kernel.h"
#include "runtime/LaunchArguments.h"
#include "runtime/PlainModule.h"
#include "runtime/TensorMapCache.h"
#include "runtime/cuda/CudaModule.h"
#include "runtime/cuda/ProgramCounters.h"

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace flashtile {

class GpuKernel {
public:
  /// `kernel` must outlive this. Throws NotFound for a function that `code`
  /// lacks. `elsewhere` has a function for any arguments; null: there is none.
  GpuKernel(const CudaModule &code, const ArtifactKernel &kernel,
            std::shared_ptr<PlainModule> elsewhere = {});

  /// Queues the kernel in the device's current stream. Throws InvalidArgument
  /// where no function qualifies, with the reasons.
  void launch(const Kernel::Grid &grid, const LaunchArguments &arguments) const;

  /// Adds what the functions take, and why launches so far did not take the
  /// first one.
  void describe(KernelReport &report) const;

private:
  struct Entry {
    Entry(CudaFunction function, const GpuEntry &entry, const KernelInfo &info)
        : function(std::move(function)), info(entry),
          tensorMaps(this->function.device(), entry, info),
          counters(entry.countsPrograms
                       ? &ProgramCounters::of(this->function.device())
                       : nullptr) {}

    CudaFunction function;
    const GpuEntry &info;
    /// Why the device cannot run it; empty where it can.
    std::string tooLarge;
    TensorMapCache tensorMaps;
    ProgramCounters *counters; ///< null: it needs none
  };

  /// Launches the first of this kernel's own functions that qualifies. False
  /// where none does; the reasons are then added to `problems`.
  bool tryLaunch(const Kernel::Grid &grid, const LaunchArguments &arguments,
                 std::string &problems) const;
  bool launchWithMaps(const Entry &entry, const Kernel::Grid &grid,
                      const LaunchArguments &arguments,
                      std::string &whyNot) const;
  void launchEntry(const Entry &entry, const TensorMap *maps,
                   const Kernel::Grid &grid,
                   const LaunchArguments &arguments) const;
  void note(const std::string &reason) const;

  const ArtifactKernel &kernel;
  const std::shared_ptr<PlainModule> elsewhere;
  std::deque<Entry> entries; // which stay where they are
  mutable std::mutex reasonsMutex;
  mutable std::vector<std::string> reasons; ///< each once
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_GPUKERNEL_H
