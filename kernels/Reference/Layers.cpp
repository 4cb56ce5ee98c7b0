//===- Layers.cpp - Products with epilogues, by definition ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/Reference/Layers.h"

#include "kernels/EnumChecks.h"
#include "kernels/Reference/AttentionProblem.h"
#include "kernels/Reference/Matmul.h"

namespace flashtile::reference {

template <typename Real>
static void addEpilogue(const Tensor &c, const Tensor &bias,
                        Activation activation) {
  const int64_t columns = c.size(-1);
  std::vector<double> added(columns);
  if (bias.defined())
    added = bias.to(DType::F64).toVector<double>();
  Real *values = c.data<Real>();
  for (int64_t i = 0; i < c.numel(); ++i)
    values[i] =
        activate(values[i] + static_cast<Real>(added[i % columns]), activation);
}

Tensor layer(const Tensor &a, const Tensor &b, const Tensor &bias,
             Activation activation, DType arithmetic) {
  kernels::checkOption(activation);
  // Wide operands, so that matmul() does not round its result.
  const Tensor c = matmul(a.to(arithmetic), b.to(arithmetic), arithmetic);
  AttentionOptions options;
  options.arithmetic = arithmetic;
  withArithmetic(options, [&](auto tag) {
    addEpilogue<typename decltype(tag)::Type>(c, bias, activation);
  });
  return c;
}

Tensor mlp(const Tensor &x, const Tensor &w1, const Tensor &w2,
           const Tensor &b1, const Tensor &b2, Activation activation) {
  return layer(layer(x, w1, b1, activation), w2, b2, Activation::None);
}

Tensor plainMlp(const Tensor &x, const Tensor &w1, const Tensor &w2,
                const Tensor &b1, const Tensor &b2, Activation activation) {
  const Tensor hidden = layer(x, w1, b1, activation, DType::F32).to(x.dtype());
  return layer(hidden, w2, b2, Activation::None, DType::F32).to(x.dtype());
}

} // namespace flashtile::reference
