//===- BackwardPass.h - One way back through the graph --------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The engine. Nodes run on the calling thread, each once, after everything that
// adds to its gradients; of several that could run, the one made last is first,
// so that the order is the same every time. A pass is all or nothing: what is
// found goes to the leaves, and what was saved is freed, only at its end.
//
// Internal to the tape.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_AUTOGRAD_BACKWARDPASS_H
#define FLASHTILE_RUNTIME_AUTOGRAD_BACKWARDPASS_H

#include "runtime/Autograd/Node.h"

#include <queue>
#include <unordered_map>

namespace flashtile::autograd {

class AccumulateGrad;
class GradientCell;

class BackwardPass {
public:
  /// What leaves get is added to their gradients, or else only returned.
  BackwardPass(bool retainGraph, bool accumulates)
      : retainGraph(retainGraph), accumulates(accumulates) {}
  BackwardPass(const BackwardPass &) = delete;
  BackwardPass &operator=(const BackwardPass &) = delete;

  /// Starts at `edge` with `gradient`. Several times, before run().
  void addRoot(Edge edge, Tensor gradient);
  /// Restricts the pass to what leads to `edge`, whose gradient is result
  /// number so many of run(), unless it is accumulated.
  void addCapture(Edge edge);

  /// Can be called once. Undefined for captures that nothing led to.
  TensorList run();

  /// Whether the gradient along `edge` is wanted by the pass that runs on this
  /// thread; true where none runs.
  static bool isWanted(const Edge &edge);

private:
  struct Slot {
    Tensor value;
    bool isOwned = false; ///< made here, so that it may be added to
  };
  struct Capture {
    uint32_t inputNr;
    size_t result;
  };
  struct Task {
    Node *node = nullptr;
    bool isNeeded = true; ///< whether its gradients are of interest
    bool leadsOn = false; ///< whether it is to run, for the sake of others
    int pending = 0;      ///< edges that have not delivered yet
    std::vector<Slot> slots;
    std::vector<Capture> captures;
    RecordedStreams streams; ///< of leaves: where their gradient was made
  };
  /// What a leaf, or a tensor that retains its gradient, will get.
  struct Pending {
    const Task *task;
    AccumulateGrad *leaf; ///< null for another tensor
    std::shared_ptr<GradientCell> cell;
    Tensor gradient;
  };
  /// First what was made last.
  struct Later {
    bool operator()(const Task *a, const Task *b) const {
      return a->node->sequenceNr() < b->node->sequenceNr();
    }
  };

  Task &taskOf(Node *node) { return tasks[indexOf.at(node)]; }
  void discover();
  void findNeeded();
  void deliver(const Edge &edge, Tensor gradient, const RecordedStreams &from);
  void skip(const Task &task);
  void runTask(Task &task);
  void apply(Task &task, TensorList gradients);
  void commit();
  void joinStreams();
  void runLeafHooks();

  const bool retainGraph, accumulates;
  std::vector<Edge> roots;
  TensorList rootGradients;
  std::vector<Edge> captures;

  std::vector<Task> tasks;
  std::unordered_map<const Node *, size_t> indexOf;
  std::priority_queue<Task *, std::vector<Task *>, Later> ready;
  TensorList results;
  std::vector<Pending> pending;
  RecordedStreams callersStreams; ///< current ones of the caller, once needed
};

} // namespace flashtile::autograd

#endif // FLASHTILE_RUNTIME_AUTOGRAD_BACKWARDPASS_H
