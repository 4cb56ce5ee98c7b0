//===- Matmul.h - Products of matrices, as a reference --------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_REFERENCE_MATMUL_H
#define FLASHTILE_KERNELS_REFERENCE_MATMUL_H

#include "runtime/Tensor.h"

namespace flashtile::reference {

/// a b for [..., m, k] and [..., k, n], whose leading dimensions broadcast. By
/// default in f64: the truth. In f32 and rounded to the type of the operands,
/// it is what a plain implementation gives.
Tensor matmul(const Tensor &a, const Tensor &b, DType arithmetic = DType::F64);

} // namespace flashtile::reference

#endif // FLASHTILE_KERNELS_REFERENCE_MATMUL_H
