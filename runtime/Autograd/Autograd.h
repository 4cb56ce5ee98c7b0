//===- Autograd.h - Gradients of tensors ----------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an application includes to differentiate: the calls here, Function for
// operations of its own, and GradMode. Tensor.h has the rest: requiresGrad(),
// backward(), grad(), hooks.
//
// Thread safety: any number of threads may record and go back at once, also to
// leaves that they share, whose gradients then add up. A pass runs on the
// thread that calls it; on GPUs, in the streams that were current during the
// calls that it goes back through.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_AUTOGRAD_AUTOGRAD_H
#define FLASHTILE_RUNTIME_AUTOGRAD_AUTOGRAD_H

#include "runtime/Autograd/Function.h"
#include "runtime/Autograd/GradMode.h"

namespace flashtile::autograd {

/// Tensor::backward for several tensors at once: the gradients of
/// sum_i sum(tensors[i] * gradTensors[i]). Where `gradTensors` is shorter, the
/// rest is undefined.
void backward(const TensorList &tensors, const TensorList &gradTensors = {},
              bool retainGraph = false, const TensorList &inputs = {});

/// The gradients of sum_i sum(outputs[i] * gradOutputs[i]) by `inputs`, leaves
/// or not, without touching any Tensor::grad(). Only what leads to `inputs`
/// runs. Throws as Tensor::backward, and InvalidArgument for an input that the
/// outputs do not depend on, unless `allowUnused`: then its gradient is
/// undefined.
TensorList grad(const TensorList &outputs, const TensorList &inputs,
                const TensorList &gradOutputs = {}, bool retainGraph = false,
                bool allowUnused = false);

/// A tensor that a call looks at without sharing it.
class Operand {
public:
  Operand(const Tensor &tensor) : tensor(tensor) {}
  const Tensor &get() const { return tensor; }

private:
  const Tensor &tensor;
};

/// Whether a call with these operands is to be recorded: gradients are, and one
/// of them requires one. Undefined tensors do not.
bool isRecorded(std::initializer_list<Operand> operands);

/// For calls without a gradient: throws Unsupported where they would be
/// recorded, instead of giving a result that nobody can go back from.
void checkNotRecorded(const char *call,
                      std::initializer_list<Operand> operands);

/// The node that adds up the gradient of a leaf: where hooks of nodes go.
/// Throws InvalidArgument for a tensor that is no leaf or requires no gradient.
std::shared_ptr<Node> gradAccumulator(const Tensor &leaf);

} // namespace flashtile::autograd

#endif // FLASHTILE_RUNTIME_AUTOGRAD_AUTOGRAD_H
