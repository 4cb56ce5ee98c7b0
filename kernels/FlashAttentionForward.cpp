//===- FlashAttentionForward.cpp - Attention, forward ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plain recurrence and nothing else: splitting the loop where the mask is
// all true, exp2, and moving the scale are the compiler's. Statements are kept
// short where their order shows in the text, since C++ leaves the order within
// an expression open and flash_attention_forward.mlir shows the same kernel.
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionForward.h"

#include "compiler/Frontend/Dsl.h"
#include "kernels/AttentionExtents.h"
#include "kernels/EnumChecks.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <tuple>

namespace flashtile::kernels {

using namespace dsl;

static bool isFp8(ElementType type) {
  return type == ElementType::F8E4M3FN || type == ElementType::F8E5M2;
}

static void checkType(ElementType type, const char *name) {
  flashtile::checkElementType(name, type);
  if (type != ElementType::F64 && type != ElementType::F32 &&
      type != ElementType::F16 && type != ElementType::BF16 && !isFp8(type))
    throw Error(ErrorCode::InvalidArgument,
                std::string("expected ") + name +
                    " to be f64, f32, f16, bf16, f8E4M3FN or f8E5M2, but got " +
                    std::string(elementTypeName(type)));
}

static void checkConfig(const FlashAttentionConfig &config) {
  checkOption(config.alignment);
  checkType(config.dtype, "dtype");
  if (config.outputType)
    checkType(*config.outputType, "outputType");
  checkAttentionExtents(config.headDim, config.blockM, config.blockN);
  if (config.shortenedLoop && !config.causal)
    throw Error(ErrorCode::InvalidArgument,
                "expected shortenedLoop only with causal");
}

namespace {
/// A tensor [batch, heads, rows, headDim] among the arguments.
struct TensorArgument {
  Value base;
  Value strideBatch, strideHead, strideRow;
  Value strideInner; ///< empty for stride 1
};

/// What a tile of scores changes: the probabilities with respect to the new
/// maximum, and the factor that brings the old sums to it.
struct SoftmaxStep {
  Value m;
  Value p;
  Value alpha;
};

class ForwardKernel {
public:
  ForwardKernel(const KernelModule &module, const std::string &name,
                const FlashAttentionConfig &config)
      : config(config), kernel(module, name) {
    // fp8 has no room for probabilities, and f16 holds both fp8 types exactly.
    productType = isFp8(config.dtype) ? ElementType::F16 : config.dtype;
    outputType = config.outputType.value_or(
        isFp8(config.dtype) ? ElementType::BF16 : config.dtype);
    real =
        config.dtype == ElementType::F64 ? ElementType::F64 : ElementType::F32;
    // What is lost is known only as far as the exponentials are exact.
    if (config.lseRest)
      accuracy = Accuracy::Precise;
  }

  void build() {
    declareArguments();
    locate();

    Value mInit = full({config.blockM}, -INFINITY, real);
    Value lInit = zeros({config.blockM}, real);
    Value accInit = zeros({config.blockM, config.headDim}, real);
    auto [m, l, acc] =
        forRange(0, keyEnd, config.blockN, {mInit, lInit, accInit},
                 [&](Value start, Value m, Value l, Value acc) {
                   Value visible = visibleAt(start);
                   SoftmaxStep step = softmax(scores(start, visible), m);
                   Value v = loadValues(start);
                   l = l * step.alpha;
                   l = l + sum(step.p, 1);
                   acc = acc * expandDims(step.alpha, 1);
                   acc = addValues(cast(step.p, productType), v, start, acc);
                   return std::tuple(step.m, l, acc);
                 });
    store(m, l, withoutMasked(m, acc));
    kernel.build();
  }

private:
  void declareArguments() {
    q.base = kernel.pointer("q", config.dtype);
    k.base = kernel.pointer("k", config.dtype);
    v.base = kernel.pointer("v", config.dtype);
    o.base = kernel.pointer("o", outputType);
    lse = kernel.pointer("lse", real);
    if (config.oRest)
      oRest.base = kernel.pointer("o_rest", outputType);
    if (config.lseRest)
      lseRest = kernel.pointer("lse_rest", real);
    headsQ = kernel.i32("heads_q");
    headsKV = kernel.i32("heads_kv");
    seqQ = kernel.i32("seq_q");
    seqK = kernel.i32("seq_k");
    Value batch = kernel.i32("batch");
    declareStrides(q, "q");
    declareStrides(k, "k");
    declareStrides(v, "v");
    declareStrides(o, "o");
    if (config.oRest)
      declareStrides(oRest, "o_rest");
    scale = kernel.scalar("scale", real);
    if (config.scaleIsPositive)
      scale = assume(scale, Facts().min(FLT_MIN));
    kernel.grid({ceilDiv(seqQ, config.blockM), headsQ, batch});
  }

  void declareStrides(TensorArgument &tensor, const std::string &name) {
    tensor.strideBatch = kernel.i64(name + "_stride_batch");
    tensor.strideHead = kernel.i64(name + "_stride_head");
    tensor.strideRow = kernel.i64(name + "_stride_row");
    if (!config.unitInnerStride)
      tensor.strideInner = kernel.i64(name + "_stride_inner");
  }

