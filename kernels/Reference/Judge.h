//===- Judge.h - Whether a result is good enough --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures a result against the truth, and limits its error by that of a plain
// implementation of the same precision, so that no tolerance has to be guessed
// per type, shape or distribution.
//
// Errors are relative in the Frobenius norm, ||actual - expected|| /
// ||expected||, and absolute where all that is expected is 0. NaN and infinity
// are not numbers to be averaged: they must stand in the same places (infinity
// with the same sign), where they count as equal; if they do not, the error is
// infinite. So a NaN on either side can never pass by comparing false.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_REFERENCE_JUDGE_H
#define FLASHTILE_KERNELS_REFERENCE_JUDGE_H

#include "runtime/Tensor.h"

#include <string>
#include <vector>

namespace flashtile::reference {

/// Error of the whole tensor. Throws InvalidArgument if the shapes differ.
double relativeError(const Tensor &actual, const Tensor &expected);

/// The error of each head, in row-major order. A head is the last `headRank`
/// dimensions: 2 for [..., n, d], 1 for a log-sum-exp [..., n].
std::vector<double> headErrors(const Tensor &actual, const Tensor &expected,
                               int64_t headRank = 2);

struct JudgeRule {
  /// Dimensions of a head; see headErrors.
  int64_t headRank = 2;
  /// How often the error of the plain implementation is allowed.
  double factor = 2;
  /// Added to the limit of each head, and to every limit of an absolute error.
  double slack = 1e-5;
  /// No limit of the whole tensor is below this: where the plain implementation
  /// is exact by luck (one key: the probability is 1), two units in the last
  /// place of f32 remain.
  double floor = 0x1p-22;
  /// If positive, no element may be off by more than this often the largest
  /// deviation of the plain implementation in its head, plus `slack` times the
  /// largest magnitude expected there. Finds one wrong element in a large head.
  double elementFactor = 0;
};

struct Verdict {
  bool pass = false;
  /// Of the whole tensor; of the head or element that fails, if only it does.
  double error = 0;
  double limit = 0;
  /// Empty for a pass. Otherwise what is wrong and where: the first element
  /// with a NaN or infinity out of place, or the one that is furthest off.
  std::string reason;

  explicit operator bool() const { return pass; }
};

/// Judges `actual` against `expected` (f64, as a rule) by the errors of
/// `plain`: the whole tensor may have `factor` times its error, and so may each
/// head, plus `slack`. All may be of any float types. A result of another shape
/// is a failure; an expectation and a yardstick that differ in shape throw
/// InvalidArgument.
Verdict judge(const Tensor &actual, const Tensor &expected, const Tensor &plain,
              const JudgeRule &rule = {});

/// Passes if every element is equal in value, NaN equal to NaN.
Verdict judgeExact(const Tensor &actual, const Tensor &expected);

} // namespace flashtile::reference

#endif // FLASHTILE_KERNELS_REFERENCE_JUDGE_H
