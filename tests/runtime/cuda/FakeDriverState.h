//===- FakeDriverState.h - What the entry points share --------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inside of the library fake-cuda: its entry points by name, what each does
// first, and what is queued and kept.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_RUNTIME_CUDA_FAKEDRIVERSTATE_H
#define FLASHTILE_TESTS_RUNTIME_CUDA_FAKEDRIVERSTATE_H

#include "tests/runtime/cuda/FakeDriver.h"

#include "runtime/cuda/DriverApi.h"

#include <cstdlib>
#include <memory>
#include <utility>

namespace flashtile::fake {

using namespace flashtile::cuda;

// Not the names that libcuda exports: the entry points are found through
// cuGetProcAddress_v2 alone.
#define FLASHTILE_DRIVER_FUNCTION(name, version, ...) Result name(__VA_ARGS__);
#include "runtime/cuda/DriverApi.def"

FakeDriver &driver();

//===----------------------------------------------------------------------===//
// What each call does first
//===----------------------------------------------------------------------===//

using Lock = std::lock_guard<std::recursive_mutex>;

enum class Needs { Nothing, Context };

/// Records the call and says what the script lets it return.
Result enter(const char *name, StreamHandle stream = nullptr,
             Needs needs = Needs::Context);

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
// What is alive
//===----------------------------------------------------------------------===//

/// What is alive stays reachable, as in a driver: it is no leak of the process
/// that a lost device gives nothing back.
std::set<void *> &liveObjects();

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

inline void *hostAddress(DevicePointer pointer) {
  return reinterpret_cast<void *>(pointer);
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

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
/// Null for a default stream.
Stream *find(StreamHandle handle);

/// Runs the work, or records it where the stream is being captured.
void queue(StreamHandle handle, std::function<void()> work);

} // namespace flashtile::fake

#endif // FLASHTILE_TESTS_RUNTIME_CUDA_FAKEDRIVERSTATE_H