  /// The part of the problem that this program solves.
  void locate() {
    rowStart = programId(0) * config.blockM;
    Value headIndex = programId(1);
    // heads_q / heads_kv query heads share one head of keys and values.
    Value group = headsQ / headsKV;
    Value kvHead = cast(headIndex / group, i64);
    head = cast(headIndex, i64);
    batchIndex = cast(programId(2), i64);
    queryCount = cast(seqQ, i64);
    Value keyCount = cast(seqK, i64);
    Value headOfQ = headOf(q, head);
    query = load(window(q, headOfQ, queryCount, rowStart, config.blockM));
    Value headOfK = headOf(k, kvHead);
    keys = window(k, headOfK, keyCount, 0, config.blockN);
    Value headOfV = headOf(v, kvHead);
    values = window(v, headOfV, keyCount, 0, config.blockN);
    if (config.causal && config.mendsBehind) {
      queryPart = window(q, headOfQ, queryCount, rowStart, config.blockM,
                         columnsAtOnce());
      keyPart = window(k, headOfK, keyCount, 0, 1, columnsAtOnce());
    }
    if (config.causal)
      valueRow = window(v, headOfV, keyCount, 0, 1);
    keyEnd = seqK;
    if (config.causal)
      locateDiagonal();
  }

  void locateDiagonal() {
    Value rows = rowStart + arange(0, config.blockM);
    Value shift;
    if (config.alignment == CausalAlignment::BottomRight) {
      shift = seqK - seqQ;
      rows = rows + shift;
    }
    lastVisible = expandDims(rows, 1);
    if (!config.mendsBehind) {
      seenByAll = rowStart;
      if (!shift.empty())
        seenByAll = seenByAll + shift;
    }
    if (!config.shortenedLoop)
      return;
    keyEnd = rowStart + config.blockM;
    if (!shift.empty())
      keyEnd = keyEnd + shift;
    keyEnd = minimum(seqK, keyEnd);
  }

  /// Where one head of this program's batch begins.
  Value headOf(const TensorArgument &tensor, const Value &headIndex) {
    Value base = tensor.base + batchIndex * tensor.strideBatch;
    return base + headIndex * tensor.strideHead;
  }

  int64_t columnsAtOnce() const {
    return std::min<int64_t>(config.headDim, 64);
  }

  /// `rows` rows from `start` of the head at `base`; all columns, or the first.
  Value window(const TensorArgument &tensor, const Value &base,
               const Value &length, const Operand &start, int64_t rows,
               std::optional<int64_t> columns = {}) {
    Operand inner =
        tensor.strideInner.empty() ? Operand(1) : Operand(tensor.strideInner);
    return makeBlockPtr(base, {length, config.headDim},
                        {tensor.strideRow, inner}, {start, 0},
                        {rows, columns.value_or(config.headDim)});
  }

  /// The positions of the score tile at key `start` that take part.
  Value visibleAt(const Value &start) {
    Value columns = expandDims(start + arange(0, config.blockN), 0);
    Value visible = columns < seqK;
    return config.causal ? visible & (columns <= lastVisible) : visible;
  }

  Value scores(const Value &start, const Value &visible) {
    Value keyTile = load(advance(keys, {start, 0}));
    Value s = dot(query, trans(keyTile)) * scale;
    return where(visible, s, -INFINITY);
  }

  SoftmaxStep softmax(const Value &s, const Value &m) {
    Value mNew = maximum(m, max(s, 1));
    // While a row has seen nothing, -inf - -inf must not arise. This guard is
    // never stored: the running maximum stays -inf.
    Value none = mNew == -INFINITY;
    Value reference = where(none, 0.0, mNew);
    Value p = exp(s - expandDims(reference, 1), accuracy);
    Value alpha = exp(m - reference, accuracy);
    return {mNew, p, alpha};
  }

  Value loadValues(const Value &start) {
    return cast(load(advance(values, {start, 0})), productType);
  }

  /// acc + p v. The probability of a masked position is 0, but 0 * NaN is NaN:
  /// where v is not finite, what a row does not see would reach it. Such tiles
  /// are added key by key. Out of bounds v is loaded as 0, so this concerns the
  /// causal mask only. A comparison says where it is needed, which the compiler
  /// decides for all iterations without masks.
  Value addValues(const Value &p, const Value &v, const Value &start,
                  const Value &acc) {
    if (!config.causal || config.mendsBehind)
      return dot(p, v, acc);
    Value crosses = start + (config.blockN - 1) > seenByAll;
    Value careful = crosses & any(!isFinite(v));
    return ifThenElse(
        careful, [&] { return addVisible(p, start, acc); },
        [&] { return dot(p, v, acc); });
  }

