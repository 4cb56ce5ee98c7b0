//===- FlashAttentionBackwardTestWidth.cpp - Tiles that are filled up -----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels whose tiles are wider than the head dimension, as GPUs have them for
// some, give the same as those whose tiles are not.
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionBackwardKernels.h"
#include "kernels/Reference/Judge.h"
#include "runtime/Jit.h"
#include "runtime/Tensor.h"

#include <gmock/gmock.h>

#include <vector>

using namespace flashtile;
using namespace flashtile::kernels;

namespace {
using Config = FlashAttentionBackwardConfig;

struct Gradients {
  Tensor dq, dk, dv;
};

/// `keys` and `finish` for a head of 40 columns.
class Problem {
public:
  explicit Problem(Config config) : config(config) {}

  Gradients run(int64_t width) {
    config.width = width;
    const int64_t columns = width ? width : config.headDim;
    Gradients result = {Tensor::zeros(q.shape(), config.dtype),
                        Tensor::zeros(k.shape(), config.dtype),
                        Tensor::zeros(k.shape(), config.dtype)};
    Tensor sums = Tensor::zeros({kHeads, kPitch, columns}, DType::F32);
    std::vector<ArgumentValue> values = {
        q, k, v, gradO, shift, delta, result.dk, result.dv, sums};
    addProblem(values, {&q, &k, &v, &gradO, &result.dk, &result.dv});
    launch(buildFlashAttentionBackwardKeys(config), values);
    if (config.causal) {
      values = {q, k, v, gradO, shift, delta, sums, result.dq};
      addProblem(values, {&q, &k, &v, &gradO, &result.dq});
      launch(buildFlashAttentionBackwardFinishCausal(config), values);
    } else {
      values = {sums, result.dq};
      for (const int64_t extent : {kHeads, kQueries, kPitch, int64_t(1)})
        values.push_back(static_cast<int32_t>(extent));
      addStrides(values, result.dq);
      values.push_back(0.5f);
      launch(buildFlashAttentionBackwardFinish(config), values);
    }
    return result;
  }

private:
  static constexpr int64_t kHeads = 2, kQueries = 50, kKeys = 70, kPitch = 128;

  static void addStrides(std::vector<ArgumentValue> &values,
                         const Tensor &tensor) {
    for (const int64_t stride :
         {kHeads * tensor.stride(0), tensor.stride(0), tensor.stride(1)})
      values.push_back(stride);
  }

  void addProblem(std::vector<ArgumentValue> &values,
                  std::initializer_list<const Tensor *> tensors) const {
    for (const int64_t extent :
         {kHeads, kHeads, kQueries, kKeys, kPitch, int64_t(1)})
      values.push_back(static_cast<int32_t>(extent));
    for (const Tensor *tensor : tensors)
      addStrides(values, *tensor);
    values.push_back(0.5f);
  }

  static void launch(const dsl::KernelModule &program,
                     const std::vector<ArgumentValue> &values) {
    Jit(Device::cpu())
        .compile(program)
        .kernel()
        .launchPositional(values.data(), values.size());
  }

  Config config;
  Tensor q = Tensor::randn({kHeads, kQueries, config.headDim}, config.dtype, 1);
  Tensor k = Tensor::randn({kHeads, kKeys, config.headDim}, config.dtype, 2);
  Tensor v = Tensor::randn({kHeads, kKeys, config.headDim}, config.dtype, 3);
  Tensor gradO =
      Tensor::randn({kHeads, kQueries, config.headDim}, config.dtype, 4);
  Tensor shift = Tensor::full({kHeads, kPitch}, 6, DType::F32);
  Tensor delta = Tensor::randn({kHeads, kPitch}, DType::F32, 5);
};
} // namespace

TEST(FlashAttentionBackwardWidth, ChangesNothing) {
  for (const ElementType type : {ElementType::BF16, ElementType::F32})
    for (const bool isCausal : {false, true})
      for (const bool packs : {false, true}) {
        if (packs && type == ElementType::F32)
          continue; // for 16-bit types only
        Config config;
        config.dtype = type;
        config.headDim = 40;
        config.blockM = config.blockN = 32;
        config.causal = isCausal;
        config.addsDq = true;
        config.packsDq = packs;
        Problem problem(config);
        const Gradients narrow = problem.run(0);
        const Tensor none = Tensor::zeros(narrow.dq.shape(), config.dtype);
        EXPECT_FALSE(reference::judgeExact(narrow.dq, none).pass);
        for (const int64_t width : {48, 64}) {
          const Gradients wide = problem.run(width);
          EXPECT_TRUE(reference::judgeExact(wide.dk, narrow.dk).pass) << width;
          EXPECT_TRUE(reference::judgeExact(wide.dv, narrow.dv).pass) << width;
          // Programs add to it in any order.
          const double least = type == ElementType::F32 ? 1e-5 : 5e-3;
          EXPECT_LT(reference::relativeError(wide.dq, narrow.dq), least)
              << width;
        }
      }
}
