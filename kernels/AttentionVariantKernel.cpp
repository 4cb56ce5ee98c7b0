//===- AttentionVariantKernel.cpp - Attention with other scores -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops go over all keys under a mask: where they may begin and end, and which
// tiles need the mask, is the compiler's to find out.
//
//===----------------------------------------------------------------------===//

#include "kernels/AttentionVariantKernel.h"

#include "compiler/Frontend/Dsl.h"
#include "kernels/AttentionExtents.h"
#include "kernels/EnumChecks.h"

#include <cfloat>
#include <cmath>
#include <tuple>

namespace flashtile::kernels {

using namespace dsl;

static void checkConfig(const AttentionVariantConfig &config) {
  checkOption(config.variant);
  flashtile::checkElementType("dtype", config.dtype);
  if (config.dtype != ElementType::F32 && config.dtype != ElementType::F16 &&
      config.dtype != ElementType::BF16)
    throw Error(ErrorCode::InvalidArgument,
                "expected dtype to be f32, f16 or bf16, but got " +
                    std::string(elementTypeName(config.dtype)));
  checkAttentionExtents(config.headDim, config.blockM, config.blockN);
  if (config.fastTanh && config.variant != AttentionVariant::Softcap)
    throw Error(ErrorCode::InvalidArgument,
                std::string("expected fastTanh only with softcap, but got ") +
                    attentionVariantName(config.variant));
}

std::string attentionVariantKernelName(const AttentionVariantConfig &config) {
  checkOption(config.variant);
  return std::string(attentionVariantName(config.variant)) + "_attention" +
         (config.causal ? "_causal" : "");
}

namespace {
/// A tensor [batch, heads, rows, headDim] among the arguments.
struct TensorArgument {
  Value base;
  Value strideBatch, strideHead, strideRow;
};

class VariantKernel {
public:
  explicit VariantKernel(const AttentionVariantConfig &config)
      : config(config), variant(config.variant),
        hasWindow(variant == AttentionVariant::SlidingWindow),
        kernel(attentionVariantKernelName(config)) {}

  KernelModule build() {
    declareArguments();
    locate();
    if (variant == AttentionVariant::Sigmoid)
      sumSigmoids();
    else
      sumSoftmax();
    return kernel.build();
  }

private:
  void declareArguments() {
    for (auto [tensor, name] : {std::pair(&q, "q"), std::pair(&k, "k"),
                                std::pair(&v, "v"), std::pair(&o, "o")})
      tensor->base = kernel.pointer(name, config.dtype);
    if (variant != AttentionVariant::Sigmoid)
      lse = kernel.pointer("lse", f32);
    if (variant == AttentionVariant::Alibi)
      slopes = kernel.pointer("slopes", f32);
    headsQ = kernel.i32("heads_q");
    headsKV = kernel.i32("heads_kv");
    seqQ = kernel.i32("seq_q");
    seqK = kernel.i32("seq_k");
    Value batch = kernel.i32("batch");
    for (auto [tensor, name] : {std::pair(&q, "q"), std::pair(&k, "k"),
                                std::pair(&v, "v"), std::pair(&o, "o")}) {
      const std::string prefix = name;
      tensor->strideBatch = kernel.i64(prefix + "_stride_batch");
      tensor->strideHead = kernel.i64(prefix + "_stride_head");
      tensor->strideRow = kernel.i64(prefix + "_stride_row");
    }
    scale = kernel.f32("scale");
    if (config.scaleIsPositive)
      scale = assume(scale, Facts().min(FLT_MIN));
    if (variant == AttentionVariant::Softcap)
      cap = kernel.f32("cap");
    if (hasWindow)
      left = kernel.i32("left");
    if (hasWindow && !config.causal)
      right = kernel.i32("right");
    if (variant == AttentionVariant::Sigmoid)
      bias = kernel.f32("bias");
    kernel.grid({ceilDiv(seqQ, config.blockM), headsQ, batch});
  }

