//===- Activation.h - Functions behind products -----------------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_ACTIVATION_H
#define FLASHTILE_KERNELS_ACTIVATION_H

#include <cmath>
#include <optional>
#include <string_view>

namespace flashtile {

enum class Activation {
  None,
  Relu,     ///< max(x, 0)
  Gelu,     ///< x / 2 (1 + erf(x / sqrt 2))
  GeluTanh, ///< x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  Silu,     ///< x / (1 + exp(-x))
};

constexpr Activation kActivations[] = {Activation::None, Activation::Relu,
                                       Activation::Gelu, Activation::GeluTanh,
                                       Activation::Silu};

/// "none", "relu", "gelu", "gelu_tanh", "silu".
inline const char *activationName(Activation activation) {
  constexpr const char *names[] = {"none", "relu", "gelu", "gelu_tanh", "silu"};
  return names[static_cast<int>(activation)];
}

inline std::optional<Activation> parseActivation(std::string_view name) {
  for (const Activation activation : kActivations)
    if (name == activationName(activation))
      return activation;
  return std::nullopt;
}

/// Factors of GeluTanh: sqrt(2 / pi), and of the cube.
constexpr double kGeluTanhScale = 0.79788456080286535588;
constexpr double kGeluTanhCube = 0.044715;

/// The function of one number, for references.
template <typename Real>
Real activate(Real x, Activation activation) {
  switch (activation) {
  case Activation::None:
    break;
  case Activation::Relu:
    return x < 0 ? Real(0) : x; // NaN stays
  case Activation::Gelu:
    return x / 2 * (1 + std::erf(x * Real(0.70710678118654752440)));
  case Activation::GeluTanh:
    return x / 2 *
           (1 + std::tanh(Real(kGeluTanhScale) *
                          (x + Real(kGeluTanhCube) * x * x * x)));
  case Activation::Silu:
    return x / (1 + std::exp(-x));
  }
  return x;
}

} // namespace flashtile

#endif // FLASHTILE_KERNELS_ACTIVATION_H
