//===- FlashAttentionTestSupport.h - Judged, guarded attention ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of flashAttention share. Every call goes into outputs that are
// prefilled with 0xFF bytes (NaN in every float type) and lie between canaries,
// and the gaps of strided outputs are canaries as well: an element that was not
// written fails the judge, a byte that was written and is none of o's fails
// here.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_KERNELS_FLASHATTENTIONTESTSUPPORT_H
#define FLASHTILE_TESTS_KERNELS_FLASHATTENTIONTESTSUPPORT_H

#include "kernels/FlashAttention.h"
#include "kernels/Reference/DenseAttention.h"
#include "kernels/Reference/Judge.h"
#include "kernels/Reference/PlainAttention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace flashtile {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Tensors in prepared memory.
//===----------------------------------------------------------------------===//

/// An uninitialised tensor whose surroundings are watched.
class GuardedTensor {
public:
  /// Dimension order[i] is the i-th from outside in memory; none: row-major.
  /// `gap` elements lie behind each row of the innermost dimension, and `step`
  /// elements apart within it.
  GuardedTensor(const Shape &shape, DType dtype, Shape order = {},
                int64_t gap = 0, int64_t step = 1)
      : elementBytes(elementSize(dtype)) {
    if (order.empty())
      for (size_t dim = 0; dim < shape.size(); ++dim)
        order.push_back(static_cast<int64_t>(dim));
    Shape strides(shape.size());
    int64_t extent = step;
    for (size_t i = order.size(); i-- > 0;) {
      strides[order[i]] = extent;
      extent = extent * shape[order[i]] + (i + 1 == order.size() ? gap : 0);
    }
    bytes.assign(extent * elementBytes + 2 * canary, 0xFF);
    view =
        Tensor::fromBlob(bytes.data() + canary, shape, dtype, nullptr, strides);
  }
  GuardedTensor(const GuardedTensor &) = delete;
  GuardedTensor &operator=(const GuardedTensor &) = delete;

  Tensor &tensor() { return view; }

  /// No byte but the elements' has changed.
  ::testing::AssertionResult isIntact() const {
    std::vector<bool> owned(bytes.size(), false);
    if (view.numel() > 0)
      mark(owned, 0, canary);
    for (size_t i = 0; i < bytes.size(); ++i)
      if (!owned[i] && bytes[i] != 0xFF)
        return ::testing::AssertionFailure()
               << "byte " << static_cast<int64_t>(i - canary) << " of "
               << view.describe() << " was overwritten";
    return ::testing::AssertionSuccess();
  }

private:
  static constexpr size_t canary = 4096;

  void mark(std::vector<bool> &owned, int64_t dim, size_t offset) const {
    if (dim == view.rank()) {
      for (size_t i = 0; i < elementBytes; ++i)
        owned[offset + i] = true;
      return;
    }
    for (int64_t i = 0; i < view.size(dim); ++i)
      mark(owned, dim + 1, offset + i * view.stride(dim) * elementBytes);
  }

  size_t elementBytes;
  std::vector<uint8_t> bytes;
  Tensor view;
};

/// The elements of `tensor` in the middle of a larger tensor full of `poison`:
/// `pad` more elements on every side of every dimension.
inline Tensor surrounded(const Tensor &tensor, double poison = notANumber,
                         int64_t pad = 3) {
  Shape shape = tensor.shape();
  for (int64_t &extent : shape)
    extent += 2 * pad;
  Tensor view = Tensor::full(shape, poison, tensor.dtype());
  for (int64_t dim = 0; dim < tensor.rank(); ++dim)
    view = view.narrow(dim, pad, tensor.size(dim));
  view.copyFrom(tensor);
  return view;
}

//===----------------------------------------------------------------------===//
// Problems.
//===----------------------------------------------------------------------===//

struct Problem {
  Tensor q, k, v;
  FlashAttentionOptions options;
};

inline Problem randomProblem(const Shape &qShape, const Shape &kvShape,
                             DType dtype, bool causal = false,
                             uint64_t seed = 1) {
  Problem problem{Tensor::randn(qShape, dtype, 3 * seed),
                  Tensor::randn(kvShape, dtype, 3 * seed + 1),
                  Tensor::randn(kvShape, dtype, 3 * seed + 2),
                  {}};
  problem.options.causal = causal;
  return problem;
}

inline DType outputTypeOf(const Problem &problem) {
  bool fp8 = elementSize(problem.q.dtype()) == 1;
  return problem.options.outputType.value_or(fp8 ? DType::BF16
                                                 : problem.q.dtype());
}

