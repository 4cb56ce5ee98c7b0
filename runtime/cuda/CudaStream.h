//===- CudaStream.h - Streams, events and graphs --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stream runs what is put into it in order; streams run beside each other.
// Functions here return when the work is queued, not when it is done, unless
// they say so.
//
// Streams and events are handles: copies share the object. All may be used from
// any thread.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_CUDA_CUDASTREAM_H
#define FLASHTILE_RUNTIME_CUDA_CUDASTREAM_H

#include "runtime/cuda/CudaDevice.h"

#include <memory>

namespace flashtile {

class CudaStream;

class CudaEvent {
public:
  enum class Timing { Off, On };

  explicit CudaEvent(CudaDevice &device, Timing timing = Timing::Off);

  CudaDevice &device() const;
  cuda::EventHandle handle() const;
  /// Marks the work that is in the stream now.
  void record(const CudaStream &stream) const;
  /// Whether the marked work is done. An event never recorded is.
  bool isDone() const;
  /// Returns when it is done.
  void synchronize() const;
  /// From `start` to this event; both are done and have timing.
  float millisecondsSince(const CudaEvent &start) const;

private:
  struct Impl;
  std::shared_ptr<const Impl> impl;
};

class CudaStream {
public:
  /// A new stream, which does not wait for the default streams.
  static CudaStream create(CudaDevice &device);
  /// A stream of the caller: a CUstream or cudaStream_t, which must outlive
  /// this. Null and 1 mean the legacy default stream, 2 that of the thread that
  /// uses it. Throws InvalidArgument for a small number, which is no handle,
  /// and for a stream of another context than `device`'s primary one.
  static CudaStream wrap(CudaDevice &device, cuda::StreamHandle handle);
  static CudaStream legacy(CudaDevice &device);
  static CudaStream perThread(CudaDevice &device);

  /// The stream that tensors on `device` use on this thread: the innermost
  /// CudaStreamGuard's, otherwise the legacy default stream.
  static CudaStream current(CudaDevice &device);

  CudaDevice &device() const;
  cuda::StreamHandle handle() const;
  /// The driver's number, of which no two streams of the process have the same
  /// one, as handles are used again. Asked for once.
  uint64_t id() const;
  /// "stream 0x55d0 of cuda:0", "legacy default stream of cuda:0".
  std::string describe() const;

  /// Returns when all work in the stream is done.
  void synchronize() const;
  bool isDone() const;
  bool isCapturing() const;
  /// Work put into this stream from now on starts after the event's. The event
  /// may be of another stream and device.
  void wait(const CudaEvent &event) const;
  /// The same for all that is in `other` now.
  void wait(const CudaStream &other) const;

  // Copies. Host memory must stay as it is until the work is done; where it is
  // not pinned, the driver may make the caller wait. Zero bytes are fine.
  void copyToDevice(cuda::DevicePointer target, const void *source,
                    size_t numBytes) const;
  void copyToHost(void *target, cuda::DevicePointer source,
                  size_t numBytes) const;
  void copyOnDevice(cuda::DevicePointer target, cuda::DevicePointer source,
                    size_t numBytes) const;
  /// From the memory of `sourceDevice` to that of this stream's device.
  void copyFromPeer(cuda::DevicePointer target, CudaDevice &sourceDevice,
                    cuda::DevicePointer source, size_t numBytes) const;
  /// Sets `count` elements of `elementSize` (1, 2 or 4) bytes to the low bytes
  /// of `pattern`.
  void fill(cuda::DevicePointer target, uint32_t pattern, size_t elementSize,
            size_t count) const;

  /// The same for copies of one handle, as long as there is one.
  const void *identity() const { return impl.get(); }
  friend bool operator==(const CudaStream &a, const CudaStream &b) {
    return a.handle() == b.handle() && &a.device() == &b.device();
  }

private:
  struct Impl;
  explicit CudaStream(std::shared_ptr<const Impl> impl)
      : impl(std::move(impl)) {}
  std::shared_ptr<const Impl> impl;
};

/// Makes `stream` the current one of its device on this thread. Guards nest;
/// one ends on the thread where it began.
class CudaStreamGuard {
public:
  explicit CudaStreamGuard(CudaStream stream);
  ~CudaStreamGuard();
  CudaStreamGuard(const CudaStreamGuard &) = delete;
  CudaStreamGuard &operator=(const CudaStreamGuard &) = delete;
};

/// Work recorded once, launched as a whole as often as wanted.
class CudaGraph {
public:
  /// In `stream`'s order. Memory that the work uses must still exist.
  void launch(const CudaStream &stream) const;
  cuda::GraphExecHandle handle() const;

private:
  friend class CudaCapture;
  struct Impl;
  explicit CudaGraph(std::shared_ptr<const Impl> impl)
      : impl(std::move(impl)) {}
  std::shared_ptr<const Impl> impl;
};

/// Records what is put into a stream, instead of running it, until finish(). If
/// that does not come, because of an exception, what was recorded is dropped.
/// Nothing may synchronise with the stream meanwhile. Begins and ends on one
/// thread.
class CudaCapture {
public:
  /// `stream` is not a default stream (the driver refuses those).
  explicit CudaCapture(CudaStream stream);
  ~CudaCapture();
  CudaCapture(const CudaCapture &) = delete;
  CudaCapture &operator=(const CudaCapture &) = delete;

  CudaGraph finish();

private:
  CudaStream stream;
  bool isActive = false;
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_CUDA_CUDASTREAM_H
