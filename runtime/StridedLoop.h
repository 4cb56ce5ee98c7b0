//===- StridedLoop.h - Walking two strided arrays in step -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies and fills of any rank come down to runs: stretches along one
// dimension with a constant stride in each array. Dimensions that continue
// each other are merged first, so a contiguous tensor of any rank is one run.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_STRIDEDLOOP_H
#define FLASHTILE_RUNTIME_STRIDEDLOOP_H

#include "runtime/Shape.h"

namespace flashtile {

class StridedLoop {
public:
  /// Strides are in elements of the respective array.
  StridedLoop(const Shape &shape, const Shape &stridesA, const Shape &stridesB);

  /// Calls `body(offsetA, offsetB, count, strideA, strideB)` for each run.
  template <typename Body>
  void forEachRun(Body body) const;

private:
  struct Dim {
    int64_t extent, strideA, strideB;
  };

  bool isEmpty = false;
  std::vector<Dim> outer; ///< from the slowest to the fastest
  Dim inner{1, 1, 1};
};

template <typename Body>
void StridedLoop::forEachRun(Body body) const {
  if (isEmpty)
    return;
  Shape index(outer.size(), 0);
  int64_t offsetA = 0, offsetB = 0;
  while (true) {
    body(offsetA, offsetB, inner.extent, inner.strideA, inner.strideB);
    size_t d = outer.size();
    for (; d-- > 0;) {
      offsetA += outer[d].strideA;
      offsetB += outer[d].strideB;
      if (++index[d] < outer[d].extent)
        break;
      index[d] = 0;
      offsetA -= outer[d].extent * outer[d].strideA;
      offsetB -= outer[d].extent * outer[d].strideB;
    }
    if (d == size_t(-1))
      return;
  }
}

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_STRIDEDLOOP_H
