//===- GradientCodeTest.cpp - Kernels of gradients, as code ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of the tape, of softmax and of activations against scalar code,
// on the code of each target (tests/compiler/cpu/TestTarget.h).
//
//===----------------------------------------------------------------------===//

#include "kernels/ActivationBackwardKernel.h"
#include "kernels/SoftmaxBackwardKernel.h"
#include "kernels/SoftmaxGradientKernel.h"
#include "runtime/Autograd/GradientKernels.h"
#include "tests/compiler/cpu/KernelRunner.h"

#include <cmath>

using namespace flashtile;
using namespace flashtile::cputest;
using namespace flashtile::kernels;

namespace {
class GradientCode : public OnTheTarget {};

/// Numbers without a pattern, between -2 and 2.
double number(int64_t i) { return 2 * std::sin(double(i * i % 1000003)); }

void expectNear(const Memory &actual, int64_t i, double expected,
                double tolerance) {
  EXPECT_NEAR(actual.get(i), expected,
              tolerance * std::max(1.0, std::abs(expected)))
      << "element " << i;
}

double toleranceOf(DType type) {
  return type == DType::F64 ? 1e-12 : type == DType::F32 ? 3e-6 : 1e-2;
}
} // namespace

TEST_F(GradientCode, Elementwise) {
  struct Dim {
    int64_t extent, target, source;
  };
  // Gaps, a transposition, and a dimension that the source repeats.
  const std::vector<std::vector<Dim>> layouts = {
      {{1500, 1, 1}},
      {{1, 1, 1}},
      {{30, 2, 3}},
      {{7, 40, 1}, {5, 2, 7}, {3, 11, 0}},
      {{2, 500, 1}, {3, 100, 2}, {2, 40, 6}, {5, 5, 12}, {4, 1, 60}}};
  for (auto [to, from] :
       {std::pair(DType::F32, DType::F32), std::pair(DType::BF16, DType::F32),
        std::pair(DType::F32, DType::F16), std::pair(DType::F64, DType::F64)})
    for (const auto &dims : layouts)
      for (bool accumulates : {false, true}) {
        SCOPED_TRACE(toString(to) + " " + toString(from) + " rank " +
                     std::to_string(dims.size()));
        constexpr int64_t room = 2000;
        Memory target = make(to, room, [](int64_t i) { return number(i + 7); });
        Memory source = make(from, room, number);
        int64_t n = 1;
        for (const Dim &dim : dims)
          n *= dim.extent;
        std::vector<Argument> arguments = {target, source, n};
        for (const Dim &dim : dims)
          for (int64_t value : {dim.extent, dim.target, dim.source})
            arguments.push_back(value);
        // What should be there, the gaps included.
        std::vector<double> expected;
        for (int64_t i = 0; i < room; ++i)
          expected.push_back(target.get(i));
        for (int64_t i = 0; i < n; ++i) {
          int64_t rest = i, at = 0, read = 0;
          for (size_t d = dims.size(); d-- > 0; rest /= dims[d].extent) {
            at += rest % dims[d].extent * dims[d].target;
            read += rest % dims[d].extent * dims[d].source;
          }
          expected[at] =
              roundTo(to, (accumulates ? expected[at] : 0) + source.get(read));
        }
        Program program(
            autograd::buildElementwise(
                to, from, static_cast<int64_t>(dims.size()), accumulates)
                .text());
        program.run(arguments);
        for (int64_t i = 0; i < room; ++i)
          EXPECT_EQ(target.get(i), expected[i]) << "element " << i;
      }
}

TEST_F(GradientCode, Sums) {
  for (DType type : {DType::F32, DType::BF16, DType::F64})
    for (auto [outer, reduced, inner] :
         {std::tuple(3, 300, 1), std::tuple(2, 19, 5), std::tuple(2, 13, 70),
          std::tuple(1, 1, 200)})
      for (bool isTransposed : {false, true}) {
        const int64_t o = outer, r = reduced, i = inner;
        const DType wide = type == DType::F64 ? DType::F64 : DType::F32;
        Memory source = make(type, o * r * i, number);
        Memory target(wide, o * i);
        // [outer, reduced, inner], or those in the opposite order in memory.
        const int64_t strides[3] = {isTransposed ? 1 : r * i,
                                    isTransposed ? o : i,
                                    isTransposed ? o * r : 1};
        Program program(autograd::buildSum(type, i >= 64).text());
        program.run(
            {target, source, o, r, i, strides[0], strides[1], strides[2]});
        for (int64_t a = 0; a < o; ++a)
          for (int64_t c = 0; c < i; ++c) {
            double sum = 0;
            for (int64_t b = 0; b < r; ++b)
              sum +=
                  source.get(a * strides[0] + b * strides[1] + c * strides[2]);
            expectNear(target, a * i + c, sum,
                       type == DType::F64 ? 1e-12 : 1e-4);
          }
      }
}

