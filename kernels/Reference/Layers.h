//===- Layers.h - Products with epilogues, by definition --------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_REFERENCE_LAYERS_H
#define FLASHTILE_KERNELS_REFERENCE_LAYERS_H

#include "kernels/Activation.h"
#include "runtime/Tensor.h"

namespace flashtile::reference {

/// f(a b + bias), where `bias` [n] may be undefined; as matmul() of Matmul.h,
/// in f64 (the truth) or in f32, where the result is not rounded further.
Tensor layer(const Tensor &a, const Tensor &b, const Tensor &bias,
             Activation activation, DType arithmetic = DType::F64);

/// f(x w1 + b1) w2 + b2 in f64.
Tensor mlp(const Tensor &x, const Tensor &w1, const Tensor &w2,
           const Tensor &b1, const Tensor &b2, Activation activation);

/// The yardstick: in f32, with the hidden layer and the result rounded to the
/// type of the operands.
Tensor plainMlp(const Tensor &x, const Tensor &w1, const Tensor &w2,
                const Tensor &b1, const Tensor &b2, Activation activation);

} // namespace flashtile::reference

#endif // FLASHTILE_KERNELS_REFERENCE_LAYERS_H
