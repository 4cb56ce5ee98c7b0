//===- FlashAttentionBackwardRows.cpp - Before and after ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the backward computes for each row of queries alone. These kernels move
// memory and compute next to nothing.
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionBackwardParts.h"

#include <cmath>

namespace flashtile::kernels {

using namespace dsl;

/// What the exponents of a row without any effect subtract: finite, and large
/// enough that exp gives 0.
static constexpr double kNoEffect = 1e30;

namespace {
class RowsKernel : public BackwardKernel {
public:
  explicit RowsKernel(const FlashAttentionBackwardConfig &asked)
      : BackwardKernel("rows", asked) { // from here on with the width meant
    declareArguments();
    locate();
    Value inRange = rowStart + arange(0, config.blockM) < seqQ;
    storeRow(rowVector(shift, rowPitch, vectorOfHead, rowStart),
             shifts(inRange));
    storeRow(rowVector(delta, rowPitch, vectorOfHead, rowStart), deltas());
    if (config.addsDq)
      clearDq();
  }

private:
  void clearDq() {
    store(makeBlockPtr(dqSum + vectorOfHead * rowPitch * config.width,
                       {rowPitch, config.width}, {config.width, 1},
                       {rowStart, 0}, {config.blockM, config.width}),
          zeros({config.blockM, config.width}, real));
  }

  void declareArguments() {
    q.base = kernel.pointer("q", config.dtype);
    o.base = kernel.pointer("o", config.dtype);
    if (config.hasORest)
      oRest.base = kernel.pointer("o_rest", config.dtype);
    gradO.base = kernel.pointer("grad_o", config.dtype);
    lse = kernel.pointer("lse", real);
    if (config.hasGradLse)
      gradLse = kernel.pointer("grad_lse", real);
    shift = kernel.pointer("shift", real);
    delta = kernel.pointer("delta", real);
    if (config.addsDq)
      dqSum = kernel.pointer("dq_sum", real);
    headsQ = kernel.i32("heads_q");
    seqQ = kernel.i32("seq_q");
    seqK = kernel.i32("seq_k");
    Value pitch = kernel.i32("row_pitch");
    Value batch = kernel.i32("batch");
    declareStrides(q, "q");
    declareStrides(o, "o");
    if (config.hasORest)
      declareStrides(oRest, "o_rest");
    declareStrides(gradO, "grad_o");
    if (config.hasGradLse) {
      gradLseBatch = kernel.i64("grad_lse_stride_batch");
      gradLseHead = kernel.i64("grad_lse_stride_head");
      gradLseRow = kernel.i64("grad_lse_stride_row");
    }
    rowPitch = cast(pitch, i64);
    kernel.grid({ceilDiv(pitch, config.blockM), headsQ, batch});
  }

  void locate() {
    rowStart = programId(0) * config.blockM;
    head = programId(1);
    batchIndex = cast(programId(2), i64);
    queryCount = cast(seqQ, i64);
    vectorOfHead = batchIndex * headsQ + cast(head, i64);
  }

  Value tileOf(const BackwardTensor &tensor) const {
    return load(window(tensor, headOf(tensor, head), queryCount, rowStart,
                       config.blockM));
  }
  Value rowsOf(const BackwardTensor &tensor) const {
    return cast(tileOf(tensor), real);
  }

  Value shifts(const Value &inRange) const {
    Value tile = load(rowVector(lse, queryCount, vectorOfHead, rowStart));
    Value isEmpty = inRange & (tile == -INFINITY);
    Value shift = isShiftBinary() ? tile * kLog2E : tile;
    Value result = where(inRange & !isEmpty, shift, kNoEffect);
    if (!config.causal)
      return result;
    // A row that sees nothing has an lse that says nothing about q.
    return ifThenElse(
        any(isEmpty),
        [&] {
          Value bad = sum(where(isFinite(rowsOf(q)), 0.0, 1.0), 1) > 0.0;
          return where(isEmpty & bad, full({}, INFINITY, real), result);
        },
        [&] { return result; });
  }

  /// sum_c dO_c o_c.
  Value products() const {
    Value output = rowsOf(o);
    if (config.hasORest)
      output = output + rowsOf(oRest);
    return sum(rowsOf(gradO) * output, 1);
  }

  /// The same for rows that see one key only. There o is its value as it was
  /// loaded, with no rest, and dP - delta is 0: exactly so where both are the
  /// same product with the same roundings.
  Value productsOfLoneKeys() const {
    Value product = dot(tileOf(gradO), trans(tileOf(o)));
    Value lanes = arange(0, config.blockM);
    Value isDiagonal = expandDims(lanes, 1) == expandDims(lanes, 0);
    return sum(where(isDiagonal, product, 0.0), 1);
  }

  Value deltas() const {
    Value rows = rowStart + arange(0, config.blockM);
    Value loneKey = seqK == 1;
    Value hasLone = loneKey;
    Value isLone = broadcastTo(loneKey, rows.shape());
    if (config.causal) {
      // The row that sees key 0 and no other.
      Value first = zeros({}, i32);
      if (config.alignment == CausalAlignment::BottomRight)
        first = seqQ - seqK;
      hasLone =
          hasLone | ((first >= rowStart) & (first < rowStart + config.blockM));
      isLone = isLone | (rows == first);
    }
    Value usual = products();
    Value result = ifThenElse(
        hasLone, [&] { return where(isLone, productsOfLoneKeys(), usual); },
        [&] { return usual; });
    if (!config.hasGradLse)
      return result;
    Value base = gradLse + batchIndex * gradLseBatch;
    base = base + cast(head, i64) * gradLseHead;
    return result - load(makeBlockPtr(base, {queryCount}, {gradLseRow},
                                      {rowStart}, {config.blockM}));
  }

  BackwardTensor q, o, oRest, gradO;
  Value lse, gradLse, shift, delta, dqSum;
  Value gradLseBatch, gradLseHead, gradLseRow;
  Value headsQ, seqQ, seqK, rowPitch;
  Value rowStart, head, vectorOfHead, queryCount;
};

class FinishKernel : public BackwardKernel {
public:
  explicit FinishKernel(const FlashAttentionBackwardConfig &config)
      : BackwardKernel("finish", config) {
    Value dqSum = kernel.pointer("dq_sum", real);
    BackwardTensor dq;
    dq.base = kernel.pointer("dq", config.dtype);
    Value headsQ = kernel.i32("heads_q");
    Value seqQ = kernel.i32("seq_q");
    Value rowPitch = cast(kernel.i32("row_pitch"), i64);
    Value batch = kernel.i32("batch");
    declareStrides(dq, "dq");
    Value scale = kernel.scalar("scale", real);
    kernel.grid({ceilDiv(seqQ, config.blockM), headsQ, batch});

    Value rowStart = programId(0) * config.blockM;
    Value head = programId(1);
    batchIndex = cast(programId(2), i64);
    Value vectorOfHead = batchIndex * headsQ + cast(head, i64);
    Value sums = unpackedDq(
        load(dqWindow(dqSum, rowPitch, vectorOfHead, dqOffset(rowStart))));
    store(
        window(dq, headOf(dq, head), cast(seqQ, i64), rowStart, config.blockM),
        cast(sums * scale, config.dtype));
  }
};
} // namespace

KernelModule
buildFlashAttentionBackwardRows(const FlashAttentionBackwardConfig &config) {
  return RowsKernel(config).build();
}

KernelModule
buildFlashAttentionBackwardFinish(const FlashAttentionBackwardConfig &config) {
  return FinishKernel(config).build();
}

} // namespace flashtile::kernels
