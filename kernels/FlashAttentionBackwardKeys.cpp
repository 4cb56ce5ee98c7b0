//===- FlashAttentionBackwardKeys.cpp - dk and dv -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program owns a tile of keys and values and goes through the queries that
// see it. Scores are transposed, [keys, queries]: the products dv += P^T dO and
// dk += dS^T q then take P^T and dS^T as they were computed.
//
// Queries behind the end are zero, as are their dO and delta, and P is 0 there:
// they add nothing. Keys behind the end have P = exp(-lse), which may overflow;
// that is nobody's business but that of dq.
//
// P is 0 where the causal mask hides, and so is dS, but 0 * NaN is NaN. Tiles
// in which that happens are left to a second kernel, `mend`: nearly always
// there are none, and the loop of the first keeps its products free of
// branches. A program of it looks after many tiles, so that few programs look
// for nothing.
//
// A mask is for P alone then, one selection for each element: dS is NaN where a
// value or a row is not finite, of which the former makes the key's dk NaN
// through the rows that see it, and the latter calls for `mend`; dq is NaN with
// the row, or is repaired by `finish`. Only with top-left alignment there may
// be keys that no row sees, which are masked twice.
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionBackwardParts.h"

#include <algorithm>

namespace flashtile::kernels {

using namespace dsl;

/// Keys of a program of `mend`; and the rows that it looks at together.
static constexpr int64_t kMendedKeys = 1024;

namespace {
/// A head of queries: of which batch, and its index there and among all; empty
/// where that is not known yet.
struct QueryHead {
  Value batch, index, vector;
};

class KeysKernel : public ScoresKernel {
public:
  explicit KeysKernel(const FlashAttentionBackwardConfig &config)
      : ScoresKernel(config.mends ? "mend" : "keys", config) {
    declareArguments();
    if (config.mends) {
      mend();
    } else {
      Value start = programId(0) * config.blockN;
      locateHead();
      locate(start);
      run();
    }
  }

private:
  void mend() {
    locateHead();
    const int64_t keys =
        std::max(kMendedKeys / config.blockN, int64_t(1)) * config.blockN;
    Value first = programId(0) * keys;
    ifThen(needsMending(first, keys, kMendedKeys), [&] {
      forRange(first, minimum(first + keys, seqK), config.blockN,
               [&](const Value &start) {
                 ifThen(needsMending(start, config.blockN, config.blockM), [&] {
                   locate(start);
                   run();
                 });
               });
    });
    kernel.grid({ceilDiv(seqK, keys), headsKV, batch});
  }

  void run() {
    loadTiles();
    Value none = zeros({config.blockN, config.width}, real);
    Values sums = {none, none};
    if (config.countsHeads)
      sums = addCountedHeads(sums);
    else if (config.grouped)
      sums = forRange(0, group, 1, sums, [&](Value member, const Values &sums) {
        return addHead({batchIndex, kvHead * group + member, {}}, sums);
      });
    else
      sums = addHead({batchIndex, kvHead, {}}, sums);
    store(sums);
  }

  /// The batch comes from the counter: what no iteration changes of places in
  /// memory, such as batch * stride, would stay in registers through all loops.
  /// 32 bits are enough: each head has its rows in `shift`.
  Values addCountedHeads(const Values &sums) {
    Value first = programId(2) * headsQ + kvHead * group;
    return forRange(first, first + group, 1, sums,
                    [&](Value counted, const Values &sums) {
                      QueryHead head;
                      head.batch = cast(counted / headsQ, i64);
                      head.index = counted % headsQ;
                      head.vector = cast(counted, i64);
                      return addHead(head, sums);
                    });
  }

  void declareArguments() {
    declareInputs();
    dk.base = kernel.pointer("dk", config.dtype);
    dv.base = kernel.pointer("dv", config.dtype);
    if (config.addsDq)
      dqSum = kernel.pointer("dq_sum", real);
    declareProblem({{&dk, "dk"}, {&dv, "dv"}});
    if (!config.mends)
      kernel.grid({ceilDiv(seqK, config.blockN), headsKV, batch});
  }

