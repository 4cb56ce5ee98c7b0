//===- TestFunctions.h - Small Functions for the tests of the tape --------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_RUNTIME_AUTOGRAD_TESTFUNCTIONS_H
#define FLASHTILE_TESTS_RUNTIME_AUTOGRAD_TESTFUNCTIONS_H

#include "runtime/Autograd/Autograd.h"
#include "tests/runtime/ExpectError.h"

#include <functional>

namespace flashtile {

/// f(a, b) element by element, in f64, in the type of a.
inline Tensor zip(const Tensor &a, const Tensor &b,
                  const std::function<double(double, double)> &f) {
  const auto left = a.toVector<double>(), right = b.toVector<double>();
  std::vector<double> values(left.size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = f(left[i], right[i]);
  return Tensor::fromData(values, a.shape()).to(a.dtype());
}

inline Tensor times(const Tensor &a, const Tensor &b) {
  return zip(a, b, [](double x, double y) { return x * y; });
}

inline Tensor times(const Tensor &a, double factor) {
  return zip(a, a, [=](double x, double) { return x * factor; });
}

/// a * b.
struct Multiply : autograd::Function<Multiply> {
  static Tensor forward(autograd::Context &ctx, const Tensor &a,
                        const Tensor &b) {
    ctx.saveForBackward({a, b});
    return times(a, b);
  }
  static TensorList backward(autograd::Context &ctx,
                             const TensorList &gradOutputs) {
    const TensorList saved = ctx.savedTensors();
    TensorList gradients(2);
    if (ctx.needsInputGrad(0))
      gradients[0] = times(gradOutputs[0], saved[1]);
    if (ctx.needsInputGrad(1))
      gradients[1] = times(gradOutputs[0], saved[0]);
    return gradients;
  }
};

/// a + b.
struct Add : autograd::Function<Add> {
  static Tensor forward(autograd::Context &, const Tensor &a, const Tensor &b) {
    return zip(a, b, [](double x, double y) { return x + y; });
  }
  static TensorList backward(autograd::Context &, TensorList gradOutputs) {
    return {gradOutputs[0], gradOutputs[0]};
  }
};

/// a * factor.
struct Scale : autograd::Function<Scale> {
  static Tensor forward(autograd::Context &ctx, const Tensor &a,
                        double factor) {
    ctx.savedData["factor"] = factor;
    return times(a, factor);
  }
  static TensorList backward(autograd::Context &ctx,
                             const TensorList &gradOutputs) {
    return {times(gradOutputs[0], ctx.savedData["factor"].to<double>()),
            Tensor()};
  }
};

/// The sum of all elements.
struct Sum : autograd::Function<Sum> {
  static Tensor forward(autograd::Context &ctx, const Tensor &a) {
    ctx.savedData["shape"] = a.shape();
    double sum = 0;
    for (double value : a.toVector<double>())
      sum += value;
    return Tensor::full({}, sum, a.dtype());
  }
  static TensorList backward(autograd::Context &ctx,
                             const TensorList &gradOutputs) {
    // Strides of 0, as such gradients have them.
    return {gradOutputs[0].expand(ctx.savedData["shape"].to<Shape>())};
  }
};

/// exp(a), whose result is saved.
struct Exponential : autograd::Function<Exponential> {
  static Tensor forward(autograd::Context &ctx, const Tensor &a) {
    const Tensor result =
        zip(a, a, [](double x, double) { return std::exp(x); });
    ctx.saveForBackward({result});
    return result;
  }
  static TensorList backward(autograd::Context &ctx,
                             const TensorList &gradOutputs) {
    return {times(gradOutputs[0], ctx.savedTensors()[0])};
  }
};

inline Tensor leaf(std::vector<double> values) {
  const auto count = static_cast<int64_t>(values.size());
  return Tensor::fromData(values, {count}).setRequiresGrad();
}

inline std::vector<double> gradOf(const Tensor &tensor) {
  return tensor.grad().defined() ? tensor.grad().toVector<double>()
                                 : std::vector<double>();
}

} // namespace flashtile

#endif // FLASHTILE_TESTS_RUNTIME_AUTOGRAD_TESTFUNCTIONS_H
