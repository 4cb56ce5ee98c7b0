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
  void readParameters();

  std::shared_ptr<CudaModule::Impl> module;
  std::string name;
  cuda::FunctionHandle handle = nullptr;
  Attributes attributes;
  /// Where the device wants each parameter; empty where the driver does not
  /// say.
  struct Parameter {
    size_t offset, numBytes;
  };
  std::vector<Parameter> parameters;
  std::mutex attributeMutex;
  std::atomic<size_t> allowedDynamicBytes{0};
  std::atomic<bool> allowsLargeClusters{false};
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_CUDA_CUDAMODULEIMPL_H
