//===- ReferenceTestSupport.h - Operands and checks for tests -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of the references share: random operands of a given problem,
// and assertions that say which tensor is wrong and where.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_KERNELS_REFERENCETESTSUPPORT_H
#define FLASHTILE_TESTS_KERNELS_REFERENCETESTSUPPORT_H

#include "compiler/Support/Error.h"
#include "kernels/Reference/AttentionOptions.h"
#include "kernels/Reference/Judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace flashtile::reference {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

struct Operands {
  Tensor q, k, v, dO;
};

/// Normal operands: q and dO of `qShape`, k and v of `kvShape`.
inline Operands randomOperands(const Shape &qShape, const Shape &kvShape,
                               uint64_t seed = 1, DType dtype = DType::F64) {
  return {Tensor::randn(qShape, dtype, 4 * seed),
          Tensor::randn(kvShape, dtype, 4 * seed + 1),
          Tensor::randn(kvShape, dtype, 4 * seed + 2),
          Tensor::randn(qShape, dtype, 4 * seed + 3)};
}

inline Operands randomOperands(int64_t seqQ, int64_t seqK, int64_t headDim,
                               uint64_t seed = 1, DType dtype = DType::F64) {
  return randomOperands({1, 2, seqQ, headDim}, {1, 2, seqK, headDim}, seed,
                        dtype);
}

inline Tensor ones(const Shape &shape) {
  return Tensor::full(shape, 1.0, DType::F64);
}

inline ::testing::AssertionResult
isClose(const Tensor &actual, const Tensor &expected, double limit) {
  const double error = relativeError(actual, expected);
  if (error <= limit)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "error " << error << " exceeds " << limit;
}

inline ::testing::AssertionResult isExactly(const Tensor &actual,
                                            const Tensor &expected) {
  const Verdict verdict = judgeExact(actual, expected);
  if (verdict)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << verdict.reason;
}

inline ::testing::AssertionResult isAllZero(const Tensor &actual) {
  return isExactly(actual, Tensor::zeros(actual.shape(), DType::F64));
}

inline void expectClose(const AttentionResult &actual,
                        const AttentionResult &expected, double limit) {
  EXPECT_TRUE(isClose(actual.o, expected.o, limit)) << "o";
  EXPECT_TRUE(isClose(actual.lse, expected.lse, limit)) << "lse";
}

inline void expectClose(const AttentionGradients &actual,
                        const AttentionGradients &expected, double limit) {
  EXPECT_TRUE(isClose(actual.dq, expected.dq, limit)) << "dq";
  EXPECT_TRUE(isClose(actual.dk, expected.dk, limit)) << "dk";
  EXPECT_TRUE(isClose(actual.dv, expected.dv, limit)) << "dv";
}

/// The message of the Error that `body` must throw.
template <typename Body>
std::string messageOf(ErrorCode code, Body &&body) {
  try {
    body();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "expected an Error (" << errorCodeName(code) << ")";
  return {};
}

} // namespace flashtile::reference

#endif // FLASHTILE_TESTS_KERNELS_REFERENCETESTSUPPORT_H
