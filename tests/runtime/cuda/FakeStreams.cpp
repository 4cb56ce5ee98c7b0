//===- FakeStreams.cpp - Streams and graphs of the scripted libcuda -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/runtime/cuda/FakeDriverState.h"

using namespace flashtile;
using namespace flashtile::cuda;
using namespace flashtile::fake;

namespace {
/// With its one reference.
struct UserObject {
  std::shared_ptr<void> data;
};
} // namespace

static std::map<StreamHandle, std::unique_ptr<Stream>> streams;

Stream *fake::find(StreamHandle handle) {
  auto found = streams.find(handle);
  return found == streams.end() ? nullptr : found->second.get();
}

void fake::queue(StreamHandle handle, std::function<void()> work) {
  Stream *stream = find(handle);
  if (stream && stream->isCapturing)
    stream->recorded.work.push_back(std::move(work));
  else
    work();
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

Result fake::cuStreamCreate(StreamHandle *stream, unsigned flags) {
  ENTER();
  if (flags != streamNonBlocking)
    return invalidValue;
  *stream = makeHandle<StreamHandle>("stream");
  static unsigned long long lastId = 0;
  streams[*stream] =
      std::make_unique<Stream>(Stream{driver().currentDevice(), ++lastId});
  return success;
}
Result fake::cuStreamDestroy(StreamHandle stream) {
  streams.erase(stream);
  ENTER_DESTROY("stream", stream);
  return success;
}
Result fake::cuStreamSynchronize(StreamHandle stream) {
  ENTER(stream);
  return success;
}
Result fake::cuStreamQuery(StreamHandle stream) {
  ENTER(stream);
  return success;
}
Result fake::cuStreamWaitEvent(StreamHandle stream, EventHandle, unsigned) {
  ENTER(stream);
  return success;
}
Result fake::cuStreamGetCtx(StreamHandle handle, ContextHandle *context) {
  ENTER(handle);
  Stream *stream = find(handle);
  if (!stream)
    return invalidHandle;
  *context = driver().contextOf(stream->device);
  return success;
}
Result fake::cuEventCreate(EventHandle *event, unsigned) {
  ENTER();
  *event = makeHandle<EventHandle>("event");
  return success;
}
Result fake::cuEventDestroy(EventHandle event) {
  ENTER_DESTROY("event", event);
  return success;
}
Result fake::cuEventRecord(EventHandle, StreamHandle stream) {
  ENTER(stream);
  return success;
}
Result fake::cuEventQuery(EventHandle) {
  ENTER();
  return notReady;
}
Result fake::cuEventSynchronize(EventHandle) {
  ENTER();
  return success;
}
Result fake::cuEventElapsedTime(float *milliseconds, EventHandle, EventHandle) {
  ENTER();
  *milliseconds = 1.5f;
  return success;
}

//===----------------------------------------------------------------------===//
// Captures and graphs
//===----------------------------------------------------------------------===//

Result fake::cuStreamBeginCapture(StreamHandle handle, CaptureMode) {
  ENTER(handle);
  Stream *stream = find(handle);
  if (!stream || stream->isCapturing)
    return 900; // as for a default stream
  stream->isCapturing = true;
  return success;
}
Result fake::cuStreamEndCapture(StreamHandle handle, GraphHandle *graph) {
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
Result fake::cuStreamIsCapturing(StreamHandle handle, CaptureStatus *status) {
  ENTER(handle);
  Stream *stream = find(handle);
  *status = stream && stream->isCapturing;
  return success;
}
Result fake::cuStreamGetId(StreamHandle handle, unsigned long long *id) {
  ENTER(handle);
  Stream *stream = find(handle);
  // Default streams have numbers, too.
  *id = stream ? stream->id : 1000000 + reinterpret_cast<uintptr_t>(handle);
  return success;
}
Result fake::cuStreamGetCaptureInfo(StreamHandle handle, CaptureStatus *status,
                                    uint64_t *, GraphHandle *graph,
                                    const GraphNodeHandle **, size_t *) {
  ENTER(handle);
  Stream *stream = find(handle);
  *status = stream && stream->isCapturing;
  if (*status)
    *graph = reinterpret_cast<GraphHandle>(&stream->recorded);
  return success;
}
Result fake::cuThreadExchangeStreamCaptureMode(CaptureMode *mode) {
  ENTER();
  thread_local CaptureMode current = 0;
  std::swap(current, *mode);
  return success;
}
Result fake::cuUserObjectCreate(UserObjectHandle *object, void *data,
                                HostFunction destroy, unsigned count,
                                unsigned flags) {
  ENTER();
  if (count != 1 || flags != userObjectNoDestructorSync)
    return invalidValue;
  *object = track<UserObjectHandle>(
      "userObject", new UserObject{std::shared_ptr<void>(data, destroy)});
  return success;
}
Result fake::cuGraphRetainUserObject(GraphHandle graph, UserObjectHandle object,
                                     unsigned count, unsigned flags) {
  ENTER();
  if (count != 1 || flags != graphUserObjectMove)
    return invalidValue;
  std::unique_ptr<UserObject> moved(
      static_cast<UserObject *>(untrack("userObject", object)));
  reinterpret_cast<Graph *>(graph)->kept.push_back(std::move(moved->data));
  return success;
}
Result fake::cuGraphInstantiateWithFlags(GraphExecHandle *exec,
                                         GraphHandle graph,
                                         unsigned long long) {
  ENTER();
  *exec = track<GraphExecHandle>("graphExec",
                                 new Graph(*reinterpret_cast<Graph *>(graph)));
  return success;
}
Result fake::cuGraphLaunch(GraphExecHandle exec, StreamHandle stream) {
  ENTER(stream);
  for (const auto &work : reinterpret_cast<Graph *>(exec)->work)
    work();
  return success;
}
Result fake::cuGraphDestroy(GraphHandle graph) {
  const Lock lock(driver().mutex);
  const Result failure = enter(__func__);
  delete static_cast<Graph *>(untrack("graph", graph));
  return failure;
}
Result fake::cuGraphExecDestroy(GraphExecHandle exec) {
  const Lock lock(driver().mutex);
  const Result failure = enter(__func__);
  delete static_cast<Graph *>(untrack("graphExec", exec));
  return failure;
}
