//===- MaskedMath.h - Matrix arithmetic that respects a mask --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The few operations in which a naive formula would let a masked position leak
// (0 * NaN) or a row without keys produce NaN (-inf - -inf). Written once here,
// they let the algorithms read like the formulas of the papers.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_REFERENCE_MASKEDMATH_H
#define FLASHTILE_KERNELS_REFERENCE_MASKEDMATH_H

#include <Eigen/Core>

#include <cmath>
#include <cstdint>
#include <limits>

namespace flashtile::reference {

template <typename Real>
using Matrix =
    Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename Real>
using Column = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
/// True at (i, j) where row i sees key j.
using Visibility =
    Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <typename Real>
constexpr Real minusInfinity = -std::numeric_limits<Real>::infinity();

/// Maximum that returns NaN if either side is NaN.
template <typename Real>
Real maxPropagatingNaN(Real a, Real b) {
  return a > b || std::isnan(a) ? a : b;
}

/// Maximum of each row, `start` included.
template <typename Real>
Column<Real> rowMax(const Column<Real> &start, const Matrix<Real> &scores) {
  Column<Real> result = start;
  for (Eigen::Index i = 0; i < scores.rows(); ++i)
    for (Eigen::Index j = 0; j < scores.cols(); ++j)
      result(i) = maxPropagatingNaN(result(i), scores(i, j));
  return result;
}

/// exp(a - b), and 0 for a = b = -inf. Eigen's own vectorised exp clamps its
/// argument, so that exp(-inf) would not be 0; std::exp keeps the edges.
template <typename Real>
Real expDifference(Real a, Real b) {
  return b == minusInfinity<Real> ? Real(0) : std::exp(a - b);
}

template <typename Real>
Column<Real> expDifference(const Column<Real> &a, const Column<Real> &b) {
  return a.binaryExpr(b, [](Real x, Real y) { return expDifference(x, y); });
}

/// exp(S_ij - shift_i) at visible positions, 0 at the others.
template <typename Real>
Matrix<Real> expVisible(const Matrix<Real> &scores, const Column<Real> &shift,
                        const Visibility &visible) {
  Matrix<Real> result = Matrix<Real>::Zero(scores.rows(), scores.cols());
  for (Eigen::Index i = 0; i < scores.rows(); ++i)
    for (Eigen::Index j = 0; j < scores.cols(); ++j)
      if (visible(i, j))
        result(i, j) = expDifference(scores(i, j), shift(i));
  return result;
}

/// Row i divided by divisor_i; rows whose divisor is 0 stay as they are.
template <typename Real>
Matrix<Real> divideRows(const Matrix<Real> &values,
                        const Column<Real> &divisor) {
  Column<Real> safe = (divisor.array() == Real(0)).select(Real(1), divisor);
  return (values.array().colwise() / safe.array()).matrix();
}

/// Keeps visible positions and sets the others to 0, whatever they hold.
template <typename Real>
Matrix<Real> keepVisible(const Matrix<Real> &values,
                         const Visibility &visible) {
  return visible.select(values,
                        Matrix<Real>::Zero(values.rows(), values.cols()));
}

/// weights * values, where row i takes row j of `values` only if visible(i, j)
/// holds. `weights` are 0 elsewhere, so only NaN and infinity need care: they
/// are left out of the product and added to the rows that see them, which
/// leaves all other rows bit-identical.
template <typename Real>
Matrix<Real> visibleProduct(const Matrix<Real> &weights,
                            const Matrix<Real> &values,
                            const Visibility &visible) {
  if (values.allFinite())
    return weights * values;

  Matrix<Real> finite =
      values.unaryExpr([](Real x) { return std::isfinite(x) ? x : Real(0); });
  Matrix<Real> result = weights * finite;
  for (Eigen::Index j = 0; j < values.rows(); ++j)
    for (Eigen::Index c = 0; c < values.cols(); ++c) {
      if (std::isfinite(values(j, c)))
        continue;
      for (Eigen::Index i = 0; i < weights.rows(); ++i)
        if (visible(i, j))
          result(i, c) += weights(i, j) * values(j, c);
    }
  return result;
}

/// The softmax of every row over its visible positions.
template <typename Real>
struct Softmax {
  Matrix<Real> p;
  Column<Real> lse;
};

template <typename Real>
Softmax<Real> softmaxVisible(const Matrix<Real> &scores,
                             const Visibility &visible) {
  Column<Real> m = rowMax<Real>(
      Column<Real>::Constant(scores.rows(), minusInfinity<Real>), scores);
  Matrix<Real> e = expVisible(scores, m, visible);
  Column<Real> l = e.rowwise().sum();
  Column<Real> lse = m + l.unaryExpr([](Real x) { return std::log(x); }).eval();
  // A sum that is NaN must not turn the zeros of hidden positions into NaN.
  return {keepVisible<Real>(divideRows(e, l), visible), lse};
}

} // namespace flashtile::reference

#endif // FLASHTILE_KERNELS_REFERENCE_MASKEDMATH_H
