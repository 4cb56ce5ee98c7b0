//===- RecordedStreams.cpp - Where the way back runs on GPUs --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Autograd/RecordedStreams.h"

#include "runtime/cuda/CudaBackend.h"

using namespace flashtile;
using namespace flashtile::autograd;

void RecordedStreams::note(const Tensor &tensor) {
  if (!tensor.defined() || !tensor.device().isCuda() || find(tensor.device()))
    return;
  CudaDevice &device = CudaDevice::get(tensor.device());
  const CudaStream stream = CudaStream::current(device);
  // The name of a thread's own default stream means another one on another
  // thread. The legacy one waits for all of them, and they for it.
  const bool isPerThread = stream == CudaStream::perThread(device);
  streams.push_back(isPerThread ? CudaStream::legacy(device) : stream);
}

const CudaStream *RecordedStreams::find(Device device) const {
  for (const CudaStream &stream : streams)
    if (stream.device().device() == device)
      return &stream;
  return nullptr;
}

StreamScope::StreamScope(const RecordedStreams &streams) {
  for (const CudaStream &stream : streams.list())
    guards.push_back(std::make_unique<CudaStreamGuard>(stream));
}

void autograd::handOver(const Tensor &tensor, const CudaStream &from,
                        const CudaStream &to) {
  if (from == to)
    return;
  to.wait(from);
  if (tensor.defined() && tensor.device().isCuda())
    recordUse(tensor, to);
}
