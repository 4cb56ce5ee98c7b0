//===- FakeDriver.cpp - A scripted libcuda --------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/runtime/cuda/FakeDriver.h"

#include "runtime/cuda/DriverApi.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include <unistd.h>

using namespace flashtile;
using namespace flashtile::cuda;
using flashtile::fake::FakeDriver;

namespace {

constexpr int deviceCount = 2;
/// So that a test can tell that a call came after the end of the driver.
constexpr int calledAfterEnd = 77;

struct Graph {
  std::vector<std::function<void()>> work;
  /// Kept until the graph and all that was instantiated of it are gone.
  std::vector<std::shared_ptr<void>> kept;
};
struct Stream {
  int device;
  unsigned long long id;
  bool isCapturing = false;
  Graph recorded{};
};
/// With its one reference.
struct UserObject {
  std::shared_ptr<void> data;
};
struct Function {
  std::string name;
  int device;
};

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
std::map<StreamHandle, std::unique_ptr<Stream>> streams;
std::map<DevicePointer, size_t> blocks;
std::vector<std::unique_ptr<Function>> functions;
std::map<ModuleHandle, int> modules;
bool isGone = false;
bool hasFailed = false;

FakeDriver &driver() {
  static FakeDriver &instance = *new FakeDriver;
  return instance;
}

int deviceOf(ContextHandle context) {
  for (int i = 0; i < deviceCount; ++i)
    if (reinterpret_cast<ContextHandle>(&contexts[static_cast<size_t>(i)]) ==
        context)
      return i;
  return -1;
}

enum class Needs { Nothing, Context };

/// Records the call and says what the script lets it return.
Result enter(const char *name, StreamHandle stream = nullptr,
             Needs needs = Needs::Context) {
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

/// What is alive stays reachable, as in a driver: it is no leak of the process
/// that a lost device gives nothing back.
std::set<void *> &liveObjects() {
  static std::set<void *> &objects = *new std::set<void *>;
  return objects;
}
template <typename Handle>
Handle track(const char *kind, void *object) {
  ++driver().alive[kind];
  liveObjects().insert(object);
  return reinterpret_cast<Handle>(object);
}
template <typename Handle>
void *untrack(const char *kind, Handle handle) {
  --driver().alive[kind];
  liveObjects().erase(handle);
  return handle;
}

/// Handles are addresses of memory that nothing else is at.
template <typename Handle>
Handle makeHandle(const char *kind) {
  return track<Handle>(kind, std::malloc(16));
}
template <typename Handle>
void dropHandle(const char *kind, Handle handle) {
  std::free(untrack(kind, handle));
}

Stream *find(StreamHandle handle) {
  auto found = streams.find(handle);
  return found == streams.end() ? nullptr : found->second.get();
}

/// Runs the work, or records it where the stream is being captured.
void queue(StreamHandle handle, std::function<void()> work) {
  Stream *stream = find(handle);
  if (stream && stream->isCapturing)
    stream->recorded.work.push_back(std::move(work));
  else
    work();
}

void *hostAddress(DevicePointer pointer) {
  return reinterpret_cast<void *>(pointer);
}

using Lock = std::lock_guard<std::recursive_mutex>;

} // namespace

#define ENTER(...)                                                             \
  const Lock lock(driver().mutex);                                             \
  if (Result failure = enter(__func__, ##__VA_ARGS__))                         \
  return failure
/// A handle is gone even if destroying it reports an error.
#define ENTER_DESTROY(kind, handle)                                            \
  const Lock lock(driver().mutex);                                             \
  const Result failure = enter(__func__);                                      \
  dropHandle(kind, handle);                                                    \
  if (failure)                                                                 \
  return failure

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
// Entry points. Static: they are found through cuGetProcAddress_v2 alone.
//===----------------------------------------------------------------------===//

static Result cuGetErrorName(Result result, const char **text) {
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
static Result cuGetErrorString(Result, const char **text) {
  *text = "says the fake driver";
  return success;
}
static Result cuInit(unsigned) {
  static const bool isFirst = std::atexit([] { isGone = true; }) == 0;
  (void)isFirst;
  return driver().initResult;
}
/// The only other one that is exported: it names the version of a library that
/// lacks cuGetProcAddress_v2.
extern "C" Result cuDriverGetVersion(int *version) {
  *version = 12040;
  return success;
}

static Result cuDeviceGetCount(int *count) {
  ENTER(nullptr, Needs::Nothing);
  *count = deviceCount;
  return success;
}
static Result cuDeviceGet(DeviceHandle *device, int index) {
  ENTER(nullptr, Needs::Nothing);
  *device = index + 10; // no index by accident
  return success;
}
static Result cuDeviceGetName(char *name, int size, DeviceHandle) {
  ENTER(nullptr, Needs::Nothing);
  std::strncpy(name, "Fake GPU", static_cast<size_t>(size));
  return success;
}
static Result cuDeviceGetAttribute(int *value, DeviceAttribute attribute,
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
static Result cuDeviceTotalMem(size_t *bytes, DeviceHandle) {
  ENTER(nullptr, Needs::Nothing);
  *bytes = driver().memoryLimit;
  return success;
}
static Result cuDevicePrimaryCtxRetain(ContextHandle *context,
                                       DeviceHandle device) {
  ENTER(nullptr, Needs::Nothing);
  *context = driver().contextOf(device - 10);
  return success;
}
static Result cuCtxPushCurrent(ContextHandle context) {
  ENTER(nullptr, Needs::Nothing);
  contextStack.push_back(context);
  return success;
}
static Result cuCtxPopCurrent(ContextHandle *context) {
  const Lock lock(driver().mutex);
  const Result failure = enter(__func__, nullptr, Needs::Nothing);
  if (contextStack.empty())
    return invalidContext;
  *context = contextStack.back();
  contextStack.pop_back();
  return failure;
}
static Result cuCtxGetCurrent(ContextHandle *context) {
  ENTER(nullptr, Needs::Nothing);
  *context = contextStack.empty() ? nullptr : contextStack.back();
  return success;
}
static Result cuCtxSynchronize() {
  ENTER();
  return success;
}

static Result cuStreamCreate(StreamHandle *stream, unsigned flags) {
  ENTER();
  if (flags != streamNonBlocking)
    return invalidValue;
  *stream = makeHandle<StreamHandle>("stream");
  static unsigned long long lastId = 0;
  streams[*stream] =
      std::make_unique<Stream>(Stream{driver().currentDevice(), ++lastId});
  return success;
}
static Result cuStreamDestroy(StreamHandle stream) {
  streams.erase(stream);
  ENTER_DESTROY("stream", stream);
  return success;
}
static Result cuStreamSynchronize(StreamHandle stream) {
  ENTER(stream);
  return success;
}
static Result cuStreamQuery(StreamHandle stream) {
  ENTER(stream);
  return success;
}
static Result cuStreamWaitEvent(StreamHandle stream, EventHandle, unsigned) {
  ENTER(stream);
  return success;
}
static Result cuStreamGetCtx(StreamHandle handle, ContextHandle *context) {
  ENTER(handle);
  Stream *stream = find(handle);
  if (!stream)
    return invalidHandle;
  *context = driver().contextOf(stream->device);
  return success;
}
static Result cuEventCreate(EventHandle *event, unsigned) {
  ENTER();
  *event = makeHandle<EventHandle>("event");
  return success;
}
static Result cuEventDestroy(EventHandle event) {
  ENTER_DESTROY("event", event);
  return success;
}
static Result cuEventRecord(EventHandle, StreamHandle stream) {
  ENTER(stream);
  return success;
}
static Result cuEventQuery(EventHandle) {
  ENTER();
  return notReady;
}
static Result cuEventSynchronize(EventHandle) {
  ENTER();
  return success;
}
static Result cuEventElapsedTime(float *milliseconds, EventHandle,
                                 EventHandle) {
  ENTER();
  *milliseconds = 1.5f;
  return success;
}

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
static Result cuMemAlloc(DevicePointer *pointer, size_t bytes) {
  ENTER();
  return allocate(pointer, bytes);
}
static Result cuMemFree(DevicePointer pointer) {
  const Lock lock(driver().mutex);
  const Result failure = enter(__func__);
  freeBlock(pointer);
  return failure;
}
static Result cuMemAllocAsync(DevicePointer *pointer, size_t bytes,
                              StreamHandle stream) {
  ENTER(stream);
  return allocate(pointer, bytes);
}
static Result cuMemFreeAsync(DevicePointer pointer, StreamHandle stream) {
  const Lock lock(driver().mutex);
  const Result failure = enter(__func__, stream);
  freeBlock(pointer);
  return failure;
}
static Result cuDeviceGetDefaultMemPool(PoolHandle *pool, DeviceHandle) {
  ENTER(nullptr, Needs::Nothing);
  *pool = reinterpret_cast<PoolHandle>(&contexts);
  return success;
}
static Result cuMemPoolSetAttribute(PoolHandle, PoolAttribute, void *) {
  ENTER(nullptr, Needs::Nothing);
  return success;
}
static Result cuMemPoolTrimTo(PoolHandle, size_t) {
  ENTER();
  return success;
}
static Result cuMemGetInfo(size_t *free, size_t *total) {
  ENTER();
  *total = driver().memoryLimit;
  *free = driver().memoryLimit - driver().allocatedBytes;
  return success;
}
static Result cuMemHostAlloc(void **pointer, size_t bytes, unsigned) {
  ENTER();
  *pointer = track<void *>("pinned", std::malloc(bytes));
  return success;
}
static Result cuMemFreeHost(void *pointer) {
  ENTER_DESTROY("pinned", pointer);
  return success;
}
static Result cuMemcpyHtoDAsync(DevicePointer target, const void *source,
                                size_t bytes, StreamHandle stream) {
  ENTER(stream);
  queue(stream, [=] { std::memcpy(hostAddress(target), source, bytes); });
  return success;
}
static Result cuMemcpyDtoHAsync(void *target, DevicePointer source,
                                size_t bytes, StreamHandle stream) {
  ENTER(stream);
  queue(stream, [=] { std::memcpy(target, hostAddress(source), bytes); });
  return success;
}
static Result cuMemcpyDtoDAsync(DevicePointer target, DevicePointer source,
                                size_t bytes, StreamHandle stream) {
  ENTER(stream);
  queue(stream,
        [=] { std::memcpy(hostAddress(target), hostAddress(source), bytes); });
  return success;
}
static Result cuMemcpyPeerAsync(DevicePointer target, ContextHandle,
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
static Result cuMemsetD8Async(DevicePointer target, unsigned char value,
                              size_t count, StreamHandle stream) {
  ENTER(stream);
  setMemory(target, value, count, stream);
  return success;
}
static Result cuMemsetD16Async(DevicePointer target, unsigned short value,
                               size_t count, StreamHandle stream) {
  ENTER(stream);
  setMemory(target, value, count, stream);
  return success;
}
static Result cuMemsetD32Async(DevicePointer target, unsigned value,
                               size_t count, StreamHandle stream) {
  ENTER(stream);
  setMemory(target, value, count, stream);
  return success;
}

static Result cuStreamBeginCapture(StreamHandle handle, CaptureMode) {
  ENTER(handle);
  Stream *stream = find(handle);
  if (!stream || stream->isCapturing)
    return 900; // as for a default stream
  stream->isCapturing = true;
  return success;
}
static Result cuStreamEndCapture(StreamHandle handle, GraphHandle *graph) {
  const Lock lock(driver().mutex);
  const Result failure = enter(__func__, handle);
  Stream *stream = find(handle);
  stream->isCapturing = false;
  const Graph recorded = std::exchange(stream->recorded, Graph());
  if (failure)
    return failure;
  *graph = track<GraphHandle>("graph", new Graph(recorded));
  return success;
}
static Result cuStreamIsCapturing(StreamHandle handle, CaptureStatus *status) {
  ENTER(handle);
  Stream *stream = find(handle);
  *status = stream && stream->isCapturing;
  return success;
}
static Result cuStreamGetId(StreamHandle handle, unsigned long long *id) {
  ENTER(handle);
  Stream *stream = find(handle);
  // Default streams have numbers, too.
  *id = stream ? stream->id : 1000000 + reinterpret_cast<uintptr_t>(handle);
  return success;
}
static Result cuStreamGetCaptureInfo(StreamHandle handle, CaptureStatus *status,
                                     uint64_t *, GraphHandle *graph,
                                     const GraphNodeHandle **, size_t *) {
  ENTER(handle);
  Stream *stream = find(handle);
  *status = stream && stream->isCapturing;
  if (*status)
    *graph = reinterpret_cast<GraphHandle>(&stream->recorded);
  return success;
}
static Result cuThreadExchangeStreamCaptureMode(CaptureMode *mode) {
  ENTER();
  thread_local CaptureMode current = 0;
  std::swap(current, *mode);
  return success;
}
static Result cuUserObjectCreate(UserObjectHandle *object, void *data,
                                 HostFunction destroy, unsigned count,
                                 unsigned flags) {
  ENTER();
  if (count != 1 || flags != userObjectNoDestructorSync)
    return invalidValue;
  *object = track<UserObjectHandle>(
      "userObject", new UserObject{std::shared_ptr<void>(data, destroy)});
  return success;
}
static Result cuGraphRetainUserObject(GraphHandle graph,
                                      UserObjectHandle object, unsigned count,
                                      unsigned flags) {
  ENTER();
  if (count != 1 || flags != graphUserObjectMove)
    return invalidValue;
  std::unique_ptr<UserObject> moved(
      static_cast<UserObject *>(untrack("userObject", object)));
  reinterpret_cast<Graph *>(graph)->kept.push_back(std::move(moved->data));
  return success;
}
static Result cuGraphInstantiateWithFlags(GraphExecHandle *exec,
                                          GraphHandle graph,
                                          unsigned long long) {
  ENTER();
  *exec = track<GraphExecHandle>("graphExec",
                                 new Graph(*reinterpret_cast<Graph *>(graph)));
  return success;
}
static Result cuGraphLaunch(GraphExecHandle exec, StreamHandle stream) {
  ENTER(stream);
  for (const auto &work : reinterpret_cast<Graph *>(exec)->work)
    work();
  return success;
}
static Result cuGraphDestroy(GraphHandle graph) {
  const Lock lock(driver().mutex);
  const Result failure = enter(__func__);
  delete static_cast<Graph *>(untrack("graph", graph));
  return failure;
}
static Result cuGraphExecDestroy(GraphExecHandle exec) {
  const Lock lock(driver().mutex);
  const Result failure = enter(__func__);
  delete static_cast<Graph *>(untrack("graphExec", exec));
  return failure;
}

namespace {
/// Where a link writes its logs, and the cubin it gives.
struct Link {
  char *errorLog = nullptr;
  char *infoLog = nullptr;
  std::vector<char> cubin;
};
} // namespace

static Result cuLinkCreate(unsigned count, JitOption *options, void **values,
                           LinkHandle *handle) {
  ENTER();
  auto *link = new Link;
  for (unsigned i = 0; i < count; ++i) {
    driver().jitOptions[options[i]] = reinterpret_cast<size_t>(values[i]);
    if (options[i] == jitInfoLogBuffer)
      link->infoLog = static_cast<char *>(values[i]);
    if (options[i] == jitErrorLogBuffer)
      link->errorLog = static_cast<char *>(values[i]);
  }
  *handle = track<LinkHandle>("link", link);
  return success;
}
static Result writeLogs(Link &link, Result result) {
  std::strcpy(link.infoLog, driver().infoLog.c_str());
  if (result)
    std::strcpy(link.errorLog, driver().errorLog.c_str());
  return result;
}
static Result cuLinkAddData(LinkHandle handle, JitInputType type, void *data,
                            size_t size, const char *, unsigned, JitOption *,
                            void **) {
  const Lock lock(driver().mutex);
  Link &link = *reinterpret_cast<Link *>(handle);
  if (Result failure = enter(__func__))
    return writeLogs(link, failure);
  const char *text = static_cast<const char *>(data);
  if (type != jitInputPtx || text[size - 1] != '\0')
    return invalidValue;
  link.cubin.assign(128, 0);
  std::memcpy(link.cubin.data(), "\177ELF", 4);
  link.cubin.insert(link.cubin.end(), text, text + size);
  return success;
}
static Result cuLinkComplete(LinkHandle handle, void **cubin, size_t *size) {
  const Lock lock(driver().mutex);
  Link &link = *reinterpret_cast<Link *>(handle);
  if (Result failure = enter(__func__))
    return writeLogs(link, failure);
  *cubin = link.cubin.data();
  *size = link.cubin.size();
  return writeLogs(link, success);
}
static Result cuLinkDestroy(LinkHandle handle) {
  const Lock lock(driver().mutex);
  const Result failure = enter(__func__);
  delete static_cast<Link *>(untrack("link", handle));
  return failure;
}
static Result cuModuleLoadDataEx(ModuleHandle *module, const void *,
                                 unsigned count, JitOption *options,
                                 void **values) {
  const Lock lock(driver().mutex);
  const Result failure = enter(__func__);
  // PTX is compiled here, and what was said of it written as by a link.
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == jitInfoLogBuffer)
      std::strcpy(static_cast<char *>(values[i]), driver().infoLog.c_str());
    if (options[i] == jitErrorLogBuffer && failure)
      std::strcpy(static_cast<char *>(values[i]), driver().errorLog.c_str());
  }
  if (failure)
    return failure;
  *module = makeHandle<ModuleHandle>("module");
  modules[*module] = driver().currentDevice();
  return success;
}
static Result cuModuleUnload(ModuleHandle module) {
  modules.erase(module);
  ENTER_DESTROY("module", module);
  return success;
}
static Result cuModuleGetFunction(FunctionHandle *function, ModuleHandle module,
                                  const char *name) {
  ENTER();
  if (std::strcmp(name, "missing") == 0)
    return notFound;
  functions.push_back(
      std::make_unique<Function>(Function{name, modules.at(module)}));
  *function = reinterpret_cast<FunctionHandle>(functions.back().get());
  return success;
}
static Result cuFuncGetAttribute(int *value, FunctionAttribute attribute,
                                 FunctionHandle) {
  ENTER();
  const auto scripted = [](const char *name, int otherwise) {
    const auto &all = driver().functionAttributes;
    const auto found = all.find(name);
    return found == all.end() ? otherwise : found->second;
  };
  switch (attribute) {
  case functionRegisters:
    *value = scripted("registers", 32);
    break;
  case functionLocalBytes:
    *value = scripted("localBytes", 0);
    break;
  case functionStaticSharedBytes:
    *value = scripted("staticSharedBytes", 0);
    break;
  case functionMaxThreadsPerBlock:
    *value = scripted("maxThreadsPerBlock", 1024);
    break;
  case functionMaxDynamicSharedBytes:
    *value = 49152 - scripted("staticSharedBytes", 0);
    break;
  default:
    return invalidValue;
  }
  return success;
}
static Result cuFuncSetAttribute(FunctionHandle, FunctionAttribute, int) {
  ENTER();
  return success;
}

static Result doLaunch(FunctionHandle handle, std::array<unsigned, 3> grid,
                       std::array<unsigned, 3> block,
                       std::array<unsigned, 3> cluster, unsigned sharedBytes,
                       StreamHandle stream, void **arguments) {
  const Function &function = *reinterpret_cast<Function *>(handle);
  if (function.device != driver().currentDevice())
    return invalidHandle;
  fake::Launch launch{function.name, grid,   block,           cluster,
                      sharedBytes,   stream, function.device, arguments};
  driver().launches.push_back(launch);
  queue(stream, [launch] {
    if (driver().onLaunch)
      driver().onLaunch(launch);
  });
  return success;
}
static Result cuLaunchKernel(FunctionHandle function, unsigned gx, unsigned gy,
                             unsigned gz, unsigned bx, unsigned by, unsigned bz,
                             unsigned sharedBytes, StreamHandle stream,
                             void **arguments, void **) {
  ENTER(stream);
  return doLaunch(function, {gx, gy, gz}, {bx, by, bz}, {1, 1, 1}, sharedBytes,
                  stream, arguments);
}
static Result cuLaunchKernelEx(const DriverLaunchConfig *config,
                               FunctionHandle function, void **arguments,
                               void **) {
  ENTER(config->stream);
  const auto array = [](const unsigned *values) {
    return std::array<unsigned, 3>{values[0], values[1], values[2]};
  };
  if (config->attributeCount != 1 ||
      config->attributes->id != launchAttributeClusterDimension)
    return invalidValue;
  return doLaunch(function, array(config->grid), array(config->block),
                  array(config->attributes->clusterDimension),
                  config->dynamicSharedBytes, config->stream, arguments);
}
static Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                          FunctionHandle,
                                                          int threads, size_t) {
  ENTER();
  *blocks = 2048 / threads;
  return success;
}
static Result cuTensorMapEncodeTiled(DriverTensorMap *map, int type,
                                     uint32_t rank, void *base,
                                     const uint64_t *shape,
                                     const uint64_t *strides,
                                     const uint32_t *box, const uint32_t *, int,
                                     int swizzle, int, int fill) {
  ENTER();
  map->opaque[0] = reinterpret_cast<uint64_t>(base);
  map->opaque[1] = static_cast<uint64_t>(type);
  map->opaque[2] = rank;
  map->opaque[3] = shape[0];
  map->opaque[4] = rank > 1 ? strides[0] : 0;
  map->opaque[5] = box[0];
  map->opaque[6] = static_cast<uint64_t>(swizzle);
  map->opaque[7] = static_cast<uint64_t>(fill);
  return success;
}

extern "C" Result cuGetProcAddress_v2(const char *symbol, void **address,
                                      int version, uint64_t, int *status) {
  static const std::map<std::string, void *> table = {
#define FLASHTILE_DRIVER_FUNCTION(name, version, ...)                          \
  {#name,                                                                      \
   reinterpret_cast<void *>(static_cast<Result (*)(__VA_ARGS__)>(&name))},
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
