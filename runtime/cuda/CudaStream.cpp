//===- CudaStream.cpp - Streams and events --------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/CudaStream.h"

#include "compiler/Support/EnumCheck.h"
#include "compiler/Support/Error.h"

#include <atomic>
#include <cstdio>
#include <vector>

using namespace flashtile;
using namespace flashtile::cuda;

//===----------------------------------------------------------------------===//
// Events.
//===----------------------------------------------------------------------===//

struct CudaEvent::Impl {
  Impl(CudaDevice &device, Timing timing) : device(device), timing(timing) {
    checkEnum("timing", timing, {"Off", "On"});
    device.call(device.api().cuEventCreate, &handle,
                timing == Timing::On ? eventDefault : eventDisableTiming);
  }
  ~Impl() { device.release(device.api().cuEventDestroy, handle); }

  CudaDevice &device;
  Timing timing;
  EventHandle handle = nullptr;
};

CudaEvent::CudaEvent(CudaDevice &device, Timing timing)
    : impl(std::make_shared<Impl>(device, timing)) {}

CudaDevice &CudaEvent::device() const { return impl->device; }
EventHandle CudaEvent::handle() const { return impl->handle; }

void CudaEvent::record(const CudaStream &stream) const {
  if (&stream.device() != &device())
    throw Error(ErrorCode::InvalidArgument,
                "cannot record an event of device " +
                    device().device().toString() + " in the " +
                    stream.describe());
  device().call(device().api().cuEventRecord, handle(), stream.handle());
}

bool CudaEvent::isDone() const {
  const Result result = device().tryCall(device().api().cuEventQuery, handle());
  if (result != success && result != notReady)
    device().fail(device().api().cuEventQuery.name, result);
  return result == success;
}

void CudaEvent::synchronize() const {
  device().call(device().api().cuEventSynchronize, handle());
}

float CudaEvent::millisecondsSince(const CudaEvent &start) const {
  if (impl->timing == Timing::Off || start.impl->timing == Timing::Off)
    throw Error(ErrorCode::InvalidArgument,
                "expected events with timing, but at least one was made "
                "without");
  float milliseconds = 0;
  device().call(device().api().cuEventElapsedTime, &milliseconds,
                start.handle(), handle());
  return milliseconds;
}

//===----------------------------------------------------------------------===//
// Streams.
//===----------------------------------------------------------------------===//

static uintptr_t numberOf(StreamHandle handle) {
  return reinterpret_cast<uintptr_t>(handle);
}

/// The values that the driver gives to its default streams.
static constexpr uintptr_t legacyNumber = 0, legacyAlias = 1,
                           perThreadNumber = 2;

static StreamHandle handleOf(uintptr_t number) {
  return reinterpret_cast<StreamHandle>(number);
}

struct CudaStream::Impl {
  Impl(CudaDevice &device, StreamHandle handle, bool isOwned)
      : device(device), handle(handle), isOwned(isOwned) {}
  ~Impl() {
    if (isOwned)
      device.release(device.api().cuStreamDestroy, handle);
  }

  CudaDevice &device;
  StreamHandle handle;
  bool isOwned;
  mutable std::atomic<uint64_t> id{unknownId};

  static constexpr uint64_t unknownId = UINT64_MAX; // given to no stream
};

CudaStream CudaStream::create(CudaDevice &device) {
  // Allocated first, so that there is nothing to undo.
  auto impl = std::make_shared<Impl>(device, nullptr, false);
  device.call(device.api().cuStreamCreate, &impl->handle, streamNonBlocking);
  impl->isOwned = true;
  return CudaStream(std::move(impl));
}

CudaStream CudaStream::wrap(CudaDevice &device, StreamHandle handle) {
  // Addresses start far above; a smaller number is an id that was mistaken.
  constexpr uintptr_t firstAddress = 4096;
  const uintptr_t number = numberOf(handle);
  if (number == legacyNumber || number == legacyAlias)
    return legacy(device);
  if (number == perThreadNumber)
    return perThread(device);
  if (number < firstAddress)
    throw Error(ErrorCode::InvalidArgument,
                "expected the handle of a stream (or null, 1 or 2 for a "
                "default stream), but got " +
                    std::to_string(number));
  ContextHandle context = nullptr;
  device.call(device.api().cuStreamGetCtx, handle, &context);
  if (context != device.context())
    throw Error(ErrorCode::InvalidArgument,
                "expected a stream of the primary context of device " +
                    device.device().toString() +
                    ", but got one of another context or device");
  return CudaStream(std::make_shared<Impl>(device, handle, false));
}

CudaStream CudaStream::legacy(CudaDevice &device) {
  // Every launch outside of a guard asks for it: no allocation each time.
  thread_local std::shared_ptr<const Impl> last;
  if (!last || &last->device != &device)
    last = std::make_shared<Impl>(device, handleOf(legacyNumber), false);
  return CudaStream(last);
}

