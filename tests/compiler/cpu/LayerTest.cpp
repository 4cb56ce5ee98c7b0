//===- LayerTest.cpp - Products with epilogues, two layers, as code -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MatmulKernel with bias and activation, and MlpKernel, on the code of each
// target.
//
//===----------------------------------------------------------------------===//

#include "kernels/MatmulKernel.h"
#include "kernels/MlpKernel.h"
#include "kernels/Reference/Judge.h"
#include "kernels/Reference/Layers.h"
#include "tests/compiler/cpu/KernelRunner.h"

using namespace flashtile;
using namespace flashtile::cputest;
using namespace flashtile::kernels;

namespace {
class LayerCode : public OnTheTarget {};

Memory memoryOf(const Tensor &tensor) {
  const std::vector<double> values = tensor.toVector<double>();
  return make(tensor.dtype(), tensor.numel(),
              [&](int64_t i) { return values[static_cast<size_t>(i)]; });
}
} // namespace

/// For sm_80 and sm_90a: compiled, and assembled, which takes its time.
static bool hasResults() {
  return testTarget() != TestTarget::Sm80 && testTarget() != TestTarget::Sm90a;
}

static void expectAccurate(Memory &actual, const Tensor &truth,
                           const Tensor &plain, const std::string &what) {
  if (!hasResults())
    return;
  reference::JudgeRule rule;
  rule.elementFactor = 4;
  const reference::Verdict verdict = reference::judge(
      Tensor::fromData(actual.data(), truth.shape(), actual.type()), truth,
      plain, rule);
  EXPECT_TRUE(verdict.pass) << what << ": " << verdict.error << " > "
                            << verdict.limit << ", " << verdict.reason;
}

TEST_F(LayerCode, ProductsWithBiasAndActivation) {
  for (const Activation activation : kActivations)
    for (auto [dtype, m, n, k, block] :
         {std::tuple(DType::BF16, 70, 45, 50, 32),
          std::tuple(DType::F16, 32, 32, 32, 32),
          std::tuple(DType::F32, 5, 40, 33, 32),
          std::tuple(DType::BF16, 130, 72, 136, 64)}) // of a warpgroup
      for (const bool hasBias : {false, true}) {
        if (!hasResults() && dtype != DType::BF16)
          continue;
        const Tensor a = Tensor::randn({m, k}, dtype, 1);
        const Tensor b = Tensor::randn({k, n}, dtype, 2);
        const Tensor bias = hasBias ? Tensor::randn({n}, dtype, 3) : Tensor();
        MatmulKernelConfig config;
        config.dtype = dtype;
        config.blockM = config.blockN = config.blockK = block;
        config.hasBias = hasBias;
        config.activation = activation;
        Memory left = memoryOf(a), right = memoryOf(b);
        Memory added = memoryOf(hasBias ? bias : a);
        Memory c(dtype, int64_t(m) * n);
        std::vector<Argument> arguments = {left, right, c};
        if (hasBias)
          arguments.push_back(added);
        for (int32_t number : {m, n, k, 1, 1, 1})
          arguments.push_back(number);
        for (int64_t columns : {k, n, n})
          for (int64_t stride : {int64_t(0), int64_t(0), columns})
            arguments.push_back(stride);
        Program program(buildMatmulKernel(config).text());
        program.run(arguments);
        const Tensor plain =
            reference::layer(a, b, bias, activation, DType::F32).to(dtype);
        expectAccurate(c, reference::layer(a, b, bias, activation), plain,
                       std::string(activationName(activation)) +
                           (hasBias ? " bias " : " ") + toString(dtype));
      }
}

TEST_F(LayerCode, TwoLayers) {
  for (const Activation activation : kActivations)
    for (auto [dtype, rows, inputs, hidden, outputs, block] :
         {std::tuple(DType::BF16, 70, 16, 100, 24, 32),
          std::tuple(DType::F16, 33, 32, 64, 16, 32),
          std::tuple(DType::F32, 5, 8, 40, 8, 32),
          std::tuple(DType::BF16, 130, 64, 200, 72, 64)}) // of a warpgroup
      for (const bool hasBias : {false, true}) {
        if (!hasResults() && dtype != DType::BF16)
          continue;
        auto bias = [&, type = dtype](int64_t count, uint64_t seed) {
          return hasBias ? Tensor::randn({count}, type, seed) : Tensor();
        };
        const Tensor x = Tensor::randn({rows, inputs}, dtype, 1);
        const Tensor w1 = Tensor::randn({inputs, hidden}, dtype, 2);
        const Tensor w2 = Tensor::randn({hidden, outputs}, dtype, 3);
        const Tensor b1 = bias(hidden, 4), b2 = bias(outputs, 5);
        MlpKernelConfig config;
        config.dtype = dtype;
        config.inputs = inputs;
        config.outputs = outputs;
        config.activation = activation;
        config.hasBias = hasBias;
        config.blockM = config.blockH = block;
        Memory xs = memoryOf(x), w1s = memoryOf(w1), w2s = memoryOf(w2);
        Memory y(dtype, int64_t(rows) * outputs);
        Memory b1s = memoryOf(hasBias ? b1 : x);
        Memory b2s = memoryOf(hasBias ? b2 : x);
        std::vector<Argument> arguments = {xs, w1s, w2s, y};
        if (hasBias) {
          arguments.push_back(b1s);
          arguments.push_back(b2s);
        }
        for (int32_t number : {rows, hidden})
          arguments.push_back(number);
        for (int64_t stride : {inputs, hidden, outputs, outputs})
          arguments.push_back(stride);
        Program program(buildMlpKernel(config).text());
        program.run(arguments);
        expectAccurate(y, reference::mlp(x, w1, w2, b1, b2, activation),
                       reference::plainMlp(x, w1, w2, b1, b2, activation),
                       std::string(activationName(activation)) +
                           (hasBias ? " bias " : " ") + toString(dtype));
      }
}
