//===- TensorTest.cpp - Creation, description and elements of tensors -----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Tensor.h"

#include "runtime/Storage.h"
#include "tests/runtime/ExpectError.h"

#include <atomic>
#include <limits>
#include <thread>

using namespace flashtile;
using testing::Each;
using testing::ElementsAre;

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FLASHTILE_SANITIZED_ALLOCATOR
#endif
#endif

static constexpr int64_t huge = std::numeric_limits<int64_t>::max();

TEST(TensorTest, UndefinedTensorRefusesUse) {
  const Tensor none;
  EXPECT_FALSE(none.defined());
  EXPECT_ERROR(InvalidArgument, "undefined", none.shape());
  EXPECT_ERROR(InvalidArgument, "undefined", none.numel());
  EXPECT_ERROR(InvalidArgument, "undefined", none.rawData());
  EXPECT_ERROR(InvalidArgument, "undefined", none.clone());
  EXPECT_ERROR(InvalidArgument, "undefined", none.to(DType::F32));
  EXPECT_ERROR(InvalidArgument, "undefined", none.fill(1));
  EXPECT_ERROR(InvalidArgument, "undefined", none.slice(0, 0, 1));
  EXPECT_ERROR(InvalidArgument, "undefined", none.view({1}));
  EXPECT_ERROR(InvalidArgument, "undefined",
               Tensor::zeros({1}, DType::F32).copyFrom(none));
  EXPECT_ERROR(InvalidArgument, "undefined", none.describe());
}

TEST(TensorTest, EmptyIsContiguousAndAligned) {
  for (int64_t extent : {0, 1, 3, 1000}) {
    const Tensor t = Tensor::empty({extent, 3}, DType::I8);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(t.rawData()) % Storage::alignment,
              0u);
    EXPECT_EQ(t.strides(), (Shape{3, 1}));
    EXPECT_TRUE(t.isContiguous());
    EXPECT_EQ(t.numel(), extent * 3);
    EXPECT_EQ(t.nbytes(), static_cast<size_t>(extent) * 3);
    EXPECT_EQ(t.byteOffset(), 0);
    EXPECT_EQ(t.rank(), 2);
    EXPECT_EQ(t.device(), Device::cpu());
  }
}

TEST(TensorTest, ZerosAndFullOfEveryType) {
  for (int i = 0; i <= static_cast<int>(DType::I64); ++i) {
    const DType dtype = static_cast<DType>(i);
    EXPECT_THAT(Tensor::zeros({2, 3}, dtype).toVector<double>(), Each(0.0));
    const Tensor ones = Tensor::full({2, 3}, 1, dtype);
    EXPECT_EQ(ones.dtype(), dtype);
    EXPECT_THAT(ones.toVector<double>(), Each(1.0));
    EXPECT_EQ(ones.nbytes(), 6 * elementSize(dtype));
  }
}

TEST(TensorTest, ScalarTensorHasOneElement) {
  const Tensor t = Tensor::full({}, 2.5, DType::F64);
  EXPECT_EQ(t.rank(), 0);
  EXPECT_EQ(t.numel(), 1);
  EXPECT_EQ(t.at<double>({}), 2.5);
  EXPECT_EQ(t.item<float>(), 2.5f);
  EXPECT_ERROR(InvalidArgument, "rank 0 has no dimension 0", t.size(0));
}

TEST(TensorTest, BadSizesAreErrors) {
  EXPECT_ERROR(InvalidArgument, "got -4", Tensor::empty({2, -4}, DType::F32));
  EXPECT_ERROR(InvalidArgument, "exceeds 63 bits",
               Tensor::zeros({huge, 2}, DType::I8));
  EXPECT_ERROR(InvalidArgument, "exceeds 63 bits",
               Tensor::full({huge / 2}, 1, DType::F32));
#ifndef FLASHTILE_SANITIZED_ALLOCATOR
  EXPECT_ERROR(OutOfMemory, std::to_string(huge - 63),
               Tensor::empty({huge - 63}, DType::I8));
#endif
}

TEST(TensorTest, CudaIsNotThereYet) {
  float value = 0;
  EXPECT_ERROR(Unsupported, "the cpu target works",
               Tensor::empty({2}, DType::F32, Device::cuda()));
  EXPECT_ERROR(Unsupported, "'cuda:1'",
               Tensor::zeros({2}, DType::F32, Device::cuda(1)));
  EXPECT_ERROR(
      Unsupported, "the cpu target works",
      Tensor::fromBlob(&value, {1}, DType::F32, nullptr, {}, Device::cuda()));
  EXPECT_ERROR(Unsupported, "the cpu target works",
               Tensor::zeros({2}, DType::F32).to(Device::cuda()));
  const Tensor here = Tensor::zeros({2}, DType::F32);
  EXPECT_EQ(here.to(Device::cpu()).rawData(), here.rawData());
}

