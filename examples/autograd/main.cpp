//===- main.cpp - Training with a kernel of one's own ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A layer of attention and a squared ReLU learn to copy what another layer
// computes. Attention and products come with their gradients; the squared ReLU
// and the loss are Functions of this program, written in tiles, and checked
// against finite differences before they are used.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/Dsl.h"
#include "compiler/Support/Error.h"
#include "kernels/FlashAttention.h"
#include "kernels/Matmul.h"
#include "runtime/Autograd/Autograd.h"
#include "runtime/Autograd/GradCheck.h"
#include "runtime/Jit.h"

#include <cstdio>
#include <vector>

using namespace flashtile;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// out = f(a, b) for n elements, in tiles of 256.
template <typename Formula>
static dsl::KernelModule buildZip(const char *name, DType type,
                                  Formula formula) {
  using namespace flashtile::dsl;
  KernelBuilder kernel(name);
  Value a = kernel.pointer("a", type), b = kernel.pointer("b", type);
  Value out = kernel.pointer("out", type), n = kernel.i32("n");
  kernel.grid({ceilDiv(n, 256)});
  const auto window = [&](const Value &base) {
    return makeBlockPtr(base, {n}, {1}, {programId(0) * 256}, {256});
  };
  store(window(out), formula(load(window(a)), load(window(b))));
  return kernel.build();
}

/// A new tensor from two of the same shape. A kernel that was compiled before
/// comes from the library's cache.
template <typename Formula>
static Tensor zip(const char *name, const Tensor &a, const Tensor &b,
                  Formula formula) {
  const Kernel kernel =
      Jit(a.device()).compile(buildZip(name, a.dtype(), formula)).kernel();
  const Tensor out = Tensor::empty(a.shape(), a.dtype(), a.device());
  // An upstream gradient may come with any strides.
  kernel(a.contiguous(), b.contiguous(), out, a.numel());
  return out;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// max(x, 0)^2, whose gradient is 2 max(x, 0).
struct SquaredRelu : autograd::Function<SquaredRelu> {
  static Tensor forward(autograd::Context &ctx, const Tensor &x) {
    ctx.saveForBackward({x});
    return zip("squared_relu", x, x, [](dsl::Value x, dsl::Value) {
      dsl::Value positive = dsl::maximum(x, 0.0);
      return positive * positive;
    });
  }
  static TensorList backward(autograd::Context &ctx,
                             const TensorList &gradOutputs) {
    const Tensor x = ctx.savedTensors()[0];
    return {zip("squared_relu_backward", x, gradOutputs[0],
                [](dsl::Value x, dsl::Value g) {
                  return dsl::maximum(x, 0.0) * 2.0 * g;
                })};
  }
};

/// factor * sum((x - target)^2) as a tensor of one element. `target` has no
/// gradient, and the factor is no tensor: backward gives undefined ones.
struct SquaredError : autograd::Function<SquaredError> {
  static Tensor forward(autograd::Context &ctx, const Tensor &x,
                        const Tensor &target, double factor) {
    const Tensor difference =
        zip("difference", x, target,
            [](dsl::Value x, dsl::Value y) { return x - y; });
    ctx.saveForBackward({difference});
    ctx.savedData["factor"] = factor;
    double sum = 0;
    for (double value : difference.toVector<double>())
      sum += value * value;
    return Tensor::full({}, factor * sum, x.dtype(), x.device());
  }
  static TensorList backward(autograd::Context &ctx,
                             const TensorList &gradOutputs) {
    const double factor = 2 * ctx.savedData["factor"].to<double>() *
                          gradOutputs[0].item<double>();
    const Tensor difference = ctx.savedTensors()[0];
    const Tensor scale = Tensor::full(difference.shape(), factor,
                                      difference.dtype(), difference.device());
    return {zip("product", difference, scale,
                [](dsl::Value d, dsl::Value s) { return d * s; }),
            Tensor(), Tensor()};
  }
};

//===----------------------------------------------------------------------===//
// The layer and its training
//===----------------------------------------------------------------------===//

namespace {
struct Layer {
  explicit Layer(uint64_t seed, DType type) {
    for (Tensor *weight : {&q, &k, &v, &out})
      *weight = Tensor::uniform({32, 32}, type, seed++, -0.4, 0.4);
  }
  std::vector<Tensor> weights() const { return {q, k, v, out}; }

  /// x is [batch, rows, 32].
  Tensor operator()(const Tensor &x) const {
    FlashAttentionOptions options;
    options.causal = true;
    const Tensor attended =
        flashAttention(matmul(x, q), matmul(x, k), matmul(x, v), options).o;
    return SquaredRelu::apply(matmul(attended, out));
  }

  Tensor q, k, v, out;
};
} // namespace

/// Whether the gradients of this program are right, on small tensors of f64.
static bool checkGradients() {
  const Tensor x = Tensor::randn({3, 5}, DType::F64, 1).setRequiresGrad();
  const Tensor target = Tensor::randn({3, 5}, DType::F64, 2);
  return autograd::gradcheck(
      [&](const TensorList &in) {
        const Tensor y = SquaredRelu::apply(in[0]);
        return TensorList{y, SquaredError::apply(y, target, 0.5)};
      },
      {x});
}

/// w -= rate * w.grad(), as a kernel that writes to w: outside of the tape.
static void update(const Tensor &w, double rate) {
  const NoGradGuard noGrad;
  const Tensor scale = Tensor::full(w.shape(), rate, w.dtype(), w.device());
  const Tensor step = zip("product", w.grad(), scale,
                          [](dsl::Value d, dsl::Value s) { return d * s; });
  w.copyFrom(zip("difference", w, step,
                 [](dsl::Value x, dsl::Value y) { return x - y; }));
  w.setGrad();
}

int main() {
  try {
    std::printf("gradients agree with finite differences: %s\n",
                checkGradients() ? "yes" : "no");
    const Tensor x = Tensor::randn({4, 50, 32}, DType::F32, 10);
    const Tensor target = Layer(20, DType::F32)(x);
    const Layer layer(30, DType::F32);
    for (const Tensor &weight : layer.weights())
      weight.setRequiresGrad();
    const double factor = 1.0 / static_cast<double>(target.numel());
    double first = 0, last = 0;
    for (int step = 0; step < 60; ++step) {
      const Tensor loss = SquaredError::apply(layer(x), target, factor);
      loss.backward();
      for (const Tensor &weight : layer.weights())
        update(weight, 0.5);
      last = loss.item<double>();
      if (step == 0)
        first = last;
      if (step % 20 == 0)
        std::printf("step %2d: loss %.5f\n", step, last);
    }
    std::printf("loss %.5f, then %.5f\n", first, last);
    return last < 0.5 * first ? 0 : 1;
  } catch (const Error &error) {
    std::fprintf(stderr, "%s: %s\n", errorCodeName(error.code()), error.what());
    return 1;
  }
}
