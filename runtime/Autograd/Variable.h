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

/// A gradient that is kept, and the stream in which it was written last.
class GradientCell {
public:
  explicit GradientCell(const Tensor &variable) : info(variable) {}

  Tensor get() const;
  /// Throws InvalidArgument for a gradient that does not fit.
  void set(const Tensor &gradient);
  /// Adds a gradient that fits, in the current stream of its device. Takes its
  /// memory where nobody else has it, and never writes to it otherwise.
  void accumulate(Tensor &&gradient);
  /// The same, but forgets what was there.
  void replace(const Tensor &gradient);

private:
  void noteStream();

  const TensorInfo info;
  mutable std::mutex mutex;
  Tensor gradient;
  RecordedStreams lastWriter;
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
