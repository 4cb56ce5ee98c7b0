//===- Variable.h - What a tensor is on the tape --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to the tape. A tensor on the tape is a leaf, with a node of its own
// that adds up its gradient, or the result of a node.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_AUTOGRAD_VARIABLE_H
#define FLASHTILE_RUNTIME_AUTOGRAD_VARIABLE_H

#include "runtime/Autograd/AutogradMeta.h"
#include "runtime/Autograd/TensorAccess.h"

#include <atomic>
#include <optional>

namespace flashtile::autograd {

class GradientCell;

/// A gradient that fits a cell and is to be added to it.
struct GradientAddition {
  GradientCell *cell;
  Tensor gradient;
  RecordedStreams streams; ///< to do it in, where they are not the current ones

  // Of GradientCell::accumulate:
  bool isInPlace = false;
  Tensor replacement{}; ///< where it is not
  RecordedStreams writer{};
};

/// A gradient that is kept, and the stream in which it was written last.
class GradientCell {
public:
  explicit GradientCell(const Tensor &variable) : info(variable) {}

  Tensor get() const;
  /// Shares its memory. Throws InvalidArgument for a gradient that does not
  /// fit.
  void set(const Tensor &gradient);

  /// Adds to many cells, each of which is named once: in place where a cell has
  /// a gradient. Takes the memory of what is added where nobody else has it,
  /// and never writes to it otherwise. All memory and every kernel are there
  /// before the first cell changes, so that what throws leaves all as they
  /// were; but for a GPU that takes one addition in place and refuses another,
  /// of which the error tells.
  static void accumulate(std::vector<GradientAddition> &additions);

private:
  class InUse;

  void prepare(GradientAddition &addition) const;
  void publish(GradientAddition &addition);

  const TensorInfo info;
  mutable std::mutex mutex; ///< for the handle; never held while work is done
  Tensor gradient;
  RecordedStreams lastWriter;
  bool isInUse = false; ///< whether a thread is to change it
};

/// The end of the way back: the node of a leaf.
class AccumulateGrad final : public Node {
public:
  explicit AccumulateGrad(const Tensor &variable)
      : Node(First()), cell(std::make_shared<GradientCell>(variable)) {
    addInput(variable);
  }

  std::string name() const override { return "AccumulateGrad"; }
  /// Adds at once. The engine does not call it: it adds at the end.
  TensorList apply(TensorList &&gradients) override;

  const std::shared_ptr<GradientCell> cell;
};

class VariableMeta final : public AutogradMeta {
public:
  /// A leaf.
  VariableMeta() = default;
  /// A result.
  VariableMeta(std::shared_ptr<Node> node, uint32_t outputNr)
      : isRequired(true), gradFn(std::move(node)), outputNr(outputNr) {}

  bool requiresGrad() const override {
    return isRequired.load(std::memory_order_relaxed);
  }
  bool isLeaf() const override { return gradFn == nullptr; }
  void recordView(const Tensor &source, const Tensor &result,
                  ViewRecord record) const override;

  std::atomic<bool> isRequired{false};
  /// Of a result.
  const std::shared_ptr<Node> gradFn;
  const uint32_t outputNr = 0;
  std::shared_ptr<GradientCell> retained; ///< null unless retainGrad()
  /// Of a leaf; made when it is first needed, before other threads see it.
  std::shared_ptr<AccumulateGrad> accumulator;
};

} // namespace flashtile::autograd

#endif // FLASHTILE_RUNTIME_AUTOGRAD_VARIABLE_H
