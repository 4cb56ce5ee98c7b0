//===- Autograd.cpp - Gradients of tensors --------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Autograd/Autograd.h"

#include "compiler/Support/Error.h"
#include "runtime/Autograd/BackwardPass.h"
#include "runtime/Autograd/Variable.h"

#include <utility>
#include <vector>

using namespace flashtile;
using namespace flashtile::autograd;

[[noreturn]] static void refuse(const std::string &message) {
  throw Error(ErrorCode::InvalidArgument, message);
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

/// Where to begin for tensor number `i`, which has to be on the tape.
static Edge rootEdge(const char *call, const Tensor &tensor, size_t i) {
  const std::string what = std::string(call) + ": tensor " + std::to_string(i);
  if (!tensor.defined())
    refuse(what + " is undefined");
  if (!tensor.requiresGrad())
    refuse(what + ", " + tensor.describe() +
           ", does not require a gradient: it was computed from no tensor that "
           "does, within a NoGradGuard, or by a call that is not "
           "differentiable");
  return gradientEdge(tensor);
}

/// The gradient to begin with, in the shape of the tensor.
static Tensor rootGradient(const char *call, const Tensor &tensor,
                           const Tensor &gradient, size_t i) {
  const std::string what = std::string(call) + ": tensor " + std::to_string(i);
  if (!gradient.defined()) {
    if (tensor.numel() != 1)
      refuse(what + ": expected a gradient, as " + tensor.describe() + " has " +
             std::to_string(tensor.numel()) +
             " elements; for one element it would be 1");
    return Tensor::full(tensor.shape(), 1, tensor.dtype(), tensor.device());
  }
  if (gradient.shape() != tensor.shape() ||
      gradient.device() != tensor.device() || !isFloat(gradient.dtype()))
    refuse(what + ": expected a gradient of the shape of " + tensor.describe() +
           ", but got " + gradient.describe());
  return TensorInfo(tensor).fit(gradient.detach(), what);
}

static void addRoots(BackwardPass &pass, const char *call,
                     const TensorList &tensors, const TensorList &gradients) {
  if (tensors.empty())
    refuse(std::string(call) + ": expected a tensor to begin with");
  if (gradients.size() > tensors.size())
    refuse(std::string(call) + ": expected at most " +
           std::to_string(tensors.size()) +
           " gradients, one for each tensor, but got " +
           std::to_string(gradients.size()));
  const NoGradGuard noGrad;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Edge edge = rootEdge(call, tensors[i], i);
    const Tensor given = i < gradients.size() ? gradients[i] : Tensor();
    pass.addRoot(std::move(edge), rootGradient(call, tensors[i], given, i));
  }
}

static void addCaptures(BackwardPass &pass, const char *call,
                        const TensorList &inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined() || !inputs[i].requiresGrad())
      refuse(
          std::string(call) + ": expected input " + std::to_string(i) +
          " to require a gradient, but got " +
          (inputs[i].defined() ? inputs[i].describe() : "an undefined tensor"));
    pass.addCapture(gradientEdge(inputs[i]));
  }
}

void autograd::backward(const TensorList &tensors,
                        const TensorList &gradTensors, bool retainGraph,
                        const TensorList &inputs) {
  BackwardPass pass(retainGraph, /*accumulates=*/true);
  addRoots(pass, "backward", tensors, gradTensors);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].defined() && !inputs[i].isLeaf() && !inputs[i].retainsGrad())
      refuse("backward: expected input " + std::to_string(i) +
             " to be a leaf or to have retainGrad(), but got " +
             inputs[i].describe());
  addCaptures(pass, "backward", inputs);
  pass.run();
}

TensorList autograd::grad(const TensorList &outputs, const TensorList &inputs,
                          const TensorList &gradOutputs, bool retainGraph,
                          bool allowUnused) {
  if (inputs.empty())
    refuse("grad: expected an input to differentiate by");
  BackwardPass pass(retainGraph, /*accumulates=*/false);
  addRoots(pass, "grad", outputs, gradOutputs);
  addCaptures(pass, "grad", inputs);
  TensorList found = pass.run();
  for (size_t i = 0; i < inputs.size() && !allowUnused; ++i)
    if (!found[i].defined())
      refuse("grad: the outputs do not depend on input " + std::to_string(i) +
             ", " + inputs[i].describe() +
             "; pass allowUnused = true to get an undefined gradient");
  return found;
}

