//===- FlashAttentionOperands.h - What attention is asked for -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to the functions on tensors: the checks that attention and its
// gradients share, and their common view of tensors.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_FLASHATTENTIONOPERANDS_H
#define FLASHTILE_KERNELS_FLASHATTENTIONOPERANDS_H

#include "compiler/Support/Error.h"
#include "runtime/Tensor.h"

#include <optional>
#include <string>

namespace flashtile::kernels {

/// One operand as [batch, heads, rows, d].
struct AttentionOperand {
  Tensor tensor;
  int64_t batch, heads, rows, headDim;
};

struct AttentionOperands {
  AttentionOperand q, k, v;
};

/// Throws InvalidArgument; the message names attention.
[[noreturn]] void refuseAttention(const std::string &message);

/// Views a tensor of two or more dimensions as [batch, heads, rows, d]. A
/// tensor of three dimensions has one head in each batch.
AttentionOperand asAttentionOperand(const Tensor &tensor);

/// What can be said of the shapes before they are taken apart.
void checkAttentionTensors(const Tensor &q, const Tensor &k, const Tensor &v);

/// All checks.
AttentionOperands checkedAttentionOperands(const Tensor &q, const Tensor &k,
                                           const Tensor &v);

inline bool hasAttentionWork(const AttentionOperands &operands) {
  return operands.q.tensor.numel() > 0 && operands.k.rows > 0;
}
/// Throws InvalidArgument where there is none.
void checkAttentionWork(const AttentionOperands &operands);

/// The shape of the log-sum-exp.
Shape attentionRowShape(const Tensor &q);

/// Checks the tensors of a caller; returns o. `lse` may be null.
AttentionOperand checkedAttentionOutput(const Tensor &q, DType outputType,
                                        const Tensor &o, const Tensor *lse);

/// `scale` as given, or 1 / sqrt(d); checked.
double attentionScale(const AttentionOperand &q, std::optional<double> scale);

/// Whether the elements of a row follow each other.
bool hasUnitInnerStride(const AttentionOperand &operand);

/// Of log-sum-exps and sums.
inline DType attentionRealType(DType type) {
  return type == DType::F64 ? DType::F64 : DType::F32;
}

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_FLASHATTENTIONOPERANDS_H
