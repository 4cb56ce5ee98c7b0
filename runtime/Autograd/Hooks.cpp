//===- Hooks.cpp - Functions called on the way back -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Autograd/Hooks.h"

#include "compiler/Support/Error.h"
#include "runtime/Autograd/Node.h"
#include "runtime/Autograd/TensorAccess.h"

#include <algorithm>

using namespace flashtile;
using namespace flashtile::autograd;

/// Never used twice in a process, so that an old number cannot hit a new hook.
static HookId newId() {
  static std::atomic<HookId> last{0};
  return ++last;
}

template <typename Change>
void HookTable::change(Change change) {
  // What is replaced is freed after the lock: a hook may own anything.
  std::shared_ptr<const Entries> old;
  const std::lock_guard<std::mutex> lock(mutex);
  auto changed = entries ? std::make_shared<Entries>(*entries)
                         : std::make_shared<Entries>();
  change(*changed);
  hasHooks.store(!changed->tensor.empty() || !changed->before.empty() ||
                     !changed->after.empty() || !changed->retainers.empty(),
                 std::memory_order_release);
  old = std::exchange(entries, std::move(changed));
}

std::shared_ptr<const HookTable::Entries> HookTable::snapshot() const {
  const std::lock_guard<std::mutex> lock(mutex);
  return entries;
}

[[noreturn]] static void refuseEmpty() {
  throw Error(ErrorCode::InvalidArgument,
              "expected a hook, but got an empty function");
}

HookId HookTable::addTensorHook(uint32_t inputNr, TensorHook hook) {
  if (!hook)
    refuseEmpty();
  const HookId id = newId();
  change([&](Entries &entries) {
    entries.tensor.push_back({id, inputNr, std::move(hook)});
  });
  return id;
}

void HookTable::addRetainer(uint32_t inputNr,
                            std::weak_ptr<GradientCell> cell) {
  change([&](Entries &entries) {
    entries.retainers.push_back({inputNr, std::move(cell)});
  });
}

HookId HookTable::addPreHook(PreHook hook) {
  if (!hook)
    refuseEmpty();
  const HookId id = newId();
  change([&](Entries &entries) {
    entries.before.emplace_back(id, std::move(hook));
  });
  return id;
}

HookId HookTable::addPostHook(PostHook hook) {
  if (!hook)
    refuseEmpty();
  const HookId id = newId();
  change([&](Entries &entries) {
    entries.after.emplace_back(id, std::move(hook));
  });
  return id;
}

bool HookTable::remove(HookId id) {
  size_t removed = 0;
  const auto removeFrom = [&](auto &list, auto idOf) {
    const auto end =
        std::remove_if(list.begin(), list.end(),
                       [&](const auto &entry) { return idOf(entry) == id; });
    removed += static_cast<size_t>(list.end() - end);
    list.erase(end, list.end());
  };
  change([&](Entries &entries) {
    removeFrom(entries.tensor,
               [](const TensorEntry &entry) { return entry.id; });
    removeFrom(entries.before, [](const auto &entry) { return entry.first; });
    removeFrom(entries.after, [](const auto &entry) { return entry.first; });
  });
  return removed != 0;
}

bool HookTable::hasPostHooks() const {
  if (isEmpty())
    return false;
  const auto now = snapshot();
  return now && !now->after.empty();
}

/// Puts `replacement` in the place of `gradient`, if it is one. `info` says
/// what fits there, also where there is no gradient yet.
static void replace(const Node &node, const char *kind, size_t position,
                    const TensorInfo &info, Tensor &gradient,
                    Tensor replacement) {
  if (!replacement.defined())
    return;
  if (replacement.shape() != info.shape || replacement.dtype() != info.dtype ||
      replacement.device() != info.device)
    throw Error(ErrorCode::InvalidArgument,
                node.name() + ": expected a " + kind + " to give gradient " +
                    std::to_string(position) + " as " + info.describe() +
                    ", but got " + replacement.describe());
  // A tensor on the tape is no gradient, but its elements may be one.
  gradient = TensorAccess::meta(replacement) ? replacement.detach()
                                             : std::move(replacement);
}

/// The same for a whole list; `infoOf(i)` is null where nobody wants a
/// gradient.
template <typename InfoOf>
static void replaceAll(const Node &node, const char *kind,
                       TensorList &gradients, TensorList replacements,
                       InfoOf infoOf) {
  if (replacements.empty())
    return;
  if (replacements.size() != gradients.size())
    throw Error(ErrorCode::InvalidArgument,
                node.name() + ": expected a " + kind + " to give no or " +
                    std::to_string(gradients.size()) + " gradients, but got " +
                    std::to_string(replacements.size()));
  for (size_t i = 0; i < gradients.size(); ++i)
    if (const TensorInfo *info = infoOf(i))
      replace(node, kind, i, *info, gradients[i], std::move(replacements[i]));
}

void HookTable::runBefore(const Node &node, TensorList &gradOutputs) const {
  if (isEmpty())
    return;
  const auto now = snapshot();
  for (const TensorEntry &entry : now->tensor) {
    Tensor &gradient = gradOutputs[entry.inputNr];
    if (gradient.defined())
      replace(node, "hook of a tensor", entry.inputNr,
              node.inputs()[entry.inputNr], gradient, entry.hook(gradient));
  }
  for (const auto &[id, hook] : now->before)
    replaceAll(node, "pre-hook", gradOutputs, hook(gradOutputs),
               [&](size_t i) { return &node.inputs()[i]; });
}

void HookTable::runAfter(const Node &node, TensorList &gradInputs,
                         const TensorList &gradOutputs) const {
  if (isEmpty())
    return;
  const auto now = snapshot();
  for (const auto &[id, hook] : now->after)
    replaceAll(node, "post-hook", gradInputs, hook(gradInputs, gradOutputs),
               [&](size_t i) -> const TensorInfo * {
                 const Edge &edge = node.nextEdges()[i];
                 return edge.isValid() ? &edge.function->inputs()[edge.inputNr]
                                       : nullptr;
               });
}
