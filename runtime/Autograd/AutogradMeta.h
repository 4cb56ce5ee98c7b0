//===- AutogradMeta.h - What a tensor on the tape carries -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to the Tensor*.cpp files and to the tape. Tensors know no more of
// the tape than this interface, so that TileRuntime needs nothing of
// TileAutograd: only tensors that the latter has put on the tape have one.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_AUTOGRAD_AUTOGRADMETA_H
#define FLASHTILE_RUNTIME_AUTOGRAD_AUTOGRADMETA_H

#include "runtime/Shape.h"

namespace flashtile {
class Tensor;
} // namespace flashtile

namespace flashtile::autograd {

/// How a view or copy came from its source: what the way back needs to know
/// beside the shape, type and device of the source.
struct ViewRecord {
  enum class Kind {
    Reshape,   ///< the same elements in row-major order
    Transpose, ///< parameters: the two dimensions
    Permute,   ///< parameters: the order
    Slice,     ///< parameters: dimension, begin, end, step
    Expand,    ///< elements are repeated
    Copy,      ///< perhaps of another type, or on another device
  };
  Kind kind;
  Shape parameters = {};
};

class AutogradMeta {
public:
  virtual ~AutogradMeta();

  virtual bool requiresGrad() const = 0;
  virtual bool isLeaf() const = 0;
  /// Puts `result`, which was just made from `source`, the tensor that carries
  /// this, on the tape.
  virtual void recordView(const Tensor &source, const Tensor &result,
                          ViewRecord record) const = 0;
};

} // namespace flashtile::autograd

#endif // FLASHTILE_RUNTIME_AUTOGRAD_AUTOGRADMETA_H
