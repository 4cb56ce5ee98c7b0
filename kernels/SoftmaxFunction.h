//===- SoftmaxFunction.h - Softmax on the tape ----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_SOFTMAXFUNCTION_H
#define FLASHTILE_KERNELS_SOFTMAXFUNCTION_H

#include "kernels/Softmax.h"
#include "runtime/Autograd/Autograd.h"

#include <utility>

namespace flashtile {

/// y and the log-sum-exp of softmax(), both differentiable. softmax() itself
/// calls this where its x is recorded.
struct Softmax : autograd::Function<Softmax> {
  static std::pair<Tensor, Tensor> forward(autograd::Context &ctx,
                                           const Tensor &x,
                                           const SoftmaxOptions &options);
  static TensorList backward(autograd::Context &ctx,
                             const TensorList &gradOutputs);
};

/// The gradient of sum(y * gradY) + sum(lse * gradLse) by x, contiguous and of
/// the type of x. `gradY` has the shape of x, `gradLse` that of the rows;
/// either may have any strides, or be undefined, which means 0. `options` are
/// those of the forward call. Throws InvalidArgument for shapes and types other
/// than these.
Tensor softmaxBackward(const Tensor &x, const Tensor &gradY,
                       const Tensor &gradLse = {},
                       const SoftmaxOptions &options = {});

} // namespace flashtile

#endif // FLASHTILE_KERNELS_SOFTMAXFUNCTION_H
