//===- KernelGpuTest.cpp - Compiled tile kernels on a GPU -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Jit and flashAttention do on cuda:0 is judged as on the cpu, and cpu and
// GPU agree.
//
//===----------------------------------------------------------------------===//

#include "kernels/Examples.h"
#include "kernels/FlashAttention.h"
#include "kernels/Reference/DenseAttention.h"
#include "kernels/Reference/Judge.h"
#include "kernels/Reference/PlainAttention.h"
#include "runtime/Jit.h"
#include "tests/gpu/GpuTest.h"
#include "tests/runtime/jit/Kernels.h"

#include <cstring>
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <ostream>

using namespace flashtile;

static const Device gpu0 = Device::cuda(0);

namespace {
class KernelGpuTest : public GpuTest {};

struct AttentionCase {
  Shape q, k;
  DType dtype;
  bool isCausal;

  friend std::ostream &operator<<(std::ostream &os, const AttentionCase &c) {
    return os << toString(c.dtype) << " q " << toString(c.q) << " k "
              << toString(c.k) << (c.isCausal ? " causal" : "");
  }
};

class AttentionGpuTest : public GpuTest,
                         public testing::WithParamInterface<AttentionCase> {};
} // namespace

TEST_F(KernelGpuTest, AddsVectorsOfAnyLength) {
  const Kernel add = Jit(gpu0).compile(testkernels::vectorAdd).kernel();
  for (const int64_t n : {1, 63, 64, 65, 1000}) {
    const Tensor x = Tensor::randn({n}, DType::F32, 1);
    const Tensor y = Tensor::randn({n}, DType::F32, 2);
    // One more element, which stays.
    const Tensor z = Tensor::full({n + 1}, 7, DType::F32, gpu0);
    add(x.to(gpu0), y.to(gpu0), z, n);
    const std::vector<float> sums = z.toVector<float>();
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(sums[i], x.data<float>()[i] + y.data<float>()[i]) << n << i;
    EXPECT_EQ(sums[n], 7) << n;
  }
}

TEST_F(KernelGpuTest, SumsRowsInALoop) {
  const Kernel sum = Jit(gpu0).compile(testkernels::rowSum).kernel();
  const Tensor x = Tensor::full({5, 1000}, 1, DType::F32);
  const Tensor y = Tensor::zeros({5}, DType::F32, gpu0);
  sum(x.to(gpu0), y, 5, 1000, 1000);
  EXPECT_THAT(y.toVector<float>(), testing::Each(1000.0f));
}

/// y[0..32) = the number of counters 1, 1 + 2^30, ... below n.
static std::string countingKernel(const std::string &comparison) {
  return R"(
tile.kernel @count(%y: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %extent = arith.constant 32 : i64
  %c1 = arith.constant 1 : i32
  %large = arith.constant 1073741824 : i32
  %none = arith.constant dense<0.0> : tensor<32xf32>
  %ones = arith.constant dense<1.0> : tensor<32xf32>
  %r = scf.for )" +
         comparison + R"( %i = %c1 to %n step %large
      iter_args(%p = %none) -> (tensor<32xf32>) : i32 {
    %q = arith.addf %p, %ones : tensor<32xf32>
    scf.yield %q : tensor<32xf32>
  }
  %w = tile.make_block_ptr %y shape[%extent] strides[%one] offsets[%zero]
      : !tile.ptr<f32> -> !tile.block_ptr<32xf32>
  tile.store %w, %r : !tile.block_ptr<32xf32>
  tile.return
}
)";
}

TEST_F(KernelGpuTest, LoopsEndAtTheLargestBounds) {
  for (const Device device : {Device::cpu(), gpu0}) {
    const Tensor y = Tensor::zeros({32}, DType::F32, device);
    const Kernel isSigned = Jit(device).compile(countingKernel("")).kernel();
    isSigned(y, std::numeric_limits<int32_t>::max());
    EXPECT_THAT(y.toVector<float>(), testing::Each(2.0f));
    isSigned(y, -5);
    EXPECT_THAT(y.toVector<float>(), testing::Each(0.0f));
    const Kernel isUnsigned =
        Jit(device).compile(countingKernel("unsigned")).kernel();
    isUnsigned(y, -1); // 2^32 - 1
    EXPECT_THAT(y.toVector<float>(), testing::Each(4.0f));
  }
}

