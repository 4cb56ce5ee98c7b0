//===- DenseAttention.cpp - Attention with its scores in memory -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/DenseAttention.h"

#include "compiler/Support/Error.h"
#include "kernels/EnumChecks.h"
#include "kernels/FlashAttentionFunction.h"
#include "kernels/FlashAttentionOperands.h"
#include "kernels/Softmax.h"
#include "kernels/TensorStack.h"

#include <cmath>

using namespace flashtile;
using namespace flashtile::kernels;

[[noreturn]] static void refuse(const std::string &message) {
  throw Error(ErrorCode::InvalidArgument, "dense attention: " + message);
}

static bool isFp8(DType type) {
  return type == DType::F8E4M3FN || type == DType::F8E5M2;
}

/// The type of the weights: 16 bits and more hold them, fp8 does not.
static DType weightType(DType type) { return isFp8(type) ? DType::F16 : type; }

static void checkOperand(const char *name, const Tensor &tensor,
                         const Tensor &q) {
  auto expected = [&](const std::string &wanted) {
    refuse(std::string("expected '") + name + "' " + wanted +
           ", as 'q', but got " + tensor.describe());
  };
  if (tensor.dtype() != q.dtype())
    expected("of type " + toString(q.dtype()));
  if (tensor.device() != q.device())
    expected("on " + q.device().toString());
  if (tensor.rank() != q.rank())
    expected("with " + std::to_string(q.rank()) + " dimensions");
  // Heads, where there are any, may be fewer.
  const int64_t same = q.rank() > 3 ? q.rank() - 3 : q.rank() - 2;
  for (int64_t dim = 0; dim < same; ++dim)
    if (tensor.size(dim) != q.size(dim))
      expected("with extent " + std::to_string(q.size(dim)) + " in dimension " +
               std::to_string(dim));
  if (q.rank() > 3 &&
      (tensor.size(-3) == 0 ? q.size(-3) != 0
                            : q.size(-3) % tensor.size(-3) != 0))
    refuse("expected the heads of 'q' to be a multiple of those of '" +
           std::string(name) + "', but got " + std::to_string(q.size(-3)) +
           " and " + std::to_string(tensor.size(-3)));
}

static void checkOperands(const Tensor &q, const Tensor &k, const Tensor &v) {
  for (auto [name, tensor] :
       {std::pair("q", &q), std::pair("k", &k), std::pair("v", &v)}) {
    if (!tensor->defined())
      refuse(std::string("'") + name + "' is undefined");
    if (tensor->rank() < 2)
      refuse(std::string("expected '") + name +
             "' to be [..., rows, d], but got " + tensor->describe());
  }
  if (!isFloat(q.dtype()))
    refuse("expected 'q' of type f64, f32, f16, bf16, f8E4M3FN or f8E5M2, but "
           "got " +
           toString(q.dtype()));
  checkOperand("k", k, q);
  checkOperand("v", v, q);
  if (k.size(-1) != q.size(-1))
    refuse("expected 'k' with head dimension " + std::to_string(q.size(-1)) +
           ", as 'q', but got " + std::to_string(k.size(-1)));
  if (q.size(-1) < 1)
    refuse("expected 'q' with a head dimension of at least 1, but got 0");
  if (leadingDims(v.shape()) != leadingDims(k.shape()) ||
      v.size(-2) != k.size(-2))
    refuse("expected 'v' with the heads and rows of 'k', which is " +
           k.describe() + ", but got " + v.describe());
}

static DType scoreTypeOf(const Tensor &q,
                         const DenseAttentionOptions &options) {
  checkOption("scoreType", options.scoreType);
  const DType type = options.scoreType.value_or(attentionRealType(q.dtype()));
  if (q.dtype() == DType::F64) {
    if (type != DType::F64)
      refuse("expected scores of type f64, as 'q', but got " + toString(type));
    return type;
  }
  if (!isFloat(type) || type == DType::F64 || isFp8(type))
    refuse("expected scores of type f32, f16 or bf16, but got " +
           toString(type));
  return type;
}

