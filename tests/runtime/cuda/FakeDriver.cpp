//===- FakeDriver.cpp - A scripted libcuda --------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The script and the record, devices and contexts, and how entry points are
// found.
//
//===----------------------------------------------------------------------===//

#include "tests/runtime/cuda/FakeDriverState.h"

#include <cstring>

#include <unistd.h>

using namespace flashtile;
using namespace flashtile::cuda;
using namespace flashtile::fake;

namespace {

constexpr int deviceCount = 2;
/// So that a test can tell that a call came after the end of the driver.
constexpr int calledAfterEnd = 77;

std::array<int, deviceCount> contexts; // their addresses are the handles
/// Without a destructor: objects of static lifetime call after those of the
/// thread have run.
struct ContextStack {
  std::array<ContextHandle, 32> handles;
  size_t depth;

  bool empty() const { return depth == 0; }
  ContextHandle back() const { return handles[depth - 1]; }
  void push_back(ContextHandle handle) { handles.at(depth++) = handle; }
  void pop_back() { --depth; }
};
thread_local ContextStack contextStack{};
bool isGone = false;
bool hasFailed = false;

int deviceOf(ContextHandle context) {
  for (int i = 0; i < deviceCount; ++i)
    if (reinterpret_cast<ContextHandle>(&contexts[static_cast<size_t>(i)]) ==
        context)
      return i;
  return -1;
}

} // namespace

FakeDriver &fake::driver() {
  static FakeDriver &instance = *new FakeDriver;
  return instance;
}

Result fake::enter(const char *name, StreamHandle stream, Needs needs) {
  if (isGone)
    _exit(calledAfterEnd);
  FakeDriver &d = driver();
  d.calls.push_back(
      {name, stream, d.currentDevice(), std::this_thread::get_id()});
  if (hasFailed && d.failureStays)
    return d.failResult;
  if (d.failAfter >= 0 && d.failAfter-- == 0) {
    d.lastFailed = name;
    hasFailed = true;
    return d.failResult;
  }
  if (auto once = d.failOnce.find(name); once != d.failOnce.end()) {
    const Result result = once->second;
    d.failOnce.erase(once);
    d.lastFailed = name;
    return result;
  }
  if (needs == Needs::Context && contextStack.empty())
    return invalidContext;
  return success;
}

std::set<void *> &fake::liveObjects() {
  static std::set<void *> &objects = *new std::set<void *>;
  return objects;
}

//===----------------------------------------------------------------------===//
// What tests see.
//===----------------------------------------------------------------------===//

FakeDriver &FakeDriver::get() { return driver(); }

void FakeDriver::reset() {
  const Lock lock(mutex);
  hiddenSymbols.clear();
  initResult = success;
  failOnce.clear();
  failAfter = -1;
  failResult = invalidValue;
  failureStays = false;
  hasFailed = false;
  memoryLimit = size_t(1) << 30;
  infoLog.clear();
  errorLog.clear();
  functionAttributes.clear();
  parameterSizes.clear();
  onLaunch = nullptr;
  calls.clear();
  launches.clear();
  jitOptions.clear();
  lastFailed.clear();
}

int FakeDriver::count(const std::string &name) const {
  int count = 0;
  for (const fake::Call &call : calls)
    count += call.name == name;
  return count;
}

std::vector<StreamHandle> FakeDriver::streamsOf(const std::string &name) const {
  std::vector<StreamHandle> result;
  for (const fake::Call &call : calls)
    if (call.name == name)
      result.push_back(call.stream);
  return result;
}

int FakeDriver::totalAlive() const {
  int total = 0;
  for (const auto &[kind, count] : alive)
    total += count;
  return total;
}

int FakeDriver::contextDepth() const {
  return static_cast<int>(contextStack.depth);
}

int FakeDriver::currentDevice() const {
  return contextStack.empty() ? -1 : deviceOf(contextStack.back());
}

ContextHandle FakeDriver::contextOf(int device) const {
  return reinterpret_cast<ContextHandle>(
      &contexts[static_cast<size_t>(device)]);
}

void FakeDriver::pushContext(int device) {
  contextStack.push_back(contextOf(device));
}

void FakeDriver::popContext() { contextStack.pop_back(); }

//===----------------------------------------------------------------------===//
// Versions and errors
//===----------------------------------------------------------------------===//

