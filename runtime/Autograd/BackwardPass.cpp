//===- BackwardPass.cpp - One way back through the graph ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Autograd/BackwardPass.h"

#include "compiler/Support/Error.h"
#include "runtime/Autograd/GradMode.h"
#include "runtime/Autograd/GradientArithmetic.h"
#include "runtime/Autograd/Variable.h"
#include "runtime/cuda/CudaBackend.h"

#include <algorithm>

using namespace flashtile;
using namespace flashtile::autograd;

/// The innermost pass of this thread: backward may call backward.
static thread_local const BackwardPass *current = nullptr;

namespace {
class CurrentPass {
public:
  explicit CurrentPass(const BackwardPass *pass)
      : outer(std::exchange(current, pass)) {}
  ~CurrentPass() { current = outer; }
  CurrentPass(const CurrentPass &) = delete;
  CurrentPass &operator=(const CurrentPass &) = delete;

private:
  const BackwardPass *outer;
};
} // namespace

bool BackwardPass::isWanted(const Edge &edge) {
  if (!edge.isValid())
    return false;
  if (!current || current->captures.empty())
    return true;
  const auto it = current->indexOf.find(edge.function.get());
  return it == current->indexOf.end() || current->tasks[it->second].isNeeded;
}

void BackwardPass::addRoot(Edge edge, Tensor gradient) {
  roots.push_back(std::move(edge));
  rootGradients.push_back(std::move(gradient));
}

void BackwardPass::addCapture(Edge edge) {
  captures.push_back(std::move(edge));
}

//===----------------------------------------------------------------------===//
// Before anything runs
//===----------------------------------------------------------------------===//

/// Makes a task for each node that the roots lead to, and counts what each of
/// them waits for.
void BackwardPass::discover() {
  std::vector<size_t> open;
  const auto visit = [&](const Edge &edge) {
    const auto [it, isNew] = indexOf.emplace(edge.function.get(), tasks.size());
    if (isNew) {
      Task &task = tasks.emplace_back();
      task.node = edge.function.get();
      task.slots.resize(task.node->inputs().size());
      open.push_back(it->second);
    }
    ++tasks[it->second].pending;
  };
  for (const Edge &root : roots)
    visit(root);
  while (!open.empty()) {
    const Node *node = tasks[open.back()].node;
    open.pop_back();
    for (const Edge &edge : node->nextEdges())
      if (edge.isValid())
        visit(edge);
  }
}

