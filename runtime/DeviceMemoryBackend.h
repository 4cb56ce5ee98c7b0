//===- DeviceMemoryBackend.h - Memory that is not the host's --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tensors need of a kind of device: memory, copies and fills. A library
// for that kind registers an implementation, so that TileRuntime itself needs
// no driver.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_DEVICEMEMORYBACKEND_H
#define FLASHTILE_RUNTIME_DEVICEMEMORYBACKEND_H

#include "runtime/Device.h"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace flashtile {

/// Copies and fills may return before they are done; they run in the order in
/// which one thread makes them. Everything throws Error.
class DeviceMemoryBackend {
public:
  struct Block {
    void *data = nullptr;
    void *handle = nullptr; ///< the backend's own, Storage::deviceBlock()
    std::function<void()> release; ///< does not throw
  };

  virtual ~DeviceMemoryBackend();

  /// Uninitialised memory, never null.
  virtual Block allocate(size_t numBytes, Device device) = 0;
  /// Throws if there is no such device.
  virtual void checkDevice(Device device) = 0;
  virtual void copyFromHost(Device device, void *target, const void *source,
                            size_t numBytes) = 0;
  virtual void copyToHost(Device device, void *target, const void *source,
                          size_t numBytes) = 0;
  virtual void copy(Device targetDevice, void *target, Device sourceDevice,
                    const void *source, size_t numBytes) = 0;
  /// Sets `count` elements of 1, 2 or 4 bytes to the low bytes of `pattern`.
  virtual void fill(Device device, void *target, uint32_t pattern,
                    size_t elementSize, size_t count) = 0;
  /// Returns when all of this thread's copies and fills on `device` are done.
  virtual void synchronize(Device device) = 0;

  /// `backend` lives as long as the process. The last one counts.
  static void registerFor(Device::Kind kind, DeviceMemoryBackend *backend);
  /// Throws Unsupported where none is registered for `device`'s kind.
  static DeviceMemoryBackend &of(Device device);
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_DEVICEMEMORYBACKEND_H
