//===- FunctionNode.cpp - The node of a Function --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Autograd/FunctionNode.h"

#include "compiler/Support/Error.h"
#include "runtime/Autograd/BackwardPass.h"
#include "runtime/Autograd/TensorAccess.h"
#include "runtime/cuda/CudaBackend.h"

#include <algorithm>

using namespace flashtile;
using namespace flashtile::autograd;

FunctionNode::FunctionNode(const std::type_info &type, Backward backward)
    : type(type), backward(backward), wasEnabled(GradMode::isEnabled()) {
  context.node = this;
}

std::string FunctionNode::name() const { return typeName(type); }

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

void FunctionNode::reserve(size_t count) {
  arguments.reserve(count);
  edges.reserve(count);
  isTensor.reserve(count);
}

void FunctionNode::addArgument(const Tensor *argument) {
  const bool isDefined = argument && argument->defined();
  isTensor.push_back(isDefined);
  edges.push_back(isDefined && wasEnabled ? gradientEdge(*argument) : Edge());
  isRecorded |= edges.back().isValid();
  arguments.push_back(isDefined ? Argument{*argument, argument->version()}
                                : Argument{Tensor(), 0});
}

bool FunctionNode::isEdge(size_t index) const {
  if (index >= edges.size())
    throw Error(ErrorCode::InvalidArgument,
                name() + ": expected an argument below " +
                    std::to_string(edges.size()) + ", but got " +
                    std::to_string(index));
  return edges[index].isValid();
}

bool FunctionNode::isArgument(const Tensor &tensor) const {
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const Argument &argument) {
                       return argument.tensor.defined() &&
                              TensorAccess::identity(argument.tensor) ==
                                  TensorAccess::identity(tensor);
                     });
}

void FunctionNode::addResult(Tensor &result) {
  inputOfResult.push_back(-1);
  if (!result.defined()) {
    results.push_back(nullptr);
    return;
  }
  const void *identity = TensorAccess::identity(result);
  const bool isRepeated =
      std::find(results.begin(), results.end(), identity) != results.end();
  results.push_back(identity);
  const auto isSame = [&](const Tensor &tensor) {
    return tensor.defined() && TensorAccess::identity(tensor) == identity;
  };
  const TensorList &excluded = context.nonDifferentiable;
  const bool hasGradient =
      isRecorded && isFloat(result.dtype()) &&
      std::none_of(excluded.begin(), excluded.end(), isSame);
  // An argument that is handed through, and whatever has its own place on the
  // tape, becomes a tensor of its own here.
  if (isRepeated || TensorAccess::meta(result) ||
      (hasGradient && isArgument(result)))
    result = result.detach();
  if (!hasGradient)
    return;
  const uint32_t number = addInput(result);
  inputOfResult.back() = static_cast<int>(number);
  recordedStreams.note(result);
  TensorAccess::setHistory(result, shared_from_this(), number);
}

/// What was written to has no gradient that backward could know.
void FunctionNode::checkArguments() const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Tensor &tensor = arguments[i].tensor;
    if (edges[i].isValid() && tensor.version() != arguments[i].version)
      throw Error(ErrorCode::InvalidArgument,
                  name() + ": forward wrote to argument " + std::to_string(i) +
                      ", " + tensor.describe() +
                      ", which requires a gradient; return a new tensor "
                      "instead");
  }
}

void FunctionNode::saveTensors() {
  context.saved.reserve(context.toSave.size());
  for (Tensor &tensor : context.toSave) {
    if (!tensor.defined()) {
      context.saved.push_back({Tensor(), 0});
      continue;
    }
    recordedStreams.note(tensor);
    // A result refers to this node; saved as it is, neither would ever end.
    const void *identity = TensorAccess::identity(tensor);
    if (std::find(results.begin(), results.end(), identity) != results.end())
      tensor = tensor.detach();
    const uint64_t version = tensor.version();
    context.saved.push_back({std::move(tensor), version});
  }
}

void FunctionNode::finish() {
  if (isRecorded) {
    checkArguments();
    for (const Argument &argument : arguments)
      recordedStreams.note(argument.tensor);
    saveTensors();
  }
  context.toSave = {};
  context.nonDifferentiable = {};
  arguments = {};
  results = {};
  isFinished = true;
}

//===----------------------------------------------------------------------===//
// The way back
//===----------------------------------------------------------------------===//

void FunctionNode::checkUsable() const { context.check(); }

