//===- GradientPtxTest.cpp - What ptxas makes of the tape's kernels -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of gradients that are none of attention's, assembled for both
// families of GPUs: they neither spill nor draw advice.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Compiler.h"
#include "kernels/ActivationBackwardKernel.h"
#include "kernels/SoftmaxBackwardKernel.h"
#include "kernels/SoftmaxGradientKernel.h"
#include "runtime/Autograd/GradientKernels.h"
#include "tests/compiler/ptx/PtxasTest.h"

#include <gmock/gmock.h>

using namespace flashtile;

namespace {

class GradientPtxTest : public PtxasTest {
protected:
  void expectGood(const dsl::KernelModule &module, const std::string &name) {
    for (const char *target : {"sm_80", "sm_90a"}) {
      SCOPED_TRACE(name + " for " + target);
      CompilerOptions options;
      options.target = target;
      const ArtifactResult compiled =
          compileToArtifact(module.text(), name, options);
      ASSERT_TRUE(compiled.artifact) << compiled.error;
      const AssembledPtx assembled =
          assemblePtx(compiled.artifact->code, target, ptxas);
      ASSERT_EQ(assembled.error, "");
      EXPECT_FALSE(assembled.log.functions.empty()) << assembled.text;
      for (const auto &[symbol, taken] : assembled.log.functions)
        EXPECT_EQ(taken.spillStoreBytes, 0) << symbol;
      EXPECT_THAT(assembled.log.advice, testing::IsEmpty());
    }
  }
};

constexpr DType types[] = {DType::F64, DType::F32, DType::BF16};

} // namespace

TEST_F(GradientPtxTest, Elementwise) {
  for (DType type : types)
    for (int64_t rank : {1, 5})
      for (bool accumulates : {false, true})
        expectGood(
            autograd::buildElementwise(type, DType::F32, rank, accumulates),
            toString(type) + " " + std::to_string(rank));
}

TEST_F(GradientPtxTest, Sums) {
  for (DType type : types)
    for (bool isWide : {false, true})
      expectGood(autograd::buildSum(type, isWide),
                 toString(type) + (isWide ? " wide" : ""));
}

TEST_F(GradientPtxTest, Activations) {
  for (Activation activation : {Activation::Relu, Activation::Gelu,
                                Activation::GeluTanh, Activation::Silu}) {
    expectGood(
        kernels::buildActivationBackward(activation, DType::F32, DType::BF16),
        activationName(activation));
    expectGood(
        kernels::buildActivationBackward(activation, DType::F64, DType::F64),
        activationName(activation));
  }
}

// Of dense attention, with weights from memory.
TEST_F(GradientPtxTest, SoftmaxOfWeights) {
  for (DType type : types) {
    kernels::SoftmaxGradientConfig config;
    config.outputType = type;
    config.copiesWeights = type == DType::BF16;
    config.hasGradLse = true;
    const int64_t elements = type == DType::F64 ? 512 : 2048;
    for (int64_t columns : {int64_t(32), int64_t(256), elements}) {
      config.blockColumns = columns;
      config.blockRows = elements / columns;
      expectGood(kernels::buildSoftmaxGradient(config),
                 toString(type) + " " + std::to_string(columns));
    }
  }
}

TEST_F(GradientPtxTest, Softmax) {
  for (DType type : types)
    for (auto [singleTile, unitColumns] :
         {std::pair(true, true), std::pair(true, false),
          std::pair(false, true)}) {
      kernels::SoftmaxBackwardConfig config;
      config.dtype = config.gradType = type;
      config.causal = config.hasGradLse = true;
      config.singleTile = singleTile;
      config.unitColumns = unitColumns;
      config.blockRows = 1;
      config.blockColumns =
          (type == DType::F64 ? 1024 : 2048) / (singleTile ? 1 : 4);
      expectGood(kernels::buildSoftmaxBackward(config),
                 toString(type) + (singleTile ? " single tile" : "") +
                     (unitColumns ? " unit columns" : ""));
    }
}
