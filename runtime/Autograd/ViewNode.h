//===- ViewNode.h - The way back of views and copies ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to the tape.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_AUTOGRAD_VIEWNODE_H
#define FLASHTILE_RUNTIME_AUTOGRAD_VIEWNODE_H

#include "runtime/Autograd/AutogradMeta.h"
#include "runtime/Autograd/Node.h"

namespace flashtile::autograd {

class ViewNode final : public Node {
public:
  ViewNode(const Tensor &source, const Tensor &result, ViewRecord record);

  std::string name() const override;
  TensorList apply(TensorList &&gradients) override;

private:
  Tensor back(const Tensor &gradient) const;

  const TensorInfo source;
  const ViewRecord record;
};

} // namespace flashtile::autograd

#endif // FLASHTILE_RUNTIME_AUTOGRAD_VIEWNODE_H
