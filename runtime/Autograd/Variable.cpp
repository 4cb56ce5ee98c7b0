//===- Variable.cpp - What a tensor is on the tape ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Autograd/Variable.h"

#include "compiler/Support/Error.h"
#include "runtime/Autograd/GradientArithmetic.h"
#include "runtime/Autograd/ViewNode.h"
#include "runtime/TensorImpl.h"

using namespace flashtile;
using namespace flashtile::autograd;

//===----------------------------------------------------------------------===//
// Gradients that are kept
//===----------------------------------------------------------------------===//

Tensor GradientCell::get() const {
  const std::lock_guard<std::mutex> lock(mutex);
  return gradient;
}

void GradientCell::noteStream() {
  lastWriter = {};
  lastWriter.note(gradient);
}

void GradientCell::set(const Tensor &wanted) {
  if (wanted.defined() &&
      (wanted.shape() != info.shape || wanted.dtype() != info.dtype ||
       wanted.device() != info.device))
    throw Error(ErrorCode::InvalidArgument,
                "expected the gradient of a tensor to be " + info.describe() +
                    ", as the tensor, but got " + wanted.describe());
  replace(wanted.defined() ? wanted.detach() : wanted);
}

void GradientCell::replace(const Tensor &wanted) {
  Tensor old; // freed after the lock
  const std::lock_guard<std::mutex> lock(mutex);
  old = std::exchange(gradient, wanted);
  noteStream();
}

/// Whether elements lie in places of their own, and the tape may write there.
static bool isWritable(const Tensor &tensor) {
  for (int64_t dim = 0; dim < tensor.rank(); ++dim)
    if (tensor.size(dim) > 1 && tensor.stride(dim) == 0)
      return false;
  return true;
}

void GradientCell::accumulate(Tensor &&added) {
  Tensor old; // freed after the lock
  const std::lock_guard<std::mutex> lock(mutex);
  if (!gradient.defined()) {
    gradient = TensorAccess::isExclusive(added) && added.isContiguous()
                   ? std::move(added)
                   : denseCopy(added);
    return noteStream();
  }
  RecordedStreams now;
  now.note(added);
  if (const CudaStream *stream = now.find(info.device))
    if (const CudaStream *last = lastWriter.find(info.device))
      handOver(gradient, *last, *stream);
  if (isWritable(gradient))
    addInto(gradient, added);
  else
    old = std::exchange(gradient, add(gradient, added));
  lastWriter = std::move(now);
}

TensorList AccumulateGrad::apply(TensorList &&gradients) {
  if (gradients[0].defined())
    cell->accumulate(std::move(gradients[0]));
  return {};
}

//===----------------------------------------------------------------------===//
// Tensors and their place on the tape
//===----------------------------------------------------------------------===//

VariableMeta *TensorAccess::meta(const Tensor &tensor) {
  return static_cast<VariableMeta *>(tensor.get().autograd.get());
}

std::shared_ptr<VariableMeta> TensorAccess::sharedMeta(const Tensor &tensor) {
  return std::static_pointer_cast<VariableMeta>(tensor.get().autograd);
}

VariableMeta &TensorAccess::ensureMeta(const Tensor &tensor) {
  std::shared_ptr<AutogradMeta> &meta = tensor.get().autograd;
  if (!meta) {
    auto made = std::make_shared<VariableMeta>();
    made->accumulator = Node::make<AccumulateGrad>(tensor);
    meta = std::move(made);
  }
  return static_cast<VariableMeta &>(*meta);
}

void TensorAccess::setHistory(const Tensor &tensor, std::shared_ptr<Node> node,
                              uint32_t outputNr) {
  tensor.get().autograd =
      std::make_shared<VariableMeta>(std::move(node), outputNr);
}

bool TensorAccess::isExclusive(const Tensor &tensor) {
  const Tensor::Impl &impl = tensor.get();
  return tensor.impl.use_count() == 1 && impl.storage.use_count() == 1 &&
         tensor.nbytes() == impl.storage->numBytes();
}

Edge autograd::gradientEdge(const Tensor &tensor) {
  if (!tensor.defined() || !tensor.requiresGrad())
    return {};
  const VariableMeta &meta = *TensorAccess::meta(tensor);
  if (meta.gradFn)
    return {meta.gradFn, meta.outputNr};
  return {meta.accumulator, 0};
}

void VariableMeta::recordView(const Tensor &source, const Tensor &result,
                              ViewRecord record) const {
  TensorAccess::setHistory(
      result, Node::make<ViewNode>(source, result, std::move(record)), 0);
}
