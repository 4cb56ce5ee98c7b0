//===- DenseKernelGpuTest.cpp - Products, softmax and tuning on a GPU -----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same functions as on the cpu, judged in the same way.
//
//===----------------------------------------------------------------------===//

#include "kernels/DenseAttention.h"
#include "kernels/FlashAttention.h"
#include "kernels/Matmul.h"
#include "kernels/Reference/DenseAttention.h"
#include "kernels/Reference/Judge.h"
#include "kernels/Reference/Matmul.h"
#include "kernels/Reference/PlainAttention.h"
#include "kernels/Reference/Softmax.h"
#include "kernels/Softmax.h"
#include "runtime/LaunchTimer.h"
#include "runtime/cuda/CudaStream.h"
#include "tests/gpu/GpuTest.h"

#include <gmock/gmock.h>

using namespace flashtile;

static const Device gpu0 = Device::cuda(0);

namespace {
class MatmulGpuTest : public GpuTest {};
class SoftmaxGpuTest : public GpuTest {};
class DenseAttentionGpuTest : public GpuTest {};
class TuningGpuTest : public GpuTest {};
} // namespace

static testing::AssertionResult accepted(const reference::Verdict &verdict) {
  if (verdict)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "error " << verdict.error << ", limit "
                                     << verdict.limit << ": " << verdict.reason;
}

static testing::AssertionResult isProduct(const Tensor &c, const Tensor &a,
                                          const Tensor &b) {
  const Tensor plain = reference::matmul(a, b, DType::F32).to(c.dtype());
  return accepted(
      reference::judge(c.to(Device::cpu()), reference::matmul(a, b), plain));
}

TEST_F(MatmulGpuTest, AnySizeAndType) {
  for (DType type : {DType::F32, DType::F16, DType::BF16})
    for (auto [m, n, k] :
         {std::tuple(1, 1, 1), std::tuple(65, 130, 70),
          std::tuple(128, 256, 64), std::tuple(300, 200, 513)}) {
      const Tensor a = Tensor::randn({m, k}, type, 1);
      const Tensor b = Tensor::randn({k, n}, type, 2);
      EXPECT_TRUE(isProduct(matmul(a.to(gpu0), b.to(gpu0)), a, b))
          << a.describe() << " " << b.describe();
    }
}

TEST_F(MatmulGpuTest, TransposedGroupedAndMany) {
  const Tensor a = Tensor::randn({2, 6, 100, 40}, DType::BF16, 1);
  const Tensor b = Tensor::randn({2, 2, 90, 40}, DType::BF16, 2);
  MatmulOptions options;
  options.group = 3;
  const Tensor c = matmul(a.to(gpu0), b.to(gpu0).transpose(-2, -1), options);
  const Tensor spread = b.unsqueeze(2)
                            .expand({2, 2, 3, 90, 40})
                            .reshape({2, 6, 90, 40})
                            .transpose(-2, -1);
  EXPECT_TRUE(isProduct(c, a, spread));
  // More rows of tiles than a group has.
  const Tensor tall = Tensor::randn({64 * 19 + 3, 40}, DType::BF16, 3);
  const Tensor right = Tensor::randn({40, 300}, DType::BF16, 4);
  EXPECT_TRUE(isProduct(matmul(tall.to(gpu0), right.to(gpu0)), tall, right));
  // Columns of a, too.
  const Tensor turned = Tensor::randn({40, 150}, DType::F16, 5);
  const Tensor other = Tensor::randn({40, 70}, DType::F16, 6);
  EXPECT_TRUE(isProduct(matmul(turned.to(gpu0).transpose(0, 1), other.to(gpu0)),
                        turned.transpose(0, 1), other));
}

// Results by TMA: of many programs each, in parts, into rows of others.
TEST_F(MatmulGpuTest, ResultsBesideOthers) {
  for (auto [m, n, k] :
       {std::tuple(1000, 1304, 520), std::tuple(3000, 2056, 64),
        std::tuple(256, 512, 1000), std::tuple(130, 100, 72)}) {
    const Tensor a = Tensor::randn({m, k}, DType::BF16, 1);
    const Tensor b = Tensor::randn({k, n}, DType::BF16, 2);
    const Tensor aThere = a.to(gpu0), bThere = b.to(gpu0);
    const Tensor truth = reference::matmul(a, b);
    const Tensor plain = reference::matmul(a, b, DType::F32).to(DType::BF16);
    for (const MatmulTiles tiles :
         {MatmulTiles{0, 0, 0, 0, 0}, MatmulTiles{128, 256, 64, 8, 4},
          MatmulTiles{128, 128, 64, 8, 2}, MatmulTiles{64, 72, 64, 4, 3},
          MatmulTiles{256, 128, 64, 8, 3}}) {
      MatmulOptions options;
      options.tiles = tiles;
      // Rows that end within a chunk of 16 bytes, and whole ones.
      for (const int64_t gap : {int64_t(0), int64_t(8), int64_t(16 - n % 8)}) {
        const Tensor all = Tensor::full({m, n + gap}, 7, DType::BF16, gpu0);
        Tensor c = all.narrow(1, 0, n);
        matmul(aThere, bThere, options, c);
        const Tensor first = c.to(Device::cpu());
        EXPECT_TRUE(accepted(reference::judge(first, truth, plain)))
            << tiles.blockM << " x " << tiles.blockN << ", gap " << gap;
        if (gap > 0)
          for (const float value : all.narrow(1, n, gap)
                                       .to(Device::cpu())
                                       .to(DType::F32)
                                       .toVector<float>())
            ASSERT_EQ(value, 7) << n << " + " << gap;
        for (int repeat = 0; repeat < repeatsOf(10); ++repeat) {
          matmul(aThere, bThere, options, c);
          ASSERT_TRUE(
              accepted(reference::judgeExact(c.to(Device::cpu()), first)))
              << "launch " << repeat;
        }
      }
    }
  }
}

