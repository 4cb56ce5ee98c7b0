//===- FakeDriver.h - A scripted libcuda ----------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shared library fake-cuda has the entry points of DriverApi.def and lets
// tests see what was called, and decide what comes back. Device memory is host
// memory, and work runs when it is queued.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_RUNTIME_CUDA_FAKEDRIVER_H
#define FLASHTILE_TESTS_RUNTIME_CUDA_FAKEDRIVER_H

#include "runtime/cuda/DriverTypes.h"

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace flashtile::fake {

struct Call {
  std::string name;
  cuda::StreamHandle stream; ///< null where there is none
  int device;                ///< of the current context; -1: none
  std::thread::id thread;
};

struct Launch {
  std::string kernel;
  std::array<unsigned, 3> grid, block, cluster;
  unsigned dynamicSharedBytes;
  cuda::StreamHandle stream;
  int device;
  void **arguments;
  std::vector<std::byte> packed; ///< in place of `arguments`
};

class FakeDriver {
public:
  /// The tests link the library that they also load as libcuda.
  static FakeDriver &get();

  /// Forgets calls and script; what is alive stays counted.
  void reset();

  // The script.
  std::set<std::string> hiddenSymbols;
  cuda::Result initResult = cuda::success;
  /// Returned once by the next call of this name.
  std::map<std::string, cuda::Result> failOnce;
  /// The call after so many others returns failResult; -1: none.
  int failAfter = -1;
  cuda::Result failResult = cuda::invalidValue;
  /// From then on all calls return failResult.
  bool failureStays = false;
  size_t memoryLimit = size_t(1) << 30;
  std::string infoLog, errorLog;
  std::map<std::string, int> functionAttributes; ///< "registers" and so on
  /// Of the parameters of all functions, which the driver tells if there are
  /// any.
  std::vector<size_t> parameterSizes;
  std::function<void(const Launch &)> onLaunch;

  // The record.
  std::vector<Call> calls;
  std::vector<Launch> launches;
  std::map<cuda::JitOption, size_t> jitOptions;
  std::string lastFailed; ///< the call that the script made fail
  std::map<std::string, int> alive;
  size_t allocatedBytes = 0;

  int count(const std::string &name) const;
  /// Streams that the calls of this name got, in order.
  std::vector<cuda::StreamHandle> streamsOf(const std::string &name) const;
  int totalAlive() const;
  /// Depth of this thread's stack of contexts.
  int contextDepth() const;
  int currentDevice() const;
  cuda::ContextHandle contextOf(int device) const;
  /// As another library in the process would.
  void pushContext(int device);
  void popContext();

  std::recursive_mutex mutex;
};

} // namespace flashtile::fake

#endif // FLASHTILE_TESTS_RUNTIME_CUDA_FAKEDRIVER_H