  void locateHead() {
    kvHead = programId(1);
    locateBatch();
    if (config.grouped)
      group = assume(headsQ / headsKV, Facts().min(1));
    if (config.causal && config.alignment == CausalAlignment::BottomRight)
      diagonal = seqK - seqQ;
  }

  /// The keys at `start`, and the queries that see them.
  void locate(const Value &start) {
    keyStart = start;
    queryStart = zeros({}, i32);
    if (config.causal)
      locateDiagonal();
  }

  void loadTiles() {
    Value keyBase = headOf(k, kvHead);
    keyTile = load(window(k, keyBase, keyCount, keyStart, config.blockN));
    valueTile =
        load(window(v, headOf(v, kvHead), keyCount, keyStart, config.blockN));
    keyColumn = expandDims(keyStart + arange(0, config.blockN), 1);
  }

  /// Row i sees key j if j <= i + diagonal.
  void locateDiagonal() {
    lastKey = keyStart + (config.blockN - 1);
    Value first = minusDiagonal(keyStart);
    queryStart = maximum(first, 0) / config.blockM * config.blockM;
  }

  Value plusDiagonal(const Value &row) const {
    return diagonal.empty() ? row : row + diagonal;
  }
  Value minusDiagonal(const Value &key) const {
    return diagonal.empty() ? key : key - diagonal;
  }

  bool isTopLeft() const {
    return config.causal && config.alignment == CausalAlignment::TopLeft;
  }

  /// The positions of the transposed score tile at query `start` that take
  /// part; empty where all may.
  Value visibleAt(const Value &start) const {
    Value visible;
    auto require = [&](const Value &condition) {
      visible = visible.empty() ? condition : visible & condition;
    };
    Value rows = expandDims(start + arange(0, config.blockM), 0);
    // The diagonal of the other alignment ends where rows and keys do. With
    // top-left alignment, there may be keys that no row sees, for which a row
    // behind the end must not stand in.
    if (isTopLeft() || (config.addsDq && !config.causal))
      require(rows < seqQ);
    if (config.addsDq && (isTopLeft() || !config.causal))
      require(keyColumn < seqK);
    if (config.causal)
      require(keyColumn <= plusDiagonal(rows));
    return visible;
  }

  /// Whether a row that does not see all of `keys` keys from `keyStart` is not
  /// finite, or one of `rows` - 1 behind it. Looks at `rows` rows at a time.
  Value needsMending(const Value &keyStart, int64_t keys, int64_t rows) {
    Value found = full({}, false, i1);
    // From where `keys` began, which may be before any row sees a key.
    Value first =
        minusDiagonal(keyStart / config.keysBlockN * config.keysBlockN);
    first = maximum(first, 0) / config.keysBlockM * config.keysBlockM;
    Value end = minimum(seqQ, minusDiagonal(keyStart + (keys - 1)));
    auto addHead = [&](const Value &head, const Value &found) {
      Value vectorOfHead = batchIndex * headsQ + cast(head, i64);
      Value shifts = rowVector(shift, rowPitch, vectorOfHead, 0, rows);
      Value deltas = rowVector(delta, rowPitch, vectorOfHead, 0, rows);
      auto [result] =
          forRange(first, end, rows, {found}, [&](Value start, Value found) {
            Value finite = isFinite(load(advance(shifts, {start}))) &
                           isFinite(load(advance(deltas, {start})));
            return found | any(!finite);
          });
      return result;
    };
    if (config.grouped) {
      auto [result] =
          forRange(0, group, 1, {found}, [&](Value member, Value found) {
            return addHead(kvHead * group + member, found);
          });
      found = result;
    } else {
      found = addHead(kvHead, found);
    }
    return found;
  }

