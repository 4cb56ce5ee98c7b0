//===- ActivationBackwardKernel.cpp - Gradients of activations ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/ActivationBackwardKernel.h"

#include "compiler/Frontend/Dsl.h"
#include "kernels/EnumChecks.h"

namespace flashtile::kernels {

using namespace dsl;

/// f'(z) dy.
static Value gradient(const Value &z, const Value &dy, Activation activation) {
  constexpr double kSqrtHalf = 0.70710678118654752440;
  constexpr double kNormal = 0.39894228040143267794; // 1 / sqrt(2 pi)
  // Beyond, f' is 0 or 1 to all digits, and squares of z would overflow.
  Value x = minimum(maximum(z, -100.0), 100.0);
  switch (activation) {
  case Activation::None:
    return dy;
  case Activation::Relu:
    return where(z <= 0.0, 0.0, dy);
  case Activation::Gelu: {
    Value below = 0.5 * erf(x * kSqrtHalf) + 0.5;
    return dy * (below + x * kNormal * exp(x * x * -0.5));
  }
  case Activation::GeluTanh: {
    Value square = x * x;
    Value s =
        sigmoid(x * (square * kGeluTanhCube + 1.0) * (2 * kGeluTanhScale));
    Value slope = (square * (3 * kGeluTanhCube) + 1.0) * (2 * kGeluTanhScale);
    return dy * (s + x * s * (1.0 - s) * slope);
  }
  case Activation::Silu: {
    Value s = sigmoid(x);
    return dy * (s + x * s * (1.0 - s));
  }
  }
  return dy;
}

KernelModule buildActivationBackward(Activation activation, ElementType wide,
                                     ElementType gradType) {
  checkOption(activation);
  constexpr int64_t kElements = 1024;
  KernelBuilder kernel("activation_backward");
  Value z = kernel.pointer("z", wide), dy = kernel.pointer("dy", gradType);
  Value dz = kernel.pointer("dz", wide), n = kernel.i64("n");
  kernel.grid({ceilDiv(n, kElements)});
  Value start = cast(programId(0), i64) * kElements;
  const auto window = [&](const Value &base) {
    return makeBlockPtr(base, {n}, {1}, {start}, {kElements});
  };
  Value upstream = cast(load(window(dy)), wide);
  store(window(dz), gradient(load(window(z)), upstream, activation));
  return kernel.build();
}

} // namespace flashtile::kernels
