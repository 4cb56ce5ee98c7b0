//===- ProgramCounterGpuTest.cpp - Blocks that take programs on a GPU -----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Causal attention, whose programs differ in length. What a program computes
// does not depend on who computes it, nor on what runs beside it: results have
// the same bits as those of launches in which every program has a block.
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttention.h"
#include "runtime/cuda/CudaBackend.h"
#include "tests/gpu/GpuTest.h"

#include <algorithm>

using namespace flashtile;

static const Device gpu0 = Device::cuda(0);

namespace {
/// Attention of so many heads, as launches into one place.
struct Problem {
  Problem(int64_t heads, int64_t rows, int64_t headDim)
      : heads(heads), rows(rows), q(random(heads, rows, headDim, 1)),
        k(random(heads, rows, headDim, 2)), v(random(heads, rows, headDim, 3)),
        o(empty(q.shape(), DType::BF16)),
        lse(empty({heads, rows}, DType::F32)) {
    options.causal = true;
    if (heads == 0)
      return;
    const FlashAttentionTiles tiles = flashAttentionTiles(q, k, v, options);
    options.blockM = tiles.blockM;
    options.blockN = tiles.blockN;
    options.numWarps = tiles.numWarps;
    options.numStages = tiles.numStages;
  }

  static Tensor random(int64_t heads, int64_t rows, int64_t headDim,
                       uint64_t seed) {
    return Tensor::randn({heads, rows, headDim}, DType::F32, seed)
        .to(DType::BF16)
        .to(gpu0);
  }
  static Tensor empty(const Shape &shape, DType type) {
    return Tensor::full(shape, 7, type, gpu0);
  }

  /// Programs of a head.
  int64_t tiles() const { return (rows + options.blockM - 1) / options.blockM; }
  void launch() { launch(o, lse); }
  void launch(Tensor &into, Tensor &sums) const {
    flashAttention(q, k, v, options, into, sums);
  }

  /// What launches give in which every program has a block.
  std::vector<float> expected(int64_t multiprocessors) const {
    std::vector<float> all;
    if (heads == 0)
      return all;
    const int64_t most = std::max<int64_t>(multiprocessors / tiles(), 1);
    for (int64_t head = 0; head < heads; head += most) {
      const int64_t count = std::min(most, heads - head);
      auto part = [&](const Tensor &tensor) {
        return tensor.narrow(0, head, count);
      };
      Tensor some = empty(part(q).shape(), DType::BF16);
      Tensor sums = empty({count, rows}, DType::F32);
      flashAttention(part(q), part(k), part(v), options, some, sums);
      const std::vector<float> numbers = some.toVector<float>();
      all.insert(all.end(), numbers.begin(), numbers.end());
    }
    return all;
  }

  int64_t heads, rows;
  Tensor q, k, v, o, lse;
  FlashAttentionOptions options;
};

class ProgramCounterGpuTest : public GpuTest {
protected:
  int64_t multiprocessors() const {
    return device().properties().multiprocessors;
  }
};
} // namespace

TEST_F(ProgramCounterGpuTest, RepeatsGiveTheSameBits) {
  for (const int64_t headDim : {64, 128})
    for (const int64_t rows : {64, 130, 200, 1000}) {
      Problem problem(multiprocessors() * 2 + 5, rows, headDim);
      const std::vector<float> expected = problem.expected(multiprocessors());
      for (int repeat = 0; repeat < repeatsOf(40); ++repeat) {
        problem.o.fill(7);
        problem.launch();
        ASSERT_TRUE(problem.o.toVector<float>() == expected)
            << headDim << ", " << rows << " rows, launch " << repeat;
      }
    }
}

TEST_F(ProgramCounterGpuTest, ProgramsAroundTheNumberOfBlocks) {
  const int64_t most = multiprocessors();
  for (const int64_t rows : {100, 300})
    for (const int64_t programs : {int64_t(0), int64_t(1), most - 1, most,
                                   most + 1, 2 * most, 2 * most + 1}) {
      const int64_t tiles = Problem(1, rows, 128).tiles();
      Problem problem((programs + tiles - 1) / tiles, rows, 128);
      // Twice, as the second finds what the first leaves of the counter.
      for (int repeat = 0; repeat < 2; ++repeat) {
        problem.o.fill(7);
        problem.launch();
        ASSERT_TRUE(problem.o.toVector<float>() == problem.expected(most))
            << rows << " rows, " << programs << " programs";
      }
    }
}

TEST_F(ProgramCounterGpuTest, StreamsAtOnce) {
  std::vector<Problem> problems;
  std::vector<std::vector<float>> expected;
  std::vector<CudaStream> streams;
  for (const int64_t rows : {130, 200, 520}) {
    problems.emplace_back(multiprocessors() + 40, rows, 128);
    expected.push_back(problems.back().expected(multiprocessors()));
    problems.back().o.fill(7);
    streams.push_back(CudaStream::create(device()));
  }
  device().synchronize();
  // Many more launches than streams.
  for (int repeat = 0; repeat < repeatsOf(40); ++repeat) {
    for (size_t i = 0; i < streams.size(); ++i) {
      const CudaStreamGuard guard(streams[i]);
      problems[i].launch();
    }
  }
  device().synchronize();
  for (size_t i = 0; i < streams.size(); ++i)
    EXPECT_TRUE(problems[i].o.toVector<float>() == expected[i]) << i;
}

TEST_F(ProgramCounterGpuTest, CapturedLaunchesRunBesideOthers) {
  Problem one(multiprocessors() + 40, 200, 128);
  Problem other(multiprocessors() + 60, 300, 128);
  Problem outside(multiprocessors() + 50, 130, 128);
  const std::vector<float> expectedOne = one.expected(multiprocessors()),
                           expectedOther = other.expected(multiprocessors()),
                           expectedOutside =
                               outside.expected(multiprocessors());
  for (Problem *problem : {&one, &other, &outside})
    problem->launch(); // what a capture has no time for
  device().synchronize();
  const CudaStream stream = CudaStream::create(device());
  const CudaStream branch = CudaStream::create(device());
  CudaCapture capture(stream);
  {
    branch.wait(stream);
    const CudaStreamGuard guard(branch);
    other.launch();
  }
  {
    const CudaStreamGuard guard(stream);
    one.launch();
    one.launch();
  }
  stream.wait(branch);
  const CudaGraph graph = capture.finish();
  for (Problem *problem : {&one, &other, &outside})
    problem->o.fill(7);
  device().synchronize();
  for (int repeat = 0; repeat < repeatsOf(20); ++repeat) {
    graph.launch(stream);
    const CudaStreamGuard guard(branch);
    outside.launch();
  }
  device().synchronize();
  EXPECT_TRUE(one.o.toVector<float>() == expectedOne);
  EXPECT_TRUE(other.o.toVector<float>() == expectedOther);
  EXPECT_TRUE(outside.o.toVector<float>() == expectedOutside);
}
