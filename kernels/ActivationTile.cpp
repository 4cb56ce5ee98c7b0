//===- ActivationTile.cpp - Functions behind products, of tiles -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/ActivationTile.h"

#include "compiler/Frontend/Dsl.h"

using namespace flashtile;
using namespace flashtile::dsl;

Value kernels::activate(const Value &tile, Activation activation) {
  constexpr double kSqrtHalf = 0.70710678118654752440;
  switch (activation) {
  case Activation::None:
    break;
  case Activation::Relu:
    return maximum(tile, 0.0);
  case Activation::Gelu:
    return tile * 0.5 * (erf(tile * kSqrtHalf) + 1.0);
  case Activation::GeluTanh: {
    // (1 + tanh u) / 2 = sigmoid(2 u)
    Value cube = tile * tile * kGeluTanhCube + 1.0;
    return tile * sigmoid(tile * cube * (2 * kGeluTanhScale), Accuracy::Fast);
  }
  case Activation::Silu:
    return tile * sigmoid(tile, Accuracy::Fast);
  }
  return tile;
}
