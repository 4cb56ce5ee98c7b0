//===- FlashAttentionFunction.cpp - Attention on the tape -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionFunction.h"

#include "compiler/Support/Error.h"
#include "kernels/DenseAttentionBackward.h"
#include "kernels/EnumChecks.h"
#include "runtime/Autograd/GradientArithmetic.h"

using namespace flashtile;
using autograd::convertTo;

/// Before the forward is computed for nothing.
static void checkDifferentiable(const char *call, const Tensor &q) {
  if (q.defined() && elementSize(q.dtype()) == 1)
    throw Error(ErrorCode::Unsupported,
                std::string(call) +
                    ": there is no gradient by operands of an fp8 type; "
                    "convert them with to(DType), or call within a "
                    "NoGradGuard");
}

/// A gradient in the type that kernels want; undefined stays.
static Tensor converted(const Tensor &gradient, DType type) {
  return gradient.defined() ? convertTo(gradient, type) : gradient;
}

//===----------------------------------------------------------------------===//
// FlashAttention
//===----------------------------------------------------------------------===//

Tensor FlashAttention::forward(autograd::Context &ctx, const Tensor &q,
                               const Tensor &k, const Tensor &v, bool causal) {
  FlashAttentionOptions options;
  options.causal = causal;
  return forward(ctx, q, k, v, options).first;
}

std::pair<Tensor, Tensor> FlashAttention::forward(
    autograd::Context &ctx, const Tensor &q, const Tensor &k, const Tensor &v,
    const FlashAttentionOptions &options, FlashAttentionBackwardForm form) {
  kernels::checkOption(form);
  kernels::checkOption("outputType", options.outputType);
  if (!ctx.needsInputGrad(0) && !ctx.needsInputGrad(1) &&
      !ctx.needsInputGrad(2)) {
    auto [o, lse] = flashAttention(q, k, v, options);
    return {o, lse};
  }
  checkDifferentiable("flash attention", q);
  if (options.outputType && *options.outputType != q.dtype())
    throw Error(
        ErrorCode::Unsupported,
        "flash attention: expected the type of 'o' to be that of 'q', " +
            toString(q.dtype()) + ", where gradients are recorded, but got " +
            toString(*options.outputType) + "; convert 'o' with to(DType)");
  const FlashAttentionSaved saved = flashAttentionSaved(q, k, v, options);
  ctx.saveForBackward(
      {q, k, v, saved.o, saved.lse, saved.oRest, saved.lseRest});
  FlashAttentionBackwardOptions backward(options);
  backward.form = form;
  ctx.savedData["options"] = backward;
  ctx.setMaterializeGrads(false);
  return {saved.o, saved.lse};
}

TensorList FlashAttention::backward(autograd::Context &ctx,
                                    const TensorList &gradOutputs) {
  const TensorList saved = ctx.savedTensors();
  const Tensor &q = saved[0], &k = saved[1], &v = saved[2];
  auto options =
      ctx.savedData.at("options").to<FlashAttentionBackwardOptions>();
  options.wantsQ = ctx.needsInputGrad(0);
  options.wantsK = ctx.needsInputGrad(1);
  options.wantsV = ctx.needsInputGrad(2);
  // Whoever asked for o alone has no second gradient.
  const Tensor gradLse = gradOutputs.size() > 1 ? gradOutputs[1] : Tensor();
  if (!gradOutputs[0].defined() && !gradLse.defined())
    return TensorList(3);
  const FlashAttentionSaved forward = {saved[3], saved[4], saved[5], saved[6]};
  const FlashAttentionGradients found = flashAttentionBackward(
      q, k, v, forward, converted(gradOutputs[0], forward.o.dtype()),
      converted(gradLse, forward.lse.dtype()), options);
  return {found.q, found.k, found.v};
}

//===----------------------------------------------------------------------===//
// DenseAttention
//===----------------------------------------------------------------------===//

std::pair<Tensor, Tensor>
DenseAttention::forward(autograd::Context &ctx, const Tensor &q,
                        const Tensor &k, const Tensor &v,
                        const DenseAttentionOptions &options) {
  if (ctx.needsInputGrad(0) || ctx.needsInputGrad(1) || ctx.needsInputGrad(2))
    checkDifferentiable("dense attention", q);
  ctx.saveForBackward({q, k, v});
  ctx.savedData["options"] = options;
  ctx.setMaterializeGrads(false);
  auto [o, lse] = denseAttention(q, k, v, options);
  return {o, lse};
}

TensorList DenseAttention::backward(autograd::Context &ctx,
                                    const TensorList &gradOutputs) {
  if (!gradOutputs[0].defined() && !gradOutputs[1].defined())
    return TensorList(3);
  const TensorList saved = ctx.savedTensors();
  const FlashAttentionGradients found = denseAttentionBackward(
      saved[0], saved[1], saved[2], converted(gradOutputs[0], saved[0].dtype()),
      gradOutputs[1], ctx.savedData.at("options").to<DenseAttentionOptions>());
  return {found.q, found.k, found.v};
}
