//===- TensorCopyTest.cpp - Copies and casts of tensors -------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Tensor.h"

#include "tests/runtime/ExpectError.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace flashtile;
using testing::ElementsAre;

static Tensor iota(Shape shape) {
  std::vector<int32_t> values(
      static_cast<size_t>(checkedElementCount(shape, DType::I32)));
  std::iota(values.begin(), values.end(), 0);
  return Tensor::fromData(values, std::move(shape));
}

TEST(TensorCopyTest, ContiguousCopiesOnlyIfItMust) {
  const Tensor t = iota({2, 3});
  EXPECT_EQ(t.contiguous().rawData(), t.rawData());
  const Tensor turned = t.transpose(0, 1);
  const Tensor copy = turned.contiguous();
  EXPECT_TRUE(copy.isContiguous());
  EXPECT_FALSE(copy.sharesStorageWith(t));
  EXPECT_THAT(copy.toVector<int>(), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_EQ(copy.strides(), (Shape{2, 1}));
}

TEST(TensorCopyTest, CloneIsIndependent) {
  const Tensor t = iota({2, 2});
  const Tensor copy = t.clone();
  t.fill(9);
  EXPECT_THAT(copy.toVector<int>(), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(iota({1, 3}).expand({2, 3}).clone().strides(), (Shape{3, 1}));
}

TEST(TensorCopyTest, EveryTypeCastsToEveryType) {
  for (int from = 0; from <= static_cast<int>(DType::I64); ++from)
    for (int to = 0; to <= static_cast<int>(DType::I64); ++to) {
      const Tensor source = iota({2, 4}).to(static_cast<DType>(from));
      const Tensor target = source.transpose(0, 1).to(static_cast<DType>(to));
      EXPECT_EQ(target.dtype(), static_cast<DType>(to));
      const bool isBool =
          source.dtype() == DType::I1 || target.dtype() == DType::I1;
      for (int64_t i = 0; i < 4; ++i)
        for (int64_t j = 0; j < 2; ++j) {
          const int value = static_cast<int>(j * 4 + i);
          EXPECT_EQ(target.select(0, i).select(0, j).item<int>(),
                    isBool ? value != 0 : value);
        }
    }
}

TEST(TensorCopyTest, CastToTheSameTypeIsTheTensor) {
  const Tensor t = iota({2, 3}).transpose(0, 1);
  EXPECT_EQ(t.to(DType::I32).rawData(), t.rawData());
}

TEST(TensorCopyTest, CastsSaturateAndRound) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor t = Tensor::fromData<float>(
      {1e6f, -inf, 2.5f, std::nanf(""), 0.3f, -1e-9f}, {6});
  EXPECT_THAT(t.to(DType::I8).toVector<int>(),
              ElementsAre(127, -128, 2, 0, 0, 0));
  const std::vector<float> fp8 = t.to(DType::F8E4M3FN).toVector<float>();
  EXPECT_THAT(std::vector<float>(fp8.begin(), fp8.begin() + 3),
              ElementsAre(448, -448, 2.5f));
  EXPECT_TRUE(std::isnan(fp8[3]));
  EXPECT_EQ(fp8[4], 0.3125f);
  EXPECT_EQ(t.to(DType::F16).toVector<float>()[0], inf);
}

TEST(TensorCopyTest, CopyFromConvertsAndBroadcasts) {
  const Tensor target = Tensor::zeros({2, 3}, DType::BF16);
  target.copyFrom(iota({3}));
  EXPECT_THAT(target.toVector<int>(), ElementsAre(0, 1, 2, 0, 1, 2));
  target.transpose(0, 1).copyFrom(iota({3, 2}));
  EXPECT_THAT(target.toVector<int>(), ElementsAre(0, 2, 4, 1, 3, 5));
  target.copyFrom(Tensor::full({}, 7, DType::F64));
  EXPECT_THAT(target.toVector<int>(), testing::Each(7));
}

TEST(TensorCopyTest, CopyFromRefusesOtherShapes) {
  const Tensor target = Tensor::zeros({2, 3}, DType::F32);
  EXPECT_ERROR(InvalidArgument, "cannot expand shape [2] to [2, 3]",
               target.copyFrom(iota({2})));
  EXPECT_ERROR(InvalidArgument, "fewer dimensions",
               target.copyFrom(iota({1, 2, 3})));
  EXPECT_ERROR(InvalidArgument, "dimension 0 repeats the same memory",
               iota({1, 3}).expand({2, 3}).copyFrom(iota({2, 3})));
}

TEST(TensorCopyTest, CopyFromOverlappingMemory) {
  const Tensor forward = iota({6});
  forward.slice(0, 1, 6).copyFrom(forward.slice(0, 0, 5));
  EXPECT_THAT(forward.toVector<int>(), ElementsAre(0, 0, 1, 2, 3, 4));
  const Tensor backward = iota({6});
  backward.slice(0, 0, 5).copyFrom(backward.slice(0, 1, 6));
  EXPECT_THAT(backward.toVector<int>(), ElementsAre(1, 2, 3, 4, 5, 5));
  const Tensor square = iota({2, 2});
  square.copyFrom(square.transpose(0, 1));
  EXPECT_THAT(square.toVector<int>(), ElementsAre(0, 2, 1, 3));
  square.copyFrom(square);
  EXPECT_THAT(square.toVector<int>(), ElementsAre(0, 2, 1, 3));
  square.copyFrom(square.select(0, 0));
  EXPECT_THAT(square.toVector<int>(), ElementsAre(0, 2, 0, 2));
}

TEST(TensorCopyTest, CopyFromMemoryThatTwoTensorsBorrow) {
  int32_t values[4] = {0, 1, 2, 3};
  const Tensor low = Tensor::fromBlob(values, {3}, DType::I32);
  const Tensor high = Tensor::fromBlob(values + 1, {3}, DType::I32);
  high.copyFrom(low);
  EXPECT_THAT(values, ElementsAre(0, 0, 1, 2));
}

TEST(TensorCopyTest, NothingToCopy) {
  const Tensor empty = Tensor::zeros({2, 0, 3}, DType::F32);
  EXPECT_EQ(empty.clone().shape(), empty.shape());
  EXPECT_EQ(empty.to(DType::F16).numel(), 0);
  EXPECT_TRUE(empty.toVector<float>().empty());
  empty.copyFrom(Tensor::zeros({2, 0, 3}, DType::I8));
}

TEST(TensorCopyTest, ManyDimensions) {
  const Tensor t = iota({2, 3, 1, 2, 2}).permute({4, 2, 0, 3, 1});
  const std::vector<int> values = t.contiguous().toVector<int>();
  size_t next = 0;
  for (int64_t a = 0; a < 2; ++a)
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t c = 0; c < 2; ++c)
        for (int64_t d = 0; d < 3; ++d)
          ASSERT_EQ(values[next++], t.at<int32_t>({a, 0, b, c, d}));
}