  /// The part of the problem that this program solves.
  void locate() {
    rowStart = programId(0) * config.blockM;
    Value headIndex = programId(1);
    // heads_q / heads_kv query heads share one head of keys and values.
    Value kvHead = cast(headIndex / (headsQ / headsKV), i64);
    head = cast(headIndex, i64);
    batchIndex = cast(programId(2), i64);
    query = load(window(q, head, seqQ, rowStart, config.blockM));
    keys = window(k, kvHead, seqK, 0, config.blockN);
    values = window(v, kvHead, seqK, 0, config.blockN);
    valueRow = window(v, kvHead, seqK, 0, 1);

    // Where the diagonal crosses the rows: it ends in the last corner.
    diagonalStart = rowStart + (seqK - seqQ);
    diagonal = diagonalStart + arange(0, config.blockM);
    if (variant == AttentionVariant::Alibi) {
      slope = load(slopes + headIndex);
      diagonalAsFloat = expandDims(cast(diagonal, f32), 1);
    }
    diagonal = expandDims(diagonal, 1);
  }

  Value window(const TensorArgument &tensor, const Value &headIndex,
               const Value &length, const Operand &start, int64_t rows) {
    Value base = tensor.base + batchIndex * tensor.strideBatch;
    base = base + headIndex * tensor.strideHead;
    return makeBlockPtr(base, {length, config.headDim}, {tensor.strideRow, 1},
                        {start, 0}, {rows, config.headDim});
  }

  //===--- Which positions take part --------------------------------------===//

  bool hasMask() const { return config.causal || hasWindow; }

  /// Of keys in range: those that the rows with this diagonal see.
  Value isSeen(const Value &key, const Value &diagonal) {
    Value seen;
    if (config.causal)
      seen = key <= diagonal;
    else if (hasWindow)
      seen = key <= diagonal + right;
    if (hasWindow)
      seen = seen & (key >= diagonal - left);
    return seen;
  }

  Value visibleAt(const Value &start) {
    Value columns = expandDims(start + arange(0, config.blockN), 0);
    Value visible = columns < seqK;
    return hasMask() ? visible & isSeen(columns, diagonal) : visible;
  }

  /// Whether a row of this program does not see a key of the tile.
  Value crossesEdge(const Value &start) {
    Value last = start + (config.blockN - 1);
    Value crosses =
        config.causal ? last > diagonalStart : last > diagonalStart + right;
    if (hasWindow)
      crosses = crosses | (start < diagonalStart + (config.blockM - 1) - left);
    return crosses;
  }

  //===--- Scores and weights ---------------------------------------------===//

  Value scores(const Value &start) {
    Value product = dot(query, trans(load(advance(keys, {start, 0}))));
    if (variant == AttentionVariant::Softcap)
      return softcap(product);
    Value s = product * scale;
    if (variant == AttentionVariant::Alibi) {
      Value columns = cast(start, f32) + cast(arange(0, config.blockN), f32);
      Value distance = abs(diagonalAsFloat - expandDims(columns, 0));
      return s - distance * slope;
    }
    return s;
  }

  Value softcap(const Value &product) {
    Value x = product * (scale / cap);
    if (config.fastTanh) {
      // One instruction where f16 is exact enough.
      x = cast(tanh(cast(x, ElementType::F16), Accuracy::Fast), f32);
      return x * cap;
    }
    return tanh(x, Accuracy::Fast) * cap;
  }

