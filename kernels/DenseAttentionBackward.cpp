//===- DenseAttentionBackward.cpp - Gradients by matrices of scores -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/DenseAttentionBackward.h"

#include "compiler/Support/Error.h"
#include "kernels/FlashAttentionOperands.h"
#include "kernels/LookupTable.h"
#include "kernels/Softmax.h"
#include "kernels/SoftmaxGradientKernel.h"
#include "kernels/TensorStack.h"
#include "runtime/Autograd/GradMode.h"
#include "runtime/Jit.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace flashtile;
using namespace flashtile::kernels;

[[noreturn]] static void refuse(const std::string &message) {
  throw Error(ErrorCode::InvalidArgument,
              "dense attention backward: " + message);
}

static void checkOperands(const Tensor &q, const Tensor &k, const Tensor &v,
                          const Tensor &gradO, const Tensor &gradLse) {
  // Shapes are checked by the calls that know what attention is.
  denseAttentionScratchBytes(q, k);
  if (!v.defined())
    refuse("'v' is undefined");
  if (v.rank() != k.rank() || v.dtype() != k.dtype() ||
      v.device() != k.device())
    refuse(
        "expected 'v' with the type, device and dimensions of 'k', which is " +
        k.describe() + ", but got " + v.describe());
  if (elementSize(q.dtype()) == 1)
    refuse("expected 'q' of type f64, f32, f16 or bf16, but got " +
           toString(q.dtype()));
  if (leadingDims(v.shape()) != leadingDims(k.shape()) ||
      v.size(-2) != k.size(-2))
    refuse("expected 'v' with the heads and rows of 'k', which is " +
           k.describe() + ", but got " + v.describe());
  auto checkLike = [&](const char *name, const Tensor &tensor, DType type,
                       const Shape &shape) {
    if (tensor.defined() &&
        (tensor.dtype() != type || tensor.shape() != shape ||
         tensor.device() != q.device()))
      refuse(std::string("expected '") + name + "' to be " + toString(type) +
             toString(shape) + " on " + q.device().toString() + ", but got " +
             tensor.describe());
  };
  Shape shape = q.shape();
  shape.back() = v.size(-1);
  checkLike("gradO", gradO, q.dtype(), shape);
  shape.pop_back();
  checkLike("gradLse", gradLse, attentionRealType(q.dtype()), shape);
}

static Kernel kernelFor(const SoftmaxGradientConfig &config, Device device) {
  using Key = std::tuple<int, int, ElementType, bool, bool, int64_t, int64_t>;
  const Key key = {static_cast<int>(device.kind()),
                   device.index(),
                   config.outputType,
                   config.copiesWeights,
                   config.hasGradLse,
                   config.blockRows,
                   config.blockColumns};
  static LookupTable<Key, Kernel> table;
  return table.get(key, [&] {
    return Jit(device).compile(buildSoftmaxGradient(config)).kernel();
  });
}

namespace {
/// What the products of the backward take, in the type of q.
struct ScoreGradients {
  Tensor weights; ///< p
  Tensor ds;      ///< by q k^T
};
} // namespace

static ScoreGradients scoreGradients(const Tensor &p, const Tensor &dp,
                                     const Tensor &gradLse, double scale,
                                     DType type) {
  ScoreGradients result = {p, dp};
  const bool narrow = type != attentionRealType(type);
  if (narrow) {
    result.weights = Tensor::empty(p.shape(), type, p.device());
    result.ds = Tensor::empty(p.shape(), type, p.device());
  }
  if (p.numel() == 0)
    return result;
  SoftmaxGradientConfig config;
  config.outputType = type;
  config.copiesWeights = narrow;
  config.hasGradLse = gradLse.defined();
  const int64_t tileElements = type == DType::F64 ? 512 : 2048;
  constexpr int64_t kShortest = 32;
  config.blockColumns =
      std::clamp(sizeClass(p.size(-1)), kShortest, tileElements);
  config.blockRows =
      std::min(tileElements / config.blockColumns, sizeClass(p.size(-2)));
  std::vector<ArgumentValue> arguments = {p, dp};
  if (gradLse.defined())
    arguments.push_back(gradLse.contiguous());
  arguments.push_back(result.ds);
  if (narrow)
    arguments.push_back(result.weights);
  const int64_t rows = p.size(-2), columns = p.size(-1);
  for (int64_t extent : {rows, columns, p.numel() / (rows * columns)})
    arguments.push_back(extent);
  if (type == DType::F64)
    arguments.push_back(scale);
  else
    arguments.push_back(static_cast<float>(scale));
  kernelFor(config, p.device())
      .launchPositional(arguments.data(), arguments.size());
  return result;
}

/// [..., heads, n, c] with the `group` neighbouring heads that share keys one
/// below the other: a product over the rows then sums over them.
static Tensor stacked(const Tensor &tensor, int64_t group) {
  if (group == 1)
    return tensor;
  Shape shape = tensor.shape();
  const size_t rank = shape.size();
  shape[rank - 3] /= group;
  shape[rank - 2] *= group;
  return tensor.reshape(shape);
}

FlashAttentionGradients flashtile::denseAttentionBackward(
    const Tensor &q, const Tensor &k, const Tensor &v, const Tensor &gradO,
    const Tensor &gradLse, const DenseAttentionOptions &options) {
  checkOperands(q, k, v, gradO, gradLse);
  const NoGradGuard noGrad;
  MatmulOptions product;
  const bool hasHeads = q.rank() > 3 && k.size(-3) > 0;
  const int64_t group = hasHeads ? q.size(-3) / k.size(-3) : 1;
  product.group = group;
  product.tiles = options.tiles;
  product.tune = options.tune;
  MatmulOptions scoreProduct = product;
  scoreProduct.outputType = attentionRealType(q.dtype());
  const double scale =
      options.scale.value_or(1.0 / std::sqrt(static_cast<double>(q.size(-1))));

  Tensor p = matmul(q, k.transpose(-2, -1), scoreProduct);
  SoftmaxOptions normal;
  normal.scale = scale;
  normal.causal = options.causal;
  normal.alignment = options.alignment;
  softmax(p, normal, p);

  Shape outputShape = q.shape();
  outputShape.back() = v.size(-1);
  const Tensor dO =
      gradO.defined()
          ? gradO
          : Tensor::zeros({}, q.dtype(), q.device()).expand(outputShape);
  const Tensor dp = matmul(dO, v.transpose(-2, -1), scoreProduct);
  const ScoreGradients scores =
      scoreGradients(p, dp, gradLse, scale, q.dtype());

  FlashAttentionGradients result;
  result.q = matmul(scores.ds, k, product);
  product.group = 1;
  result.k = matmul(stacked(scores.ds, group).transpose(-2, -1),
                    stacked(q, group), product);
  result.v = matmul(stacked(scores.weights, group).transpose(-2, -1),
                    stacked(dO, group), product);
  return result;
}
