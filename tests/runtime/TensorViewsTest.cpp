//===- TensorViewsTest.cpp - Views share memory and refuse the impossible -===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Tensor.h"

#include "tests/runtime/ExpectError.h"

#include <limits>
#include <numeric>

using namespace flashtile;
using testing::ElementsAre;

static constexpr int64_t huge = std::numeric_limits<int64_t>::max();

/// 0, 1, 2, ... in row-major order.
static Tensor iota(Shape shape, DType dtype = DType::I32) {
  std::vector<int32_t> values(
      static_cast<size_t>(checkedElementCount(shape, DType::I32)));
  std::iota(values.begin(), values.end(), 0);
  return Tensor::fromData(values, std::move(shape)).to(dtype);
}

TEST(TensorViewsTest, SliceWithSteps) {
  const Tensor t = iota({10});
  EXPECT_THAT(t.slice(0, 2, 5).toVector<int>(), ElementsAre(2, 3, 4));
  EXPECT_THAT(t.slice(0, 1, 10, 3).toVector<int>(), ElementsAre(1, 4, 7));
  EXPECT_THAT(t.slice(-1, 0, 10, 4).toVector<int>(), ElementsAre(0, 4, 8));
  EXPECT_THAT(t.slice(0, 9, 10, huge).toVector<int>(), ElementsAre(9));
  EXPECT_THAT(t.slice(0, 1, 9, 2).slice(0, 1, 4, 2).toVector<int>(),
              ElementsAre(3, 7));
  EXPECT_EQ(t.slice(0, 10, 10).numel(), 0);
  EXPECT_EQ(t.slice(0, 3, 3).shape(), Shape{0});
  EXPECT_TRUE(t.slice(0, 2, 5).sharesStorageWith(t));
  EXPECT_EQ(t.slice(0, 2, 5).byteOffset(), 8);
}

TEST(TensorViewsTest, SliceRefusesBadRanges) {
  const Tensor t = iota({4, 6});
  EXPECT_ERROR(InvalidArgument,
               "0 <= begin <= end <= 6, but got 0 to 7 of dimension 1",
               t.slice(1, 0, 7));
  EXPECT_ERROR(InvalidArgument, "got -1 to 2", t.slice(0, -1, 2));
  EXPECT_ERROR(InvalidArgument, "got 3 to 2", t.slice(0, 3, 2));
  EXPECT_ERROR(InvalidArgument, "positive, but got 0", t.slice(0, 0, 2, 0));
  EXPECT_ERROR(InvalidArgument, "positive, but got -1", t.slice(0, 0, 2, -1));
  EXPECT_ERROR(InvalidArgument, "a dimension from -2 to 1", t.slice(2, 0, 1));
  EXPECT_ERROR(InvalidArgument, "but got -3", t.slice(-3, 0, 1));
}

TEST(TensorViewsTest, NarrowAndSelect) {
  const Tensor t = iota({3, 4});
  EXPECT_THAT(t.narrow(1, 1, 2).toVector<int>(),
              ElementsAre(1, 2, 5, 6, 9, 10));
  EXPECT_EQ(t.narrow(1, 4, 0).numel(), 0);
  EXPECT_THAT(t.select(0, 2).toVector<int>(), ElementsAre(8, 9, 10, 11));
  EXPECT_THAT(t.select(-1, 3).toVector<int>(), ElementsAre(3, 7, 11));
  EXPECT_EQ(t.select(0, 0).shape(), Shape{4});
  EXPECT_ERROR(InvalidArgument, "3 from 2", t.narrow(1, 2, 3));
  EXPECT_ERROR(InvalidArgument, "-1 from 0", t.narrow(1, 0, -1));
  EXPECT_ERROR(InvalidArgument, "from 1", t.narrow(1, 1, huge));
  EXPECT_ERROR(InvalidArgument, "from -1", t.narrow(1, -1, 1));
  EXPECT_ERROR(InvalidArgument, "an index from 0 to 2, but got 3",
               t.select(0, 3));
  EXPECT_ERROR(InvalidArgument, "but got -1", t.select(0, -1));
}

TEST(TensorViewsTest, TransposeAndPermute) {
  const Tensor t = iota({2, 3, 4});
  const Tensor swapped = t.transpose(0, -1);
  EXPECT_EQ(swapped.shape(), (Shape{4, 3, 2}));
  EXPECT_EQ(swapped.at<int32_t>({3, 1, 1}), t.at<int32_t>({1, 1, 3}));
  EXPECT_FALSE(swapped.isContiguous());
  EXPECT_TRUE(swapped.transpose(0, 2).isContiguous());
  const Tensor turned = t.permute({2, 0, 1});
  EXPECT_EQ(turned.shape(), (Shape{4, 2, 3}));
  EXPECT_EQ(turned.at<int32_t>({3, 1, 2}), 23);
  EXPECT_EQ(t.permute({-1, -3, -2}).strides(), turned.strides());
  EXPECT_EQ(Tensor::zeros({}, DType::F32).permute({}).rank(), 0);
  EXPECT_ERROR(InvalidArgument, "each of the 3 dimensions once",
               t.permute({0, 1, 1}));
  EXPECT_ERROR(InvalidArgument, "[0, 1]", t.permute({0, 1}));
  EXPECT_ERROR(InvalidArgument, "[0, 1, 2, 0]", t.permute({0, 1, 2, 0}));
  EXPECT_ERROR(InvalidArgument, "but got 3", t.permute({0, 1, 3}));
  EXPECT_ERROR(InvalidArgument, "but got 5", t.transpose(0, 5));
}

