//===- FakeMemory.cpp - Memory of the scripted libcuda --------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/runtime/cuda/FakeDriverState.h"

#include <cstring>

using namespace flashtile;
using namespace flashtile::cuda;
using namespace flashtile::fake;

static std::map<DevicePointer, size_t> blocks;

static Result allocate(DevicePointer *pointer, size_t bytes) {
  if (bytes == 0)
    return invalidValue;
  if (bytes > driver().memoryLimit - driver().allocatedBytes)
    return outOfMemory;
  *pointer = track<DevicePointer>(
      "memory", std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  blocks[*pointer] = bytes;
  driver().allocatedBytes += bytes;
  return success;
}
static void freeBlock(DevicePointer pointer) {
  driver().allocatedBytes -= blocks.at(pointer);
  blocks.erase(pointer);
  dropHandle("memory", hostAddress(pointer));
}
Result fake::cuMemAlloc(DevicePointer *pointer, size_t bytes) {
  ENTER();
  return allocate(pointer, bytes);
}
Result fake::cuMemFree(DevicePointer pointer) {
  const Lock lock(driver().mutex);
  const Result failure = enter(__func__);
  freeBlock(pointer);
  return failure;
}
Result fake::cuMemAllocAsync(DevicePointer *pointer, size_t bytes,
                             StreamHandle stream) {
  ENTER(stream);
  return allocate(pointer, bytes);
}
Result fake::cuMemFreeAsync(DevicePointer pointer, StreamHandle stream) {
  const Lock lock(driver().mutex);
  const Result failure = enter(__func__, stream);
  freeBlock(pointer);
  return failure;
}
Result fake::cuDeviceGetDefaultMemPool(PoolHandle *pool, DeviceHandle) {
  ENTER(nullptr, Needs::Nothing);
  *pool = reinterpret_cast<PoolHandle>(driver().contextOf(0));
  return success;
}
Result fake::cuMemPoolSetAttribute(PoolHandle, PoolAttribute, void *) {
  ENTER(nullptr, Needs::Nothing);
  return success;
}
Result fake::cuMemPoolTrimTo(PoolHandle, size_t) {
  ENTER();
  return success;
}
Result fake::cuMemGetInfo(size_t *free, size_t *total) {
  ENTER();
  *total = driver().memoryLimit;
  *free = driver().memoryLimit - driver().allocatedBytes;
  return success;
}
Result fake::cuMemHostAlloc(void **pointer, size_t bytes, unsigned) {
  ENTER();
  *pointer = track<void *>("pinned", std::malloc(bytes));
  return success;
}
Result fake::cuMemFreeHost(void *pointer) {
  ENTER_DESTROY("pinned", pointer);
  return success;
}
Result fake::cuMemcpyHtoDAsync(DevicePointer target, const void *source,
                               size_t bytes, StreamHandle stream) {
  ENTER(stream);
  queue(stream, [=] { std::memcpy(hostAddress(target), source, bytes); });
  return success;
}
Result fake::cuMemcpyDtoHAsync(void *target, DevicePointer source, size_t bytes,
                               StreamHandle stream) {
  ENTER(stream);
  queue(stream, [=] { std::memcpy(target, hostAddress(source), bytes); });
  return success;
}
Result fake::cuMemcpyDtoDAsync(DevicePointer target, DevicePointer source,
                               size_t bytes, StreamHandle stream) {
  ENTER(stream);
  queue(stream,
        [=] { std::memcpy(hostAddress(target), hostAddress(source), bytes); });
  return success;
}
Result fake::cuMemcpyPeerAsync(DevicePointer target, ContextHandle,
                               DevicePointer source, ContextHandle,
                               size_t bytes, StreamHandle stream) {
  ENTER(stream);
  std::memcpy(hostAddress(target), hostAddress(source), bytes);
  return success;
}
template <typename T>
static void setMemory(DevicePointer target, T value, size_t count,
                      StreamHandle stream) {
  queue(stream, [=] {
    for (size_t i = 0; i < count; ++i)
      static_cast<T *>(hostAddress(target))[i] = value;
  });
}
Result fake::cuMemsetD8Async(DevicePointer target, unsigned char value,
                             size_t count, StreamHandle stream) {
  ENTER(stream);
  setMemory(target, value, count, stream);
  return success;
}
Result fake::cuMemsetD16Async(DevicePointer target, unsigned short value,
                              size_t count, StreamHandle stream) {
  ENTER(stream);
  setMemory(target, value, count, stream);
  return success;
}
Result fake::cuMemsetD32Async(DevicePointer target, unsigned value,
                              size_t count, StreamHandle stream) {
  ENTER(stream);
  setMemory(target, value, count, stream);
  return success;
}
