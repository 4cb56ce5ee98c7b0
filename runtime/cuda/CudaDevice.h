//===- CudaDevice.h - A GPU and its context -------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One object per GPU and process, with the primary context, which the CUDA
// runtime and other libraries in the process use as well. Every driver call
// goes through call(), which makes that context current for its duration on
// whatever thread it is, and turns a failure into an Error.
//
// After a fault that the context does not survive (an illegal address in a
// kernel, say) the device is lost: calls throw at once, with the first error in
// their text, instead of blaming what happened to come later. Destructors then
// do nothing. Only a new process can use the GPU again.
//
// Thread safety: all of it may be used from any thread at any time.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_CUDA_CUDADEVICE_H
#define FLASHTILE_RUNTIME_CUDA_CUDADEVICE_H

#include "runtime/Device.h"
#include "runtime/cuda/DriverApi.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace flashtile {

struct CudaDeviceProperties {
  std::string name;
  int computeMajor = 0, computeMinor = 0;
  int multiprocessors = 0;
  int warpSize = 0;
  int maxThreadsPerBlock = 0;
  std::array<int64_t, 3> maxBlock{}, maxGrid{};
  /// Without and with cuFuncSetAttribute.
  int64_t sharedBytesPerBlock = 0, sharedBytesPerBlockOptIn = 0;
  int64_t sharedBytesPerMultiprocessor = 0;
  int64_t registersPerMultiprocessor = 0, threadsPerMultiprocessor = 0;
  int64_t blocksPerMultiprocessor = 0;
  int64_t l2Bytes = 0;
  uint64_t memoryBytes = 0;
  bool hasMemoryPools = false;
  bool hasClusters = false;

  /// "sm_90".
  std::string architecture() const;
};

class CudaDevice {
public:
  /// GPUs that the process may use. Throws as DriverApi::get().
  static int count();
  /// Whether there is a driver and at least one GPU; if not, says why.
  static bool isAvailable(std::string *reason = nullptr);

  /// The GPU with this index, its context retained until the process ends.
  /// Throws NotFound if there is none, and as DriverApi::get().
  static CudaDevice &get(int index);
  static CudaDevice &get(Device device);

  CudaDevice(const CudaDevice &) = delete;
  CudaDevice &operator=(const CudaDevice &) = delete;

  int index() const { return deviceIndex; }
  Device device() const { return Device::cuda(deviceIndex); }
  const CudaDeviceProperties &properties() const { return deviceProperties; }
  int driverVersion() const { return driver.driverVersion; }
  const cuda::DriverApi &api() const { return driver; }
  cuda::ContextHandle context() const { return primaryContext; }
  /// Of allocations in stream order; null without pools.
  cuda::PoolHandle memoryPool() const { return pool; }
  /// "cuda:0 (NVIDIA H200, sm_90)".
  std::string describe() const;

  struct Memory {
    size_t freeBytes, totalBytes;
  };
  Memory memory();
  /// Waits for everything on the device.
  void synchronize();

  /// Whether launches wait for the kernel, as FLASHTILE_CUDA_SYNC asks for.
  bool launchesAreSynchronous() const { return isSynchronous; }
  void setSynchronousLaunches(bool enabled) { isSynchronous = enabled; }

  bool isLost() const { return lost.load(std::memory_order_acquire); }
  /// Throws Device, "context lost", if it is.
  void throwIfLost() const {
    if (isLost())
      failLost();
  }

  /// Calls the driver with the context current, and throws unless it succeeds.
  template <typename... Parameters, typename... Arguments>
  void call(const cuda::DriverFunction<Parameters...> &function,
            Arguments... arguments) {
    if (cuda::Result result = tryCall(function, arguments...))
      fail(function.name, result);
  }
  /// The same, but returns the driver's error. Throws if the device is lost.
  template <typename... Parameters, typename... Arguments>
  cuda::Result tryCall(const cuda::DriverFunction<Parameters...> &function,
                       Arguments... arguments);
  /// For destructors: no error leaves it, and nothing is called where the
  /// device is lost or the process exits.
  template <typename... Parameters, typename... Arguments>
  void release(const cuda::DriverFunction<Parameters...> &function,
               Arguments... arguments) noexcept;

  /// Throws the Error for `result`, which `what` got: OutOfMemory or Device.
  /// `detail` goes to the end. Marks the device as lost where it is.
  [[noreturn]] void fail(const std::string &what, cuda::Result result,
                         const std::string &detail = {});

private:
  friend class ContextGuard;
  CudaDevice(const cuda::DriverApi &driver, int index);

  void readProperties(cuda::DeviceHandle handle);
  void openPool(cuda::DeviceHandle handle);
  void markLost(const std::string &reason);
  void noteResult(const char *what, cuda::Result result) noexcept;
  [[noreturn]] void failLost() const;

  const cuda::DriverApi &driver;
  const int deviceIndex;
  CudaDeviceProperties deviceProperties;
  cuda::ContextHandle primaryContext = nullptr;
  cuda::PoolHandle pool = nullptr;
  std::atomic<bool> isSynchronous;
  std::atomic<bool> lost{false};
  mutable std::mutex lostMutex;
  std::string lostReason;
};

/// Makes the device's context current on this thread, and what was current
/// before again at the end of the scope. Within a scope of the same device on
/// the same thread it asks the driver for nothing: one around several calls
/// saves what each of them would take. The scope holds no code of the
/// application, which could change what is current.
class ContextGuard {
public:
  explicit ContextGuard(CudaDevice &device);
  ~ContextGuard();
  ContextGuard(const ContextGuard &) = delete;
  ContextGuard &operator=(const ContextGuard &) = delete;

private:
  friend class CudaDevice;
  struct Quiet {};
  ContextGuard(CudaDevice &device, Quiet) noexcept;
  cuda::Result enter() noexcept;

  CudaDevice &device;
  const CudaDevice *outer; ///< of the scope around this one
  bool isPushed = false;
  cuda::Result result; ///< of entering
};

template <typename... Parameters, typename... Arguments>
cuda::Result
CudaDevice::tryCall(const cuda::DriverFunction<Parameters...> &function,
                    Arguments... arguments) {
  ContextGuard guard(*this);
  return function(arguments...);
}

template <typename... Parameters, typename... Arguments>
void CudaDevice::release(const cuda::DriverFunction<Parameters...> &function,
                         Arguments... arguments) noexcept {
  if (cuda::isExiting() || isLost())
    return;
  // If the context cannot be entered, the call is still worth a try: most
  // handles name their context.
  ContextGuard guard(*this, ContextGuard::Quiet());
  noteResult(function.name, function(arguments...));
}

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_CUDA_CUDADEVICE_H