bool autograd::isRecorded(std::initializer_list<Operand> operands) {
  if (!GradMode::isEnabled())
    return false;
  for (const Operand &operand : operands)
    if (operand.get().defined() && operand.get().requiresGrad())
      return true;
  return false;
}

void autograd::checkNotRecorded(const char *call,
                                std::initializer_list<Operand> operands) {
  if (isRecorded(operands))
    throw Error(ErrorCode::Unsupported,
                std::string(call) +
                    " has no gradient, but an operand requires one; call it "
                    "within a NoGradGuard, or pass detach()");
}

std::shared_ptr<Node> autograd::gradAccumulator(const Tensor &leaf) {
  if (!leaf.requiresGrad() || !leaf.isLeaf())
    refuse("expected a leaf that requires a gradient, but got " +
           leaf.describe());
  return TensorAccess::meta(leaf)->accumulator;
}

//===----------------------------------------------------------------------===//
// Tensor
//===----------------------------------------------------------------------===//

const Tensor &Tensor::setRequiresGrad(bool enabled) const {
  if (!isLeaf()) {
    if (!enabled)
      refuse("expected a leaf to be taken off the tape, but got " + describe() +
             ", which was computed; use detach()");
    return *this;
  }
  if (enabled && !isFloat(dtype()))
    refuse("expected elements of a float type to require a gradient, but got " +
           describe());
  if (enabled || TensorAccess::meta(*this))
    TensorAccess::ensureMeta(*this).isRequired = enabled;
  return *this;
}

std::shared_ptr<Node> Tensor::gradFn() const {
  const VariableMeta *meta = TensorAccess::meta(*this);
  return meta ? meta->gradFn : nullptr;
}

int64_t Tensor::outputNr() const {
  const VariableMeta *meta = TensorAccess::meta(*this);
  return meta ? meta->outputNr : 0;
}

Tensor Tensor::grad() const {
  const VariableMeta *meta = TensorAccess::meta(*this);
  if (!meta)
    return {};
  if (meta->accumulator)
    return meta->accumulator->cell->get();
  return meta->retained ? meta->retained->get() : Tensor();
}

void Tensor::setGrad(const Tensor &gradient) const {
  if (!gradient.defined() && !TensorAccess::meta(*this))
    return;
  VariableMeta &meta = TensorAccess::ensureMeta(*this);
  if (meta.accumulator)
    return meta.accumulator->cell->set(gradient);
  if (!meta.retained)
    refuse("expected a leaf, or a tensor with retainGrad(), to keep a "
           "gradient, but got " +
           describe());
  meta.retained->set(gradient);
}

void Tensor::retainGrad() const {
  if (!requiresGrad())
    refuse("expected a tensor that requires a gradient to retain it, but got " +
           describe());
  VariableMeta &meta = *TensorAccess::meta(*this);
  if (meta.isLeaf() || meta.retained)
    return;
  meta.retained = std::make_shared<GradientCell>(*this);
  meta.gradFn->hooks().addRetainer(meta.outputNr, meta.retained);
}

bool Tensor::retainsGrad() const {
  const VariableMeta *meta = TensorAccess::meta(*this);
  return meta && meta->retained;
}

void Tensor::backward(const Tensor &gradient, bool retainGraph,
                      const std::vector<Tensor> &inputs) const {
  autograd::backward({*this}, {gradient}, retainGraph, inputs);
}

uint64_t Tensor::addHook(std::function<Tensor(const Tensor &)> hook) const {
  if (!requiresGrad())
    refuse("expected a tensor that requires a gradient to register a hook, but "
           "got " +
           describe());
  const Edge edge = gradientEdge(*this);
  return edge.function->addTensorPreHook(edge.inputNr, std::move(hook));
}

bool Tensor::removeHook(uint64_t id) const {
  const VariableMeta *meta = TensorAccess::meta(*this);
  if (!meta)
    return false;
  return meta->gradFn ? meta->gradFn->removeHook(id)
                      : meta->accumulator->removeHook(id);
}