TEST(TensorViewsTest, ViewOfContiguousMemory) {
  const Tensor t = iota({2, 3, 4});
  for (const Shape &shape :
       {Shape{24}, Shape{6, 4}, Shape{2, 12}, Shape{1, 2, 1, 3, 4, 1},
        Shape{4, 3, 2}, Shape{3, 8}}) {
    const Tensor view = t.view(shape);
    EXPECT_EQ(view.shape(), shape);
    EXPECT_EQ(view.rawData(), t.rawData());
    EXPECT_TRUE(view.isContiguous());
    EXPECT_EQ(view.toVector<int>(), t.toVector<int>());
  }
  EXPECT_EQ(t.view({-1, 4}).shape(), (Shape{6, 4}));
  EXPECT_EQ(t.view({2, -1}).shape(), (Shape{2, 12}));
  EXPECT_EQ(iota({1, 1}).view({}).item<int>(), 0);
  EXPECT_EQ(iota({}).view({1, 1}).shape(), (Shape{1, 1}));
}

TEST(TensorViewsTest, ViewOfStridedMemory) {
  const Tensor t = iota({4, 6, 2}).slice(0, 0, 4, 2);
  EXPECT_EQ(t.view({2, 12}).strides(), (Shape{24, 1}));
  EXPECT_EQ(t.view({2, 3, 2, 2}).strides(), (Shape{24, 4, 2, 1}));
  EXPECT_EQ(t.view({2, 1, 3, 4}).toVector<int>(), t.toVector<int>());
  EXPECT_ERROR(InvalidArgument, "cannot be viewed as [24]", t.view({24}));
  EXPECT_ERROR(InvalidArgument, "call contiguous() first", t.view({4, 6}));
  const Tensor turned = iota({2, 3}).transpose(0, 1);
  EXPECT_ERROR(InvalidArgument, "strides [1, 3] cannot be viewed as [6]",
               turned.view({6}));
  EXPECT_EQ(turned.view({3, 1, 2}).toVector<int>(), turned.toVector<int>());
  // Repeated memory merges with itself.
  EXPECT_EQ(iota({1}).expand({6}).view({2, 3}).strides(), (Shape{0, 0}));
  EXPECT_ERROR(InvalidArgument, "cannot be viewed",
               iota({1, 3}).expand({2, 3}).view({6}));
}

/// Any view that is allowed shows the elements in order; otherwise reshape
/// copies and shows them too.
TEST(TensorViewsTest, ViewsAgreeWithCopiesForManyLayouts) {
  const Tensor base = iota({4, 1, 6, 4});
  const Tensor layouts[] = {base,
                            base.transpose(0, 2),
                            base.transpose(2, 3),
                            base.permute({2, 3, 0, 1}),
                            base.slice(2, 0, 6, 2),
                            base.slice(3, 1, 3),
                            base.narrow(0, 1, 2),
                            base.expand({4, 3, 6, 4}),
                            base.select(2, 1),
                            base.unsqueeze(2).expand({4, 1, 2, 6, 4})};
  int views = 0, refusals = 0;
  for (const Tensor &t : layouts) {
    const int64_t n = t.numel();
    std::vector<Shape> shapes = {{n}, {1, n, 1}};
    for (int64_t a = 1; a <= n; ++a)
      for (int64_t b = 1; n % a == 0 && b <= n / a; ++b)
        if (n / a % b == 0) {
          shapes.push_back({a, b, n / a / b});
          shapes.push_back({a, 1, b, n / a / b, 1});
        }
    for (const Shape &shape : shapes) {
      EXPECT_EQ(t.reshape(shape).toVector<int>(), t.toVector<int>());
      try {
        const Tensor view = t.view(shape);
        ++views;
        ASSERT_TRUE(view.sharesStorageWith(t));
        ASSERT_EQ(view.toVector<int>(), t.toVector<int>())
            << t.describe() << " as " << toString(shape);
      } catch (const Error &) {
        ++refusals;
        ASSERT_FALSE(t.isContiguous()) << toString(shape);
      }
    }
  }
  EXPECT_GT(views, 100);
  EXPECT_GT(refusals, 100);
}

