//===- AttentionBenchmark.cpp - Speed of the forward on the cpu -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Flash attention beside dense attention by Eigen and the peak rate of
// multiply-adds, in one process, so that ratios hold on a noisy machine:
//
//   taskset -c 1 attention-benchmark --benchmark_repetitions=9
//       --benchmark_enable_random_interleaving=true
//       --benchmark_report_aggregates_only=true
//
// Without taskset, flash attention runs on all processors.
// FLOPs are 4 n n d, half of it if causal.
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttention.h"
#include "runtime/Jit.h"
#include "runtime/ThreadPool.h"

#include <Eigen/Core>
#include <benchmark/benchmark.h>

#include <cmath>

using namespace flashtile;

namespace {
using Matrix =
    Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using View = Eigen::Map<const Matrix>;

struct Problem {
  Problem(int64_t n, int64_t d, DType dtype)
      : q(Tensor::randn({n, d}, DType::F32, 1).to(dtype)),
        k(Tensor::randn({n, d}, DType::F32, 2).to(dtype)),
        v(Tensor::randn({n, d}, DType::F32, 3).to(dtype)),
        o(Tensor::empty({n, d}, dtype)), lse(Tensor::empty({n}, DType::F32)) {}
  Tensor q, k, v, o, lse;
};
} // namespace

static void setRate(benchmark::State &state, double flops) {
  state.counters["GFLOP/s"] = benchmark::Counter(
      flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

static void flashAttentionForward(benchmark::State &state, DType dtype,
                                  bool causal) {
  int64_t n = state.range(0), d = state.range(1);
  Problem problem(n, d, dtype);
  FlashAttentionOptions options;
  options.causal = causal;
  flashAttention(problem.q, problem.k, problem.v, options, problem.o,
                 problem.lse);
  for (auto _ : state)
    flashAttention(problem.q, problem.k, problem.v, options, problem.o,
                   problem.lse);
  setRate(state, 4.0 * n * n * d * (causal ? 0.5 : 1.0));
}

/// What one writes with Eigen: scores of a block of rows, softmax, product.
static void denseEigen(benchmark::State &state) {
  int64_t n = state.range(0), d = state.range(1);
  constexpr int64_t kRows = 256;
  Problem problem(n, d, DType::F32);
  View q(problem.q.data<float>(), n, d), k(problem.k.data<float>(), n, d),
      v(problem.v.data<float>(), n, d);
  Eigen::Map<Matrix> o(problem.o.data<float>(), n, d);
  float scale = 1.0f / std::sqrt(float(d));
  Matrix scores(kRows, n);
  for (auto _ : state) {
    for (int64_t row = 0; row < n; row += kRows) {
      int64_t rows = std::min(kRows, n - row);
      auto s = scores.topRows(rows);
      s.noalias() = (q.middleRows(row, rows) * scale) * k.transpose();
      Eigen::VectorXf maximum = s.rowwise().maxCoeff();
      s = (s.colwise() - maximum).array().exp();
      Eigen::VectorXf inverse = s.rowwise().sum().cwiseInverse();
      o.middleRows(row, rows).noalias() = s * v;
      o.middleRows(row, rows).array().colwise() *= inverse.array();
    }
    benchmark::ClobberMemory();
  }
  setRate(state, 4.0 * n * n * d);
}

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
typedef float Vector __attribute__((vector_size(kVectorBytes)));

/// Multiply-adds of registers only: the ceiling of the machine.
static void multiplyAddPeak(benchmark::State &state) {
  constexpr int kSums = 12, kSteps = 4096;
  Vector sums[kSums] = {}, factor, addend;
  for (int lane = 0; lane < int(sizeof(Vector) / sizeof(float)); ++lane) {
    factor[lane] = 0.999f;
    addend[lane] = 1e-3f;
  }
  for (auto _ : state) {
    for (int step = 0; step < kSteps; ++step)
      for (int sum = 0; sum < kSums; ++sum) {
        sums[sum] = sums[sum] * factor + addend;
        asm volatile("" : "+v"(sums[sum]));
      }
  }
  for (Vector &sum : sums)
    benchmark::DoNotOptimize(sum);
  setRate(state, 2.0 * kSteps * kSums * sizeof(Vector) / sizeof(float));
}

static void coldCompile(benchmark::State &state, DType dtype, bool causal) {
  kernels::FlashAttentionConfig config;
  config.dtype = dtype;
  config.headDim = state.range(0);
  config.causal = causal;
  config.scaleIsPositive = true;
  for (auto _ : state) {
    Jit::clearCache();
    Kernel kernel =
        Jit().compile(kernels::buildFlashAttentionForward(config)).kernel();
    state.counters["code_bytes"] = double(kernel.report().codeBytes);
  }
}

static void launchOverhead(benchmark::State &state) {
  Kernel kernel = Jit()
                      .compile(R"(
    tile.kernel @nothing(%x: !tile.ptr<f32>, %n: i32, %a: f32) grid(n) -> (n) {
      tile.return
    })")
                      .kernel();
  Tensor x = Tensor::zeros({1}, DType::F32);
  for (auto _ : state)
    kernel(x, 1, 0.5f);
}

static void sizes(benchmark::internal::Benchmark *benchmark) {
  benchmark->ArgNames({"n", "d"})
      ->Args({1024, 64})
      ->Args({1024, 128})
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
}

BENCHMARK(multiplyAddPeak)->UseRealTime();
BENCHMARK(denseEigen)->Apply(sizes);
BENCHMARK_CAPTURE(flashAttentionForward, f32, DType::F32, false)->Apply(sizes);
BENCHMARK_CAPTURE(flashAttentionForward, f32_causal, DType::F32, true)
    ->Apply(sizes);
BENCHMARK_CAPTURE(flashAttentionForward, bf16, DType::BF16, false)
    ->Apply(sizes);
BENCHMARK_CAPTURE(flashAttentionForward, f16, DType::F16, false)->Apply(sizes);
BENCHMARK_CAPTURE(coldCompile, f32, DType::F32, false)
    ->Arg(64)
    ->Arg(128)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(coldCompile, bf16_causal, DType::BF16, true)
    ->Arg(64)
    ->Arg(128)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(launchOverhead)->UseRealTime();

BENCHMARK_MAIN();