TEST_F(GradientCode, Softmax) {
  for (DType type : {DType::F32, DType::BF16, DType::F64})
    for (auto [rows, columns, block] :
         {std::tuple(5, 40, 64), std::tuple(7, 100, 32), std::tuple(9, 3, 32)})
      for (int variant = 0; variant < 4; ++variant) {
        const int64_t n = rows, m = columns, batch = 2;
        const DType wide = type == DType::F64 ? DType::F64 : DType::F32;
        SoftmaxBackwardConfig config;
        config.dtype = type;
        config.gradType = wide;
        config.causal = variant & 1;
        config.hasGradLse = variant & 2;
        config.unitColumns = variant != 1; // otherwise dy is transposed
        config.singleTile = m <= block;
        config.blockRows = 2;
        config.blockColumns = block;
        SCOPED_TRACE(toString(type) + " " + std::to_string(n) + " x " +
                     std::to_string(m) + ", " + std::to_string(variant));
        Memory x = make(type, batch * n * m, number);
        Memory dy =
            make(wide, batch * n * m, [](int64_t i) { return number(i + 77); });
        Memory dLse =
            make(wide, batch * n, [](int64_t i) { return number(i + 99); });
        Memory dx(type, batch * n * m);
        const int64_t dyRow = config.unitColumns ? m : 1;
        const int64_t dyColumn = config.unitColumns ? 1 : n;
        std::vector<Argument> arguments = {x, dy, dx};
        if (config.hasGradLse)
          arguments.push_back(dLse);
        for (int64_t extent : {n, m, batch})
          arguments.push_back(static_cast<int32_t>(extent));
        arguments.push_back(n * m);
        arguments.push_back(m);
        if (!config.unitColumns)
          arguments.push_back(int64_t(1));
        arguments.push_back(n * m);
        arguments.push_back(dyRow);
        if (!config.unitColumns)
          arguments.push_back(dyColumn);
        constexpr double scale = 0.75;
        if (type == DType::F64)
          arguments.push_back(scale);
        else
          arguments.push_back(float(scale));
        Program program(buildSoftmaxBackward(config).text());
        program.run(arguments);

        for (int64_t b = 0; b < batch; ++b)
          for (int64_t i = 0; i < n; ++i) {
            const int64_t visible = config.causal ? i + m - n + 1 : m;
            double sum = 0, mean = 0;
            const auto weight = [&](int64_t j) {
              return std::exp(scale * x.get((b * n + i) * m + j));
            };
            const auto upstream = [&](int64_t j) {
              return dy.get(b * n * m + i * dyRow + j * dyColumn);
            };
            for (int64_t j = 0; j < visible; ++j) {
              sum += weight(j);
              mean += weight(j) * upstream(j);
            }
            for (int64_t j = 0; j < m; ++j) {
              double expected = 0;
              if (j < visible)
                expected = scale * weight(j) / sum *
                           (upstream(j) - mean / sum +
                            (config.hasGradLse ? dLse.get(b * n + i) : 0));
              expectNear(dx, (b * n + i) * m + j, expected, toleranceOf(type));
            }
          }
      }
}

// Of dense attention: weights from memory, and their copy for the product.
TEST_F(GradientCode, SoftmaxOfWeights) {
  for (DType type : {DType::F32, DType::BF16, DType::F64})
    for (auto [rows, columns] : {std::pair(5, 40), std::pair(9, 100)})
      for (bool hasGradLse : {false, true}) {
        SCOPED_TRACE(toString(type) + " " + std::to_string(rows) + " x " +
                     std::to_string(columns));
        const int64_t n = rows, m = columns, batch = 2;
        const DType wide = type == DType::F64 ? DType::F64 : DType::F32;
        SoftmaxGradientConfig config;
        config.outputType = type;
        config.copiesWeights = type == DType::BF16;
        config.hasGradLse = hasGradLse;
        config.blockRows = 2;
        config.blockColumns = 32;
        Memory p = make(wide, batch * n * m, number);
        Memory dp =
            make(wide, batch * n * m, [](int64_t i) { return number(i + 77); });
        Memory dLse =
            make(wide, batch * n, [](int64_t i) { return number(i + 99); });
        Memory ds(type, batch * n * m), weights(type, batch * n * m);
        std::vector<Argument> arguments = {p, dp};
        if (hasGradLse)
          arguments.push_back(dLse);
        arguments.push_back(ds);
        if (config.copiesWeights)
          arguments.push_back(weights);
        for (int64_t extent : {n, m, batch})
          arguments.push_back(static_cast<int32_t>(extent));
        constexpr double scale = 0.75;
        if (type == DType::F64)
          arguments.push_back(scale);
        else
          arguments.push_back(float(scale));
        Program program(buildSoftmaxGradient(config).text());
        program.run(arguments);
        for (int64_t row = 0; row < batch * n; ++row) {
          double delta = hasGradLse ? -dLse.get(row) : 0, size = 1;
          for (int64_t j = row * m; j < (row + 1) * m; ++j) {
            delta += p.get(j) * dp.get(j);
            size += std::abs(p.get(j) * dp.get(j));
          }
          for (int64_t j = row * m; j < (row + 1) * m; ++j) {
            expectNear(ds, j, scale * p.get(j) * (dp.get(j) - delta),
                       toleranceOf(type) * size);
            if (config.copiesWeights)
              expectNear(weights, j, p.get(j), toleranceOf(type));
          }
        }
      }
}

TEST_F(GradientCode, Activations) {
  constexpr int64_t n = 1100;
  for (Activation activation : {Activation::Relu, Activation::Gelu,
                                Activation::GeluTanh, Activation::Silu})
    for (auto [wide, gradType] : {std::pair(DType::F32, DType::BF16),
                                  std::pair(DType::F64, DType::F64)}) {
      SCOPED_TRACE(std::string(activationName(activation)) + toString(wide));
      Memory z = make(wide, n, [](int64_t i) { return 3 * number(i); });
      Memory dy = make(gradType, n, [](int64_t i) { return number(i + 7); });
      Memory dz(wide, n);
      Program program(
          buildActivationBackward(activation, wide, gradType).text());
      program.run({z, dy, dz, n});
      for (int64_t i = 0; i < n; ++i) {
        constexpr double eps = 1e-5;
        const double at = z.get(i);
        const double slope =
            (activate(at + eps, activation) - activate(at - eps, activation)) /
            (2 * eps);
        if (std::abs(at) > eps)
          expectNear(dz, i, slope * dy.get(i),
                     wide == DType::F64 ? 1e-8 : 5e-6);
      }
    }
}