/// With captures, only what leads to them runs.
void BackwardPass::findNeeded() {
  results.resize(captures.size());
  for (Task &task : tasks)
    task.isNeeded = captures.empty();
  for (size_t i = 0; i < captures.size(); ++i) {
    const auto it = indexOf.find(captures[i].function.get());
    if (it == indexOf.end())
      continue;
    Task &task = tasks[it->second];
    task.captures.push_back({captures[i].inputNr, i});
    task.isNeeded = true;
  }
  // Nodes are younger than those they lead to, but for leaves, whose number
  // says nothing and which lead nowhere.
  std::vector<Task *> oldestFirst;
  for (Task &task : tasks)
    if (!task.node->nextEdges().empty())
      oldestFirst.push_back(&task);
  if (!captures.empty())
    std::sort(oldestFirst.begin(), oldestFirst.end(),
              [](const Task *a, const Task *b) { return Later()(a, b); });
  for (Task *task : oldestFirst) {
    const std::vector<Edge> &edges = task->node->nextEdges();
    task->leadsOn =
        std::any_of(edges.begin(), edges.end(), [&](const Edge &edge) {
          return edge.isValid() &&
                 (captures.empty() || taskOf(edge.function.get()).isNeeded);
        });
    task->isNeeded |= task->leadsOn;
  }
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Makes what one stream wrote known to another, on one device.
static void handOverStreams(const Tensor &tensor, const RecordedStreams &from,
                            const RecordedStreams &to) {
  if (!tensor.device().isCuda())
    return;
  const CudaStream *producer = from.find(tensor.device());
  const CudaStream *consumer = to.find(tensor.device());
  if (producer && consumer)
    handOver(tensor, *producer, *consumer);
}

/// Adds `gradient` to an input of a node, and runs the node when that was the
/// last one.
void BackwardPass::deliver(const Edge &edge, Tensor gradient,
                           const RecordedStreams &from) {
  Task &task = taskOf(edge.function.get());
  if (gradient.defined() && task.isNeeded) {
    Slot &slot = task.slots[edge.inputNr];
    // A leaf takes the stream of what comes first.
    if (task.node->streams().isEmpty()) {
      if (task.streams.isEmpty())
        task.streams = from;
    } else if (task.streams.isEmpty()) {
      task.streams = task.node->streams();
    }
    handOverStreams(gradient, from, task.streams);
    if (!slot.value.defined()) {
      slot.value = std::move(gradient);
    } else {
      const StreamScope scope(task.streams);
      if (slot.isOwned)
        addInto(slot.value, gradient);
      else
        slot.value = add(slot.value, gradient);
      slot.isOwned = true;
    }
  }
  if (--task.pending == 0)
    ready.push(&task);
}

void BackwardPass::apply(Task &task, TensorList gradients) {
  Node &node = *task.node;
  TensorList taken;
  const bool hasPostHooks = node.hooks().hasPostHooks();
  if (hasPostHooks)
    taken = gradients;
  TensorList given = node.apply(std::move(gradients));
  const std::vector<Edge> &edges = node.nextEdges();
  for (size_t i = 0; i < given.size(); ++i) {
    if (!edges[i].isValid())
      given[i] = Tensor();
    if (!given[i].defined())
      continue;
    given[i] = edges[i].function->inputs()[edges[i].inputNr].fit(
        given[i],
        node.name() + ": gradient " + std::to_string(i) + " of backward");
    // One of the tensors that somebody differentiates by.
    if (TensorAccess::meta(given[i]))
      given[i] = given[i].detach();
  }
  if (hasPostHooks)
    node.hooks().runAfter(node, given, taken);
  taken = {};
  for (size_t i = 0; i < edges.size(); ++i)
    if (edges[i].isValid())
      deliver(edges[i], std::move(given[i]),
              task.streams.isEmpty() ? callersStreams : task.streams);
}

/// Tells those that wait for a task that nothing comes of it.
void BackwardPass::skip(const Task &task) {
  for (const Edge &edge : task.node->nextEdges())
    if (edge.isValid())
      deliver(edge, Tensor(), {});
}

void BackwardPass::runTask(Task &task) {
  Node &node = *task.node;
  if (!task.isNeeded)
    return skip(task);
  if (task.streams.isEmpty())
    task.streams = node.streams();
  const StreamScope scope(task.streams);
  TensorList gradients;
  gradients.reserve(task.slots.size());
  for (Slot &slot : task.slots)
    gradients.push_back(std::move(slot.value));
  task.slots.clear();
  node.hooks().runBefore(node, gradients);
  for (const Capture &capture : task.captures)
    if (!accumulates)
      results[capture.result] = gradients[capture.inputNr];
  node.hooks().forEachRetainer([&](uint32_t inputNr,
                                   std::shared_ptr<GradientCell> cell) {
    pending.push_back({&task, nullptr, std::move(cell), gradients[inputNr]});
  });
  if (auto *leaf = dynamic_cast<AccumulateGrad *>(&node)) {
    if (accumulates)
      pending.push_back({&task, leaf, leaf->cell, std::move(gradients[0])});
    return;
  }
  if (task.leadsOn)
    apply(task, std::move(gradients));
  else
    skip(task);
}

/// The pass has succeeded: leaves get their gradients.
void BackwardPass::commit() {
  std::vector<GradientAddition> additions;
  additions.reserve(pending.size());
  for (Pending &entry : pending) {
    if (!entry.gradient.defined())
      continue;
    const bool hooksSeeIt = entry.leaf && entry.leaf->hooks().hasPostHooks();
    additions.push_back(
        {entry.cell.get(),
         hooksSeeIt ? entry.gradient : std::move(entry.gradient),
         entry.task->streams});
  }
  GradientCell::accumulate(additions);
  if (retainGraph)
    return;
  for (const Task &task : tasks)
    if (task.leadsOn)
      task.node->releaseVariables();
}

/// After everything else, so that one that throws leaves nothing half done.
void BackwardPass::runLeafHooks() {
  for (const Pending &entry : pending) {
    if (!entry.gradient.defined() || !entry.leaf)
      continue;
    const StreamScope scope(entry.task->streams);
    TensorList none;
    entry.leaf->hooks().runAfter(*entry.leaf, none, {entry.gradient});
  }
}

/// What the caller puts into its streams from now on comes after the pass. Of
/// what a pass goes through, the ends are enough.
void BackwardPass::joinStreams() {
  std::vector<CudaStream> joined;
  const auto join = [&](const Task &task, const Tensor &gradient) {
    if (!gradient.defined() || !gradient.device().isCuda())
      return;
    const CudaStream *stream = task.streams.find(gradient.device());
    if (!stream)
      return;
    const CudaStream now = CudaStream::current(stream->device());
    if (*stream == now)
      return;
    if (std::find(joined.begin(), joined.end(), *stream) == joined.end()) {
      now.wait(*stream);
      joined.push_back(*stream);
    }
    recordUse(gradient, now);
  };
  for (const Pending &entry : pending)
    join(*entry.task, entry.cell->get());
  for (const Task &task : tasks)
    for (const Capture &capture : task.captures)
      join(task, results[capture.result]);
}

TensorList BackwardPass::run() {
  const NoGradGuard noGrad;
  discover();
  findNeeded();
  for (const Task &task : tasks)
    if (task.leadsOn)
      task.node->checkUsable();
  for (const Tensor &gradient : rootGradients)
    callersStreams.note(gradient);
  {
    const CurrentPass scope(this);
    for (size_t i = 0; i < roots.size(); ++i)
      deliver(roots[i], std::move(rootGradients[i]), callersStreams);
    while (!ready.empty()) {
      Task *task = ready.top();
      ready.pop();
      runTask(*task);
    }
  }
  commit();
  try {
    joinStreams();
  } catch (const Error &error) {
    throw Error(error.code(),
                std::string(error.what()) +
                    "; the gradients of the pass are complete, but the current "
                    "stream does not wait for them");
  }
  runLeafHooks();
  return std::move(results);
}
