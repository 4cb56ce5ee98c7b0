//===- MatmulFunction.h - Products of matrices on the tape ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_MATMULFUNCTION_H
#define FLASHTILE_KERNELS_MATMULFUNCTION_H

#include "kernels/Matmul.h"
#include "runtime/Autograd/Autograd.h"

namespace flashtile {

/// matmul(), differentiable: da = dc b^T and db = a^T dc, summed over what was
/// broadcast or shared by a group, in the type of the operands (bf16 for the
/// fp8 types) with sums in f32. Behind an activation, the product is computed
/// again for its derivative. matmul() itself calls this where an operand is
/// recorded. `bias` counts, not `options.bias`.
struct Matmul : autograd::Function<Matmul> {
  static Tensor forward(autograd::Context &ctx, const Tensor &a,
                        const Tensor &b, const Tensor &bias,
                        const MatmulOptions &options);
  static TensorList backward(autograd::Context &ctx,
                             const TensorList &gradOutputs);
};

} // namespace flashtile

#endif // FLASHTILE_KERNELS_MATMULFUNCTION_H
