//===- Hooks.h - Functions called on the way back -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hooks look at gradients, and may replace them by others of the same shape,
// type and device. They run in the order in which they were added, on the
// thread that called backward(), outside of any lock: a hook may add and remove
// hooks, itself included, with effect from the next time on.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_AUTOGRAD_HOOKS_H
#define FLASHTILE_RUNTIME_AUTOGRAD_HOOKS_H

#include "runtime/Tensor.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace flashtile {

using TensorList = std::vector<Tensor>;

namespace autograd {

class GradientCell;
class Node;

using HookId = uint64_t;
/// An undefined result keeps what there was; so does an empty list.
using TensorHook = std::function<Tensor(const Tensor &gradient)>;
using PreHook = std::function<TensorList(const TensorList &gradOutputs)>;
using PostHook = std::function<TensorList(const TensorList &gradInputs,
                                          const TensorList &gradOutputs)>;

/// The hooks of one node.
class HookTable {
public:
  HookId addTensorHook(uint32_t inputNr, TensorHook hook);
  HookId addPreHook(PreHook hook);
  HookId addPostHook(PostHook hook);
  bool remove(HookId id);
  /// Where the gradient by a result is kept as well, as hooks leave it, as long
  /// as somebody has the cell.
  void addRetainer(uint32_t inputNr, std::weak_ptr<GradientCell> cell);

  bool isEmpty() const { return !hasHooks.load(std::memory_order_acquire); }
  bool hasPostHooks() const;

  /// Runs the hooks of tensors, then the others.
  void runBefore(const Node &node, TensorList &gradOutputs) const;
  void runAfter(const Node &node, TensorList &gradInputs,
                const TensorList &gradOutputs) const;
  /// Calls `function(inputNr, shared pointer to the cell)` for each retainer.
  template <typename Function>
  void forEachRetainer(Function function) const;

private:
  struct Retainer {
    uint32_t inputNr;
    std::weak_ptr<GradientCell> cell;
  };
  struct TensorEntry {
    HookId id;
    uint32_t inputNr;
    TensorHook hook;
  };
  struct Entries {
    std::vector<TensorEntry> tensor;
    std::vector<std::pair<HookId, PreHook>> before;
    std::vector<std::pair<HookId, PostHook>> after;
    std::vector<Retainer> retainers;
  };
  std::shared_ptr<const Entries> snapshot() const;
  template <typename Change>
  void change(Change change);

  mutable std::mutex mutex;
  std::shared_ptr<const Entries> entries; ///< replaced, never changed
  std::atomic<bool> hasHooks{false};
};

template <typename Function>
void HookTable::forEachRetainer(Function function) const {
  if (isEmpty())
    return;
  const auto now = snapshot();
  for (const Retainer &retainer : now->retainers)
    if (auto cell = retainer.cell.lock())
      function(retainer.inputNr, std::move(cell));
}

} // namespace autograd
} // namespace flashtile

#endif // FLASHTILE_RUNTIME_AUTOGRAD_HOOKS_H
