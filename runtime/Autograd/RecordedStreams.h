//===- RecordedStreams.h - Where the way back runs on GPUs ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward of a call runs in the streams in which the call ran, whatever
// thread runs it: that is where the tensors it saved are ready. Between nodes
// of different streams, the engine makes the later one wait.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_AUTOGRAD_RECORDEDSTREAMS_H
#define FLASHTILE_RUNTIME_AUTOGRAD_RECORDEDSTREAMS_H

#include "runtime/Tensor.h"
#include "runtime/cuda/CudaStream.h"

#include <memory>
#include <vector>

namespace flashtile::autograd {

/// At most one stream for each GPU; none at all on the cpu.
class RecordedStreams {
public:
  /// Notes this thread's current stream of the device of `tensor`.
  void note(const Tensor &tensor);
  void add(const CudaStream &stream) { streams.push_back(stream); }

  bool isEmpty() const { return streams.empty(); }
  const std::vector<CudaStream> &list() const { return streams; }
  /// The stream of a device; null where none was noted.
  const CudaStream *find(Device device) const;

private:
  std::vector<CudaStream> streams;
};

/// Makes all of `streams` current on this thread until the end of the scope.
class StreamScope {
public:
  explicit StreamScope(const RecordedStreams &streams);

private:
  std::vector<std::unique_ptr<CudaStreamGuard>> guards;
};

/// Makes `to` wait for what is in `from` now, if they are two streams, and
/// keeps the memory of `tensor` until `to` is done with it.
void handOver(const Tensor &tensor, const CudaStream &from,
              const CudaStream &to);

} // namespace flashtile::autograd

#endif // FLASHTILE_RUNTIME_AUTOGRAD_RECORDEDSTREAMS_H