CudaStream CudaStream::perThread(CudaDevice &device) {
  return CudaStream(
      std::make_shared<Impl>(device, handleOf(perThreadNumber), false));
}

CudaDevice &CudaStream::device() const { return impl->device; }
StreamHandle CudaStream::handle() const { return impl->handle; }

uint64_t CudaStream::id() const {
  uint64_t known = impl->id.load(std::memory_order_relaxed);
  if (known != Impl::unknownId)
    return known;
  unsigned long long asked = 0;
  device().call(device().api().cuStreamGetId, handle(), &asked);
  // This handle is that of another stream on each thread.
  if (numberOf(handle()) != perThreadNumber)
    impl->id.store(asked, std::memory_order_relaxed);
  return asked;
}

std::string CudaStream::describe() const {
  const std::string owner = " of " + device().device().toString();
  if (numberOf(handle()) == legacyNumber)
    return "legacy default stream" + owner;
  if (numberOf(handle()) == perThreadNumber)
    return "per-thread default stream" + owner;
  char number[32];
  std::snprintf(number, sizeof number, "0x%llx",
                static_cast<unsigned long long>(numberOf(handle())));
  return "stream " + std::string(number) + owner;
}

void CudaStream::synchronize() const {
  device().call(device().api().cuStreamSynchronize, handle());
}

bool CudaStream::isDone() const {
  const Result result =
      device().tryCall(device().api().cuStreamQuery, handle());
  if (result != success && result != notReady)
    device().fail(device().api().cuStreamQuery.name, result);
  return result == success;
}

bool CudaStream::isCapturing() const {
  CaptureStatus status = captureNone;
  device().call(device().api().cuStreamIsCapturing, handle(), &status);
  return status != captureNone;
}

void CudaStream::wait(const CudaEvent &event) const {
  device().call(device().api().cuStreamWaitEvent, handle(), event.handle(), 0u);
}

void CudaStream::wait(const CudaStream &other) const {
  if (*this == other)
    return;
  const CudaEvent event(other.device());
  event.record(other);
  // The driver keeps the event until the wait is over.
  wait(event);
}

void CudaStream::copyToDevice(DevicePointer target, const void *source,
                              size_t numBytes) const {
  if (numBytes)
    device().call(device().api().cuMemcpyHtoDAsync, target, source, numBytes,
                  handle());
}

void CudaStream::copyToHost(void *target, DevicePointer source,
                            size_t numBytes) const {
  if (numBytes)
    device().call(device().api().cuMemcpyDtoHAsync, target, source, numBytes,
                  handle());
}

void CudaStream::copyOnDevice(DevicePointer target, DevicePointer source,
                              size_t numBytes) const {
  if (numBytes)
    device().call(device().api().cuMemcpyDtoDAsync, target, source, numBytes,
                  handle());
}

void CudaStream::copyFromPeer(DevicePointer target, CudaDevice &sourceDevice,
                              DevicePointer source, size_t numBytes) const {
  if (&sourceDevice == &device())
    return copyOnDevice(target, source, numBytes);
  sourceDevice.throwIfLost();
  if (numBytes)
    device().call(device().api().cuMemcpyPeerAsync, target, device().context(),
                  source, sourceDevice.context(), numBytes, handle());
}

void CudaStream::fill(DevicePointer target, uint32_t pattern,
                      size_t elementSize, size_t count) const {
  if (!count)
    return;
  const DriverApi &api = device().api();
  switch (elementSize) {
  case 1:
    return device().call(api.cuMemsetD8Async, target,
                         static_cast<unsigned char>(pattern), count, handle());
  case 2:
    return device().call(api.cuMemsetD16Async, target,
                         static_cast<unsigned short>(pattern), count, handle());
  case 4:
    return device().call(api.cuMemsetD32Async, target, pattern, count,
                         handle());
  }
  throw Error(ErrorCode::InvalidArgument,
              "expected a pattern of 1, 2 or 4 bytes, but got " +
                  std::to_string(elementSize));
}

//===----------------------------------------------------------------------===//
// The current stream of a thread.
//===----------------------------------------------------------------------===//

/// Streams of the guards that are active on this thread, the innermost last.
static std::vector<CudaStream> &guardedStreams() {
  thread_local std::vector<CudaStream> streams;
  return streams;
}

CudaStream CudaStream::current(CudaDevice &device) {
  const std::vector<CudaStream> &streams = guardedStreams();
  for (size_t i = streams.size(); i-- > 0;)
    if (&streams[i].device() == &device)
      return streams[i];
  return legacy(device);
}

CudaStreamGuard::CudaStreamGuard(CudaStream stream) {
  guardedStreams().push_back(std::move(stream));
}

CudaStreamGuard::~CudaStreamGuard() { guardedStreams().pop_back(); }
