//===- FlashAttentionBackwardQueries.cpp - dq -----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program owns a tile of queries and goes through the keys that it sees, as
// in the forward.
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionBackwardParts.h"

namespace flashtile::kernels {

using namespace dsl;

namespace {
class QueriesKernel : public ScoresKernel {
public:
  explicit QueriesKernel(const FlashAttentionBackwardConfig &config)
      : ScoresKernel(config.addsDq ? "finish" : "queries", config) {
    declareArguments();
    locate();
    Value sum = config.addsDq ? mended() : sumOverKeys();
    dsl::store(
        window(dq, headOf(dq, head), queryCount, rowStart, config.blockM),
        cast(sum * scale, config.dtype));
  }

private:
  void declareArguments() {
    declareInputs();
    if (config.addsDq)
      dqSum = kernel.pointer("dq_sum", real);
    dq.base = kernel.pointer("dq", config.dtype);
    declareProblem({{&dq, "dq"}});
    kernel.grid({ceilDiv(seqQ, config.blockM), headsQ, batch});
  }

  /// The part of the problem that this program solves.
  void locate() {
    rowStart = programId(0) * config.blockM;
    head = programId(1);
    Value group = headsQ / headsKV;
    Value kvHead = head / group;
    locateBatch();
    vectorOfHead = batchIndex * headsQ + cast(head, i64);
    keyBase = headOf(k, kvHead);
    keys = window(k, keyBase, keyCount, 0, config.blockN);
    values = window(v, headOf(v, kvHead), keyCount, 0, config.blockN);
    shiftColumn = expandDims(loadRow(rows(shift, rowPitch)), 1);
    deltaColumn = expandDims(loadRow(rows(delta, rowPitch)), 1);
    keyEnd = seqK;
    if (config.causal)
      locateDiagonal();
  }

  Value rows(const Value &base, const Value &pitch) const {
    return rowVector(base, pitch, vectorOfHead, rowStart);
  }

  void locateDiagonal() {
    Value rows = rowStart + arange(0, config.blockM);
    Value end = rowStart + config.blockM;
    seenByAll = rowStart;
    if (config.alignment == CausalAlignment::BottomRight) {
      Value diagonal = seqK - seqQ;
      rows = rows + diagonal;
      end = end + diagonal;
      seenByAll = seenByAll + diagonal;
    }
    lastVisible = expandDims(rows, 1);
    keyEnd = minimum(seqK, end);
  }

  Value sumOverKeys() {
    query =
        load(window(q, headOf(q, head), queryCount, rowStart, config.blockM));
    output = load(window(gradO, headOf(gradO, head), queryCount, rowStart,
                         config.blockM));
    if (config.hasLseRest)
      restColumn = expandDims(load(rows(lseRest, queryCount)), 1);
    if (config.causal)
      keyRow = window(k, keyBase, keyCount, 0, 1);
    auto [sum] = forRange(
        0, keyEnd, config.blockN, {zeros({config.blockM, config.width}, real)},
        [&](Value start, Value sum) { return addKeys(start, sum); });
    return sum;
  }

  /// What `keys` has added up. Where a key or value that is not finite lies
  /// beside the diagonal, rows that do not see it have NaN, though they are
  /// finite themselves; and so have rows without keys that are not finite. Such
  /// tiles are computed again.
  Value mended() {
    Value sums = unpackedDq(
        load(dqWindow(dqSum, rowPitch, vectorOfHead, dqOffset(rowStart))));
    Value isRowFinite = isFinite(shiftColumn) & isFinite(deltaColumn);
    Value mayBeFinite = isRowFinite | lastVisible < 0;
    return ifThenElse(
        any(!isFinite(sums) & mayBeFinite), [&] { return sumOverKeys(); },
        [&] { return sums; });
  }

  Value visibleAt(const Value &start) const {
    Value columns = expandDims(start + arange(0, config.blockN), 0);
    Value visible = columns < seqK;
    return config.causal ? visible & (columns <= lastVisible) : visible;
  }

  Value addKeys(const Value &start, const Value &sum) const {
    Value visible = visibleAt(start);
    Value keyTile = load(advance(keys, {start, 0}));
    Value valueTile = load(advance(values, {start, 0}));
    Value s = dot(query, trans(keyTile));
    Value p = weights(s, scale, shiftColumn, restColumn, visible);
    Value dp = dot(output, trans(valueTile));
    Value ds = scoreGradients(p, dp, deltaColumn, visible);
    Value careful, row;
    if (config.causal) {
      Value crosses = start + (config.blockN - 1) > seenByAll;
      careful = crosses & any(!isFinite(keyTile));
      row = advance(keyRow, {start, 0});
    }
    return addSeen(careful, cast(ds, config.dtype), keyTile, row, sum,
                   [&](const Value &i) { return lastVisible >= start + i; });
  }

  BackwardTensor dq;
  Value dqSum;

  Value rowStart, head, vectorOfHead;
  Value query, output, keys, values, keyBase;
  Value shiftColumn, deltaColumn, restColumn; ///< [blockM, 1]
  Value keyEnd;
  Value keyRow;      ///< causal: one row of k
  Value lastVisible; ///< causal: the last key of each row, [blockM, 1]
  Value seenByAll;   ///< causal: the last key of the first row
};
} // namespace

KernelModule
buildFlashAttentionBackwardQueries(const FlashAttentionBackwardConfig &config) {
  FlashAttentionBackwardConfig part = config;
  part.addsDq = part.packsDq = false;
  return QueriesKernel(part).build();
}

KernelModule buildFlashAttentionBackwardFinishCausal(
    const FlashAttentionBackwardConfig &config) {
  if (!config.addsDq || !config.causal)
    throw Error(ErrorCode::InvalidArgument,
                "expected addsDq and causal, but got neither or one");
  return QueriesKernel(config).build();
}

} // namespace flashtile::kernels