  void sumSoftmax() {
    Value mInit = full({config.blockM}, -INFINITY, f32);
    Value lInit = zeros({config.blockM}, f32);
    Value accInit = zeros({config.blockM, config.headDim}, f32);
    auto [m, l, acc] =
        forRange(0, seqK, config.blockN, {mInit, lInit, accInit},
                 [&](Value start, Value m, Value l, Value acc) {
                   Value s = where(visibleAt(start), scores(start), -INFINITY);
                   Value mNew = maximum(m, max(s, 1));
                   // While a row has seen nothing, -inf - -inf must not arise.
                   Value reference = where(mNew == -INFINITY, 0.0, mNew);
                   Value p = exp(s - expandDims(reference, 1), Accuracy::Fast);
                   Value alpha = exp(m - reference, Accuracy::Fast);
                   l = l * alpha + sum(p, 1);
                   acc = addValues(p, start, acc * expandDims(alpha, 1));
                   return std::tuple(mNew, l, acc);
                 });
    Value norm = expandDims(l, 1);
    Value inverse = 1.0 / norm;
    storeOutput(where(norm == 0.0, 0.0, acc * inverse));

    // -inf + log(0) = -inf for a row without keys.
    Value logSumExp = m + log(l);
    Value row = (batchIndex * headsQ + head) * seqQ;
    store(makeBlockPtr(lse + row, {seqQ}, {1}, {rowStart}, {config.blockM}),
          logSumExp);
  }

  void sumSigmoids() {
    Value accInit = zeros({config.blockM, config.headDim}, f32);
    auto [acc] = forRange(
        0, seqK, config.blockN, {accInit}, [&](Value start, Value acc) {
          Value weight = sigmoid(scores(start) + bias, Accuracy::Fast);
          return addValues(where(visibleAt(start), weight, 0.0), start, acc);
        });
    storeOutput(acc);
  }

  //===--- Values -----------------------------------------------------------//

  /// acc + p v. The weight of a masked position is 0, but 0 * NaN is NaN: a
  /// tile at an edge of the mask whose values are not all finite is added key
  /// by key. Out of bounds, v is loaded as 0.
  Value addValues(const Value &p, const Value &start, const Value &acc) {
    Value v = load(advance(values, {start, 0}));
    Value weights = cast(p, config.dtype);
    if (!hasMask())
      return dot(weights, v, acc);
    return ifThenElse(
        crossesEdge(start) & any(!isFinite(v)),
        [&] { return addVisible(weights, start, acc); },
        [&] { return dot(weights, v, acc); });
  }

  Value addVisible(const Value &p, const Value &start, const Value &acc) {
    auto [result] =
        forRange(0, config.blockN, 1, {acc}, [&](Value key, Value acc) {
          Value isKey = expandDims(arange(0, config.blockN) == key, 0);
          Value weight = cast(sum(where(isKey, p, 0.0), 1), f32);
          Value position = start + key;
          Value row = cast(load(advance(valueRow, {position, 0})), f32);
          weight = broadcastTo(expandDims(weight, 1), acc.shape());
          // The weight of a key that is not seen is 0, or NaN in a row where
          // everything is.
          return acc + where(isSeen(position, diagonal), weight * row, weight);
        });
    return result;
  }

  void storeOutput(const Value &tile) {
    store(window(o, head, seqQ, rowStart, config.blockM),
          cast(tile, config.dtype));
  }

  const AttentionVariantConfig &config;
  const AttentionVariant variant;
  const bool hasWindow;
  KernelBuilder kernel;

  TensorArgument q, k, v, o;
  Value lse, slopes, headsQ, headsKV, seqQ, seqK;
  Value scale, cap, bias, left, right;

  Value rowStart, head, batchIndex;
  Value query, keys, values, valueRow;
  Value diagonalStart; ///< the key on the diagonal of the first row
  Value diagonal;      ///< of each row, [blockM, 1]
  Value slope, diagonalAsFloat;
};
} // namespace

KernelModule buildAttentionVariantKernel(const AttentionVariantConfig &config) {
  checkConfig(config);
  return VariantKernel(config).build();
}

} // namespace flashtile::kernels

const char *flashtile::kernels::attentionVariantPersistence(
    const AttentionVariantConfig &config) {
  const bool isMasked =
      config.causal || config.variant == AttentionVariant::SlidingWindow;
  return isMasked ? "off" : "auto";
}
