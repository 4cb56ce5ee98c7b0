//===- CudaTensorTest.cpp - Tensors on GPUs -------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/DLPack.h"
#include "runtime/cuda/CudaBackend.h"
#include "tests/runtime/TemporaryFolder.h"
#include "tests/runtime/cuda/CudaTest.h"

using namespace flashtile;
using namespace flashtile::cuda;
using testing::Each;
using testing::ElementsAre;

namespace {

class CudaTensorTest : public CudaTest {
protected:
  const Device gpu = Device::cuda(0), second = Device::cuda(1);
};

Tensor counting(Shape shape, DType dtype = DType::F32) {
  const Tensor result = Tensor::empty(std::move(shape), DType::F32);
  for (int64_t i = 0; i < result.numel(); ++i)
    result.data<float>()[i] = static_cast<float>(i);
  return result.to(dtype);
}

} // namespace

TEST_F(CudaTensorTest, GoesAndComesBack) {
  for (DType dtype : {DType::F64, DType::F32, DType::F16, DType::BF16,
                      DType::F8E4M3FN, DType::I8, DType::I64, DType::I1}) {
    const Tensor host = Tensor::full({2, 3}, 1, dtype);
    const Tensor there = host.to(gpu);
    EXPECT_EQ(there.device(), gpu);
    EXPECT_THAT(there.toVector<double>(), Each(1));
    EXPECT_THAT(there.to(second).to(Device::cpu()).toVector<int>(), Each(1));
  }
  EXPECT_EQ(driver.alive["memory"], 0);
  const Tensor moved = counting({2, 3}).to(gpu);
  EXPECT_EQ(moved.describe(), "f32[2, 3] on cuda:0");
  EXPECT_THAT(moved.toVector<int>(), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(moved.slice(0, 1, 2).select(1, 2).item<int>(), 5);
}

TEST_F(CudaTensorTest, ViewsComeBackWithTheirStrides) {
  const Tensor there = counting({3, 4}).to(gpu);
  EXPECT_THAT(there.transpose(0, 1).slice(0, 1, 3).toVector<int>(),
              ElementsAre(1, 5, 9, 2, 6, 10));
  EXPECT_THAT(there.select(1, 3).toVector<int>(), ElementsAre(3, 7, 11));
  EXPECT_THAT(there.slice(0, 2, 3).expand({2, 4}).toVector<int>(),
              ElementsAre(8, 9, 10, 11, 8, 9, 10, 11));
  EXPECT_THAT(there.transpose(0, 1).contiguous().view({12}).toVector<int>(),
              ElementsAre(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11));
  EXPECT_THAT(there.to(DType::F16).toVector<int>()[11], 11);
  EXPECT_EQ(there.to(DType::I8).device(), gpu);
}

TEST_F(CudaTensorTest, FillsWithPatternsAndBits) {
  for (DType dtype : {DType::F64, DType::F32, DType::BF16, DType::F8E5M2,
                      DType::I1, DType::I16, DType::I64}) {
    EXPECT_THAT(Tensor::zeros({5}, dtype, gpu).toVector<double>(), Each(0));
    EXPECT_THAT(Tensor::full({5}, 1, dtype, gpu).toVector<double>(), Each(1));
  }
  EXPECT_THAT(Tensor::full({3}, -1, DType::I64, gpu).toVector<int64_t>(),
              Each(-1));
  const Tensor there = Tensor::zeros({3, 4}, DType::F32, gpu);
  driver.calls.clear();
  there.narrow(1, 1, 2).fill(2);
  EXPECT_EQ(driver.count("cuMemsetD32Async"), 3);
  EXPECT_THAT(there.toVector<int>(),
              ElementsAre(0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0));
  EXPECT_EQ(there.version(), 1u);
}

TEST_F(CudaTensorTest, CopiesIntoParts) {
  const Tensor there = Tensor::zeros({3, 4}, DType::F32, gpu);
  there.narrow(1, 0, 2).copyFrom(counting({3, 2}, DType::I32));
  there.narrow(1, 2, 2).copyFrom(there.narrow(1, 0, 2));
  there.select(0, 0).copyFrom(Tensor::full({1}, 9, DType::F16).to(second));
  EXPECT_THAT(there.toVector<int>(),
              ElementsAre(9, 9, 9, 9, 2, 3, 2, 3, 4, 5, 4, 5));
  const Tensor host = Tensor::zeros({4, 3}, DType::F64);
  host.transpose(0, 1).copyFrom(there);
  EXPECT_EQ(host.at<double>({3, 2}), 5);
}

TEST_F(CudaTensorTest, OtherDevicesWaitForEachOther) {
  const Tensor there = counting({8}).to(gpu);
  driver.calls.clear();
  EXPECT_THAT(there.to(second).toVector<int>()[7], 7);
  EXPECT_EQ(driver.count("cuMemcpyPeerAsync"), 1);
  EXPECT_EQ(driver.count("cuStreamWaitEvent"), 2)
      << "the copy for the source, and who writes the source next for the copy";
}

TEST_F(CudaTensorTest, WhatNeedsTheHostSaysSo) {
  const Tensor there = Tensor::zeros({3, 4}, DType::F32, gpu);
  EXPECT_ERROR(Unsupported,
               "access to an element needs a tensor on the cpu, but got "
               "f32[3, 4] on cuda:0; copy it with to(Device::cpu())",
               there.at<float>({0, 0}));
  EXPECT_ERROR(Unsupported, "needs a tensor on the cpu", there.set({0, 0}, 1));
  EXPECT_ERROR(Unsupported, "its innermost elements do not follow each other",
               there.select(1, 1).fill(1));
  EXPECT_ERROR(Unsupported, "its innermost elements do not follow each other",
               there.transpose(0, 1).copyFrom(counting({4, 3})));
  EXPECT_ERROR(NotFound, "'cuda:5'",
               Tensor::empty({1}, DType::F32, Device::cuda(5)));
  EXPECT_ERROR(NotFound, "'cuda:5'", counting({1}).to(Device::cuda(5)));
}

TEST_F(CudaTensorTest, RandomNumbersAreThoseOfTheHost) {
  EXPECT_EQ(Tensor::randn({10}, DType::BF16, 3, gpu).toVector<float>(),
            Tensor::randn({10}, DType::BF16, 3).toVector<float>());
  EXPECT_EQ(Tensor::uniform({10}, DType::F32, 3, 0, 1, gpu).toVector<float>(),
            Tensor::uniform({10}, DType::F32, 3).toVector<float>());
}

TEST_F(CudaTensorTest, EmptyTensorsAndScalars) {
  const Tensor empty = Tensor::zeros({0, 3}, DType::F32, gpu);
  EXPECT_EQ(empty.to(Device::cpu()).numel(), 0);
  EXPECT_TRUE(empty.toVector<float>().empty());
  EXPECT_EQ(Tensor::full({}, 3, DType::F32, gpu).item<int>(), 3);
}

TEST_F(CudaTensorTest, UsesTheCurrentStreamAndRecordsOthers) {
  const CudaStream stream = CudaStream::create(CudaDevice::get(0));
  const CudaStream other = CudaStream::create(CudaDevice::get(0));
  driver.calls.clear();
  {
    Tensor there;
    {
      const CudaStreamGuard guard(stream);
      there = Tensor::zeros({64}, DType::F32, gpu);
    }
    recordUse(there.narrow(0, 32, 4), other);
  }
  EXPECT_THAT(driver.streamsOf("cuMemAllocAsync"),
              ElementsAre(stream.handle()));
  EXPECT_THAT(driver.streamsOf("cuMemsetD32Async"),
              ElementsAre(stream.handle()));
  EXPECT_THAT(driver.streamsOf("cuEventRecord"), ElementsAre(other.handle()));
  EXPECT_THAT(driver.streamsOf("cuMemFreeAsync"), ElementsAre(stream.handle()));
  int value = 0;
  recordUse(Tensor::fromBlob(&value, {1}, DType::I32, nullptr, {}, gpu), other);
  EXPECT_ERROR(InvalidArgument, "expected a tensor on a cuda device",
               recordUse(counting({1}), other));
}

TEST_F(CudaTensorTest, EachStreamIsRecordedOnce) {
  CudaDevice &device = CudaDevice::get(0);
  const CudaStream first = CudaStream::create(device),
                   second = CudaStream::create(device);
  driver.calls.clear();
  {
    const Tensor there = Tensor::empty({64}, DType::F32, gpu);
    for (int i = 0; i < 3; ++i) {
      recordUse(there, first);
      recordUse(there, first);
      recordUse(there, CudaStream::legacy(device));
      // Another handle to the same stream.
      recordUse(there.narrow(0, 32, 4),
                CudaStream::wrap(device, second.handle()));
      recordUse(there, second);
    }
  }
  EXPECT_THAT(driver.streamsOf("cuEventRecord"),
              ElementsAre(first.handle(), second.handle()));
  EXPECT_THAT(driver.streamsOf("cuStreamWaitEvent"),
              ElementsAre(nullptr, nullptr));
}

TEST_F(CudaTensorTest, DLPackLendsDeviceMemory) {
  Tensor there = counting({2, 3}).to(second);
  DLManagedTensor *managed = toDLPack(there);
  EXPECT_EQ(managed->dl_tensor.device.device_type, kDLCUDA);
  EXPECT_EQ(managed->dl_tensor.device.device_id, 1);
  EXPECT_EQ(managed->dl_tensor.data, there.rawData());
  {
    const Tensor back = fromDLPack(managed);
    there = Tensor();
    EXPECT_EQ(back.device(), second);
    EXPECT_THAT(back.toVector<int>(), ElementsAre(0, 1, 2, 3, 4, 5));
  }
  EXPECT_EQ(driver.alive["memory"], 0);
  DLManagedTensor *unknown = toDLPack(counting({1}));
  unknown->dl_tensor.device = {kDLCUDA, 9};
  EXPECT_ERROR(NotFound, "'cuda:9'", fromDLPack(unknown));
  unknown->deleter(unknown);
}

TEST_F(CudaTensorTest, AFailedCopyLeavesNothingBehind) {
  const Tensor host = counting({4});
  driver.failOnce["cuMemcpyHtoDAsync"] = invalidValue;
  EXPECT_ERROR(Device, "cuMemcpyHtoDAsync on device cuda:0", host.to(gpu));
  driver.memoryLimit = 8;
  EXPECT_ERROR(OutOfMemory, "allocating 16 bytes", host.to(gpu));
  EXPECT_EQ(driver.alive["memory"], 0);
}