  /// Keys out of range count as seen: there p and v are 0. The weight of a key
  /// that is not seen is 0, or NaN in a row where everything is, which so stays
  /// NaN whatever the row sees: the compiler leaves out masked tiles on that.
  Value addVisible(const Value &p, const Value &start, const Value &acc) {
    auto [result] =
        forRange(0, config.blockN, 1, {acc}, [&](Value key, Value acc) {
          Value isKey = expandDims(arange(0, config.blockN) == key, 0);
          Value weight = cast(sum(where(isKey, p, 0.0), 1), real);
          Value position = start + key;
          Value row = cast(load(advance(valueRow, {position, 0})), real);
          weight = broadcastTo(expandDims(weight, 1), acc.shape());
          Value product = weight * row;
          Value seen = lastVisible >= position;
          return acc + where(seen, product, weight);
        });
    return result;
  }

  /// The other way: rows whose sums are not finite are added up again, key by
  /// key.
  Value withoutMasked(const Value &m, const Value &acc) {
    if (!config.causal || !config.mendsBehind)
      return acc;
    Value lost = !isFinite(acc);
    return ifThenElse(
        any(lost),
        [&] { return addAgain(m, expandDims(max(lost, 1), 1), acc); },
        [&] { return acc; });
  }

  /// The products of all queries with one key. Nothing is kept for what hardly
  /// ever runs: queries are read again for each key, some columns at a time.
  Value scoresOf(const Value &position) {
    Value init = zeros({config.blockM}, real);
    auto [result] = forRange(
        0, config.headDim, columnsAtOnce(), {init}, [&](Value column, Value s) {
          Value q = cast(load(advance(queryPart, {0, column})), real);
          Value k = cast(load(advance(keyPart, {position, column})), real);
          return s + sum(q * k, 1);
        });
    return result;
  }

  /// The sums of `rows`, anew.
  Value addAgain(const Value &m, const Value &rows, const Value &acc) {
    Value reference = where(m == -INFINITY, 0.0, m);
    Value zero = where(rows, 0.0, acc);
    auto [result] =
        forRange(0, keyEnd, 1, {zero}, [&](Value position, Value acc) {
          Value s = scoresOf(position) * scale;
          Value p = exp(s - reference, accuracy);
          Value weight = cast(cast(expandDims(p, 1), productType), real);
          Value v = cast(load(advance(valueRow, {position, 0})), real);
          Value sees = rows & (lastVisible >= position);
          return where(sees, acc + weight * v, acc);
        });
    return result;
  }

  void store(const Value &m, const Value &l, const Value &acc) {
    Value norm = expandDims(l, 1);
    Value empty = norm == 0.0;
    // One quotient for each row rather than for each element, and one choice.
    Value quotient = 1.0 / norm;
    Value inverse = where(empty, 0.0, quotient);
    Value out = acc * inverse;
    Value rounded = cast(out, outputType);
    Value headOfO = headOf(o, head);
    dsl::store(window(o, headOfO, queryCount, rowStart, config.blockM),
               rounded);
    if (config.oRest)
      storeRest(out, rounded);

    // -inf + log(0) = -inf for a row without keys.
    Value logSumExp = m + log(l);
    Value row = batchIndex * headsQ;
    row = (row + head) * queryCount;
    Value lseWindow =
        makeBlockPtr(lse + row, {queryCount}, {1}, {rowStart}, {config.blockM});
    dsl::store(lseWindow, logSumExp);
    if (!config.lseRest)
      return;
    // Exact where |m| is the larger one; where it is not, nothing is at stake.
    Value rest = log(l) - (logSumExp - m);
    rest = where(isFinite(rest), rest, 0.0);
    dsl::store(makeBlockPtr(lseRest + row, {queryCount}, {1}, {rowStart},
                            {config.blockM}),
               rest);
  }

  void storeRest(const Value &out, const Value &rounded) {
    Value rest = cast(out - cast(rounded, real), outputType);
    dsl::store(
        window(oRest, headOf(oRest, head), queryCount, rowStart, config.blockM),
        rest);
  }

  const FlashAttentionConfig &config;
  KernelBuilder kernel;
  ElementType productType; ///< of the operands of P V
  ElementType outputType;
  ElementType real; ///< of scores and sums
  Accuracy accuracy = Accuracy::Fast;

  TensorArgument q, k, v, o, oRest;
  Value lse, lseRest, headsQ, headsKV, seqQ, seqK, scale;

  Value rowStart, head, batchIndex, queryCount;
  Value query, keys, values;
  Value queryPart, keyPart; ///< mendsBehind: some columns of rows, of one key
  Value valueRow;           ///< causal: one row of v
  Value lastVisible;        ///< causal: the last key of each row, [blockM, 1]
  Value seenByAll;          ///< causal: the last key of the first row
  Value keyEnd;
};
} // namespace

std::string flashAttentionForwardName(const FlashAttentionConfig &config) {
  return config.causal ? "flash_attention_forward_causal"
                       : "flash_attention_forward";
}

void addFlashAttentionForward(const KernelModule &module,
                              const std::string &name,
                              const FlashAttentionConfig &config) {
  checkConfig(config);
  ForwardKernel(module, name, config).build();
}

KernelModule buildFlashAttentionForward(const FlashAttentionConfig &config) {
  KernelModule module;
  addFlashAttentionForward(module, flashAttentionForwardName(config), config);
  return module;
}

} // namespace flashtile::kernels
