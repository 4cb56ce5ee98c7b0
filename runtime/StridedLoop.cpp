//===- StridedLoop.cpp - Merging the dimensions of a strided loop ---------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/StridedLoop.h"

using namespace flashtile;

StridedLoop::StridedLoop(const Shape &shape, const Shape &stridesA,
                         const Shape &stridesB) {
  for (size_t i = 0; i < shape.size(); ++i) {
    isEmpty |= shape[i] == 0;
    if (shape[i] == 1)
      continue;
    const Dim dim{shape[i], stridesA[i], stridesB[i]};
    if (!outer.empty() && outer.back().strideA == dim.extent * dim.strideA &&
        outer.back().strideB == dim.extent * dim.strideB)
      outer.back() = {outer.back().extent * dim.extent, dim.strideA,
                      dim.strideB};
    else
      outer.push_back(dim);
  }
  if (!outer.empty()) {
    inner = outer.back();
    outer.pop_back();
  }
}