  /// Adds what the queries of one head give to dk and dv.
  Values addHead(const QueryHead &head, const Values &sums) {
    Value qBase = headOf(q, head.batch, head.index);
    Value oBase = headOf(gradO, head.batch, head.index);
    Value queries = window(q, qBase, queryCount, 0, config.blockM);
    Value outputs = window(gradO, oBase, queryCount, 0, config.blockM);
    Value queryRow, outputRow;
    if (config.mends) {
      queryRow = window(q, qBase, queryCount, 0, 1);
      outputRow = window(gradO, oBase, queryCount, 0, 1);
    }
    Value vectorOfHead = head.vector;
    if (vectorOfHead.empty())
      vectorOfHead = head.batch * headsQ + cast(head.index, i64);
    Value shifts = rowVector(shift, rowPitch, vectorOfHead, 0);
    Value deltas = rowVector(delta, rowPitch, vectorOfHead, 0);
    Value rests, dqTiles;
    if (config.hasLseRest)
      rests = rowVector(lseRest, queryCount, vectorOfHead, 0);
    if (config.addsDq)
      dqTiles = dqWindow(dqSum, rowPitch, vectorOfHead, 0);

    return forRange(
        queryStart, seqQ, config.blockM, sums,
        [&](Value start, const Values &sums) -> Values {
          Value visible = visibleAt(start);
          Value qTile = load(advance(queries, {start, 0}));
          Value oTile = load(advance(outputs, {start, 0}));
          Value shiftRow = loadRow(advance(shifts, {start}));
          Value deltaRow = loadRow(advance(deltas, {start}));
          Value restRow;
          if (config.hasLseRest)
            restRow = expandDims(load(advance(rests, {start})), 0);

          Value s = dot(keyTile, trans(qTile));
          Value p =
              weights(s, scale, expandDims(shiftRow, 0), restRow, visible);
          Value dp = dot(valueTile, trans(oTile));
          const bool masksTwice = config.mends || isTopLeft();
          Value ds = scoreGradients(p, dp, expandDims(deltaRow, 0),
                                    masksTwice ? visible : Value());
          Value pNarrow = cast(p, config.dtype);
          Value dsNarrow = cast(ds, config.dtype);

          Value careful;
          if (config.mends) {
            Value finite = isFinite(shiftRow) & isFinite(deltaRow);
            careful = (plusDiagonal(start) < lastKey) & any(!finite);
          }
          auto at = [&](const Value &row) {
            return row.empty() ? row : advance(row, {start, 0});
          };
          auto seesQuery = [&](const Value &i) {
            return keyColumn <= plusDiagonal(start + i);
          };
          Value dvSum = addSeen(careful, pNarrow, oTile, at(outputRow), sums[1],
                                seesQuery);
          Value dkSum = addSeen(careful, dsNarrow, qTile, at(queryRow), sums[0],
                                seesQuery);
          if (config.addsDq)
            atomicAdd(
                advance(dqTiles, {dqOffset(start), 0}),
                packedDq(dot(trans(dsNarrow), keyTile,
                             zeros({config.blockM, config.width}, real))));
          return {dkSum, dvSum};
        });
  }

  void store(const Values &sums) {
    Value dkTile = sums[0] * scale;
    dsl::store(
        window(dk, headOf(dk, kvHead), keyCount, keyStart, config.blockN),
        cast(dkTile, config.dtype));
    dsl::store(
        window(dv, headOf(dv, kvHead), keyCount, keyStart, config.blockN),
        cast(sums[1], config.dtype));
  }

  BackwardTensor dk, dv;
  Value dqSum;

  Value keyStart, kvHead, group;
  Value keyTile, valueTile;
  Value keyColumn;  ///< the keys of this program, [blockN, 1]
  Value queryStart; ///< the first tile of queries with a row that sees a key
  Value diagonal;   ///< causal, bottom-right: empty for top-left
  Value lastKey;    ///< causal
};
} // namespace

KernelModule
buildFlashAttentionBackwardKeys(const FlashAttentionBackwardConfig &config) {
  return KeysKernel(config).build();
}

KernelModule
buildFlashAttentionBackwardMend(const FlashAttentionBackwardConfig &config) {
  if (!config.mends || !config.causal || config.keysBlockM < 1 ||
      config.keysBlockN < 1 || config.keysBlockN % config.blockN)
    throw Error(ErrorCode::InvalidArgument,
                "expected mends with causal, a positive keysBlockM, and "
                "keysBlockN a multiple of " +
                    std::to_string(config.blockN) + ", but got " +
                    std::to_string(config.keysBlockM) + " and " +
                    std::to_string(config.keysBlockN));
  return KeysKernel(config).build();
}

} // namespace flashtile::kernels
