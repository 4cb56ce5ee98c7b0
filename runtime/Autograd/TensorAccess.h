//===- TensorAccess.h - The tape's view of a tensor -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to the tape, and to the backend of GPUs: what they have to know of a
// tensor beyond the public API.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_AUTOGRAD_TENSORACCESS_H
#define FLASHTILE_RUNTIME_AUTOGRAD_TENSORACCESS_H

#include "runtime/Autograd/Node.h"

namespace flashtile::autograd {

class VariableMeta;

struct TensorAccess {
  /// What `tensor` is on the tape; null if it never was on it.
  static VariableMeta *meta(const Tensor &tensor);
  static std::shared_ptr<VariableMeta> sharedMeta(const Tensor &tensor);
  /// The same, made if it is not there: a leaf that requires no gradient.
  static VariableMeta &ensureMeta(const Tensor &tensor);
  /// Makes a tensor that is on no tape result `outputNr` of `node`.
  static void setHistory(const Tensor &tensor, std::shared_ptr<Node> node,
                         uint32_t outputNr);
  /// The identity of a tensor: all handles to it give the same.
  static const void *identity(const Tensor &tensor) {
    return tensor.impl.get();
  }
  static const Storage &storage(const Tensor &tensor);
  /// Whether nobody else sees this memory, so that it may be given away.
  static bool isExclusive(const Tensor &tensor);
};

/// Where the gradient by `tensor` goes; invalid if it requires none.
Edge gradientEdge(const Tensor &tensor);

} // namespace flashtile::autograd

#endif // FLASHTILE_RUNTIME_AUTOGRAD_TENSORACCESS_H
