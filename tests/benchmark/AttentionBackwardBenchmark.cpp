//===- AttentionBackwardBenchmark.cpp - Speed of gradients on the cpu -----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward beside the forward, in one process, so that ratios hold on a
// noisy machine: run as attention-benchmark is, with random interleaving, and
// compare the best times. FLOPs of the backward are 10 n n d, half of it if
// causal, whatever the form computes.
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionBackward.h"

#include <benchmark/benchmark.h>

using namespace flashtile;

using Form = FlashAttentionBackwardForm;

namespace {
struct Problem {
  Problem(int64_t n, int64_t d, DType dtype, bool causal) {
    q = Tensor::randn({n, d}, dtype, 1);
    k = Tensor::randn({n, d}, dtype, 2);
    v = Tensor::randn({n, d}, dtype, 3);
    dO = Tensor::randn({n, d}, dtype, 4);
    options.causal = causal;
    saved = flashAttentionSaved(q, k, v, options);
  }
  Tensor q, k, v, dO;
  FlashAttentionOptions options;
  FlashAttentionSaved saved;
};
} // namespace

static void setRate(benchmark::State &state, double products, bool causal) {
  const double n = double(state.range(0)), d = double(state.range(1));
  state.counters["GFLOP/s"] =
      benchmark::Counter(2 * products * n * n * d * (causal ? 0.5 : 1.0) * 1e-9,
                         benchmark::Counter::kIsIterationInvariantRate);
}

static void forward(benchmark::State &state, DType dtype, bool causal) {
  Problem problem(state.range(0), state.range(1), dtype, causal);
  auto call = [&] {
    flashAttention(problem.q, problem.k, problem.v, problem.options,
                   problem.saved.o, problem.saved.lse);
  };
  call();
  for (auto _ : state)
    call();
  setRate(state, 2, causal);
}

static void forwardSaved(benchmark::State &state, DType dtype, bool causal) {
  Problem problem(state.range(0), state.range(1), dtype, causal);
  for (auto _ : state)
    flashAttentionSaved(problem.q, problem.k, problem.v, problem.options);
  setRate(state, 2, causal);
}

static void run(benchmark::State &state, DType dtype, bool causal, Form form,
                bool queries, bool keys) {
  Problem problem(state.range(0), state.range(1), dtype, causal);
  FlashAttentionBackwardOptions options(problem.options);
  options.form = form;
  options.wantsQ = queries;
  options.wantsK = options.wantsV = keys;
  if (state.range(2)) {
    options.tiles.keys.blockM = options.tiles.queries.blockM = state.range(2);
    options.tiles.keys.blockN = options.tiles.queries.blockN = state.range(3);
  }
  auto call = [&] {
    flashAttentionBackward(problem.q, problem.k, problem.v, problem.saved,
                           problem.dO, {}, options);
  };
  call();
  for (auto _ : state)
    call();
  setRate(state, 5, causal);
}

static void backward(benchmark::State &state, DType dtype, bool causal,
                     Form form) {
  run(state, dtype, causal, form, true, true);
}
static void keysAlone(benchmark::State &state, DType dtype, bool causal) {
  run(state, dtype, causal, Form::FusedDeterministic, false, true);
}
static void queriesAlone(benchmark::State &state, DType dtype, bool causal) {
  run(state, dtype, causal, Form::FusedDeterministic, true, false);
}

static void sizes(benchmark::internal::Benchmark *benchmark) {
  benchmark->ArgNames({"n", "d", "m", "n"})
      ->Args({1024, 64, 0, 0})
      ->Args({1024, 128, 0, 0})
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
}
/// The tiles of the table beside others.
static void tiles(benchmark::internal::Benchmark *benchmark) {
  benchmark->ArgNames({"n", "d", "m", "n"});
  for (int64_t m : {32, 64, 128})
    for (int64_t n : {32, 64, 128})
      benchmark->Args({1024, 64, m, n});
  benchmark->Unit(benchmark::kMillisecond)->UseRealTime();
}

BENCHMARK_CAPTURE(forward, f32, DType::F32, false)->Apply(sizes);
BENCHMARK_CAPTURE(forward, f32_causal, DType::F32, true)->Apply(sizes);
BENCHMARK_CAPTURE(forward, bf16, DType::BF16, false)->Apply(sizes);
BENCHMARK_CAPTURE(forwardSaved, f32, DType::F32, false)->Apply(sizes);
BENCHMARK_CAPTURE(forwardSaved, bf16, DType::BF16, false)->Apply(sizes);
BENCHMARK_CAPTURE(backward, f32_fused, DType::F32, false, Form::Fused)
    ->Apply(sizes);
BENCHMARK_CAPTURE(backward, f32_deterministic, DType::F32, false,
                  Form::FusedDeterministic)
    ->Apply(sizes);
BENCHMARK_CAPTURE(backward, f32_dense, DType::F32, false, Form::Dense)
    ->Apply(sizes);
BENCHMARK_CAPTURE(backward, f32_causal_deterministic, DType::F32, true,
                  Form::FusedDeterministic)
    ->Apply(sizes);
BENCHMARK_CAPTURE(backward, bf16_fused, DType::BF16, false, Form::Fused)
    ->Apply(sizes);
BENCHMARK_CAPTURE(backward, bf16_deterministic, DType::BF16, false,
                  Form::FusedDeterministic)
    ->Apply(sizes);
BENCHMARK_CAPTURE(keysAlone, f32, DType::F32, false)->Apply(tiles);
BENCHMARK_CAPTURE(queriesAlone, f32, DType::F32, false)->Apply(tiles);

BENCHMARK_MAIN();