TEST_F(KernelGpuTest, SoftmaxAgreesWithTheCpu) {
  const dsl::KernelModule program =
      kernels::buildRowSoftmax(ElementType::F32, 4, 128);
  const Tensor x = Tensor::randn({9, 100}, DType::F32, 3);
  const Tensor here = Tensor::zeros({9, 100}, DType::F32);
  const Tensor there = Tensor::zeros({9, 100}, DType::F32, gpu0);
  Jit().compile(program).kernel()(x, here, 9, 100, 100, 100);
  Jit(gpu0).compile(program).kernel()(x.to(gpu0), there, 9, 100, 100, 100);
  EXPECT_LT(reference::relativeError(there.to(Device::cpu()), here), 1e-6);
}

/// o and p [rows, 64] = q [rows, 128] k^T [64, 128]. Rows of p are `p_row`
/// long.
static const char *const storedTwice = R"(
tile.kernel @stored_twice(%q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>,
    %o: !tile.ptr<bf16>, %p: !tile.ptr<bf16>, %n: i32, %p_row: i64)
    grid(n, p_row) -> (n ceildiv 64) {
  %zero = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %depth = arith.constant 128 : i32
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %rows = arith.extsi %n : i32 to i64
  %x = tile.program_id x
  %first = arith.muli %x, %size : i32
  %row = arith.extsi %first : i32 to i64
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %s = scf.for %j = %zero to %depth step %size iter_args(%sum = %none)
      -> (tensor<64x64xf32>) : i32 {
    %at = arith.extsi %j : i32 to i64
    %qw = tile.make_block_ptr %q shape[%rows, %c128] strides[%c128, %c1]
        offsets[%row, %at] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %kw = tile.make_block_ptr %k shape[%c64, %c128] strides[%c128, %c1]
        offsets[%c0, %at] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
    %qt = tile.load %qw : !tile.block_ptr<64x64xbf16>
    %kt = tile.load %kw : !tile.block_ptr<64x64xbf16>
    %t = tile.trans %kt order [1, 0]
        : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %next = tile.dot %qt, %t, %sum
        : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %c = tile.cast %s : tensor<64x64xf32> -> tensor<64x64xbf16>
  %ow = tile.make_block_ptr %o shape[%rows, %c64] strides[%c64, %c1]
      offsets[%row, %c0] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  tile.store %ow, %c : !tile.block_ptr<64x64xbf16>
  %pw = tile.make_block_ptr %p shape[%rows, %c64] strides[%p_row, %c1]
      offsets[%row, %c0] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  tile.store %pw, %c : !tile.block_ptr<64x64xbf16>
  tile.return
}
)";

TEST_F(KernelGpuTest, StoresATileTwice) {
  const Kernel there = Jit(gpu0).compile(storedTwice).kernel();
  const Kernel here = Jit().compile(storedTwice).kernel();
  // More rows than whole tiles, more tiles than blocks; rows that TMA stores
  // and one that threads do.
  for (const int64_t rows : {64, 200, 20000})
    for (const int64_t length : {64, 72, 65}) {
      const Tensor q = Tensor::randn({rows, 128}, DType::BF16, 1);
      const Tensor k = Tensor::randn({64, 128}, DType::BF16, 2);
      const auto run = [&](const Kernel &kernel, Device device) {
        const Tensor o = Tensor::zeros({rows, 64}, DType::BF16, device);
        const Tensor p = Tensor::zeros({rows, length}, DType::BF16, device);
        kernel(q.to(device), k.to(device), o, p, rows, length);
        return std::pair(o.to(Device::cpu()), p.to(Device::cpu()));
      };
      const auto [o, p] = run(there, gpu0);
      const auto [expectedO, expectedP] = run(here, Device::cpu());
      EXPECT_LT(reference::relativeError(o, expectedO), 1e-3) << rows;
      EXPECT_LT(reference::relativeError(p, expectedP), 1e-3)
          << rows << " rows of " << length;
    }
}

TEST_F(KernelGpuTest, TensorsMustBeOnItsDevice) {
  const Kernel add = Jit(gpu0).compile(testkernels::vectorAdd).kernel();
  const Tensor there = Tensor::zeros({8}, DType::F32, gpu0);
  const Tensor here = Tensor::zeros({8}, DType::F32);
  EXPECT_ERROR(InvalidArgument, "'y'", add(there, here, there, 8));
  EXPECT_ERROR(InvalidArgument, "'v' on cuda:0",
               flashAttention(Tensor::zeros({1, 8, 64}, DType::F32, gpu0),
                              Tensor::zeros({1, 8, 64}, DType::F32, gpu0),
                              Tensor::zeros({1, 8, 64}, DType::F32), {}));
}

