//===- Storage.h - The memory that tensors share --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One block of memory, owned or borrowed, which any number of tensors view.
// It ends with its last user. The version counter lives here, not in the
// tensor, because a write through one view changes what all of them see.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_STORAGE_H
#define FLASHTILE_RUNTIME_STORAGE_H

#include "runtime/Device.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace flashtile {

class Storage {
  /// Keeps the constructor, which make_shared must reach, to this class.
  struct Key {};

public:
  /// Alignment of owned memory: a cache line, and one AVX-512 register.
  static constexpr size_t alignment = 64;

  /// Allocates `numBytes` of uninitialised memory. Throws OutOfMemory where
  /// there is not so much, and Unsupported for a device without a backend
  /// (DeviceMemoryBackend.h).
  static std::shared_ptr<Storage> allocate(size_t numBytes, Device device);

  /// Wraps memory of somebody else; `deleter` (may be empty) runs once, when
  /// the last tensor that views it is gone, and must not throw.
  static std::shared_ptr<Storage> borrow(void *data, size_t numBytes,
                                         Device device,
                                         std::function<void()> deleter);

  Storage(Key, void *data, size_t numBytes, Device device,
          std::function<void()> deleter, void *deviceBlock = nullptr);
  Storage(const Storage &) = delete;
  Storage &operator=(const Storage &) = delete;
  ~Storage();

  std::byte *data() const { return bytes; }
  size_t numBytes() const { return byteCount; }
  Device device() const { return memoryDevice; }
  /// What the device's backend calls memory that it allocated for this; null
  /// for other memory.
  void *deviceBlock() const { return block; }

  uint64_t version() const {
    return versionCounter.load(std::memory_order_acquire);
  }
  void bumpVersion() { versionCounter.fetch_add(1, std::memory_order_acq_rel); }

private:
  std::byte *bytes;
  size_t byteCount;
  Device memoryDevice;
  void *block;
  std::function<void()> deleter;
  std::atomic<uint64_t> versionCounter{0};
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_STORAGE_H
