//===- SoftmaxFunction.cpp - Softmax on the tape --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/SoftmaxFunction.h"

#include "compiler/Support/Error.h"
#include "kernels/LookupTable.h"
#include "kernels/ProblemClass.h"
#include "kernels/SoftmaxBackwardKernel.h"
#include "runtime/Autograd/GradientArithmetic.h"
#include "runtime/Jit.h"

#include <algorithm>
#include <tuple>

using namespace flashtile;
using namespace flashtile::kernels;

static Kernel kernelFor(const SoftmaxBackwardConfig &config, Device device) {
  using Key = std::tuple<int, int, ElementType, ElementType, bool, int, bool,
                         bool, bool, int64_t, int64_t>;
  const Key key = {static_cast<int>(device.kind()),
                   device.index(),
                   config.dtype,
                   config.gradType,
                   config.causal,
                   static_cast<int>(config.alignment),
                   config.hasGradLse,
                   config.unitColumns,
                   config.singleTile,
                   config.blockRows,
                   config.blockColumns};
  static LookupTable<Key, Kernel> table;
  return table.get(key, [&] {
    return Jit(device).compile(buildSoftmaxBackward(config)).kernel();
  });
}

/// [batch, rows, columns]
static Tensor asMatrices(const Tensor &tensor) {
  if (tensor.rank() == 3)
    return tensor;
  int64_t batch = 1;
  for (int64_t dim = 0; dim < tensor.rank() - 2; ++dim)
    batch *= tensor.size(dim);
  return autograd::denseView(tensor, {batch, tensor.size(-2), tensor.size(-1)});
}

static void checkLike(const char *name, const Tensor &tensor,
                      const Shape &shape, const Tensor &x) {
  if (tensor.shape() != shape || !isFloat(tensor.dtype()) ||
      tensor.device() != x.device())
    throw Error(ErrorCode::InvalidArgument,
                std::string("softmax backward: expected '") + name +
                    "' to be floats of shape " + toString(shape) + " on " +
                    x.device().toString() + ", but got " + tensor.describe());
}

static bool hasUnitColumns(const Tensor &tensor) {
  return tensor.size(-1) == 1 || tensor.stride(-1) == 1;
}

Tensor flashtile::softmaxBackward(const Tensor &x, const Tensor &gradY,
                                  const Tensor &gradLse,
                                  const SoftmaxOptions &options) {
  checkSoftmaxInput(x, options);
  const NoGradGuard noGrad;
  Shape rowShape = x.shape();
  rowShape.pop_back();
  if (gradY.defined())
    checkLike("gradY", gradY, x.shape(), x);
  if (gradLse.defined())
    checkLike("gradLse", gradLse, rowShape, x);
  const Tensor dx = Tensor::empty(x.shape(), x.dtype(), x.device());
  if (x.numel() == 0)
    return dx;
  const DType wide = x.dtype() == DType::F64 ? DType::F64 : DType::F32;
  const Tensor upstream =
      gradY.defined() ? gradY
                      : Tensor::zeros({}, wide, x.device()).expand(x.shape());
  const Tensor in = asMatrices(x), dy = asMatrices(upstream);

  SoftmaxBackwardConfig config;
  config.dtype = x.dtype();
  config.gradType = dy.dtype();
  config.causal = options.causal;
  config.alignment = options.alignment;
  config.hasGradLse = gradLse.defined();
  config.unitColumns = hasUnitColumns(in) && hasUnitColumns(dy);
  // Rows of up to so many columns are read once and held in registers, with
  // their gradients; longer ones in quarters of that. f64 takes twice as many.
  const int64_t longest = wide == DType::F64 ? 1024 : 2048;
  constexpr int64_t kShortest = 32;
  config.singleTile = in.size(2) <= longest;
  config.blockColumns = config.singleTile
                            ? sizeClass(std::max(in.size(2), kShortest))
                            : longest / 4;
  config.blockRows = config.singleTile ? std::min(longest / config.blockColumns,
                                                  sizeClass(in.size(1)))
                                       : 1;

  std::vector<ArgumentValue> arguments = {in, dy, dx};
  if (config.hasGradLse)
    arguments.push_back(autograd::dense(autograd::convertTo(gradLse, wide)));
  for (int64_t extent : {in.size(1), in.size(2), in.size(0)})
    arguments.push_back(extent);
  for (const Tensor *tensor : {&in, &dy})
    for (int64_t dim = 0; dim < (config.unitColumns ? 2 : 3); ++dim)
      arguments.push_back(tensor->stride(dim));
  if (wide == DType::F64)
    arguments.push_back(options.scale);
  else
    arguments.push_back(static_cast<float>(options.scale));
  kernelFor(config, x.device())
      .launchPositional(arguments.data(), arguments.size());
  return dx;
}

std::pair<Tensor, Tensor> Softmax::forward(autograd::Context &ctx,
                                           const Tensor &x,
                                           const SoftmaxOptions &options) {
  checkSoftmaxInput(x, options);
  ctx.saveForBackward({x});
  ctx.savedData["options"] = options;
  ctx.setMaterializeGrads(false);
  Shape rows = x.shape();
  rows.pop_back();
  const DType wide = x.dtype() == DType::F64 ? DType::F64 : DType::F32;
  Tensor y = Tensor::empty(x.shape(), options.outputType.value_or(x.dtype()),
                           x.device());
  Tensor lse = Tensor::empty(rows, wide, x.device());
  softmax(x, options, y, lse);
  return {y, lse};
}

TensorList Softmax::backward(autograd::Context &ctx,
                             const TensorList &gradOutputs) {
  if (!gradOutputs[0].defined() && !gradOutputs[1].defined())
    return {Tensor()};
  return {softmaxBackward(ctx.savedTensors()[0], gradOutputs[0], gradOutputs[1],
                          ctx.savedData["options"].to<SoftmaxOptions>())};
}