TEST_F(KernelGpuTest, ReportsWhatAThreadTakes) {
  const Kernel add = Jit(gpu0).compile(testkernels::vectorAdd).kernel();
  EXPECT_THAT(add.report().toString(), testing::HasSubstr("local memory 0\n"));
}

TEST_P(AttentionGpuTest, IsJudgedAsOnTheCpu) {
  const AttentionCase &c = GetParam();
  const Tensor q = Tensor::randn(c.q, DType::F32, 1).to(c.dtype);
  const Tensor k = Tensor::randn(c.k, DType::F32, 2).to(c.dtype);
  const Tensor v = Tensor::randn(c.k, DType::F32, 3).to(c.dtype);
  FlashAttentionOptions options;
  options.causal = c.isCausal;
  auto run = [&] {
    const FlashAttentionResult there =
        flashAttention(q.to(gpu0), k.to(gpu0), v.to(gpu0), options);
    return FlashAttentionResult{there.o.to(Device::cpu()),
                                there.lse.to(Device::cpu())};
  };
  const FlashAttentionResult result = run();
  reference::AttentionOptions problem;
  problem.causal = c.isCausal;
  const auto truth = reference::denseAttention(q, k, v, problem);
  const auto plain = reference::plainAttention(q, k, v, c.dtype, problem);
  const auto o = reference::judge(result.o, truth.o, plain.o);
  EXPECT_TRUE(o.pass) << o.error << " > " << o.limit;
  const auto lse = reference::judge(result.lse, truth.lse, plain.lse);
  EXPECT_TRUE(lse.pass) << lse.error << " > " << lse.limit;
  // The same bits every time.
  EXPECT_TRUE(reference::judgeExact(run().o, result.o).pass);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, AttentionGpuTest,
    testing::Values(
        AttentionCase{{1, 300, 64}, {1, 300, 64}, DType::BF16, true},
        AttentionCase{{2, 4, 100, 64}, {2, 2, 100, 64}, DType::F16, true},
        AttentionCase{{2, 65, 32}, {2, 190, 32}, DType::F32, false},
        AttentionCase{{1, 1, 64}, {1, 257, 64}, DType::BF16, false},
        AttentionCase{{1, 64, 40}, {1, 64, 40}, DType::F16, false},
        // More programs than multiprocessors, which take several each.
        AttentionCase{{2, 200, 130, 64}, {2, 50, 200, 64}, DType::BF16, false},
        AttentionCase{{2, 200, 130, 64}, {2, 50, 200, 64}, DType::BF16, true},
        AttentionCase{{150, 300, 128}, {150, 140, 128}, DType::F16, false},
        AttentionCase{{150, 300, 128}, {150, 140, 128}, DType::F16, true}));

// Rows that are no whole number of instructions: each form of boxes, at lengths
// that leave tiles ragged, with more programs than multiprocessors.
TEST_F(KernelGpuTest, EveryHeadDimension) {
  for (int64_t headDim = 8; headDim <= 256; headDim += 8)
    for (const bool isCausal : {false, true}) {
      const Tensor q = Tensor::randn({2, 150, headDim}, DType::BF16, 1);
      const Tensor k = Tensor::randn({2, 333, headDim}, DType::BF16, 2);
      const Tensor v = Tensor::randn({2, 333, headDim}, DType::BF16, 3);
      FlashAttentionOptions options;
      options.causal = isCausal;
      // Every second row of a tensor, which rows around it share.
      const Tensor all =
          Tensor::full({2, 150, 2, headDim + 8}, 7, DType::BF16, gpu0);
      Tensor o = all.select(2, 0).narrow(2, 0, headDim);
      const Tensor qThere = q.to(gpu0), kThere = k.to(gpu0),
                   vThere = v.to(gpu0);
      Tensor lse = Tensor::zeros({2, 150}, DType::F32, gpu0);
      flashAttention(qThere, kThere, vThere, options, o, lse);
      reference::AttentionOptions problem;
      problem.causal = isCausal;
      const auto truth = reference::denseAttention(q, k, v, problem);
      const auto plain =
          reference::plainAttention(q, k, v, DType::BF16, problem);
      const Tensor result = o.to(Device::cpu());
      const auto verdict = reference::judge(result, truth.o, plain.o);
      EXPECT_TRUE(verdict.pass)
          << headDim << ": " << verdict.error << " > " << verdict.limit;
      const auto ofLse =
          reference::judge(lse.to(Device::cpu()), truth.lse, plain.lse);
      EXPECT_TRUE(ofLse.pass)
          << headDim << ": " << ofLse.error << " > " << ofLse.limit;
      const Tensor beside = all.to(Device::cpu());
      for (const Tensor &other :
           {beside.select(2, 1), beside.select(2, 0).narrow(2, headDim, 8)})
        for (const float value : other.to(DType::F32).toVector<float>())
          ASSERT_EQ(value, 7) << headDim;
      for (int repeat = 0; repeat < repeatsOf(10); ++repeat) {
        flashAttention(qThere, kThere, vThere, options, o, lse);
        ASSERT_TRUE(reference::judgeExact(o.to(Device::cpu()), result).pass)
            << headDim << ", launch " << repeat;
      }
    }
}

