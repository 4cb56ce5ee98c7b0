//===- BlockwiseAttention.cpp - The flash recurrence ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names are the paper's: m the running maximum, l the running sum of
// exponentials, L the log-sum-exp, D the row sums of dO o O. The numbers in
// comments are the lines of the paper's algorithms. Where a row has seen no key
// yet, m is -inf and stays so: only the differences exp(a - m) are guarded.
//
//===----------------------------------------------------------------------===//

#include "kernels/Reference/BlockwiseAttention.h"

#include "kernels/Reference/AttentionProblem.h"

#include <algorithm>

namespace flashtile::reference {

static std::vector<Tile> split(int64_t length, int64_t size) {
  std::vector<Tile> tiles;
  for (int64_t begin = 0; begin < length; begin += size)
    tiles.push_back({begin, std::min(size, length - begin)});
  return tiles;
}

/// The rows of `tile`, as something that can be read and assigned to.
template <typename MatrixType>
static auto rowsOf(MatrixType &&matrix, Tile tile) {
  return matrix.middleRows(tile.begin, tile.size);
}

// NOLINTBEGIN(readability-identifier-naming): the paper's capital letters.

/// Algorithm 1.
template <typename Real>
static AttentionResult forward(const AttentionProblem<Real> &problem,
                               BlockSizes blocks) {
  const HeadStack<Real> o(problem.shape.o);
  const auto lse = zeroColumns<Real>(problem.shape.lse);

  for (int64_t head = 0; head < problem.shape.heads; ++head)
    for (Tile i : split(problem.shape.seqQ, blocks.rows)) {
      // 5: start with nothing seen.
      Matrix<Real> O = Matrix<Real>::Zero(i.size, problem.shape.valueDim);
      Column<Real> l = Column<Real>::Zero(i.size);
      Column<Real> m = Column<Real>::Constant(i.size, minusInfinity<Real>);

      for (Tile j : split(problem.shape.seqK, blocks.keys)) {
        const Visibility visible = problem.visible(head, i, j);
        // 8: scores of the tile.
        const Matrix<Real> S = problem.scores(head, i, j, visible);
        const Matrix<Real> V = rowsOf(problem.v(head), j);
        // 9: new maximum, exponentials, sum.
        const Column<Real> mNew = rowMax(m, S);
        const Matrix<Real> P = expVisible(S, mNew, visible);
        const Column<Real> alpha = expDifference(m, mNew);
        l = alpha.cwiseProduct(l) + P.rowwise().sum();
        // 10: rescale what was accumulated under the old maximum.
        O = alpha.asDiagonal() * O + visibleProduct(P, V, visible);
        m = mNew;
      }

      // 12, 13: normalise once, at the end.
      rowsOf(o[head], i) = divideRows(O, l);
      rowsOf(lse[head], i) =
          m.array() + l.array().unaryExpr([](Real x) { return std::log(x); });
    }
  return {o.tensor(), lse.tensor().squeeze(-1)};
}

/// Algorithm 2.
template <typename Real>
static AttentionGradients
backward(const AttentionProblem<Real> &problem, BlockSizes blocks,
         const HeadStack<Real> &o, const HeadStack<Real> &lse,
         const HeadStack<Real> &dO, const HeadStack<Real> &dLse,
         const GradientStacks<Real> &gradients) {
  const auto &[dq, dk, dv] = gradients;

  for (int64_t head = 0; head < problem.shape.heads; ++head) {
    const int64_t kvHead = problem.shape.kvHead(head);
    const Real scale = problem.scale;
    // 4: the gradient of the log-sum-exp enters here and nowhere else.
    const Column<Real> D =
        dO[head].cwiseProduct(o[head]).rowwise().sum() - dLse[head].col(0);

    for (Tile j : split(problem.shape.seqK, blocks.keys)) {
      const Matrix<Real> K = rowsOf(problem.k(head), j);
      const Matrix<Real> V = rowsOf(problem.v(head), j);

      for (Tile i : split(problem.shape.seqQ, blocks.rows)) {
        const Matrix<Real> Q = rowsOf(problem.q(head), i);
        const Matrix<Real> dOi = rowsOf(dO[head], i);
        const Column<Real> L = rowsOf(lse[head], i);
        const Visibility visible = problem.visible(head, i, j);
        const Visibility visibleT = visible.transpose();

        // 10, 11: the probabilities again, this time normalised.
        const Matrix<Real> S = problem.scores(head, i, j, visible);
        const Matrix<Real> P = expVisible(S, L, visible);
        // 13, 14: gradients of the probabilities and of the scores.
        const Matrix<Real> dP = dOi * V.transpose();
        const Matrix<Real> dS = keepVisible<Real>(
            P.cwiseProduct(dP.colwise() - rowsOf(D, i)), visible);
        // 12, 15, 16: gradients of the operands.
        rowsOf(dv[kvHead], j) +=
            visibleProduct<Real>(P.transpose(), dOi, visibleT);
        rowsOf(dq[head], i) += scale * visibleProduct<Real>(dS, K, visible);
        rowsOf(dk[kvHead], j) +=
            scale * visibleProduct<Real>(dS.transpose(), Q, visibleT);
      }
    }
  }
  return gradients.tensors();
}

// NOLINTEND(readability-identifier-naming)

static void checkBlocks(BlockSizes blocks) {
  if (blocks.rows <= 0 || blocks.keys <= 0)
    throw Error(ErrorCode::InvalidArgument,
                "tile sizes must be positive, but they are " +
                    std::to_string(blocks.rows) + " rows and " +
                    std::to_string(blocks.keys) + " keys");
}

AttentionResult blockwiseAttention(const Tensor &q, const Tensor &k,
                                   const Tensor &v,
                                   const AttentionOptions &options,
                                   BlockSizes blocks) {
  checkBlocks(blocks);
  return withArithmetic(options, [&](auto tag) {
    using Real = typename decltype(tag)::Type;
    return forward(AttentionProblem<Real>(q, k, v, options), blocks);
  });
}

AttentionGradients
blockwiseAttentionBackward(const Tensor &q, const Tensor &k, const Tensor &v,
                           const AttentionResult &forward, const Tensor &dO,
                           const AttentionOptions &options, BlockSizes blocks,
                           const Tensor &dLse) {
  checkBlocks(blocks);
  return withArithmetic(options, [&](auto tag) {
    using Real = typename decltype(tag)::Type;
    const AttentionProblem<Real> problem(q, k, v, options);
    return backward(problem, blocks,
                    checkedStack<Real>("o", forward.o, problem.shape.o),
                    checkedColumns<Real>("lse", forward.lse, problem.shape.lse),
                    checkedStack<Real>("dO", dO, problem.shape.o),
                    optionalColumns<Real>("dLse", dLse, problem.shape.lse),
                    GradientStacks<Real>(q, k, v));
  });
}

} // namespace flashtile::reference
