//===- Storage.cpp - The memory that tensors share ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Storage.h"

#include "compiler/Support/Error.h"
#include "runtime/DeviceMemoryBackend.h"

#include <algorithm>
#include <new>

using namespace flashtile;

Storage::Storage(Key, void *data, size_t numBytes, Device device,
                 std::function<void()> deleter, void *deviceBlock)
    : bytes(static_cast<std::byte *>(data)), byteCount(numBytes),
      memoryDevice(device), block(deviceBlock), deleter(std::move(deleter)) {}

Storage::~Storage() {
  if (deleter)
    deleter();
}

std::shared_ptr<Storage> Storage::allocate(size_t numBytes, Device device) {
  if (!device.isCpu()) {
    DeviceMemoryBackend::Block block =
        DeviceMemoryBackend::of(device).allocate(numBytes, device);
    try {
      return std::make_shared<Storage>(Key(), block.data, numBytes, device,
                                       block.release, block.handle);
    } catch (...) {
      block.release();
      throw;
    }
  }
  constexpr std::align_val_t align{alignment};
  // Nothing is allocated as one byte, so that no tensor has a null pointer.
  void *data =
      ::operator new(std::max<size_t>(numBytes, 1), align, std::nothrow);
  if (!data)
    throw Error(ErrorCode::OutOfMemory, "cannot allocate " +
                                            std::to_string(numBytes) +
                                            " bytes on device 'cpu'");
  try {
    return std::make_shared<Storage>(Key(), data, numBytes, device, [=] {
      ::operator delete(data, std::align_val_t(alignment));
    });
  } catch (...) {
    ::operator delete(data, align);
    throw;
  }
}

std::shared_ptr<Storage> Storage::borrow(void *data, size_t numBytes,
                                         Device device,
                                         std::function<void()> deleter) {
  if (!device.isCpu())
    DeviceMemoryBackend::of(device).checkDevice(device);
  return std::make_shared<Storage>(Key(), data, numBytes, device,
                                   std::move(deleter));
}
