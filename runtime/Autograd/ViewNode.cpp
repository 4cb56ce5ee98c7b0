//===- ViewNode.cpp - The way back of views and copies --------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Autograd/ViewNode.h"

#include "runtime/Autograd/GradientArithmetic.h"
#include "runtime/Autograd/TensorAccess.h"

using namespace flashtile;
using namespace flashtile::autograd;
using Kind = ViewRecord::Kind;

ViewNode::ViewNode(const Tensor &source, const Tensor &result,
                   ViewRecord record)
    : Node({gradientEdge(source)}), source(source), record(std::move(record)) {
  addInput(result);
  recordedStreams.note(source);
  recordedStreams.note(result);
}

std::string ViewNode::name() const {
  switch (record.kind) {
  case Kind::Reshape:
    return "Reshape";
  case Kind::Transpose:
    return "Transpose";
  case Kind::Permute:
    return "Permute";
  case Kind::Slice:
    return "Slice";
  case Kind::Expand:
    return "Expand";
  case Kind::Copy:
    return "Copy";
  }
  __builtin_unreachable();
}

/// The order that undoes `order`, whose entries may count from the back.
static Shape inverse(const Shape &order) {
  const auto rank = static_cast<int64_t>(order.size());
  Shape result(order.size());
  for (int64_t i = 0; i < rank; ++i)
    result[order[i] < 0 ? order[i] + rank : order[i]] = i;
  return result;
}

Tensor ViewNode::back(const Tensor &gradient) const {
  const Shape &with = record.parameters;
  switch (record.kind) {
  case Kind::Reshape:
    return denseView(gradient, source.shape);
  case Kind::Transpose:
    return gradient.transpose(with[0], with[1]);
  case Kind::Permute:
    return gradient.permute(inverse(with));
  case Kind::Slice: {
    const Tensor whole = source.zeros();
    copyInto(whole.slice(with[0], with[1], with[2], with[3]), gradient);
    return whole;
  }
  case Kind::Expand:
    return sumTo(gradient, source.shape);
  case Kind::Copy:
    return convertTo(gradient, source.dtype).to(source.device);
  }
  __builtin_unreachable();
}

TensorList ViewNode::apply(TensorList &&gradients) {
  if (!gradients[0].defined())
    return {Tensor()};
  return {back(gradients[0])};
}
