//===- CudaMemory.h - Memory of the device and pinned memory --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_CUDA_CUDAMEMORY_H
#define FLASHTILE_RUNTIME_CUDA_CUDAMEMORY_H

#include "runtime/cuda/CudaStream.h"

#include <atomic>
#include <cstddef>
#include <optional>
#include <vector>

namespace flashtile {

/// A block of device memory, allocated and freed in the order of a stream: the
/// work in it between the two may use the block. Work in other streams may if
/// the streams wait for each other, or if the block knows (usedBy). Devices
/// without memory pools allocate at once and wait for all work when they free.
class DeviceMemory {
public:
  DeviceMemory() = default;
  /// Uninitialised; at least 256-byte aligned. Throws OutOfMemory with what was
  /// asked for and what there is.
  DeviceMemory(CudaStream stream, size_t numBytes);
  ~DeviceMemory() { reset(); }
  DeviceMemory(DeviceMemory &&other) noexcept { *this = std::move(other); }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept;

  cuda::DevicePointer address() const { return pointer; }
  size_t numBytes() const { return byteCount; }
  explicit operator bool() const { return pointer != 0; }

  /// The block is free only after what is in `user` when it is freed.
  void usedBy(const CudaStream &user);
  /// Whether that is known already; false where it takes a search. Unlike the
  /// rest, this may be asked while another thread calls usedBy().
  bool isKnownUser(const CudaStream &user) const {
    return user == *own ||
           user.identity() == lastUser.load(std::memory_order_acquire);
  }
  void reset() noexcept;

private:
  void waitForUsers() noexcept;

  cuda::DevicePointer pointer = 0;
  size_t byteCount = 0;
  bool isPooled = false;
  std::optional<CudaStream> own;
  std::vector<CudaStream> users;               ///< the other ones
  std::atomic<const void *> lastUser{nullptr}; ///< one that `users` holds
};

/// Host memory that the device reads and writes directly: copies from and to it
/// run beside the host.
class PinnedMemory {
public:
  PinnedMemory() = default;
  PinnedMemory(CudaDevice &device, size_t numBytes);
  ~PinnedMemory() { reset(); }
  PinnedMemory(PinnedMemory &&other) noexcept { *this = std::move(other); }
  PinnedMemory &operator=(PinnedMemory &&other) noexcept;

  void *data() const { return pointer; }
  template <typename T>
  T *as() const {
    return static_cast<T *>(pointer);
  }
  size_t numBytes() const { return byteCount; }
  void reset() noexcept;

private:
  CudaDevice *device = nullptr;
  void *pointer = nullptr;
  size_t byteCount = 0;
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_CUDA_CUDAMEMORY_H
