//===- Node.h - One step of the way back ----------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tape is a graph of nodes. A node takes the gradients by the results of a
// call and gives those by its operands; an edge says whose gradient each of
// these is. Nodes point to the nodes that made the operands, tensors to the
// node that made them: what nobody can reach any more is freed.
//
// Thread safety: hooks may be added and removed from any thread, and one graph
// may be gone through from several threads at once if it is retained.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_AUTOGRAD_NODE_H
#define FLASHTILE_RUNTIME_AUTOGRAD_NODE_H

#include "runtime/Autograd/Hooks.h"
#include "runtime/Autograd/RecordedStreams.h"
#include "runtime/Tensor.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace flashtile::autograd {

/// Input `inputNr` of a node: where a gradient goes.
struct Edge {
  std::shared_ptr<Node> function;
  uint32_t inputNr = 0;

  bool isValid() const { return function != nullptr; }
};

/// What is known of a tensor whose gradient a node takes.
struct TensorInfo {
  explicit TensorInfo(const Tensor &tensor)
      : shape(tensor.shape()), dtype(tensor.dtype()), device(tensor.device()) {}

  /// "f32[2, 3] on cpu"
  std::string describe() const;
  Tensor zeros() const { return Tensor::zeros(shape, dtype, device); }
  /// `gradient` in this shape, type and on this device: extents that were
  /// broadcast are summed, types converted. Throws InvalidArgument, beginning
  /// with `what`, where that is no way to it.
  Tensor fit(const Tensor &gradient, const std::string &what) const;

  Shape shape;
  DType dtype;
  Device device;
};

class Node : public std::enable_shared_from_this<Node> {
public:
  /// Frees nodes one after the other instead of one within the other, so that
  /// a long graph does not need a deep stack.
  struct Deleter {
    void operator()(Node *node) const noexcept;
  };
  /// Nodes are made with this, for the sake of the deleter.
  template <typename T, typename... Args>
  static std::shared_ptr<T> make(Args &&...args) {
    return std::shared_ptr<T>(new T(std::forward<Args>(args)...), Deleter());
  }

  virtual ~Node();
  Node(const Node &) = delete;
  Node &operator=(const Node &) = delete;

  /// For messages; for a Function, the name of its class.
  virtual std::string name() const = 0;
  /// Where each result of apply() goes; invalid where nobody wants it.
  const std::vector<Edge> &nextEdges() const { return edges; }
  /// The tensors whose gradients apply() takes.
  const std::vector<TensorInfo> &inputs() const { return infos; }
  /// Nodes made later have higher numbers.
  uint64_t sequenceNr() const { return number; }
  const RecordedStreams &streams() const { return recordedStreams; }

  /// Calls `hook` with the gradient by result `inputNr`, before pre-hooks.
  HookId addTensorPreHook(uint32_t inputNr, TensorHook hook);
  /// Calls `hook` with the gradients that apply() will take.
  HookId addPreHook(PreHook hook);
  /// Calls `hook` with the gradients that apply() gave, and those it took.
  HookId addPostHook(PostHook hook);
  /// Whether there was such a hook.
  bool removeHook(HookId id) { return hookTable.remove(id); }

  // For the engine.

  /// The gradients by the operands, one for each edge; some may be undefined.
  virtual TensorList apply(TensorList &&gradients) = 0;
  /// Throws if apply() could not succeed: something was freed or overwritten.
  virtual void checkUsable() const {}
  /// Frees what was saved for apply().
  virtual void releaseVariables() {}

  HookTable &hooks() { return hookTable; }

protected:
  /// For leaves, which come before everything else.
  struct First {};

  explicit Node(std::vector<Edge> edges = {});
  explicit Node(First);

  uint32_t addInput(const Tensor &tensor);

  std::vector<Edge> edges;
  RecordedStreams recordedStreams;

private:
  std::vector<TensorInfo> infos;
  uint64_t number;
  HookTable hookTable;
  Node *nextDoomed = nullptr; ///< of the list of nodes to be freed
};

} // namespace flashtile::autograd

#endif // FLASHTILE_RUNTIME_AUTOGRAD_NODE_H
