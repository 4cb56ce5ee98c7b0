//===- PairProgramsGpuTest.cpp - Programs put together on a GPU -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention at 64 x 64 tiles and 4 warps, as blocks of two or three programs
// and as blocks of one: every row is computed alike, to the bit. Small and
// ragged lengths again and again, which is what finds races; numbers of
// programs that are no multiple; heads that share keys; nothing behind the last
// row is written.
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionForward.h"
#include "runtime/Jit.h"
#include "tests/gpu/GpuTest.h"

#include <cmath>
#include <cstring>
#include <ostream>

using namespace flashtile;

static const Device gpu0 = Device::cuda(0);

namespace {
struct PairCase {
  int64_t headDim;
  bool causal;
  int64_t atOnce; ///< programs, at most; 0: as the compiler likes

  friend std::ostream &operator<<(std::ostream &os, const PairCase &c) {
    return os << "d = " << c.headDim << (c.causal ? " causal, " : ", ")
              << c.atOnce << " at once";
  }
};

class PairProgramsGpuTest : public GpuTest,
                            public testing::WithParamInterface<PairCase> {
protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && device().properties().architecture() != "sm_90")
      GTEST_SKIP() << "needs sm_90, but the GPU is "
                   << device().properties().architecture();
  }

  Kernel compile(int64_t programsAtOnce) const {
    kernels::FlashAttentionConfig config;
    config.headDim = GetParam().headDim;
    config.causal = GetParam().causal;
    config.shortenedLoop = config.mendsBehind = config.causal;
    config.scaleIsPositive = true;
    CompilerOptions options;
    options.programsAtOnce = programsAtOnce;
    return Jit(gpu0, options)
        .compile(kernels::buildFlashAttentionForward(config))
        .kernel();
  }
};

/// One problem, whose results lie in tensors that are one row longer.
struct Attention {
  Attention(int64_t heads, int64_t headsKv, int64_t rows, int64_t keys,
            int64_t headDim)
      : heads(heads), headsKv(headsKv), rows(rows), keys(keys),
        headDim(headDim), q(random(heads, rows, 1)),
        k(random(headsKv, keys, 2)), v(random(headsKv, keys, 3)) {}

  Tensor random(int64_t count, int64_t length, uint64_t seed) const {
    return Tensor::randn({count, length, headDim}, DType::F32, seed)
        .to(DType::BF16)
        .to(gpu0);
  }

  /// o, then lse, of all heads and with what lies behind.
  std::vector<float> run(const Kernel &kernel) const {
    const Tensor o =
        Tensor::full({heads, rows + 1, headDim}, 7, DType::BF16, gpu0);
    const Tensor lse = Tensor::full({heads * rows + 64}, 7, DType::F32, gpu0);
    auto i32 = [](int64_t number) { return static_cast<int32_t>(number); };
    std::vector<ArgumentValue> arguments = {q, k, v, o, lse};
    for (const int64_t extent : {heads, headsKv, rows, keys, int64_t(1)})
      arguments.push_back(i32(extent));
    for (const Tensor *tensor : {&q, &k, &v, &o}) {
      arguments.push_back(tensor->stride(0) * tensor->shape()[0]);
      arguments.push_back(tensor->stride(0));
      arguments.push_back(tensor->stride(1));
    }
    arguments.push_back(
        static_cast<float>(1 / std::sqrt(static_cast<double>(headDim))));
    kernel.launchPositional(arguments.data(), arguments.size());
    std::vector<float> all = o.toVector<float>();
    const std::vector<float> sums = lse.toVector<float>();
    all.insert(all.end(), sums.begin(), sums.end());
    return all;
  }

  int64_t heads, headsKv, rows, keys, headDim;
  Tensor q, k, v;
};
} // namespace

static bool areSame(const std::vector<float> &x, const std::vector<float> &y) {
  return x.size() == y.size() &&
         std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

TEST_P(PairProgramsGpuTest, RowsHaveTheSameBits) {
  const Kernel alone = compile(1), together = compile(GetParam().atOnce);
  EXPECT_EQ(alone.report().entries.at(0).programsAtOnce[0], 1);
  ASSERT_GE(together.report().entries.at(0).programsAtOnce[0], 2)
      << together.report().toString();
  const int repeats = repeatsOf(20);
  for (const int64_t rows : {1, 64, 65, 130, 200, 256, 1000}) {
    const Attention problem(4, 2, rows, rows, GetParam().headDim);
    const std::vector<float> expected = problem.run(alone);
    for (int repeat = 0; repeat < repeats; ++repeat)
      ASSERT_TRUE(areSame(problem.run(together), expected))
          << rows << " rows, repeat " << repeat;
  }
}

TEST_P(PairProgramsGpuTest, LengthsMayDiffer) {
  const Kernel alone = compile(1), together = compile(GetParam().atOnce);
  for (const auto &[rows, keys] : {std::pair(200, 70), std::pair(70, 300),
                                   std::pair(320, 1000), std::pair(129, 1)}) {
    const Attention problem(3, 1, rows, keys, GetParam().headDim);
    EXPECT_TRUE(areSame(problem.run(together), problem.run(alone)))
        << rows << " rows, " << keys << " keys";
  }
}

/// More programs than multiprocessors, so that blocks take several.
TEST_P(PairProgramsGpuTest, ManyPrograms) {
  const Kernel alone = compile(1), together = compile(GetParam().atOnce);
  const Attention problem(24, 8, 1100, 1100, GetParam().headDim);
  const std::vector<float> expected = problem.run(alone);
  const int repeats = repeatsOf(5);
  for (int repeat = 0; repeat < repeats; ++repeat)
    ASSERT_TRUE(areSame(problem.run(together), expected)) << repeat;
}

static std::vector<PairCase> pairCases() {
  std::vector<PairCase> cases;
  for (const int64_t headDim : {64, 128})
    for (const bool causal : {false, true})
      for (const int64_t atOnce : {0, 2, 3})
        cases.push_back({headDim, causal, atOnce});
  cases.push_back({96, false, 0});
  cases.push_back({256, true, 0});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, PairProgramsGpuTest,
                         testing::ValuesIn(pairCases()),
                         [](const testing::TestParamInfo<PairCase> &info) {
                           return "D" + std::to_string(info.param.headDim) +
                                  (info.param.causal ? "Causal" : "") + "At" +
                                  std::to_string(info.param.atOnce);
                         });