int64_t
flashtile::denseAttentionScratchBytes(const Tensor &q, const Tensor &k,
                                      const DenseAttentionOptions &options) {
  checkOperands(q, k, k);
  const DType scores = scoreTypeOf(q, options), weights = weightType(q.dtype());
  int64_t elements = q.size(-2) * k.size(-2);
  for (int64_t dim = 0; dim < q.rank() - 2; ++dim)
    elements *= q.size(dim);
  return elements *
         static_cast<int64_t>(elementSize(scores) +
                              (scores == weights ? 0 : elementSize(weights)));
}

namespace {
/// The steps of an attention, without its tensors.
struct Steps {
  MatmulOptions scores, values;
  SoftmaxOptions normal;
};
} // namespace

static Steps stepsOf(const Tensor &q, const Tensor &k,
                     const DenseAttentionOptions &options) {
  checkOption(options.alignment);
  Steps steps;
  const bool hasHeads = q.rank() > 3 && k.size(-3) > 0;
  steps.scores.group = hasHeads ? q.size(-3) / k.size(-3) : 1;
  steps.scores.tiles = options.tiles;
  steps.scores.tune = options.tune;
  steps.values = steps.scores;
  steps.scores.outputType = scoreTypeOf(q, options);
  steps.values.outputType = isFp8(q.dtype()) ? DType::BF16 : q.dtype();

  steps.normal.scale =
      options.scale.value_or(1.0 / std::sqrt(static_cast<double>(q.size(-1))));
  steps.normal.causal = options.causal;
  steps.normal.alignment = options.alignment;
  steps.normal.outputType = weightType(q.dtype());
  return steps;
}

/// A place for the weights: that of the scores where the types allow it, since
/// each score is read before its weight is written.
static Tensor weightsFor(const Tensor &scores, DType type) {
  return scores.dtype() == type
             ? scores
             : Tensor::empty(scores.shape(), type, scores.device());
}

DenseAttentionResult
flashtile::denseAttention(const Tensor &q, const Tensor &k, const Tensor &v,
                          const DenseAttentionOptions &options) {
  if (autograd::isRecorded({q, k, v})) {
    auto [o, lse] = DenseAttention::apply(q, k, v, options);
    return {o, lse};
  }
  checkOperands(q, k, v);
  const Steps steps = stepsOf(q, k, options);
  const Tensor scores = matmul(q, k.transpose(-2, -1), steps.scores);
  Tensor weights = weightsFor(scores, *steps.normal.outputType);
  DenseAttentionResult result;
  Shape rows = q.shape();
  rows.pop_back();
  result.lse = Tensor::empty(rows, attentionRealType(q.dtype()), q.device());
  softmax(scores, steps.normal, weights, result.lse);
  result.o = matmul(weights, v.to(weights.dtype()), steps.values);
  return result;
}

DenseAttentionPlan
flashtile::denseAttentionPlan(const Tensor &q, const Tensor &k, const Tensor &v,
                              const DenseAttentionOptions &options) {
  checkOperands(q, k, v);
  Steps steps = stepsOf(q, k, options);
  const Tensor keys = k.transpose(-2, -1);
  Shape shape = q.shape();
  shape.back() = k.size(-2);
  const Tensor scores =
      Tensor::empty(shape, *steps.scores.outputType, q.device());
  const Tensor weights = weightsFor(scores, *steps.normal.outputType);
  const Tensor values = v.to(weights.dtype());
  DenseAttentionPlan plan;
  plan.scoreTiles = matmulTiles(q, keys, steps.scores);
  plan.valueTiles = matmulTiles(weights, values, steps.values);
  plan.kernels = {matmulKernel(q, keys, steps.scores),
                  softmaxKernel(scores, steps.normal, /*withLse=*/true),
                  matmulKernel(weights, values, steps.values)};
  return plan;
}
