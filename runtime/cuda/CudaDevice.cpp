//===- CudaDevice.cpp - A GPU and its context -----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/CudaDevice.h"

#include "compiler/Support/Error.h"
#include "runtime/EnvOptions.h"

#include <memory>
#include <vector>

using namespace flashtile;
using namespace flashtile::cuda;

/// Errors that a context does not survive: all later calls return them, too.
static bool isSticky(Result result) {
  switch (result) {
  case deviceUnavailable:
  case eccUncorrectable:
  case nvlinkUncorrectable:
  case contained:
  case illegalAddress:
  case launchTimeout:
  case contextIsDestroyed:
  case deviceAssert:
  case hardwareStackError:
  case illegalInstruction:
  case misalignedAddress:
  case invalidAddressSpace:
  case invalidPc:
  case launchFailed:
  case tensorMemoryLeak:
    return true;
  default:
    return false;
  }
}

std::string CudaDeviceProperties::architecture() const {
  return "sm_" + std::to_string(computeMajor) + std::to_string(computeMinor);
}

//===----------------------------------------------------------------------===//
// The devices of the process.
//===----------------------------------------------------------------------===//

/// Throws for calls made before a device exists.
static void checkCall(const DriverApi &api, const char *name, Result result) {
  if (result != success)
    throw Error(ErrorCode::Device,
                std::string(name) + ": " + api.describe(result));
}

int CudaDevice::count() {
  const DriverApi &api = DriverApi::get();
  int count = 0;
  checkCall(api, api.cuDeviceGetCount.name, api.cuDeviceGetCount(&count));
  return count;
}

bool CudaDevice::isAvailable(std::string *reason) {
  try {
    if (count() > 0)
      return true;
    if (reason)
      *reason = "the CUDA driver lists no device";
  } catch (const Error &error) {
    if (reason)
      *reason = error.what();
  }
  return false;
}

CudaDevice &CudaDevice::get(Device device) {
  if (!device.isCuda())
    throw Error(ErrorCode::InvalidArgument,
                "expected a cuda device, but got '" + device.toString() + "'");
  return get(device.index());
}

CudaDevice &CudaDevice::get(int index) {
  constexpr int fastCount = 64; // found without a lock
  struct Devices {
    std::mutex mutex;
    std::array<std::atomic<CudaDevice *>, fastCount> fast{};
    std::vector<std::unique_ptr<CudaDevice>> all;
  };
  // Never destroyed: objects with static lifetime use it at exit.
  static Devices &devices = *new Devices;
  if (index >= 0 && index < fastCount)
    if (CudaDevice *device = devices.fast[static_cast<size_t>(index)].load(
            std::memory_order_acquire))
      return *device;

  const int available = count();
  if (index < 0 || index >= available)
    throw Error(ErrorCode::NotFound,
                "there is no device 'cuda:" + std::to_string(index) +
                    "': the driver lists " + std::to_string(available) +
                    (available == 1 ? " device" : " devices"));
  const std::lock_guard<std::mutex> lock(devices.mutex);
  const size_t place = static_cast<size_t>(index);
  if (devices.all.size() <= place)
    devices.all.resize(static_cast<size_t>(available));
  std::unique_ptr<CudaDevice> &device = devices.all[place];
  if (!device)
    device.reset(new CudaDevice(DriverApi::get(), index));
  if (index < fastCount)
    devices.fast[place].store(device.get(), std::memory_order_release);
  return *device;
}

CudaDevice::CudaDevice(const DriverApi &driver, int index)
    : driver(driver), deviceIndex(index),
      isSynchronous(EnvOptions::read().cudaSync) {
  DeviceHandle handle = 0;
  checkCall(driver, driver.cuDeviceGet.name,
            driver.cuDeviceGet(&handle, index));
  readProperties(handle);
  openPool(handle);
  const Result result =
      driver.cuDevicePrimaryCtxRetain(&primaryContext, handle);
  if (result != success)
    throw Error(result == outOfMemory ? ErrorCode::OutOfMemory
                                      : ErrorCode::Device,
                "cannot create a context on device " + describe() +
                    ": cuDevicePrimaryCtxRetain: " + driver.describe(result));
}

