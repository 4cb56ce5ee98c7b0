//===- PlainAttention.cpp - The yardstick of same-precision work ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formulas of DenseAttention.cpp with a rounding wherever a naive program
// would store a matrix in T. The gradients of a group of heads accumulate in
// f32: a program that rounds each of them first would make the yardstick
// longer, and the judge milder.
//
//===----------------------------------------------------------------------===//

#include "kernels/Reference/PlainAttention.h"

#include "kernels/Reference/AttentionProblem.h"

namespace flashtile::reference {

static Matrix<float> roundTo(DType type, const Matrix<float> &values) {
  return dispatchDType(type, [&](auto tag) -> Matrix<float> {
    using T = typename decltype(tag)::Type;
    return values.unaryExpr(
        [](float x) { return convertElement<float>(convertElement<T>(x)); });
  });
}

/// A checked operand as values of `type`, widened to f32.
static Tensor roundTo(DType type, const Tensor &tensor) {
  return tensor.to(type).to(DType::F32);
}

static void checkType(DType type) {
  if (!isFloat(type) || type == DType::F64)
    throw Error(ErrorCode::InvalidArgument,
                "expected a float type of at most 32 bits for the plain "
                "implementation, but got " +
                    toString(type));
}

static AttentionProblem<float> roundedProblem(const Tensor &q, const Tensor &k,
                                              const Tensor &v, DType type,
                                              const AttentionOptions &options) {
  checkType(type);
  checkAttention(q, k, v, options);
  return {roundTo(type, q), roundTo(type, k), roundTo(type, v), options};
}

AttentionResult plainAttention(const Tensor &q, const Tensor &k,
                               const Tensor &v, DType type,
                               const AttentionOptions &options) {
  const auto problem = roundedProblem(q, k, v, type, options);
  const HeadStack<float> o(problem.shape.o);
  const auto lse = zeroColumns<float>(problem.shape.lse);

  for (int64_t head = 0; head < problem.shape.heads; ++head) {
    const Tile rows = problem.allRows(), keys = problem.allKeys();
    const Visibility visible = problem.visible(head, rows, keys);
    const Matrix<float> s = problem.scores(head, rows, keys, visible);
    const Softmax<float> softmax = softmaxVisible(s, visible);
    o[head] = visibleProduct<float>(roundTo(type, softmax.p), problem.v(head),
                                    visible);
    lse[head] = softmax.lse;
  }
  return {o.tensor().to(type), lse.tensor().squeeze(-1)};
}

AttentionGradients plainAttentionBackward(const Tensor &q, const Tensor &k,
                                          const Tensor &v, const Tensor &dO,
                                          DType type,
                                          const AttentionOptions &options,
                                          const Tensor &dLse) {
  const auto problem = roundedProblem(q, k, v, type, options);
  checkShape("dO", dO, problem.shape.o);
  const HeadStack<float> upstream(roundTo(type, dO));
  const auto lseGradient =
      optionalColumns<float>("dLse", dLse, problem.shape.lse);
  const GradientStacks<float> gradients(q, k, v);
  const auto &[dq, dk, dv] = gradients;

  for (int64_t head = 0; head < problem.shape.heads; ++head) {
    const int64_t kvHead = problem.shape.kvHead(head);
    const Tile rows = problem.allRows(), keys = problem.allKeys();
    const Visibility visible = problem.visible(head, rows, keys);
    const Visibility visibleT = visible.transpose();

    const Matrix<float> s = problem.scores(head, rows, keys, visible);
    const Matrix<float> p = roundTo(type, softmaxVisible(s, visible).p);
    const Matrix<float> dP = keepVisible<float>(
        upstream[head] * problem.v(head).transpose(), visible);
    const Column<float> delta =
        p.cwiseProduct(dP).rowwise().sum() - lseGradient[head].col(0);
    const Matrix<float> dS =
        roundTo(type, keepVisible<float>(p.cwiseProduct(dP.colwise() - delta),
                                         visible));

    dq[head] =
        problem.scale * visibleProduct<float>(dS, problem.k(head), visible);
    dk[kvHead] +=
        problem.scale *
        visibleProduct<float>(dS.transpose(), problem.q(head), visibleT);
    dv[kvHead] +=
        visibleProduct<float>(p.transpose(), upstream[head], visibleT);
  }
  const AttentionGradients wide = gradients.tensors();
  return {wide.dq.to(type), wide.dk.to(type), wide.dv.to(type)};
}

} // namespace flashtile::reference
