//===- AutogradBenchmark.cpp - What the tape costs ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host time of the tape itself: the Functions here compute nothing. The counter
// `per_node` is the time of one node. Goal: below 5 us for record, backward and
// free together.
//
//   taskset -c 1 autograd-benchmark --benchmark_repetitions=9
//       --benchmark_report_aggregates_only=true
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionFunction.h"
#include "runtime/Autograd/Autograd.h"

#include <benchmark/benchmark.h>

using namespace flashtile;

namespace {
/// One operand, which is saved.
struct Identity : autograd::Function<Identity> {
  static Tensor forward(autograd::Context &ctx, const Tensor &x) {
    ctx.saveForBackward({x});
    return x.detach();
  }
  static TensorList backward(autograd::Context &ctx, TensorList gradOutputs) {
    benchmark::DoNotOptimize(ctx.savedTensors());
    return gradOutputs;
  }
};

/// As much as attention saves: three operands, two results, and options.
struct LikeAttention : autograd::Function<LikeAttention> {
  static std::pair<Tensor, Tensor>
  forward(autograd::Context &ctx, const Tensor &q, const Tensor &k,
          const Tensor &v, const FlashAttentionOptions &options) {
    const Tensor o = q.detach(), lse = k.detach();
    ctx.saveForBackward({q, k, v, o, lse, Tensor(), lse});
    ctx.savedData["options"] = options;
    ctx.setMaterializeGrads(false);
    return {o, lse};
  }
  static TensorList backward(autograd::Context &ctx,
                             const TensorList &gradOutputs) {
    benchmark::DoNotOptimize(ctx.savedTensors());
    benchmark::DoNotOptimize(
        ctx.savedData.at("options").to<FlashAttentionOptions>().causal);
    TensorList gradients(4);
    for (size_t i = 0; i < 3; ++i)
      if (ctx.needsInputGrad(i))
        gradients[i] = gradOutputs[0];
    return gradients;
  }
};

Tensor parameter() {
  return Tensor::zeros({4, 4}, DType::F32).setRequiresGrad();
}

Tensor chain(const Tensor &x, int64_t length) {
  Tensor y = x;
  for (int64_t i = 0; i < length; ++i)
    y = Identity::apply(y);
  return y;
}

Tensor attentionChain(const Tensor &x, int64_t length) {
  Tensor y = x;
  for (int64_t i = 0; i < length; ++i)
    y = LikeAttention::apply(y, y, y, FlashAttentionOptions()).first;
  return y;
}

Tensor viewChain(const Tensor &x, int64_t length) {
  Tensor y = x;
  for (int64_t i = 0; i < length; ++i)
    y = y.transpose(0, 1);
  return y;
}

using Chain = Tensor (*)(const Tensor &, int64_t);
} // namespace

static void setPerNode(benchmark::State &state) {
  state.counters["per_node"] = benchmark::Counter(
      double(state.range(0)), benchmark::Counter::kIsIterationInvariantRate |
                                  benchmark::Counter::kInvert);
}

/// The calls, and the end of a graph that nobody went through.
static void record(benchmark::State &state, Chain chain) {
  const Tensor x = parameter();
  for (auto _ : state)
    benchmark::DoNotOptimize(chain(x, state.range(0)));
  setPerNode(state);
}

/// The same where nothing is recorded.
static void recordNothing(benchmark::State &state, Chain chain) {
  const Tensor x = parameter();
  const NoGradGuard noGrad;
  for (auto _ : state)
    benchmark::DoNotOptimize(chain(x, state.range(0)));
  setPerNode(state);
}

/// The way back alone.
static void backward(benchmark::State &state, Chain chain) {
  const Tensor x = parameter();
  const Tensor y = chain(x, state.range(0));
  const Tensor gradient = Tensor::zeros({4, 4}, DType::F32);
  for (auto _ : state)
    y.backward(gradient, /*retainGraph=*/true);
  setPerNode(state);
}

/// All of it: record, backward, free.
static void wholeStep(benchmark::State &state, Chain chain) {
  const Tensor x = parameter();
  const Tensor gradient = Tensor::zeros({4, 4}, DType::F32);
  for (auto _ : state)
    chain(x, state.range(0)).backward(gradient);
  setPerNode(state);
}

/// Many leaves, one call each: what parameters cost.
static void leaves(benchmark::State &state) {
  std::vector<Tensor> parameters;
  for (int64_t i = 0; i < state.range(0); ++i)
    parameters.push_back(parameter());
  const Tensor gradient = Tensor::zeros({4, 4}, DType::F32);
  for (auto _ : state) {
    TensorList results, gradients;
    for (const Tensor &leaf : parameters) {
      results.push_back(Identity::apply(leaf));
      gradients.push_back(gradient);
    }
    autograd::backward(results, gradients);
  }
  setPerNode(state);
}

static void lengths(benchmark::internal::Benchmark *benchmark) {
  benchmark->Arg(10)->Arg(1000)->Arg(100000);
}

BENCHMARK_CAPTURE(record, function, chain)->Apply(lengths);
BENCHMARK_CAPTURE(record, view, viewChain)->Arg(1000);
BENCHMARK_CAPTURE(record, like_attention, attentionChain)->Arg(1000);
BENCHMARK_CAPTURE(recordNothing, function, chain)->Arg(1000);
BENCHMARK_CAPTURE(backward, function, chain)->Apply(lengths);
BENCHMARK_CAPTURE(backward, view, viewChain)->Arg(1000);
BENCHMARK_CAPTURE(backward, like_attention, attentionChain)->Arg(1000);
BENCHMARK_CAPTURE(wholeStep, function, chain)->Apply(lengths);
BENCHMARK_CAPTURE(wholeStep, like_attention, attentionChain)->Arg(1000);
BENCHMARK(leaves)->Arg(1000);

BENCHMARK_MAIN();
