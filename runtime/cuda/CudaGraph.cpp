//===- CudaGraph.cpp - Recording and replaying work -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Support/Error.h"
#include "runtime/cuda/CudaStream.h"

using namespace flashtile;
using namespace flashtile::cuda;

struct CudaGraph::Impl {
  explicit Impl(CudaDevice &device) : device(device) {}
  ~Impl() {
    if (exec)
      device.release(device.api().cuGraphExecDestroy, exec);
    if (graph)
      device.release(device.api().cuGraphDestroy, graph);
  }

  CudaDevice &device;
  GraphHandle graph = nullptr;
  GraphExecHandle exec = nullptr;
};

GraphExecHandle CudaGraph::handle() const { return impl->exec; }

void CudaGraph::launch(const CudaStream &stream) const {
  if (&stream.device() != &impl->device)
    throw Error(ErrorCode::InvalidArgument,
                "cannot launch a graph of device " +
                    impl->device.device().toString() + " in the " +
                    stream.describe());
  impl->device.call(impl->device.api().cuGraphLaunch, impl->exec,
                    stream.handle());
}

CudaCapture::CudaCapture(CudaStream stream) : stream(std::move(stream)) {
  // Only this thread is kept from calls that would spoil the recording.
  CudaDevice &device = this->stream.device();
  device.call(device.api().cuStreamBeginCapture, this->stream.handle(),
              captureThreadLocal);
  isActive = true;
}

CudaCapture::~CudaCapture() {
  if (!isActive)
    return;
  CudaDevice &device = stream.device();
  GraphHandle graph = nullptr;
  device.release(device.api().cuStreamEndCapture, stream.handle(), &graph);
  if (graph)
    device.release(device.api().cuGraphDestroy, graph);
}

CudaGraph CudaCapture::finish() {
  if (!isActive)
    throw Error(ErrorCode::InvalidArgument, "this capture is finished already");
  CudaDevice &device = stream.device();
  auto impl = std::make_shared<CudaGraph::Impl>(device);
  isActive = false; // ended even if it fails
  device.call(device.api().cuStreamEndCapture, stream.handle(), &impl->graph);
  device.call(device.api().cuGraphInstantiateWithFlags, &impl->exec,
              impl->graph, 0ull);
  return CudaGraph(std::move(impl));
}