TEST_F(SoftmaxGpuTest, AnyLengthAndCausal) {
  for (auto [rows, columns] : {std::pair(5, 100), std::pair(70, 256),
                               std::pair(3, 4096), std::pair(2, 20000)})
    for (bool causal : {false, true}) {
      const Tensor x = Tensor::randn({2, rows, columns}, DType::F32, 1);
      SoftmaxOptions options;
      options.causal = causal;
      options.scale = 0.5;
      Tensor y = Tensor::empty(x.shape(), DType::F32, gpu0);
      const Tensor lse = Tensor::empty({2, rows}, DType::F32, gpu0);
      softmax(x.to(gpu0), options, y, lse);
      std::optional<CausalAlignment> alignment;
      if (causal)
        alignment = CausalAlignment::BottomRight;
      const auto expected = reference::softmax(x, 0.5, alignment);
      EXPECT_LT(reference::relativeError(y.to(Device::cpu()), expected.y), 1e-5)
          << x.describe();
      EXPECT_LT(reference::relativeError(lse.to(Device::cpu()), expected.lse),
                1e-5)
          << x.describe();
    }
}

TEST_F(DenseAttentionGpuTest, AgreesWithTheReference) {
  for (DType type : {DType::F32, DType::F16, DType::BF16})
    for (bool causal : {false, true}) {
      const Tensor q = Tensor::randn({2, 4, 100, 64}, type, 1);
      const Tensor k = Tensor::randn({2, 2, 130, 64}, type, 2);
      const Tensor v = Tensor::randn({2, 2, 130, 64}, type, 3);
      DenseAttentionOptions options;
      options.causal = causal;
      const DenseAttentionResult result =
          denseAttention(q.to(gpu0), k.to(gpu0), v.to(gpu0), options);
      reference::AttentionOptions problem;
      problem.causal = causal;
      const auto truth = reference::denseAttention(q, k, v, problem);
      const auto plain = reference::plainAttention(q, k, v, type, problem);
      EXPECT_TRUE(accepted(
          reference::judge(result.o.to(Device::cpu()), truth.o, plain.o)))
          << toString(type) << causal;
      reference::JudgeRule rule;
      rule.headRank = 1;
      EXPECT_TRUE(accepted(reference::judge(result.lse.to(Device::cpu()),
                                            truth.lse, plain.lse, rule)))
          << toString(type) << causal;
    }
}

TEST_F(TuningGpuTest, TimesLaunchesByEvents) {
  const Tensor a = Tensor::zeros({1024, 1024}, DType::BF16, gpu0);
  const Tensor b = Tensor::zeros({1024, 1024}, DType::BF16, gpu0);
  Tensor c = Tensor::zeros({1024, 1024}, DType::BF16, gpu0);
  auto launch = [&] { matmul(a, b, {}, c); };
  const Timing timing = timeLaunches(gpu0, launch);
  EXPECT_EQ(timing.groups.size(), 5u);
  EXPECT_GT(timing.milliseconds, 1e-4);
  EXPECT_LT(timing.milliseconds, timing.firstMilliseconds);

  TimingOptions graphs;
  graphs.graphs = true;
  const Timing recorded = timeLaunches(gpu0, launch, graphs);
  EXPECT_EQ(recorded.groups.size(), 5u);
  EXPECT_GT(recorded.milliseconds, 1e-4);
  EXPECT_LT(recorded.milliseconds, 2 * timing.milliseconds);

  // What is captured does not run, and so has no time.
  const CudaStream stream = CudaStream::create(device());
  const CudaStreamGuard guard(stream);
  const CudaCapture capture(stream);
  EXPECT_ERROR(InvalidArgument, "is captured", timeLaunches(gpu0, launch));
}

TEST_F(TuningGpuTest, TunedKernelsAreRight) {
  const Tensor a = Tensor::randn({200, 128}, DType::BF16, 1);
  const Tensor b = Tensor::randn({128, 150}, DType::BF16, 2);
  MatmulOptions product;
  product.tune = true;
  product.tiles.blockM = product.tiles.blockN = 64; // fewer candidates
  EXPECT_TRUE(isProduct(matmul(a.to(gpu0), b.to(gpu0), product), a, b));

  const Tensor q = Tensor::randn({2, 200, 64}, DType::BF16, 3);
  FlashAttentionOptions options;
  options.tune = true;
  options.blockM = 64;
  options.causal = true;
  const FlashAttentionResult result =
      flashAttention(q.to(gpu0), q.to(gpu0), q.to(gpu0), options);
  reference::AttentionOptions problem;
  problem.causal = true;
  const auto truth = reference::denseAttention(q, q, q, problem);
  const auto plain = reference::plainAttention(q, q, q, DType::BF16, problem);
  EXPECT_TRUE(
      accepted(reference::judge(result.o.to(Device::cpu()), truth.o, plain.o)));
}
