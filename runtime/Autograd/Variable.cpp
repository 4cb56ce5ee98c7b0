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

#include <algorithm>
#include <condition_variable>

using namespace flashtile;
using namespace flashtile::autograd;

//===----------------------------------------------------------------------===//
// Gradients that are kept
//===----------------------------------------------------------------------===//

namespace {
struct CellUse {
  std::mutex mutex;
  std::condition_variable ended;

  /// Never destroyed: a graph with static lifetime may need it at exit.
  static CellUse &get() {
    static CellUse &use = *new CellUse;
    return use;
  }
};
} // namespace

/// Keeps other threads from changing some cells. Takes all of them at once, so
/// that no two threads can wait for each other.
class GradientCell::InUse {
public:
  explicit InUse(const std::vector<GradientAddition> &additions)
      : additions(additions) {
    std::unique_lock<std::mutex> lock(use.mutex);
    use.ended.wait(lock, [&] {
      return std::none_of(
          additions.begin(), additions.end(),
          [](const GradientAddition &each) { return each.cell->isInUse; });
    });
    for (const GradientAddition &each : additions)
      each.cell->isInUse = true;
  }
  ~InUse() {
    {
      const std::lock_guard<std::mutex> lock(use.mutex);
      for (const GradientAddition &each : additions)
        each.cell->isInUse = false;
    }
    use.ended.notify_all();
  }
  InUse(const InUse &) = delete;
  InUse &operator=(const InUse &) = delete;

private:
  CellUse &use = CellUse::get();
  const std::vector<GradientAddition> &additions;
};

Tensor GradientCell::get() const {
  const std::lock_guard<std::mutex> lock(mutex);
  return gradient;
}

void GradientCell::set(const Tensor &wanted) {
  if (wanted.defined() &&
      (wanted.shape() != info.shape || wanted.dtype() != info.dtype ||
       wanted.device() != info.device))
    throw Error(ErrorCode::InvalidArgument,
                "expected the gradient of a tensor to be " + info.describe() +
                    ", as the tensor, but got " + wanted.describe());
  std::vector<GradientAddition> change = {{this, {}, {}}};
  change[0].replacement = wanted.defined() ? wanted.detach() : wanted;
  change[0].writer.note(wanted);
  const InUse use(change);
  publish(change[0]);
}

/// Whether elements surely lie in places of their own, and the tape may write
/// there.
static bool isWritable(const Tensor &tensor) {
  if (tensor.isContiguous())
    return true;
  std::vector<std::pair<int64_t, int64_t>> dims; // stride and extent
  for (int64_t dim = 0; dim < tensor.rank(); ++dim)
    if (tensor.size(dim) > 1)
      dims.emplace_back(tensor.stride(dim), tensor.size(dim));
  std::sort(dims.begin(), dims.end());
  int64_t reach = 0; // index of the last element so far
  for (const auto &[stride, extent] : dims) {
    if (stride <= reach)
      return false;
    reach += (extent - 1) * stride;
  }
  return true;
}

/// All that may fail, and changes nothing.
void GradientCell::prepare(GradientAddition &addition) const {
  Tensor &added = addition.gradient;
  addition.writer.note(added);
  if (!gradient.defined()) {
    addition.replacement =
        TensorAccess::isExclusive(added) && added.isContiguous()
            ? std::move(added)
            : denseCopy(added);
    return;
  }
  if (const CudaStream *stream = addition.writer.find(info.device))
    if (const CudaStream *last = lastWriter.find(info.device))
      handOver(gradient, *last, *stream);
  addition.isInPlace = isWritable(gradient);
  if (addition.isInPlace)
    prepareAddInto(gradient, added);
  else
    addition.replacement = add(gradient, added);
}

void GradientCell::publish(GradientAddition &addition) {
  const std::lock_guard<std::mutex> lock(mutex);
  // What was there is freed with the addition, after the lock.
  if (!addition.isInPlace)
    std::swap(gradient, addition.replacement);
  lastWriter = std::move(addition.writer);
}

void GradientCell::accumulate(std::vector<GradientAddition> &additions) {
  const InUse use(additions);
  for (GradientAddition &each : additions) {
    const StreamScope scope(each.streams);
    each.cell->prepare(each);
  }
  size_t added = 0;
  try {
    for (const GradientAddition &each : additions) {
      if (!each.isInPlace)
        continue;
      const StreamScope scope(each.streams);
      addInto(each.cell->gradient, each.gradient);
      ++added;
    }
  } catch (const Error &error) {
    if (added == 0)
      throw;
    throw Error(error.code(),
                std::string(error.what()) + "; the gradients of " +
                    std::to_string(added) + " tensors of " +
                    std::to_string(additions.size()) +
                    " have been added to already: set all of them anew");
  }
  for (GradientAddition &each : additions)
    each.cell->publish(each);
}

TensorList AccumulateGrad::apply(TensorList &&gradients) {
  if (!gradients[0].defined())
    return {};
  std::vector<GradientAddition> addition;
  addition.push_back({cell.get(), std::move(gradients[0]), {}});
  GradientCell::accumulate(addition);
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
