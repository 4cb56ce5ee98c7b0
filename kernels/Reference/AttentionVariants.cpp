//===- AttentionVariants.cpp - Kinds of attention, by definition ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/Reference/AttentionVariants.h"

#include "kernels/EnumChecks.h"
#include "kernels/Reference/AttentionProblem.h"

#include <cmath>
#include <cstdlib>

namespace flashtile::reference {

/// A tensor [n, m] of `value(row, key - diagonal of the row)`.
template <typename T, typename Fn>
static Tensor byDistance(int64_t rows, int64_t keys, int64_t diagonal,
                         DType dtype, Fn value) {
  const Tensor result = Tensor::zeros({rows, keys}, dtype);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t key = 0; key < keys; ++key)
      result.data<T>()[row * keys + key] = value(key - (diagonal + row));
  return result;
}

/// What masks and biases say of the problem.
static AttentionOptions optionsOf(const Tensor &q, const Tensor &k,
                                  const AttentionVariantProblem &problem,
                                  int64_t diagonal, DType arithmetic) {
  kernels::checkOption(problem.variant);
  AttentionOptions options;
  options.scale = problem.scale;
  options.arithmetic = arithmetic;
  const int64_t rows = q.size(-2), keys = k.size(-2);
  const bool isWindow = problem.variant == AttentionVariant::SlidingWindow;
  if (problem.causal || isWindow) {
    const int64_t right = problem.causal ? 0 : problem.right;
    const int64_t left = isWindow ? problem.left : rows + keys + diagonal;
    options.mask = byDistance<bool>(
        rows, keys, diagonal, DType::I1, [&](int64_t distance) {
          return distance <= right && distance >= -left;
        });
  }
  if (problem.variant == AttentionVariant::Alibi) {
    const int64_t heads = q.rank() > 2 ? q.size(-3) : 1;
    const std::vector<float> slopes =
        (problem.slopes.defined() ? problem.slopes : alibiSlopes(heads))
            .toVector<float>();
    options.bias = Tensor::zeros({heads, rows, keys}, DType::F64);
    for (int64_t head = 0; head < heads; ++head)
      options.bias.select(0, head).copyFrom(byDistance<double>(
          rows, keys, diagonal, DType::F64, [&](int64_t distance) {
            return -double(slopes[head]) * double(std::abs(distance));
          }));
  }
  return options;
}

/// `round` is applied to the weights.
template <typename Real, typename Round>
static AttentionResult compute(const AttentionProblem<Real> &attention,
                               const AttentionVariantProblem &problem,
                               Round round) {
  const HeadStack<Real> o(attention.shape.o);
  const auto lse = zeroColumns<Real>(attention.shape.lse);
  const bool isSigmoid = problem.variant == AttentionVariant::Sigmoid;
  const Tile rows = attention.allRows(), keys = attention.allKeys();
  const Real bias = static_cast<Real>(problem.bias.value_or(
      -std::log(std::max<double>(double(attention.shape.seqK), 1))));
  const Real cap = static_cast<Real>(problem.cap);
  for (int64_t head = 0; head < attention.shape.heads; ++head) {
    const Visibility visible = attention.visible(head, rows, keys);
    Matrix<Real> s = attention.scores(head, rows, keys, visible);
    if (problem.variant == AttentionVariant::Softcap)
      s = visible.select(
          s.unaryExpr([&](Real x) { return cap * std::tanh(x / cap); }), s);
    Matrix<Real> p;
    if (isSigmoid) {
      p = keepVisible<Real>(
          s.unaryExpr([&](Real x) { return 1 / (1 + std::exp(-x - bias)); }),
          visible);
    } else {
      const Softmax<Real> softmax = softmaxVisible(s, visible);
      p = softmax.p;
      lse[head] = softmax.lse;
    }
    o[head] = visibleProduct<Real>(round(p), attention.v(head), visible);
  }
  return {o.tensor(), isSigmoid ? Tensor() : lse.tensor().squeeze(-1)};
}

AttentionResult attentionVariant(const Tensor &q, const Tensor &k,
                                 const Tensor &v,
                                 const AttentionVariantProblem &problem,
                                 std::optional<int64_t> diagonal) {
  const AttentionOptions options = optionsOf(
      q, k, problem, diagonal.value_or(k.size(-2) - q.size(-2)), DType::F64);
  return compute(AttentionProblem<double>(q, k, v, options), problem,
                 [](const Matrix<double> &p) { return p; });
}

AttentionResult plainAttentionVariant(const Tensor &q, const Tensor &k,
                                      const Tensor &v, DType type,
                                      const AttentionVariantProblem &problem,
                                      std::optional<int64_t> diagonal) {
  const AttentionOptions options = optionsOf(
      q, k, problem, diagonal.value_or(k.size(-2) - q.size(-2)), DType::F32);
  auto rounded = [&](const Tensor &tensor) {
    return tensor.to(type).to(DType::F32);
  };
  const AttentionResult wide = compute(
      AttentionProblem<float>(rounded(q), rounded(k), rounded(v), options),
      problem, [&](const Matrix<float> &p) {
        return dispatchDType(type, [&](auto tag) -> Matrix<float> {
          using T = typename decltype(tag)::Type;
          return p.unaryExpr([](float x) {
            return convertElement<float>(convertElement<T>(x));
          });
        });
      });
  return {wide.o.to(type), wide.lse};
}

} // namespace flashtile::reference
