//===- Node.cpp - One step of the way back --------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Autograd/Node.h"

#include "compiler/Support/Error.h"
#include "runtime/Autograd/GradientArithmetic.h"

#include <algorithm>
#include <atomic>
#include <limits>

using namespace flashtile;
using namespace flashtile::autograd;

static uint64_t nextSequenceNr() {
  static std::atomic<uint64_t> next{0};
  return next.fetch_add(1, std::memory_order_relaxed);
}

Node::Node(std::vector<Edge> edges)
    : edges(std::move(edges)), number(nextSequenceNr()) {}

Node::Node(First) : number(std::numeric_limits<uint64_t>::max()) {}

Node::~Node() = default;

uint32_t Node::addInput(const Tensor &tensor) {
  infos.emplace_back(tensor);
  return static_cast<uint32_t>(infos.size() - 1);
}

HookId Node::addTensorPreHook(uint32_t inputNr, TensorHook hook) {
  if (inputNr >= infos.size())
    throw Error(ErrorCode::InvalidArgument,
                name() + ": expected an input below " +
                    std::to_string(infos.size()) + ", but got " +
                    std::to_string(inputNr));
  return hookTable.addTensorHook(inputNr, std::move(hook));
}

HookId Node::addPreHook(PreHook hook) {
  return hookTable.addPreHook(std::move(hook));
}

HookId Node::addPostHook(PostHook hook) {
  return hookTable.addPostHook(std::move(hook));
}

//===----------------------------------------------------------------------===//
// Freeing
//===----------------------------------------------------------------------===//

namespace {
/// Nodes of one thread that are to be freed. Has no destructor, so that it
/// serves as long as the thread.
struct DoomedNodes {
  Node *first;
  bool isFreeing;
};
} // namespace

static thread_local DoomedNodes doomed = {nullptr, false};

void Node::Deleter::operator()(Node *node) const noexcept {
  node->nextDoomed = doomed.first;
  doomed.first = node;
  // Within the destructor of another node, which the loop below called.
  if (doomed.isFreeing)
    return;
  doomed.isFreeing = true;
  while (Node *next = doomed.first) {
    doomed.first = next->nextDoomed;
    delete next;
  }
  doomed.isFreeing = false;
}

//===----------------------------------------------------------------------===//
// Tensors that a node knows of
//===----------------------------------------------------------------------===//

std::string TensorInfo::describe() const {
  return toString(dtype) + toString(shape) + " on " + device.toString();
}

/// Whether `to` broadcasts to `from`.
static bool isBroadcast(const Shape &to, const Shape &from) {
  if (to.size() > from.size())
    return false;
  const size_t added = from.size() - to.size();
  for (size_t i = 0; i < to.size(); ++i)
    if (to[i] != from[added + i] && to[i] != 1)
      return false;
  return true;
}

Tensor TensorInfo::fit(const Tensor &gradient, const std::string &what) const {
  const bool fits = gradient.device() == device && isFloat(gradient.dtype()) &&
                    isBroadcast(shape, gradient.shape());
  if (!fits)
    throw Error(ErrorCode::InvalidArgument,
                what + ": expected a gradient of the shape of " + describe() +
                    ", but got " + gradient.describe());
  Tensor result = gradient;
  if (result.shape() != shape)
    result = sumTo(result, shape);
  return convertTo(result, dtype);
}