// Tiles with such values are added key by key where the diagonal crosses them.
TEST_F(KernelGpuTest, ValuesThatAreNotFiniteReachTheRowsThatSeeThem) {
  constexpr int64_t kRows = 300, kKeys = 333;
  const double infinity = std::numeric_limits<double>::infinity();
  auto random = [](int64_t rows, int64_t headDim, uint64_t seed) {
    return Tensor::randn({2, rows, headDim}, DType::F32, seed).to(DType::BF16);
  };
  for (const int64_t headDim : {64, 72, 128})
    for (const auto alignment :
         {CausalAlignment::BottomRight, CausalAlignment::TopLeft})
      for (const int64_t key : {0, 40, 190, 299})
        for (const double value : {infinity, std::nan("")}) {
          FlashAttentionOptions options;
          options.causal = true;
          options.alignment = alignment;
          const Tensor q = random(kRows, headDim, 1).to(gpu0);
          const Tensor k = random(kKeys, headDim, 2).to(gpu0);
          const Tensor v = random(kKeys, headDim, 3);
          v.narrow(1, key, 1).fill(0.0);
          const auto clean = flashAttention(q, k, v.to(gpu0), options);
          v.narrow(1, key, 1).fill(value);
          const auto dirty = flashAttention(q, k, v.to(gpu0), options);
          auto numbers = [](const Tensor &tensor) {
            return tensor.to(Device::cpu()).to(DType::F32).toVector<float>();
          };
          const std::vector<float> expected = numbers(clean.o);
          const std::vector<float> found = numbers(dirty.o);
          const int64_t shift =
              alignment == CausalAlignment::BottomRight ? kKeys - kRows : 0;
          for (size_t i = 0; i < found.size(); ++i) {
            const int64_t row = int64_t(i) / headDim % kRows;
            if (key <= row + shift)
              ASSERT_FALSE(std::isfinite(found[i])) << key << " in row " << row;
            else // in another order of additions
              ASSERT_NEAR(found[i], expected[i],
                          0.02 + 0.01 * std::fabs(expected[i]))
                  << key << " in row " << row;
          }
          EXPECT_EQ(numbers(dirty.lse), numbers(clean.lse));
        }
}

// Buffers that are filled while somebody still reads them show in short rows
// and in some launches only.
/// Contiguous tensors on the cpu, compared as they lie there.
static bool sameBytes(const Tensor &one, const Tensor &other) {
  return one.nbytes() == other.nbytes() &&
         std::memcmp(one.rawData(), other.rawData(), one.nbytes()) == 0;
}

TEST_F(KernelGpuTest, ManyShortProgramsGiveTheSameBitsInEveryLaunch) {
  for (const int64_t headDim : {40, 64, 72, 104, 128, 200})
    for (const int64_t keys : {1, 130, 200})
      for (const bool isCausal : {false, true}) {
        auto there = [&](const Shape &shape, uint64_t seed) {
          return Tensor::randn(shape, DType::F32, seed)
              .to(DType::BF16)
              .to(gpu0);
        };
        const Tensor q = there({500, 130, headDim}, 1);
        const Tensor k = there({500, keys, headDim}, 2);
        const Tensor v = there({500, keys, headDim}, 3);
        FlashAttentionOptions options;
        options.causal = isCausal;
        const Tensor first =
            flashAttention(q, k, v, options).o.to(Device::cpu());
        for (int repeat = 0; repeat < repeatsOf(40); ++repeat)
          ASSERT_TRUE(sameBytes(
              flashAttention(q, k, v, options).o.to(Device::cpu()), first))
              << headDim << ", " << keys << " keys, "
              << (isCausal ? "causal, " : "") << "launch " << repeat;
      }
}
