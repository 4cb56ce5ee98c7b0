//===- FunctionNode.h - The node of a Function ----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All of Function that does not depend on its class.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_AUTOGRAD_FUNCTIONNODE_H
#define FLASHTILE_RUNTIME_AUTOGRAD_FUNCTIONNODE_H

#include "runtime/Autograd/Context.h"
#include "runtime/Autograd/GradMode.h"
#include "runtime/Autograd/Node.h"

namespace flashtile::autograd {

class FunctionNode final : public Node {
  friend class Context;

public:
  using Backward = TensorList (*)(Context &, TensorList &&);

  FunctionNode(const std::type_info &type, Backward backward);

  std::string name() const override;
  TensorList apply(TensorList &&gradients) override;
  void checkUsable() const override;
  void releaseVariables() override;

  // Called in this order by Function::apply.

  /// How many arguments there will be, at least.
  void reserve(size_t count);
  /// An argument: a tensor, or something that has no gradient (null).
  void addArgument(const Tensor *argument);
  /// After forward, once for each result, which is put on the tape.
  void addResult(Tensor &result);
  /// After the last one.
  void finish();

  bool isEdge(size_t index) const;

  Context context;

private:
  /// An argument that is a tensor; undefined for everything else.
  struct Argument {
    Tensor tensor;
    uint64_t version;
  };
  bool isArgument(const Tensor &tensor) const;
  void checkArguments() const;
  void saveTensors();
  void recordUses();
  void checkResults(const TensorList &gradients) const;

  const std::type_info &type;
  const Backward backward;
  const bool wasEnabled;   ///< GradMode when the call began
  bool isRecorded = false; ///< whether there is anything to go back to
  bool isFinished = false;
  std::vector<bool> isTensor;     ///< of arguments
  std::vector<int> inputOfResult; ///< -1: no gradient; else the input

  // Until finish().
  std::vector<Argument> arguments;
  std::vector<const void *> results; ///< identities
};

} // namespace flashtile::autograd

#endif // FLASHTILE_RUNTIME_AUTOGRAD_FUNCTIONNODE_H
