//===- ProgramCounters.cpp - Counters from which blocks take programs -----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/ProgramCounters.h"

#include <map>
#include <memory>
#include <utility>

using namespace flashtile;
using namespace flashtile::cuda;

static constexpr size_t counterBytes = sizeof(uint32_t);
/// Allocated at a time: most processes have a few streams.
static constexpr size_t countersOfBlock = 4096;

/// What the driver gives to no stream: the legacy default stream, for which
/// nobody need ask the driver.
static constexpr uint64_t legacyId = UINT64_MAX;

ProgramCounters &ProgramCounters::of(CudaDevice &device) {
  static std::mutex &mutex = *new std::mutex;
  static auto &all =
      *new std::map<int, std::unique_ptr<ProgramCounters>>; // never destroyed
  const std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<ProgramCounters> &counters = all[device.index()];
  if (!counters) {
    std::unique_ptr<ProgramCounters> made(new ProgramCounters(device));
    made->allocate();
    counters = std::move(made);
  }
  return *counters;
}

namespace {
/// Lets this thread allocate while one of its streams is captured.
class RelaxedCapture {
public:
  explicit RelaxedCapture(CudaDevice &device) : device(device) {
    device.call(device.api().cuThreadExchangeStreamCaptureMode, &mode);
  }
  ~RelaxedCapture() {
    device.release(device.api().cuThreadExchangeStreamCaptureMode, &mode);
  }
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;

private:
  CudaDevice &device;
  CaptureMode mode = captureRelaxed;
};
} // namespace

void ProgramCounters::allocate() {
  const RelaxedCapture relaxed(device);
  const CudaStream stream = CudaStream::create(device);
  DevicePointer block = 0;
  device.call(device.api().cuMemAlloc, &block, countersOfBlock * counterBytes);
  try {
    stream.fill(block, 0, counterBytes, countersOfBlock);
    stream.synchronize();
    const std::lock_guard<std::mutex> lock(mutex);
    // For all that there are: giving back needs no memory.
    unused.reserve(total + countersOfBlock);
    total += countersOfBlock;
    for (size_t i = countersOfBlock; i-- > 0;)
      unused.push_back(block + i * counterBytes);
  } catch (...) {
    device.release(device.api().cuMemFree, block);
    throw;
  }
}

DevicePointer ProgramCounters::take() {
  while (true) {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      if (!unused.empty()) {
        const DevicePointer counter = unused.back();
        unused.pop_back();
        return counter;
      }
    }
    allocate();
  }
}

void ProgramCounters::giveBack(DevicePointer counter) {
  const std::lock_guard<std::mutex> lock(mutex);
  unused.push_back(counter);
}

DevicePointer ProgramCounters::ofStream(uint64_t id) {
  struct Last {
    const ProgramCounters *counters = nullptr;
    uint64_t id = 0;
    DevicePointer counter = 0;
  };
  thread_local Last last;
  if (last.counters == this && last.id == id && last.counter)
    return last.counter;
  last = {this, id, 0};
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (auto found = ofStreams.find(id); found != ofStreams.end())
      last.counter = found->second;
  }
  if (last.counter)
    return last.counter;
  const DevicePointer counter = take();
  {
    const std::lock_guard<std::mutex> lock(mutex);
    // Another thread may have been first.
    const auto [found, isFirst] = ofStreams.emplace(id, counter);
    last.counter = found->second;
    if (!isFirst)
      unused.push_back(counter);
  }
  return last.counter;
}

/// A counter that a graph has.
struct ProgramCounters::Kept {
  ProgramCounters &counters;
  DevicePointer counter;
};

DevicePointer ProgramCounters::keptBy(GraphHandle graph) {
  const DevicePointer counter = take();
  auto kept = std::make_unique<Kept>(Kept{*this, counter});
  UserObjectHandle object = nullptr;
  try {
    // Called when no launch of the graph is left; it may not call the driver.
    const HostFunction destroy = [](void *data) {
      const std::unique_ptr<Kept> kept(static_cast<Kept *>(data));
      kept->counters.giveBack(kept->counter);
    };
    device.call(device.api().cuUserObjectCreate, &object,
                static_cast<void *>(kept.get()), destroy, 1u,
                userObjectNoDestructorSync);
  } catch (...) {
    giveBack(counter);
    throw;
  }
  kept.release(); // now the object's
  // The graph takes over the one reference there is. Should it not, the counter
  // stays with an object that nobody destroys: some bytes are lost.
  device.call(device.api().cuGraphRetainUserObject, graph, object, 1u,
              graphUserObjectMove);
  return counter;
}

DevicePointer ProgramCounters::forLaunch(const CudaStream &stream) {
  // The legacy default stream cannot be captured.
  if (!stream.handle())
    return ofStream(legacyId);
  CaptureStatus status = captureNone;
  GraphHandle graph = nullptr;
  device.call(device.api().cuStreamGetCaptureInfo, stream.handle(), &status,
              static_cast<uint64_t *>(nullptr), &graph,
              static_cast<const GraphNodeHandle **>(nullptr),
              static_cast<size_t *>(nullptr));
  // Of a capture that has failed there is no graph; nor will the launch work.
  if (status != captureNone && graph)
    return keptBy(graph);
  return ofStream(stream.id());
}
