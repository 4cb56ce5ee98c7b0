//===- FlashAttentionTestShortened.cpp - Tiles beyond the diagonal --------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The causal kernel whose loop the compiler ends at the diagonal, since it
// proves that the tiles beyond change nothing, gives what the kernel gives that
// ends there by itself; also in rows whose scores are infinite or NaN, on which
// the proof is not obvious.
//
//===----------------------------------------------------------------------===//

#include "FlashAttentionTestSupport.h"

#include "kernels/FlashAttentionForward.h"
#include "runtime/Jit.h"

using namespace flashtile;

static FlashAttentionResult launch(const Problem &problem, bool shortened,
                                   bool positiveScale) {
  kernels::FlashAttentionConfig config;
  config.dtype = problem.q.dtype();
  config.outputType = DType::F32;
  config.headDim = problem.q.size(3);
  config.blockM = 16;
  config.blockN = 16;
  config.causal = true;
  config.alignment = problem.options.alignment;
  config.scaleIsPositive = positiveScale;
  config.shortenedLoop = shortened;
  const Kernel kernel =
      Jit(Device::cpu())
          .compile(kernels::buildFlashAttentionForward(config))
          .kernel();
  FlashAttentionResult result{
      Tensor::empty(problem.q.shape(), DType::F32),
      Tensor::empty({1, 1, problem.q.size(2)}, DType::F32)};
  auto i32 = [](int64_t value) { return static_cast<int32_t>(value); };
  std::vector<ArgumentValue> arguments = {problem.q,
                                          problem.k,
                                          problem.v,
                                          result.o,
                                          result.lse,
                                          int32_t(1),
                                          int32_t(1),
                                          i32(problem.q.size(2)),
                                          i32(problem.k.size(2)),
                                          int32_t(1)};
  for (const Tensor &tensor : {problem.q, problem.k, problem.v, result.o})
    for (int64_t dim = 0; dim < 3; ++dim)
      arguments.push_back(tensor.stride(dim));
  arguments.push_back(0.25f);
  kernel.launchPositional(arguments.data(), arguments.size());
  return result;
}

static void expectAlike(const Problem &problem) {
  for (bool positiveScale : {false, true}) {
    auto actual = launch(problem, false, positiveScale);
    auto expected = launch(problem, true, positiveScale);
    EXPECT_TRUE(
        accepted(reference::judgeExact(actual.o, expected.o.to(DType::F64))));
    EXPECT_TRUE(accepted(
        reference::judgeExact(actual.lse, expected.lse.to(DType::F64))));
  }
}

static Problem smallProblem(int64_t queries, int64_t keys, DType dtype,
                            CausalAlignment alignment) {
  auto problem =
      randomProblem({1, 1, queries, 16}, {1, 1, keys, 16}, dtype, true);
  problem.options.alignment = alignment;
  return problem;
}

TEST(FlashAttentionShortened, Lengths) {
  for (auto alignment :
       {CausalAlignment::BottomRight, CausalAlignment::TopLeft})
    for (auto [queries, keys] : {std::pair(64, 64), std::pair(50, 77),
                                 std::pair(77, 50), std::pair(5, 40)}) {
      SCOPED_TRACE(std::to_string(queries) + "x" + std::to_string(keys));
      expectAlike(smallProblem(queries, keys, DType::BF16, alignment));
    }
}

TEST(FlashAttentionShortened, NonFinite) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F16})
    for (double value : {notANumber, infinity, -infinity})
      for (int64_t key : {2, 20, 37, 60}) {
        SCOPED_TRACE(std::to_string(value) + " at " + std::to_string(key));
        auto problem = smallProblem(64, 64, dtype, CausalAlignment::TopLeft);
        problem.v.set({0, 0, key, 3}, value);
        expectAlike(problem);
        // Scores of both signs of infinity, or NaN, in the key's column.
        problem.k.set({0, 0, key, 5}, value);
        expectAlike(problem);
        // A query whose scores all are.
        problem.q.set({0, 0, 30, 1}, value);
        expectAlike(problem);
        // And tiles of values that are not finite for all rows.
        problem.v.set({0, 0, 0, 7}, -value);
        problem.v.set({0, 0, 50, 8}, -value);
        expectAlike(problem);
      }
}