/// Runs the problem into `o` and a guarded lse.
inline FlashAttentionResult attendInto(GuardedTensor &o,
                                       const Problem &problem) {
  Shape rows = problem.q.shape();
  rows.pop_back();
  GuardedTensor lse(rows, DType::F32);
  flashAttention(problem.q, problem.k, problem.v, problem.options, o.tensor(),
                 lse.tensor());
  EXPECT_TRUE(o.isIntact()) << "o";
  EXPECT_TRUE(lse.isIntact()) << "lse";
  return {o.tensor().clone(), lse.tensor().clone()};
}

inline FlashAttentionResult attend(const Problem &problem) {
  GuardedTensor o(problem.q.shape(), outputTypeOf(problem));
  return attendInto(o, problem);
}

//===----------------------------------------------------------------------===//
// Judgement.
//===----------------------------------------------------------------------===//

inline ::testing::AssertionResult accepted(const reference::Verdict &verdict) {
  if (verdict)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "error " << verdict.error << ", limit " << verdict.limit << ": "
         << verdict.reason;
}

/// A problem with the truth and the yardstick, to judge several runs by.
class Judgement {
public:
  /// The yardstick computes in the type of q unless `plainType` says otherwise.
  explicit Judgement(const Problem &problem,
                     std::optional<DType> plainType = std::nullopt) {
    reference::AttentionOptions options;
    options.scale = problem.options.scale;
    options.causal = problem.options.causal;
    options.alignment = problem.options.alignment;
    truth = reference::denseAttention(problem.q, problem.k, problem.v, options);
    plain = reference::plainAttention(problem.q, problem.k, problem.v,
                                      plainType.value_or(problem.q.dtype()),
                                      options);
  }

  void expectAccurate(const FlashAttentionResult &result) const {
    reference::JudgeRule rule;
    // Twice for a head as a whole; one of its elements may be unlucky.
    rule.elementFactor = 4;
    EXPECT_TRUE(accepted(judge(result.o, truth.o, plain.o, rule))) << "o";
    rule.headRank = 1;
    EXPECT_TRUE(accepted(judge(result.lse, truth.lse, plain.lse, rule)))
        << "lse";
  }

  reference::AttentionResult truth, plain;
};

/// Runs the problem and judges it.
inline FlashAttentionResult expectAccurate(const Problem &problem) {
  FlashAttentionResult result = attend(problem);
  Judgement(problem).expectAccurate(result);
  return result;
}

inline std::string caseName(const Problem &problem) {
  return problem.q.describe() + " x " + problem.k.describe() +
         (problem.options.causal ? " causal" : "");
}

inline ::testing::AssertionResult sameBits(const Tensor &a, const Tensor &b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype())
    return ::testing::AssertionFailure()
           << a.describe() << " against " << b.describe();
  Tensor left = a.contiguous(), right = b.contiguous();
  size_t size = elementSize(a.dtype());
  for (int64_t i = 0; i < a.numel(); ++i)
    if (std::memcmp(static_cast<char *>(left.rawData()) + i * size,
                    static_cast<char *>(right.rawData()) + i * size, size) != 0)
      return ::testing::AssertionFailure()
             << "element " << i << " of " << a.describe() << " is "
             << a.toVector<double>()[i] << ", but " << b.toVector<double>()[i]
             << " is expected";
  return ::testing::AssertionSuccess();
}

inline void expectSameBits(const FlashAttentionResult &actual,
                           const FlashAttentionResult &expected) {
  EXPECT_TRUE(sameBits(actual.o, expected.o)) << "o";
  EXPECT_TRUE(sameBits(actual.lse, expected.lse)) << "lse";
}

/// Every element is `value`; NaN equals NaN.
inline ::testing::AssertionResult isAll(const Tensor &tensor, double value) {
  return accepted(reference::judgeExact(
      tensor, Tensor::full(tensor.shape(), value, DType::F64)));
}

/// Rows [begin, end) of each head.
inline Tensor rowsOf(const Tensor &o, int64_t begin, int64_t end) {
  return o.narrow(o.rank() - 2, begin, end - begin);
}
inline Tensor lseOf(const Tensor &lse, int64_t begin, int64_t end) {
  return lse.narrow(lse.rank() - 1, begin, end - begin);
}

/// The message of the InvalidArgument that `body` must throw.
template <typename Body>
std::string refusalOf(Body &&body) {
  try {
    body();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "expected an Error";
  return {};
}

inline std::string refusal(const Problem &problem) {
  return refusalOf([&] {
    flashAttention(problem.q, problem.k, problem.v, problem.options);
  });
}

} // namespace flashtile

#endif // FLASHTILE_TESTS_KERNELS_FLASHATTENTIONTESTSUPPORT_H