TEST(TensorViewsTest, ViewRefusesBadShapes) {
  const Tensor t = iota({2, 3});
  EXPECT_ERROR(InvalidArgument, "cannot view the 6 elements of shape [2, 3] as",
               t.view({7}));
  EXPECT_ERROR(InvalidArgument, "[4, -1]", t.view({4, -1}));
  EXPECT_ERROR(InvalidArgument, "at most one extent of -1", t.view({-1, -1}));
  EXPECT_ERROR(InvalidArgument, "got -2", t.view({-2, 3}));
  EXPECT_ERROR(InvalidArgument, "[0, -1]",
               Tensor::zeros({0}, DType::F32).view({0, -1}));
  EXPECT_ERROR(InvalidArgument, "as [0]", t.view({0}));
  EXPECT_ERROR(InvalidArgument, "exceeds 63 bits", t.view({huge, huge}));
  EXPECT_EQ(Tensor::zeros({0, 3}, DType::F32).view({5, 0}).shape(),
            (Shape{5, 0}));
  EXPECT_EQ(Tensor::zeros({0, 3}, DType::F32).view({3, -1}).shape(),
            (Shape{3, 0}));
}

TEST(TensorViewsTest, ReshapeCopiesOnlyIfItMust) {
  const Tensor t = iota({2, 3});
  EXPECT_EQ(t.reshape({3, 2}).rawData(), t.rawData());
  const Tensor copied = t.transpose(0, 1).reshape({-1});
  EXPECT_FALSE(copied.sharesStorageWith(t));
  EXPECT_THAT(copied.toVector<int>(), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_ERROR(InvalidArgument, "as [4]", t.reshape({4}));
}

TEST(TensorViewsTest, ExpandRepeats) {
  const Tensor t = iota({3, 1});
  const Tensor wide = t.expand({2, -1, 2});
  EXPECT_EQ(wide.shape(), (Shape{2, 3, 2}));
  EXPECT_EQ(wide.strides(), (Shape{0, 1, 0}));
  EXPECT_THAT(wide.toVector<int>(),
              ElementsAre(0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2));
  EXPECT_EQ(t.expand({3, 0}).numel(), 0);
  EXPECT_EQ(iota({}).expand({2, 2}).numel(), 4);
  EXPECT_ERROR(InvalidArgument, "extent 3 is not 1", t.expand({4, 1}));
  EXPECT_ERROR(InvalidArgument, "fewer dimensions", t.expand({3}));
  EXPECT_ERROR(InvalidArgument, "got -1", t.expand({-1, 3, 1}));
  EXPECT_ERROR(InvalidArgument, "got -2", t.expand({3, -2}));
  EXPECT_ERROR(InvalidArgument, "exceeds 63 bits", t.expand({3, huge}));
}

TEST(TensorViewsTest, SqueezeAndUnsqueeze) {
  const Tensor t = iota({1, 3, 1, 2});
  EXPECT_EQ(t.squeeze().shape(), (Shape{3, 2}));
  EXPECT_EQ(t.squeeze(-2).shape(), (Shape{1, 3, 2}));
  EXPECT_EQ(t.unsqueeze(-1).shape(), (Shape{1, 3, 1, 2, 1}));
  EXPECT_EQ(t.unsqueeze(0).shape(), (Shape{1, 1, 3, 1, 2}));
  EXPECT_EQ(iota({3, 2}).unsqueeze(1).strides(), (Shape{2, 2, 1}));
  EXPECT_EQ(iota({}).unsqueeze(0).shape(), Shape{1});
  EXPECT_EQ(t.unsqueeze(2).toVector<int>(), t.toVector<int>());
  EXPECT_ERROR(InvalidArgument, "dimension 1 to have extent 1, but it has 3",
               t.squeeze(1));
  EXPECT_ERROR(InvalidArgument, "but got 4", t.squeeze(4));
  EXPECT_ERROR(InvalidArgument, "a place from -5 to 4", t.unsqueeze(5));
  EXPECT_ERROR(InvalidArgument, "but got -6", t.unsqueeze(-6));
}

TEST(TensorViewsTest, ContiguityIgnoresWhatDoesNotMatter) {
  EXPECT_TRUE(iota({4, 1, 3}).transpose(0, 1).isContiguous());
  EXPECT_TRUE(iota({4, 3}).slice(0, 1, 2).isContiguous());
  EXPECT_TRUE(iota({4, 3}).slice(1, 1, 2).slice(0, 0, 1).isContiguous());
  EXPECT_FALSE(iota({4, 3}).slice(1, 0, 2).isContiguous());
  EXPECT_TRUE(
      Tensor::zeros({3, 0, 2}, DType::F32).transpose(0, 2).isContiguous());
  EXPECT_FALSE(iota({1}).expand({2}).isContiguous());
}

TEST(TensorViewsTest, ViewsOutliveTheTensor) {
  Tensor view;
  {
    const Tensor t = iota({100});
    view = t.slice(0, 50, 60, 5);
  }
  EXPECT_THAT(view.toVector<int>(), ElementsAre(50, 55));
}
