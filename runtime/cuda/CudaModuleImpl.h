//===- CudaModuleImpl.h - What is behind modules and functions ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to CudaModule.cpp and CudaLaunch.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_CUDA_CUDAMODULEIMPL_H
#define FLASHTILE_RUNTIME_CUDA_CUDAMODULEIMPL_H

#include "runtime/cuda/CudaModule.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace flashtile {

struct CudaModule::Impl {
  explicit Impl(CudaDevice &device) : device(device) {}
  ~Impl() {
    if (handle)
      device.release(device.api().cuModuleUnload, handle);
  }

  CudaDevice &device;
  cuda::ModuleHandle handle = nullptr;
  std::string linkLog;
  double linkMilliseconds = 0;
};

struct CudaFunction::Impl {
  Impl(std::shared_ptr<CudaModule::Impl> module, std::string name)
      : module(std::move(module)), name(std::move(name)) {}
  /// Lets clusters have more than 8 blocks, which not every GPU can.
  void allowLargeClusters();

  std::shared_ptr<CudaModule::Impl> module;
  std::string name;
  cuda::FunctionHandle handle = nullptr;
  Attributes attributes;
  struct Parameter {
    size_t offset, numBytes;
  };
  /// Where the device wants each of the parameters, `count` in the first call.
  /// The driver is asked for no more than these: it takes a question for one
  /// more as an error, which compute-sanitizer reports. Empty where the driver
  /// does not say or has fewer, and then launches pass a list, which costs some
  /// speed only.
  const std::vector<Parameter> &parametersOf(size_t count);

  std::mutex attributeMutex;
  std::atomic<size_t> allowedDynamicBytes{0};
  std::atomic<bool> allowsLargeClusters{false};

private:
  std::once_flag parametersRead;
  std::vector<Parameter> parameters;
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_CUDA_CUDAMODULEIMPL_H
