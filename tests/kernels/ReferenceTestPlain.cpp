//===- ReferenceTestPlain.cpp - The same-precision yardstick --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The yardstick must be as long as the precision of its type says: neither so
// exact that no kernel passes, nor so loose that any does.
//
//===----------------------------------------------------------------------===//

#include "ReferenceTestSupport.h"

#include "kernels/Reference/DenseAttention.h"
#include "kernels/Reference/PlainAttention.h"

#include <cmath>

namespace flashtile::reference {
namespace {

using ::testing::HasSubstr;

struct Precision {
  DType type;
  double unit; ///< half a unit in the last place, relative
};

class PlainAttention : public ::testing::TestWithParam<Precision> {};

INSTANTIATE_TEST_SUITE_P(, PlainAttention,
                         ::testing::Values(Precision{DType::F32, 0x1p-24},
                                           Precision{DType::F16, 0x1p-11},
                                           Precision{DType::BF16, 0x1p-8},
                                           Precision{DType::F8E4M3FN, 0x1p-4},
                                           Precision{DType::F8E5M2, 0x1p-3}),
                         [](const auto &info) {
                           return toString(info.param.type);
                         });

TEST_P(PlainAttention, ErrsAsItsTypeDoes) {
  const auto [type, unit] = GetParam();
  const Operands x = randomOperands({1, 4, 70, 32}, {1, 2, 80, 32}, 31, type);
  AttentionOptions options;
  options.causal = true;
  const AttentionResult truth = denseAttention(x.q, x.k, x.v, options);
  const AttentionResult plain = plainAttention(x.q, x.k, x.v, type, options);
  const AttentionGradients trueGradients =
      denseAttentionBackward(x.q, x.k, x.v, x.dO, options);
  const AttentionGradients plainGradients =
      plainAttentionBackward(x.q, x.k, x.v, x.dO, type, options);

  EXPECT_EQ(plain.o.dtype(), type);
  EXPECT_EQ(plain.lse.dtype(), DType::F32);
  EXPECT_LT(relativeError(plain.lse, truth.lse), 1e-6);
  const std::pair<Tensor, Tensor> pairs[] = {
      {plain.o, truth.o},
      {plainGradients.dq, trueGradients.dq},
      {plainGradients.dk, trueGradients.dk},
      {plainGradients.dv, trueGradients.dv}};
  for (const auto &[actual, expected] : pairs) {
    EXPECT_EQ(actual.dtype(), type);
    const double error = relativeError(actual, expected);
    EXPECT_GT(error, unit / 8);
    EXPECT_LT(error, unit * 8);
  }
}

TEST_P(PlainAttention, RoundsItsOperands) {
  const auto [type, unit] = GetParam();
  const Operands x = randomOperands({9, 16}, {11, 16}, 32);
  const AttentionResult wide = plainAttention(x.q, x.k, x.v, type);
  const AttentionResult narrow =
      plainAttention(x.q.to(type), x.k.to(type), x.v.to(type), type);
  EXPECT_TRUE(isExactly(wide.o, narrow.o));
  EXPECT_TRUE(isExactly(wide.lse, narrow.lse));
}

TEST_P(PlainAttention, KeepsTheContractForRowsWithoutKeys) {
  const auto [type, unit] = GetParam();
  const Operands x = randomOperands({5, 16}, {2, 16}, 33, type);
  x.q.select(0, 1).fill(notANumber); // rows 0, 1, 2 see no key
  AttentionOptions options;
  options.causal = true;
  const AttentionResult result = plainAttention(x.q, x.k, x.v, type, options);
  EXPECT_TRUE(isAllZero(result.o.narrow(0, 0, 3)));
  EXPECT_TRUE(isExactly(result.lse.narrow(0, 0, 3),
                        Tensor::full({3}, -infinity, DType::F32)));
  const AttentionGradients gradients =
      plainAttentionBackward(x.q, x.k, x.v, x.dO, type, options);
  EXPECT_TRUE(isAllZero(gradients.dq.narrow(0, 0, 3)));
  for (const Tensor &t : {gradients.dq, gradients.dk, gradients.dv})
    for (double value : t.toVector<double>())
      EXPECT_TRUE(std::isfinite(value));
}

TEST(PlainAttentionErrors, RefusesOtherTypes) {
  const Tensor x = ones({2, 4});
  EXPECT_THAT(messageOf(ErrorCode::InvalidArgument,
                        [&] { plainAttention(x, x, x, DType::F64); }),
              HasSubstr("but got f64"));
  EXPECT_THAT(messageOf(ErrorCode::InvalidArgument,
                        [&] { plainAttention(x, x, x, DType::I8); }),
              HasSubstr("but got i8"));
  EXPECT_THAT(messageOf(ErrorCode::InvalidArgument,
                        [&] {
                          plainAttentionBackward(x, x, x, ones({2, 5}),
                                                 DType::F16);
                        }),
              HasSubstr("'dO' of shape [2, 4], but got [2, 5]"));
}

} // namespace
} // namespace flashtile::reference
