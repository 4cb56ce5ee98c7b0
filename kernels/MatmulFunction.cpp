//===- MatmulFunction.cpp - Products of matrices on the tape --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/MatmulFunction.h"

#include "kernels/ActivationBackwardKernel.h"
#include "kernels/LookupTable.h"
#include "kernels/TensorStack.h"
#include "runtime/Autograd/GradientArithmetic.h"
#include "runtime/Jit.h"

#include <tuple>

using namespace flashtile;
using namespace flashtile::kernels;
using autograd::convertTo;
using autograd::denseView;
using autograd::sumTo;

namespace {
/// What backward needs to know beside the operands.
struct Call {
  MatmulOptions options;
  Shape shapeA, shapeB;
  DType dtype; ///< of a and b
};
} // namespace

/// The type that gradients are multiplied in.
static DType productType(DType type) {
  return elementSize(type) == 1 ? DType::BF16 : type;
}

static DType wideType(DType type) {
  return type == DType::F64 ? DType::F64 : DType::F32;
}

static int64_t countOf(const Shape &leading) {
  int64_t count = 1;
  for (int64_t extent : leading)
    count *= extent;
  return count;
}

/// A product for a gradient of this shape: what was broadcast is summed, before
/// anything is rounded.
static Tensor productInto(const Tensor &a, const Tensor &b,
                          MatmulOptions options, const Shape &shape,
                          DType type) {
  Shape whole = leadingDims(a.shape());
  const bool sums = leadingDims(shape) != whole;
  options.outputType = sums ? wideType(type) : type;
  return convertTo(sumTo(matmul(a, b, options), shape), type);
}

static Tensor gradientOfA(const Tensor &gradient, const Tensor &b,
                          const Call &call) {
  return productInto(gradient, b.transpose(-2, -1), call.options, call.shapeA,
                     call.dtype);
}

static Tensor gradientOfB(const Tensor &gradient, const Tensor &a,
                          const Call &call) {
  MatmulOptions options = call.options;
  options.group = 1;
  const int64_t m = a.size(-2), k = a.size(-1), n = gradient.size(-1);
  const Shape leading = leadingDims(gradient.shape());
  if (countOf(leadingDims(call.shapeB)) == 1) {
    // One b for all: one product goes through the rows of all a.
    const int64_t count = countOf(leading);
    const Tensor rows = a.expand(withMatrix(leading, m, k));
    return denseView(
        productInto(denseView(rows, {count * m, k}).transpose(0, 1),
                    denseView(gradient, {count * m, n}), options, {k, n},
                    call.dtype),
        call.shapeB);
  }
  if (call.options.group == 1)
    return productInto(a.expand(withMatrix(leading, m, k)).transpose(-2, -1),
                       gradient, options, call.shapeB, call.dtype);
  // Those that share a b, one below the other: the product sums over them.
  const int64_t group = call.options.group;
  Shape shared = leading;
  shared.back() /= group;
  const Tensor rows = denseView(a.expand(withMatrix(leading, m, k)),
                                withMatrix(shared, group * m, k));
  return productInto(rows.transpose(-2, -1),
                     denseView(gradient, withMatrix(shared, group * m, n)),
                     options, call.shapeB, call.dtype);
}

/// f'(a b + bias) dc, in f32 or f64. The product is computed again, so that it
/// is not kept, and not rounded.
static Tensor throughActivation(const Tensor &a, const Tensor &b,
                                const Tensor &bias, const Tensor &gradient,
                                const Call &call) {
  MatmulOptions options = call.options;
  options.bias = bias;
  options.activation = Activation::None;
  options.outputType = wideType(call.dtype);
  const Tensor z = matmul(a, b, options);
  const Tensor dz = Tensor::empty(z.shape(), z.dtype(), z.device());
  const Device device = z.device();
  using Key = std::tuple<int, int, Activation, DType, DType>;
  static LookupTable<Key, Kernel> table;
  const Key key = {static_cast<int>(device.kind()), device.index(),
                   call.options.activation, z.dtype(), gradient.dtype()};
  const Kernel kernel = table.get(key, [&] {
    return Jit(device)
        .compile(buildActivationBackward(call.options.activation, z.dtype(),
                                         gradient.dtype()))
        .kernel();
  });
  kernel(z, autograd::dense(gradient), dz, z.numel());
  return dz;
}

Tensor Matmul::forward(autograd::Context &ctx, const Tensor &a, const Tensor &b,
                       const Tensor &bias, const MatmulOptions &options) {
  MatmulOptions whole = options;
  whole.bias = bias;
  Tensor c = matmul(a, b, whole);
  Call call = {options, a.shape(), b.shape(), a.dtype()};
  call.options.bias = {};
  ctx.savedData["call"] = call;
  // Only what a gradient needs, so that the other may be written to.
  const bool again = options.activation != Activation::None;
  const auto needed = [&](bool isNeeded, const Tensor &tensor) {
    return isNeeded || again ? tensor : Tensor();
  };
  ctx.saveForBackward({needed(ctx.needsInputGrad(1), a),
                       needed(ctx.needsInputGrad(0), b), needed(false, bias)});
  return c;
}

TensorList Matmul::backward(autograd::Context &ctx,
                            const TensorList &gradOutputs) {
  const TensorList saved = ctx.savedTensors();
  Call call = ctx.savedData.at("call").to<Call>();
  Tensor whole = gradOutputs[0];
  if (call.options.activation != Activation::None)
    whole = throughActivation(saved[0], saved[1], saved[2], whole, call);
  call.options.activation = Activation::None;
  const DType type = productType(call.dtype);
  const Tensor gradient = convertTo(whole, type);
  TensorList gradients(3);
  if (ctx.needsInputGrad(0))
    gradients[0] = gradientOfA(gradient, convertTo(saved[1], type), call);
  if (ctx.needsInputGrad(1))
    gradients[1] = gradientOfB(gradient, convertTo(saved[0], type), call);
  if (ctx.needsInputGrad(2))
    gradients[2] = sumTo(whole, {whole.size(-1)});
  return gradients;
}
