//===- DenseAttention.cpp - Attention with all scores in memory -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forward:   S = scale Q K^T    P = softmax(S)    O = P V    L = logsumexp(S)
// Backward:  dV = P^T dO        dP = dO V^T
//            dS = P o (dP - rowsum(P o dP) + dL)
//            dQ = scale dS K    dK = scale dS^T Q
//
//===----------------------------------------------------------------------===//

#include "kernels/Reference/DenseAttention.h"

#include "kernels/Reference/AttentionProblem.h"

namespace flashtile::reference {

template <typename Real>
static AttentionResult forward(const AttentionProblem<Real> &problem) {
  const HeadStack<Real> o(problem.shape.o);
  const auto lse = zeroColumns<Real>(problem.shape.lse);

  for (int64_t head = 0; head < problem.shape.heads; ++head) {
    const Tile rows = problem.allRows(), keys = problem.allKeys();
    const Visibility visible = problem.visible(head, rows, keys);
    const Matrix<Real> s = problem.scores(head, rows, keys, visible);
    const Softmax<Real> softmax = softmaxVisible(s, visible);
    o[head] = visibleProduct<Real>(softmax.p, problem.v(head), visible);
    lse[head] = softmax.lse;
  }
  return {o.tensor(), lse.tensor().squeeze(-1)};
}

template <typename Real>
static AttentionGradients
backward(const AttentionProblem<Real> &problem, const HeadStack<Real> &dO,
         const HeadStack<Real> &dLse, const GradientStacks<Real> &gradients) {
  const auto &[dq, dk, dv] = gradients;

  for (int64_t head = 0; head < problem.shape.heads; ++head) {
    const int64_t kvHead = problem.shape.kvHead(head);
    const Tile rows = problem.allRows(), keys = problem.allKeys();
    const Visibility visible = problem.visible(head, rows, keys);
    const Visibility visibleT = visible.transpose();

    const Matrix<Real> s = problem.scores(head, rows, keys, visible);
    const Matrix<Real> p = softmaxVisible(s, visible).p;
    const Matrix<Real> dP =
        keepVisible<Real>(dO[head] * problem.v(head).transpose(), visible);
    const Column<Real> delta =
        p.cwiseProduct(dP).rowwise().sum() - dLse[head].col(0);
    const Matrix<Real> dS =
        keepVisible<Real>(p.cwiseProduct(dP.colwise() - delta), visible);

    dq[head] =
        problem.scale * visibleProduct<Real>(dS, problem.k(head), visible);
    dk[kvHead] +=
        problem.scale *
        visibleProduct<Real>(dS.transpose(), problem.q(head), visibleT);
    dv[kvHead] += visibleProduct<Real>(p.transpose(), dO[head], visibleT);
  }
  return gradients.tensors();
}

AttentionResult denseAttention(const Tensor &q, const Tensor &k,
                               const Tensor &v,
                               const AttentionOptions &options) {
  return withArithmetic(options, [&](auto tag) {
    using Real = typename decltype(tag)::Type;
    return forward(AttentionProblem<Real>(q, k, v, options));
  });
}

AttentionGradients denseAttentionBackward(const Tensor &q, const Tensor &k,
                                          const Tensor &v, const Tensor &dO,
                                          const AttentionOptions &options,
                                          const Tensor &dLse) {
  return withArithmetic(options, [&](auto tag) {
    using Real = typename decltype(tag)::Type;
    const AttentionProblem<Real> problem(q, k, v, options);
    return backward(problem, checkedStack<Real>("dO", dO, problem.shape.o),
                    optionalColumns<Real>("dLse", dLse, problem.shape.lse),
                    GradientStacks<Real>(q, k, v));
  });
}

} // namespace flashtile::reference