TEST(TensorTest, FromDataCopies) {
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const Tensor t = Tensor::fromData(values, {2, 3});
  values[0] = 100;
  EXPECT_EQ(t.dtype(), DType::F32);
  EXPECT_EQ(t.at<float>({0, 0}), 1);
  EXPECT_EQ(t.at<float>({1, 2}), 6);
  EXPECT_EQ(Tensor::fromData(nullptr, {0}, DType::F32).numel(), 0);
  EXPECT_ERROR(InvalidArgument, "expected 4 values for shape [4], but got 6",
               Tensor::fromData(values, {4}));
  EXPECT_ERROR(InvalidArgument, "null pointer",
               Tensor::fromData(nullptr, {1}, DType::F32));
}

TEST(TensorTest, FromBlobViewsAndDeletesOnce) {
  int deletions = 0;
  float values[6] = {1, 2, 3, 4, 5, 6};
  {
    Tensor view;
    {
      const Tensor t = Tensor::fromBlob(values, {2, 2}, DType::F32,
                                        [&] { ++deletions; }, {3, 1});
      EXPECT_EQ(t.at<float>({1, 1}), 5);
      EXPECT_FALSE(t.isContiguous());
      view = t.select(0, 1);
    }
    EXPECT_EQ(deletions, 0) << "a view is left";
    values[3] = 40;
    EXPECT_THAT(view.toVector<float>(), ElementsAre(40, 5));
  }
  EXPECT_EQ(deletions, 1);
}

TEST(TensorTest, FromBlobRefusesWhatItCannotView) {
  alignas(8) char bytes[64] = {};
  const auto deleter = [] { FAIL() << "the blob was not taken"; };
  EXPECT_ERROR(InvalidArgument, "null pointer",
               Tensor::fromBlob(nullptr, {2}, DType::F32, deleter));
  EXPECT_ERROR(InvalidArgument, "aligned to the 4 bytes of f32",
               Tensor::fromBlob(bytes + 2, {2}, DType::F32, deleter));
  EXPECT_ERROR(InvalidArgument, "got -1",
               Tensor::fromBlob(bytes, {2}, DType::F32, deleter, {-1}));
  EXPECT_ERROR(InvalidArgument, "expected 2 strides",
               Tensor::fromBlob(bytes, {2, 2}, DType::F32, deleter, {1}));
  EXPECT_ERROR(InvalidArgument, "got -2",
               Tensor::fromBlob(bytes, {-2}, DType::F32, deleter));
  EXPECT_ERROR(InvalidArgument, "exceeds 63 bits",
               Tensor::fromBlob(bytes, {2}, DType::F32, deleter, {huge}));
  EXPECT_ERROR(
      Unsupported, "cuda:0",
      Tensor::fromBlob(bytes, {2}, DType::F32, deleter, {}, Device::cuda()));
  EXPECT_EQ(Tensor::fromBlob(nullptr, {0, 4}, DType::F32).numel(), 0);
}

TEST(TensorTest, DataChecksTheType) {
  const Tensor t = Tensor::zeros({2}, DType::BF16);
  t.data<BFloat16>()[1] = BFloat16(3.0f);
  EXPECT_EQ(t.at<BFloat16>({1}), 3.0f);
  EXPECT_ERROR(InvalidArgument,
               "expected the C++ type of bf16 elements, but got that of f16",
               t.data<Float16>());
  EXPECT_ERROR(InvalidArgument, "but got that of f32", t.at<float>({0}));
  EXPECT_ERROR(InvalidArgument, "but got that of i16", t.data<int16_t>());
}

TEST(TensorTest, IndicesAreChecked) {
  const Tensor t = Tensor::zeros({2, 3}, DType::F32);
  EXPECT_ERROR(InvalidArgument, "expected 2 indices for shape [2, 3]",
               t.at<float>({1}));
  EXPECT_ERROR(InvalidArgument, "index [2, 0] is outside of shape [2, 3]",
               t.at<float>({2, 0}));
  EXPECT_ERROR(InvalidArgument, "index [0, -1]", t.set({0, -1}, 1));
  EXPECT_ERROR(InvalidArgument, "outside",
               Tensor::zeros({0}, DType::F32).at<float>({0}));
}

