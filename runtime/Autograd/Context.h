//===- Context.h - What forward leaves for backward -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libtorch's AutogradContext.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_AUTOGRAD_CONTEXT_H
#define FLASHTILE_RUNTIME_AUTOGRAD_CONTEXT_H

#include "runtime/Autograd/Hooks.h"
#include "runtime/Autograd/SavedData.h"

#include <mutex>

namespace flashtile::autograd {

class FunctionNode;

/// What is said to be for forward or for backward throws InvalidArgument in
/// the other.
class Context {
public:
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  /// In forward: keeps tensors for backward, with the state they are in when
  /// forward returns. Operands and results belong here; undefined tensors are
  /// kept as such. A second call replaces the first.
  void saveForBackward(TensorList tensors);
  /// In backward: those tensors, off the tape. Throws InvalidArgument where an
  /// earlier backward has freed them, for one that was written to since, and in
  /// forward.
  TensorList savedTensors() const;
  /// Everything that is no tensor.
  SavedData savedData;

  /// In forward: results without a gradient. Those whose elements are no floats
  /// need not be named.
  void markNonDifferentiable(const TensorList &outputs);
  /// Whether backward gets zeros, the default, or an undefined tensor for a
  /// result that nothing depends on.
  void setMaterializeGrads(bool enabled);

  /// Whether the gradient by argument `index` of apply() is wanted; false for
  /// arguments that are no tensors. The tensors of a list count one by one. In
  /// backward, only what this pass needs is wanted. Throws InvalidArgument for
  /// an index that no argument has.
  bool needsInputGrad(size_t index) const;

private:
  friend class FunctionNode;
  /// Function::apply() makes them.
  Context() = default;

  /// A tensor, and the number of writes to its memory when it was saved.
  struct Saved {
    Tensor tensor;
    uint64_t version;
  };
  /// The tensors, or why there are none.
  void check() const;
  /// What is for forward comes too late in backward: throws InvalidArgument.
  void checkInForward(const char *call) const;

  const FunctionNode *node = nullptr;
  TensorList toSave, nonDifferentiable;
  bool materializesGrads = true;

  mutable std::mutex mutex; ///< of the two below
  std::vector<Saved> saved;
  bool isReleased = false;
};

} // namespace flashtile::autograd

#endif // FLASHTILE_RUNTIME_AUTOGRAD_CONTEXT_H