void CudaDevice::readProperties(DeviceHandle handle) {
  const auto attribute = [&](DeviceAttribute which) {
    int value = 0;
    checkCall(driver, driver.cuDeviceGetAttribute.name,
              driver.cuDeviceGetAttribute(&value, which, handle));
    return value;
  };
  CudaDeviceProperties &p = deviceProperties;
  char name[256] = "";
  checkCall(driver, driver.cuDeviceGetName.name,
            driver.cuDeviceGetName(name, sizeof name, handle));
  p.name = name;
  size_t bytes = 0;
  checkCall(driver, driver.cuDeviceTotalMem.name,
            driver.cuDeviceTotalMem(&bytes, handle));
  p.memoryBytes = bytes;
  p.computeMajor = attribute(attributeComputeMajor);
  p.computeMinor = attribute(attributeComputeMinor);
  p.multiprocessors = attribute(attributeMultiprocessorCount);
  p.warpSize = attribute(attributeWarpSize);
  p.maxThreadsPerBlock = attribute(attributeMaxThreadsPerBlock);
  for (int i = 0; i < 3; ++i) {
    p.maxBlock[static_cast<size_t>(i)] = attribute(attributeMaxBlockX + i);
    p.maxGrid[static_cast<size_t>(i)] = attribute(attributeMaxGridX + i);
  }
  p.sharedBytesPerBlock = attribute(attributeSharedMemoryPerBlock);
  p.sharedBytesPerBlockOptIn = attribute(attributeSharedMemoryPerBlockOptIn);
  p.sharedBytesPerMultiprocessor =
      attribute(attributeSharedMemoryPerMultiprocessor);
  p.registersPerMultiprocessor = attribute(attributeRegistersPerMultiprocessor);
  p.threadsPerMultiprocessor = attribute(attributeThreadsPerMultiprocessor);
  p.blocksPerMultiprocessor = attribute(attributeBlocksPerMultiprocessor);
  p.l2Bytes = attribute(attributeL2CacheSize);
  p.hasMemoryPools = attribute(attributeMemoryPools) != 0;
  p.hasClusters = attribute(attributeClusterLaunch) != 0;
}

/// The default pool, told to keep what is freed: giving it back to the system
/// at each synchronisation, as it does by default, makes every allocation after
/// that as slow as cuMemAlloc. Without a pool, allocations use cuMemAlloc.
void CudaDevice::openPool(DeviceHandle handle) {
  if (!deviceProperties.hasMemoryPools ||
      driver.cuDeviceGetDefaultMemPool(&pool, handle) != success) {
    pool = nullptr;
    return;
  }
  uint64_t threshold = UINT64_MAX;
  // It is only about speed, so a failure does not matter.
  driver.cuMemPoolSetAttribute(pool, poolReleaseThreshold, &threshold);
}

std::string CudaDevice::describe() const {
  return device().toString() + " (" + deviceProperties.name + ", " +
         deviceProperties.architecture() + ")";
}

CudaDevice::Memory CudaDevice::memory() {
  Memory memory{};
  call(driver.cuMemGetInfo, &memory.freeBytes, &memory.totalBytes);
  return memory;
}

void CudaDevice::synchronize() { call(driver.cuCtxSynchronize); }

//===----------------------------------------------------------------------===//
// Errors.
//===----------------------------------------------------------------------===//

void CudaDevice::fail(const std::string &what, Result result,
                      const std::string &detail) {
  std::string text = what + " on device " + device().toString() + ": " +
                     driver.describe(result) + detail;
  if (result == notInitialized)
    text += "; a process that was forked after CUDA had started cannot use it: "
            "fork first, or call exec";
  if (isSticky(result)) {
    if (!launchesAreSynchronous())
      text += "; the cause may be any earlier kernel on this device: set "
              "FLASHTILE_CUDA_SYNC=1 to learn which";
    markLost(text);
  }
  throw Error(
      result == outOfMemory ? ErrorCode::OutOfMemory : ErrorCode::Device, text);
}

void CudaDevice::markLost(const std::string &reason) {
  const std::lock_guard<std::mutex> lock(lostMutex);
  if (!lost.load(std::memory_order_relaxed))
    lostReason = reason;
  lost.store(true, std::memory_order_release);
}

void CudaDevice::noteResult(const char *what, Result result) noexcept {
  if (!isSticky(result))
    return;
  try {
    markLost(std::string(what) + ": " + driver.describe(result));
  } catch (...) {
    // Not even memory for the text.
    lost.store(true, std::memory_order_release);
  }
}

void CudaDevice::failLost() const {
  std::string reason;
  {
    const std::lock_guard<std::mutex> lock(lostMutex);
    reason = lostReason;
  }
  throw Error(ErrorCode::Device,
              "context lost: device " + device().toString() +
                  " failed earlier, and only a new process can use it again; "
                  "the first error was: " +
                  reason);
}

//===----------------------------------------------------------------------===//
// ContextGuard.
//===----------------------------------------------------------------------===//

/// Of the innermost guard on this thread, whose context is current.
static thread_local const CudaDevice *entered = nullptr;

ContextGuard::ContextGuard(CudaDevice &device)
    : device(device), outer(entered) {
  device.throwIfLost();
  result = enter();
  if (result != success)
    device.fail("making the context current", result);
}

ContextGuard::ContextGuard(CudaDevice &device, Quiet) noexcept
    : device(device), outer(entered), result(enter()) {}

Result ContextGuard::enter() noexcept {
  if (entered == &device)
    return success;
  const DriverApi &api = device.api();
  ContextHandle current = nullptr;
  // Mostly it is current already, and asking is cheaper than pushing.
  if (api.cuCtxGetCurrent(&current) != success || current != device.context()) {
    if (Result result = api.cuCtxPushCurrent(device.context()))
      return result;
    isPushed = true;
  }
  entered = &device;
  return success;
}

ContextGuard::~ContextGuard() {
  entered = outer;
  ContextHandle popped = nullptr;
  if (isPushed)
    device.api().cuCtxPopCurrent(&popped);
}
