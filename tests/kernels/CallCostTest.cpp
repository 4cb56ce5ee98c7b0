//===- CallCostTest.cpp - What calls on tensors ask of the driver ---------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On the scripted driver of tests/runtime/cuda: kernels are compiled and
// queued, but nothing runs.
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttention.h"
#include "kernels/Matmul.h"
#include "runtime/cuda/CudaBackend.h"
#include "tests/runtime/cuda/FakeDriver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace flashtile;
using testing::ElementsAre;

namespace {

const Device gpu = Device::cuda(0);

class CallCostTest : public testing::Test {
protected:
  CallCostTest() { CudaDevice::get(gpu); }
  ~CallCostTest() override { driver.reset(); }

  /// What a repeated call asks.
  template <typename Call>
  std::vector<std::string> callsOf(Call &&call) {
    call();
    driver.reset();
    call();
    std::vector<std::string> names;
    for (const fake::Call &each : driver.calls)
      names.push_back(each.name);
    return names;
  }

  fake::FakeDriver &driver = fake::FakeDriver::get();
};

} // namespace

TEST_F(CallCostTest, FlashAttention) {
  const Tensor q = Tensor::zeros({2, 4, 100, 64}, DType::BF16, gpu);
  const Tensor k = Tensor::zeros({2, 2, 90, 64}, DType::BF16, gpu);
  Tensor o = Tensor::empty(q.shape(), DType::BF16, gpu);
  Tensor lse = Tensor::empty({2, 4, 100}, DType::F32, gpu);
  FlashAttentionOptions options;
  for (const bool causal : {false, true}) {
    options.causal = causal;
    EXPECT_THAT(callsOf([&] { flashAttention(q, k, k, options, o, lse); }),
                ElementsAre("cuCtxGetCurrent", "cuCtxPushCurrent",
                            "cuLaunchKernel", "cuCtxPopCurrent"));
  }
  // Results in memory that is new each time: the map of one of them is.
  std::vector<FlashAttentionResult> results;
  EXPECT_THAT(
      callsOf([&] { results.push_back(flashAttention(q, k, k, options)); }),
      ElementsAre("cuCtxGetCurrent", "cuCtxPushCurrent", "cuMemAllocAsync",
                  "cuTensorMapEncodeTiled", "cuLaunchKernel",
                  "cuCtxPopCurrent"));
}

TEST_F(CallCostTest, ResultsInOneBlockAreTensorsOfTheirOwn) {
  const Tensor q = Tensor::zeros({1, 2, 100, 64}, DType::BF16, gpu);
  const int before = driver.alive["memory"];
  const CudaStream other = CudaStream::create(CudaDevice::get(gpu));
  {
    auto [o, lse] = flashAttention(q, q, q);
    EXPECT_EQ(driver.alive["memory"], before + 1);
    EXPECT_FALSE(o.sharesStorageWith(lse));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(lse.rawData()) % 256, 0u);
    const uint64_t version = lse.version();
    o.fill(1);
    EXPECT_EQ(lse.version(), version);
    o = Tensor();
    EXPECT_EQ(driver.alive["memory"], before + 1);
    lse.fill(1);
    // What works on one of them elsewhere keeps the block.
    recordUse(lse, other);
    driver.calls.clear();
  }
  EXPECT_THAT(driver.streamsOf("cuEventRecord"), ElementsAre(other.handle()));
  EXPECT_EQ(driver.alive["memory"], before);
  // Large ones are apart.
  const Tensor large = Tensor::zeros({1, 2, 8000, 64}, DType::BF16, gpu);
  auto [o, lse] = flashAttention(large, q, q);
  EXPECT_EQ(driver.alive["memory"], before + 3);
}

TEST_F(CallCostTest, Matmul) {
  const Tensor a = Tensor::zeros({64, 96}, DType::BF16, gpu);
  const Tensor b = Tensor::zeros({96, 128}, DType::BF16, gpu);
  Tensor c = Tensor::empty({64, 128}, DType::BF16, gpu);
  EXPECT_THAT(callsOf([&] { matmul(a, b, {}, c); }),
              ElementsAre("cuCtxGetCurrent", "cuCtxPushCurrent",
                          "cuLaunchKernel", "cuCtxPopCurrent"));
  const CudaStream stream = CudaStream::create(CudaDevice::get(gpu));
  const CudaStreamGuard guard(stream);
  driver.pushContext(0);
  EXPECT_THAT(callsOf([&] { matmul(a, b, {}, c); }),
              ElementsAre("cuCtxGetCurrent", "cuLaunchKernel"));
  driver.popContext();
}