TEST(TensorTest, ItemNeedsOneElement) {
  EXPECT_EQ(Tensor::full({1, 1, 1}, -3, DType::I16).item<int64_t>(), -3);
  EXPECT_ERROR(InvalidArgument, "expected a tensor of 1 element, but got 6",
               Tensor::zeros({2, 3}, DType::F32).item<float>());
  EXPECT_ERROR(InvalidArgument, "but got 0 in shape [0]",
               Tensor::zeros({0}, DType::F32).item<float>());
}

TEST(TensorTest, SetAndFillConvert) {
  const Tensor t = Tensor::zeros({2, 2}, DType::I8);
  t.set({0, 1}, 7.9);
  t.set({1, 0}, -1000.0);
  EXPECT_THAT(t.toVector<int>(), ElementsAre(0, 7, -128, 0));
  const int64_t exact = (int64_t(1) << 62) + 1;
  EXPECT_EQ(Tensor::full({1}, exact, DType::I64).item<int64_t>(), exact);
}

TEST(TensorTest, FillOfAViewLeavesTheRest) {
  const Tensor t = Tensor::zeros({3, 4}, DType::F16);
  t.slice(0, 0, 3, 2).slice(1, 1, 4, 2).fill(1);
  EXPECT_THAT(t.toVector<float>(),
              ElementsAre(0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1));
  t.select(0, 1).unsqueeze(0).expand({5, 4}).fill(2);
  EXPECT_THAT(t.select(0, 1).toVector<float>(), Each(2.0f));
  Tensor::zeros({3, 0}, DType::F32).fill(1);
}

TEST(TensorTest, VersionCountsWritesOfAllViews) {
  const Tensor t = Tensor::zeros({2, 2}, DType::F32);
  const Tensor view = t.transpose(0, 1);
  const uint64_t start = t.version();
  t.fill(1);
  EXPECT_EQ(view.version(), start + 1);
  view.set({0, 0}, 2);
  EXPECT_EQ(t.version(), start + 2);
  view.copyFrom(Tensor::zeros({2, 2}, DType::F32));
  EXPECT_EQ(t.version(), start + 3);
  t.bumpVersion();
  EXPECT_EQ(view.version(), start + 4);
  (void)t.clone();
  (void)t.at<float>({0, 0});
  EXPECT_EQ(t.version(), start + 4);
  EXPECT_EQ(t.clone().version(), 0u) << "a copy has its own count";
  EXPECT_ERROR(InvalidArgument, "outside", t.set({5, 0}, 1));
  EXPECT_EQ(t.version(), start + 4) << "a failed write is none";
}

TEST(TensorTest, CopiesOfAHandleAreTheSameTensor) {
  const Tensor t = Tensor::zeros({2}, DType::F32);
  const Tensor same = t;
  same.fill(4);
  EXPECT_EQ(t.at<float>({0}), 4);
  EXPECT_TRUE(t.sharesStorageWith(same));
  EXPECT_FALSE(t.sharesStorageWith(t.clone()));
}

TEST(TensorTest, DescribesItself) {
  const Tensor t = Tensor::zeros({2, 3}, DType::F32);
  EXPECT_EQ(t.describe(), "f32[2, 3] on cpu");
  EXPECT_EQ(t.transpose(0, 1).describe(),
            "f32[3, 2] with strides [1, 3] on cpu");
}

TEST(TensorTest, RefusesNumbersThatAreNoElementType) {
  const auto none = static_cast<DType>(200);
  const char *part = "i32 (9) or i64 (10), but got the number 200";
  const Tensor t = Tensor::zeros({2}, DType::F32);
  float values[2] = {};
  EXPECT_ERROR(InvalidArgument, part, Tensor::empty({2}, none));
  EXPECT_ERROR(InvalidArgument, part, Tensor::zeros({0}, none));
  EXPECT_ERROR(InvalidArgument, part, Tensor::full({2}, 1, none));
  EXPECT_ERROR(InvalidArgument, part, Tensor::randn({2}, none, 1));
  EXPECT_ERROR(InvalidArgument, part, Tensor::uniform({2}, none, 1));
  EXPECT_ERROR(InvalidArgument, part, Tensor::fromData(values, {2}, none));
  EXPECT_ERROR(InvalidArgument, part, Tensor::fromBlob(values, {2}, none));
  EXPECT_ERROR(InvalidArgument, part, t.to(none));
}

TEST(TensorTest, HandlesAreUsableFromManyThreads) {
  const Tensor t = Tensor::full({64}, 1, DType::F32);
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 100; ++round) {
        const Tensor part = t.narrow(0, i * 16, 16);
        part.fill(i);
        failures += part.toVector<int>() != std::vector<int>(16, i);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(t.version(), 401u);
}