Result fake::cuGetErrorName(Result result, const char **text) {
  static const std::map<Result, const char *> names = {
      {success, "CUDA_SUCCESS"},
      {invalidValue, "CUDA_ERROR_INVALID_VALUE"},
      {outOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {noDevice, "CUDA_ERROR_NO_DEVICE"},
      {invalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
      {noBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {invalidPtx, "CUDA_ERROR_INVALID_PTX"},
      {unsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
      {illegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
  };
  const auto found = names.find(result);
  if (found == names.end())
    return invalidValue;
  *text = found->second;
  return success;
}
Result fake::cuGetErrorString(Result, const char **text) {
  *text = "says the fake driver";
  return success;
}
Result fake::cuInit(unsigned) {
  static const bool isFirst = std::atexit([] { isGone = true; }) == 0;
  (void)isFirst;
  return driver().initResult;
}
Result fake::cuDriverGetVersion(int *version) {
  *version = 12040;
  return success;
}
/// Exported: it names the version of a library that lacks cuGetProcAddress_v2.
extern "C" Result cuDriverGetVersion(int *version) {
  return fake::cuDriverGetVersion(version);
}

//===----------------------------------------------------------------------===//
// Devices and contexts
//===----------------------------------------------------------------------===//

Result fake::cuDeviceGetCount(int *count) {
  ENTER(nullptr, Needs::Nothing);
  *count = deviceCount;
  return success;
}
Result fake::cuDeviceGet(DeviceHandle *device, int index) {
  ENTER(nullptr, Needs::Nothing);
  *device = index + 10; // no index by accident
  return success;
}
Result fake::cuDeviceGetName(char *name, int size, DeviceHandle) {
  ENTER(nullptr, Needs::Nothing);
  std::strncpy(name, "Fake GPU", static_cast<size_t>(size));
  return success;
}
Result fake::cuDeviceGetAttribute(int *value, DeviceAttribute attribute,
                                  DeviceHandle device) {
  ENTER(nullptr, Needs::Nothing);
  // The second device is an older one.
  const bool isOld = device == 11;
  const std::map<DeviceAttribute, int> values = {
      {attributeMaxThreadsPerBlock, 1024},
      {attributeMaxBlockX, 1024},
      {attributeMaxBlockX + 1, 1024},
      {attributeMaxBlockX + 2, 64},
      {attributeMaxGridX, 2147483647},
      {attributeMaxGridX + 1, 65535},
      {attributeMaxGridX + 2, 65535},
      {attributeSharedMemoryPerBlock, 49152},
      {attributeWarpSize, 32},
      {attributeMultiprocessorCount, isOld ? 108 : 132},
      {attributeL2CacheSize, 50 << 20},
      {attributeComputeMajor, isOld ? 8 : 9},
      {attributeComputeMinor, 0},
      {attributeSharedMemoryPerMultiprocessor, 233472},
      {attributeRegistersPerMultiprocessor, 65536},
      {attributeThreadsPerMultiprocessor, 2048},
      {attributeBlocksPerMultiprocessor, 32},
      {attributeSharedMemoryPerBlockOptIn, 232448},
      {attributeMemoryPools, !isOld},
      {attributeClusterLaunch, !isOld},
  };
  *value = values.at(attribute);
  return success;
}
Result fake::cuDeviceTotalMem(size_t *bytes, DeviceHandle) {
  ENTER(nullptr, Needs::Nothing);
  *bytes = driver().memoryLimit;
  return success;
}
Result fake::cuDevicePrimaryCtxRetain(ContextHandle *context,
                                      DeviceHandle device) {
  ENTER(nullptr, Needs::Nothing);
  *context = driver().contextOf(device - 10);
  return success;
}
Result fake::cuCtxPushCurrent(ContextHandle context) {
  ENTER(nullptr, Needs::Nothing);
  contextStack.push_back(context);
  return success;
}
Result fake::cuCtxPopCurrent(ContextHandle *context) {
  const Lock lock(driver().mutex);
  const Result failure = enter(__func__, nullptr, Needs::Nothing);
  if (contextStack.empty())
    return invalidContext;
  *context = contextStack.back();
  contextStack.pop_back();
  return failure;
}
Result fake::cuCtxGetCurrent(ContextHandle *context) {
  ENTER(nullptr, Needs::Nothing);
  *context = contextStack.empty() ? nullptr : contextStack.back();
  return success;
}
Result fake::cuCtxSynchronize() {
  ENTER();
  return success;
}

//===----------------------------------------------------------------------===//
// Where the entry points are
//===----------------------------------------------------------------------===//

extern "C" Result cuGetProcAddress_v2(const char *symbol, void **address,
                                      int version, uint64_t, int *status) {
  static const std::map<std::string, void *> table = {
#define FLASHTILE_DRIVER_FUNCTION(name, version, ...)                          \
  {#name, reinterpret_cast<void *>(                                            \
              static_cast<Result (*)(__VA_ARGS__)>(&fake::name))},
#include "runtime/cuda/DriverApi.def"
  };
  const auto found = table.find(symbol);
  if (found == table.end() || driver().hiddenSymbols.count(symbol) ||
      version > 12040) {
    *status = 1;
    return notFound;
  }
  *address = found->second;
  *status = 0;
  return success;
}