void FunctionNode::releaseVariables() {
  std::vector<Context::Saved> freed; // after the lock
  const std::lock_guard<std::mutex> lock(context.mutex);
  context.isReleased = context.isReleased || !context.saved.empty();
  freed.swap(context.saved);
}

void FunctionNode::checkResults(const TensorList &gradients) const {
  for (size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].defined() && (i >= isTensor.size() || !isTensor[i]))
      throw Error(ErrorCode::InvalidArgument,
                  name() + ": backward gave a gradient at position " +
                      std::to_string(i) +
                      (i < isTensor.size()
                           ? ", where apply() got no tensor"
                           : ", but apply() got " +
                                 std::to_string(isTensor.size()) +
                                 " arguments"));
  for (size_t i = gradients.size(); i < edges.size(); ++i)
    if (edges[i].isValid())
      throw Error(ErrorCode::InvalidArgument,
                  name() + ": expected backward to give " +
                      std::to_string(edges.size()) +
                      " gradients, one for each argument, but got " +
                      std::to_string(gradients.size()));
}

/// Operands may have been made in other streams than the one that reads them
/// now, and may end with the graph.
void FunctionNode::recordUses() {
  if (recordedStreams.isEmpty())
    return;
  const std::lock_guard<std::mutex> lock(context.mutex);
  for (const Context::Saved &saved : context.saved)
    if (saved.tensor.defined() && saved.tensor.device().isCuda())
      if (const CudaStream *stream =
              recordedStreams.find(saved.tensor.device()))
        recordUse(saved.tensor, *stream);
}

TensorList FunctionNode::apply(TensorList &&gradients) {
  recordUses();
  TensorList gradOutputs(inputOfResult.size());
  for (size_t i = 0; i < gradOutputs.size(); ++i) {
    if (inputOfResult[i] < 0)
      continue;
    const auto number = static_cast<size_t>(inputOfResult[i]);
    gradOutputs[i] = std::move(gradients[number]);
    if (!gradOutputs[i].defined() && context.materializesGrads)
      gradOutputs[i] = inputs()[number].zeros();
  }
  TensorList results = backward(context, std::move(gradOutputs));
  checkResults(results);
  results.resize(edges.size());
  return results;
}

//===----------------------------------------------------------------------===//
// Context
//===----------------------------------------------------------------------===//

void Context::checkInForward(const char *call) const {
  if (node->isFinished)
    throw Error(ErrorCode::InvalidArgument,
                node->name() + ": expected a call of " + call +
                    "() in forward, but it has returned");
}

void Context::saveForBackward(TensorList tensors) {
  checkInForward("saveForBackward");
  toSave = std::move(tensors);
}

void Context::markNonDifferentiable(const TensorList &outputs) {
  checkInForward("markNonDifferentiable");
  nonDifferentiable = outputs;
}

void Context::setMaterializeGrads(bool enabled) {
  checkInForward("setMaterializeGrads");
  materializesGrads = enabled;
}

bool Context::needsInputGrad(size_t index) const {
  // A pass that is running has no say in what another call will want.
  return node->isEdge(index) &&
         (!node->isFinished ||
          BackwardPass::isWanted(node->nextEdges()[index]));
}

void Context::check() const {
  const std::lock_guard<std::mutex> lock(mutex);
  if (isReleased)
    throw Error(ErrorCode::InvalidArgument,
                node->name() +
                    ": what forward saved was freed by an earlier backward; "
                    "pass retainGraph = true to all but the last one");
  for (size_t i = 0; i < saved.size(); ++i)
    if (saved[i].tensor.defined() &&
        saved[i].tensor.version() != saved[i].version)
      throw Error(ErrorCode::InvalidArgument,
                  node->name() + ": saved tensor " + std::to_string(i) + ", " +
                      saved[i].tensor.describe() +
                      ", was written to after forward: it is at version " +
                      std::to_string(saved[i].tensor.version()) +
                      ", but was saved at version " +
                      std::to_string(saved[i].version) +
                      "; write to a clone() instead");
}

TensorList Context::savedTensors() const {
  if (!node->isFinished)
    throw Error(ErrorCode::InvalidArgument,
                node->name() + ": expected a call of savedTensors() in "
                               "backward, but forward has not returned");
  check();
  const std::lock_guard<std::mutex> lock(mutex);
  TensorList tensors;
  tensors.reserve(saved.size());
  for (const Saved &entry : saved)
    tensors.push_back(entry.tensor);
  return tensors;
}
