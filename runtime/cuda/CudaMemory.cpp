//===- CudaMemory.cpp - Memory of the device and pinned memory ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/CudaMemory.h"

#include "compiler/Support/Error.h"

#include <algorithm>
#include <utility>

using namespace flashtile;
using namespace flashtile::cuda;

static Result tryAllocate(CudaDevice &device, const CudaStream &stream,
                          size_t numBytes, DevicePointer &pointer) {
  return device.memoryPool()
             ? device.tryCall(device.api().cuMemAllocAsync, &pointer, numBytes,
                              stream.handle())
             : device.tryCall(device.api().cuMemAlloc, &pointer, numBytes);
}

[[noreturn]] static void failAllocation(CudaDevice &device, size_t numBytes,
                                        Result result) {
  std::string detail;
  size_t free = 0, total = 0;
  if (result == outOfMemory &&
      device.tryCall(device.api().cuMemGetInfo, &free, &total) == success)
    detail = "; " + std::to_string(free) + " of " + std::to_string(total) +
             " bytes are free";
  device.fail("allocating " + std::to_string(numBytes) + " bytes", result,
              detail);
}

DeviceMemory::DeviceMemory(CudaStream stream, size_t numBytes)
    : byteCount(numBytes), own(std::move(stream)) {
  CudaDevice &device = own->device();
  const ContextGuard guard(device);
  isPooled = device.memoryPool() != nullptr;
  // The driver has no blocks of 0 bytes.
  const size_t allocated = std::max<size_t>(numBytes, 1);
  Result result = tryAllocate(device, *own, allocated, pointer);
  if (result == outOfMemory && isPooled && !own->isCapturing()) {
    // Work under way may hold memory that is about to be freed.
    device.synchronize();
    device.tryCall(device.api().cuMemPoolTrimTo, device.memoryPool(),
                   size_t(0));
    result = tryAllocate(device, *own, allocated, pointer);
  }
  if (result != success)
    failAllocation(device, numBytes, result);
}

DeviceMemory &DeviceMemory::operator=(DeviceMemory &&other) noexcept {
  if (this == &other)
    return *this;
  reset();
  pointer = std::exchange(other.pointer, 0);
  byteCount = std::exchange(other.byteCount, 0);
  isPooled = other.isPooled;
  own = std::move(other.own);
  users = std::move(other.users);
  lastUser = other.lastUser.exchange(nullptr);
  return *this;
}

void DeviceMemory::usedBy(const CudaStream &user) {
  if (user == *own)
    return;
  auto found = std::find(users.begin(), users.end(), user);
  if (found == users.end())
    found = users.insert(users.end(), user);
  lastUser.store(found->identity(), std::memory_order_release);
}

/// Makes the allocation's stream wait for the others. If it cannot, waits for
/// them here.
void DeviceMemory::waitForUsers() noexcept {
  for (const CudaStream &user : users) {
    try {
      own->wait(user);
    } catch (...) {
      CudaDevice &device = user.device();
      device.release(device.api().cuStreamSynchronize, user.handle());
    }
  }
}

void DeviceMemory::reset() noexcept {
  if (!pointer)
    return;
  CudaDevice &device = own->device();
  if (!isExiting() && !device.isLost()) {
    waitForUsers();
    if (isPooled)
      device.release(device.api().cuMemFreeAsync, pointer, own->handle());
    else
      device.release(device.api().cuMemFree, pointer);
  }
  pointer = 0;
  byteCount = 0;
  own.reset();
  users.clear();
  lastUser = nullptr;
}

PinnedMemory::PinnedMemory(CudaDevice &device, size_t numBytes)
    : device(&device), byteCount(numBytes) {
  const Result result =
      device.tryCall(device.api().cuMemHostAlloc, &pointer,
                     std::max<size_t>(numBytes, 1), hostMemoryPortable);
  if (result != success)
    device.fail("allocating " + std::to_string(numBytes) +
                    " bytes of pinned host memory",
                result);
}

PinnedMemory &PinnedMemory::operator=(PinnedMemory &&other) noexcept {
  if (this == &other)
    return *this;
  reset();
  device = other.device;
  pointer = std::exchange(other.pointer, nullptr);
  byteCount = std::exchange(other.byteCount, 0);
  return *this;
}

void PinnedMemory::reset() noexcept {
  if (pointer)
    device->release(device->api().cuMemFreeHost, pointer);
  pointer = nullptr;
  byteCount = 0;
}
