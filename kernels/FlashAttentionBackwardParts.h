//===- FlashAttentionBackwardParts.h - What the kernels share -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to the kernels of the backward.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_FLASHATTENTIONBACKWARDPARTS_H
#define FLASHTILE_KERNELS_FLASHATTENTIONBACKWARDPARTS_H

#include "kernels/FlashAttentionBackwardKernels.h"

#include "compiler/Frontend/Dsl.h"

#include <initializer_list>
#include <string>
#include <utility>

namespace flashtile::kernels {

/// log2(e): powers of e are powers of two.
constexpr double kLog2E = 1.4426950408889634;

/// A tensor [batch, heads, rows, headDim] among the arguments.
struct BackwardTensor {
  dsl::Value base;
  dsl::Value strideBatch, strideHead, strideRow;
  dsl::Value strideInner; ///< empty for stride 1
};

class BackwardKernel {
public:
  /// Throws Error (InvalidArgument) for a configuration out of the limits.
  BackwardKernel(const std::string &part,
                 const FlashAttentionBackwardConfig &config);

  dsl::KernelModule build() { return kernel.build(); }

protected:
  void declareStrides(BackwardTensor &tensor, const std::string &name);

  /// Where one head begins, of this program's batch if none is given.
  dsl::Value headOf(const BackwardTensor &tensor, const dsl::Value &batch,
                    const dsl::Value &head) const;
  dsl::Value headOf(const BackwardTensor &tensor,
                    const dsl::Value &head) const {
    return headOf(tensor, batchIndex, head);
  }
  /// `rows` rows from `start` of the head at `base`.
  dsl::Value window(const BackwardTensor &tensor, const dsl::Value &base,
                    const dsl::Value &length, const dsl::Operand &start,
                    int64_t rows) const;
  /// `count` elements from `start` of a head's row vector, which has `pitch` of
  /// them.
  dsl::Value rowVector(const dsl::Value &base, const dsl::Value &pitch,
                       const dsl::Value &head, const dsl::Operand &start,
                       int64_t count) const;
  /// `config.blockM` elements.
  dsl::Value rowVector(const dsl::Value &base, const dsl::Value &pitch,
                       const dsl::Value &head,
                       const dsl::Operand &start) const {
    return rowVector(base, pitch, head, start, config.blockM);
  }

  /// `config.blockM` elements of shift or delta, from rowVector().
  dsl::Value loadRow(const dsl::Value &window) const;
  void storeRow(const dsl::Value &window, const dsl::Value &row) const;

  /// Rows of dq_sum, from `start` of a head, and their elements in its order.
  dsl::Value dqWindow(const dsl::Value &dqSum, const dsl::Value &pitch,
                      const dsl::Value &head, const dsl::Operand &start) const;
  dsl::Value dqOffset(const dsl::Value &start) const;
  dsl::Value packedDq(const dsl::Value &tile) const;
  dsl::Value unpackedDq(const dsl::Value &tile) const;

  /// Whether `shift` is in powers of two, so that no loop has to multiply it;
  /// where lse has a rest, both are in powers of e.
  bool isShiftBinary() const {
    return config.dtype == ElementType::F16 ||
           config.dtype == ElementType::BF16;
  }
  /// P of q k^T where `visible`; all of it where that is empty.
  dsl::Value weights(const dsl::Value &product, const dsl::Value &scale,
                     const dsl::Value &shift, const dsl::Value &rest,
                     const dsl::Value &visible) const;
  /// dS where `visible`.
  dsl::Value scoreGradients(const dsl::Value &p, const dsl::Value &dp,
                            const dsl::Value &delta,
                            const dsl::Value &visible) const;

  /// sum + w x for weights that are 0 where a row of the result does not see a
  /// row of x. Since 0 * NaN is NaN, a tile of x that is not finite is added
  /// row by row where `careful`: the row at `row` + i reaches those rows of the
  /// result for which `seesRow(i)`, [rows, 1], holds. An empty `careful` means
  /// false.
  template <typename SeesRow>
  dsl::Value addSeen(const dsl::Value &careful, const dsl::Value &w,
                     const dsl::Value &x, const dsl::Value &row,
                     const dsl::Value &sum, SeesRow &&seesRow) const {
    using namespace dsl;
    if (careful.empty())
      return dot(w, x, sum);
    return ifThenElse(
        careful,
        [&] {
          const int64_t count = w.shape()[1];
          auto [result] = forRange(0, count, 1, {sum}, [&](Value i, Value sum) {
            Value isRow = expandDims(arange(0, count) == i, 0);
            Value weight =
                cast(dsl::sum(where(isRow, w, 0.0), 1), sum.elementType());
            weight = broadcastTo(expandDims(weight, 1), sum.shape());
            Value xRow = cast(load(advance(row, {i, 0})), sum.elementType());
            return where(seesRow(i), sum + weight * xRow, sum);
          });
          return result;
        },
        [&] { return dot(w, x, sum); });
  }

  const FlashAttentionBackwardConfig config;
  dsl::KernelBuilder kernel;
  const ElementType real; ///< of sums and row vectors
  dsl::Value batchIndex;  ///< i64
};

/// A kernel that forms scores again: `keys` and those like it, `queries` and
/// those like it. They take the same arguments, but for the results.
class ScoresKernel : public BackwardKernel {
protected:
  using BackwardKernel::BackwardKernel;
  using NamedTensor = std::pair<BackwardTensor *, const char *>;

  /// The pointers to what is read.
  void declareInputs();
  /// All that comes behind the pointers to results.
  void declareProblem(std::initializer_list<NamedTensor> results);
  /// Sets `batchIndex` and the lengths.
  void locateBatch();

  BackwardTensor q, k, v, gradO;
  dsl::Value shift, delta, lseRest;
  dsl::Value headsQ, headsKV, seqQ, seqK, batch, rowPitch, scale;
  dsl::Value queryCount, keyCount; ///< i64
};

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_FLASHATTENTIONBACKWARDPARTS_H
