//===- AttentionProblem.h - Checked operands, head by head ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the operands of an attention once, converts them to the arithmetic of
// the reference, and hands them out as one matrix per head. All leading
// dimensions are flattened into the index of the query head, so that the
// algorithms know nothing of batches, groups, strides or dtypes.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_REFERENCE_ATTENTIONPROBLEM_H
#define FLASHTILE_KERNELS_REFERENCE_ATTENTIONPROBLEM_H

#include "compiler/Support/EnumCheck.h"
#include "compiler/Support/Error.h"
#include "kernels/Reference/AttentionOptions.h"
#include "kernels/Reference/MaskedMath.h"

#include <string>

namespace flashtile::reference {

/// A tile of rows or keys: `size` of them from `begin`.
struct Tile {
  int64_t begin;
  int64_t size;
};

/// A tensor [..., rows, columns] as a stack of row-major matrices, which share
/// its memory.
template <typename Real>
class HeadStack {
public:
  HeadStack() = default;
  /// `tensor` converted to `Real` (a copy if anything differs).
  explicit HeadStack(const Tensor &tensor)
      : values(tensor.to(dtypeOf<Real>).contiguous()) {}
  /// Zeros of `shape`.
  explicit HeadStack(const Shape &shape)
      : values(Tensor::zeros(shape, dtypeOf<Real>)) {}

  Eigen::Map<Matrix<Real>> operator[](int64_t head) const {
    const int64_t rows = values.size(-2), columns = values.size(-1);
    return {values.data<Real>() + head * rows * columns, rows, columns};
  }
  const Tensor &tensor() const { return values; }

private:
  Tensor values;
};

/// The extents of an attention, after all checks.
struct AttentionShape {
  int64_t heads;     ///< query heads, leading dimensions included
  int64_t groupSize; ///< query heads per head of k and v
  int64_t seqQ, seqK;
  int64_t headDim, valueDim;
  Shape o, lse; ///< shapes of the results

  /// The head of k and v that query head `head` reads.
  int64_t kvHead(int64_t head) const { return head / groupSize; }
};

/// Throws InvalidArgument for operands that do not fit together.
AttentionShape checkAttention(const Tensor &q, const Tensor &k, const Tensor &v,
                              const AttentionOptions &options);
/// Throws InvalidArgument unless `tensor` is of floats and of shape `wanted`.
void checkShape(const char *name, const Tensor &tensor, const Shape &wanted);

template <typename Real>
class AttentionProblem {
public:
  AttentionProblem(const Tensor &q, const Tensor &k, const Tensor &v,
                   const AttentionOptions &options);

  const AttentionShape shape;
  const Real scale;

  Eigen::Map<Matrix<Real>> q(int64_t head) const { return qHeads[head]; }
  Eigen::Map<Matrix<Real>> k(int64_t head) const {
    return kHeads[shape.kvHead(head)];
  }
  Eigen::Map<Matrix<Real>> v(int64_t head) const {
    return vHeads[shape.kvHead(head)];
  }

  Tile allRows() const { return {0, shape.seqQ}; }
  Tile allKeys() const { return {0, shape.seqK}; }

  /// Which keys of a tile the rows of a tile see: by the causal diagonal, the
  /// mask, and a bias other than -inf.
  Visibility visible(int64_t head, Tile rows, Tile keys) const;

  /// scale * Q_rows K_keys^T + bias, and -inf where not visible.
  Matrix<Real> scores(int64_t head, Tile rows, Tile keys,
                      const Visibility &visible) const;

private:
  /// The part of a tensor that broadcasts to [..., hq, n, m].
  Tensor tileOf(const Tensor &tensor, int64_t head, Tile rows, Tile keys) const;

  HeadStack<Real> qHeads, kHeads, vHeads;
  AttentionOptions options;
};

/// `tensor` as a stack of heads, after checkShape.
template <typename Real>
HeadStack<Real> checkedStack(const char *name, const Tensor &tensor,
                             const Shape &wanted) {
  checkShape(name, tensor, wanted);
  return HeadStack<Real>(tensor);
}

/// One number per row, as a stack of columns.
template <typename Real>
HeadStack<Real> zeroColumns(const Shape &shape) {
  return HeadStack<Real>(Tensor::zeros(shape, dtypeOf<Real>).unsqueeze(-1));
}

/// `tensor` as a stack of columns, after checkShape.
template <typename Real>
HeadStack<Real> checkedColumns(const char *name, const Tensor &tensor,
                               const Shape &wanted) {
  checkShape(name, tensor, wanted);
  return HeadStack<Real>(tensor.unsqueeze(-1));
}

/// A gradient per row that the caller may leave out.
template <typename Real>
HeadStack<Real> optionalColumns(const char *name, const Tensor &tensor,
                                const Shape &wanted) {
  return tensor.defined() ? checkedColumns<Real>(name, tensor, wanted)
                          : zeroColumns<Real>(wanted);
}

/// The accumulators of the three gradients.
template <typename Real>
struct GradientStacks {
  GradientStacks(const Tensor &q, const Tensor &k, const Tensor &v)
      : dq(q.shape()), dk(k.shape()), dv(v.shape()) {}
  AttentionGradients tensors() const {
    return {dq.tensor(), dk.tensor(), dv.tensor()};
  }

  HeadStack<Real> dq, dk, dv;
};

/// Calls `body(TypeTag<Real>())` with the C++ type of `options.arithmetic`.
template <typename Body>
auto withArithmetic(const AttentionOptions &options, Body &&body) {
  checkElementType("arithmetic", options.arithmetic);
  if (options.arithmetic == DType::F64)
    return body(TypeTag<double>());
  if (options.arithmetic == DType::F32)
    return body(TypeTag<float>());
  throw Error(ErrorCode::InvalidArgument,
              "the reference computes in f64 or f32, but its arithmetic is " +
                  toString(options.arithmetic));
}

} // namespace flashtile::reference

#endif // FLASHTILE_KERNELS_REFERENCE_ATTENTIONPROBLEM_H
