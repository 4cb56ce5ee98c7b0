//===- WitnessKernelsTest.cpp - Passes that know no kernel ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that are not flash attention, in the tiles that applications get:
// kinds of attention, products with epilogues, two layers in one. They neither
// spill nor wait (ShippedKernelsTest.cpp), and on sm_90a get from the same
// passes what attention gets: tiles by TMA through rings, warp roles with
// register budgets, products of warpgroups beside other work.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Compiler.h"
#include "compiler/Driver/PtxAssembler.h"
#include "kernels/AttentionVariantKernel.h"
#include "kernels/AttentionVariants.h"
#include "kernels/Matmul.h"
#include "kernels/MatmulKernel.h"
#include "kernels/Mlp.h"
#include "kernels/MlpKernel.h"

#include <gmock/gmock.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

using namespace flashtile;
using testing::Contains;
using testing::HasSubstr;

namespace {

struct Witness {
  std::string name; ///< letters, digits and underscores
  std::string target;
  int64_t numWarps, numStages;
  std::string overlap; ///< of the remark for its innermost loop
  std::function<std::string()> text;
  std::string persistent = "auto";

  friend std::ostream &operator<<(std::ostream &os, const Witness &witness) {
    return os << witness.name;
  }
};

class WitnessKernelsTest : public testing::TestWithParam<Witness> {
protected:
  static ArtifactResult compile(const Witness &witness) {
    CompilerOptions options;
    options.target = witness.target;
    options.numWarps = witness.numWarps;
    options.numStages = witness.numStages;
    options.persistent = witness.persistent;
    return compileToArtifact(witness.text(), witness.name, options);
  }
};

constexpr const char *twoProducts =
    "the first product of a tile runs beside the second of the one before";
constexpr const char *oneProduct =
    "the product runs while the next iteration starts";

struct Target {
  const char *name;
  DeviceClass device;
};
constexpr Target targets[] = {{"sm_80", DeviceClass::Sm80},
                              {"sm_90a", DeviceClass::Sm90a}};

void addAttention(std::vector<Witness> &all, const Target &target,
                  AttentionVariant variant, ElementType type, int64_t headDim,
                  bool isCausal, bool fastTanh = false) {
  const FlashAttentionTiles tiles = defaultAttentionVariantTiles(
      {target.device, type, headDim, isCausal}, variant);
  kernels::AttentionVariantConfig config;
  config.variant = variant;
  config.dtype = type;
  config.headDim = headDim;
  config.causal = isCausal;
  config.blockM = tiles.blockM;
  config.blockN = tiles.blockN;
  config.scaleIsPositive = true;
  config.fastTanh = fastTanh;
  all.push_back(
      {std::string(attentionVariantName(variant)) + "_" +
           std::string(elementTypeName(type)) + "_d" + std::to_string(headDim) +
           (isCausal ? "_causal" : "") + (fastTanh ? "_fast_tanh" : "") + "_" +
           target.name,
       target.name, tiles.numWarps, tiles.numStages, twoProducts,
       [config] { return kernels::buildAttentionVariantKernel(config).text(); },
       kernels::attentionVariantPersistence(config)});
}

void addMatmul(std::vector<Witness> &all, const Target &target,
               Activation activation) {
  const MatmulTiles tiles = defaultMatmulTiles(target.device, ElementType::BF16,
                                               activation, /*hasBias=*/true);
  kernels::MatmulKernelConfig config;
  config.blockM = tiles.blockM;
  config.blockN = tiles.blockN;
  config.blockK = tiles.blockK;
  config.hasBias = true;
  config.activation = activation;
  all.push_back(
      {std::string("matmul_bias_") + activationName(activation) + "_" +
           target.name,
       target.name, tiles.numWarps, tiles.numStages, oneProduct,
       [config] { return kernels::buildMatmulKernel(config).text(); }});
}

void addMlp(std::vector<Witness> &all, const Target &target,
            Activation activation, int64_t width, bool hasBias) {
  const MlpTiles tiles =
      defaultMlpTiles(target.device, ElementType::BF16, width, activation);
  kernels::MlpKernelConfig config;
  config.inputs = config.outputs = width;
  config.activation = activation;
  config.hasBias = hasBias;
  config.blockM = tiles.blockM;
  config.blockH = tiles.blockH;
  all.push_back({std::string("mlp_") + activationName(activation) + "_" +
                     std::to_string(width) + (hasBias ? "_bias_" : "_") +
                     target.name,
                 target.name, tiles.numWarps, tiles.numStages, twoProducts,
                 [config] { return kernels::buildMlpKernel(config).text(); }});
}

std::vector<Witness> witnesses() {
  std::vector<Witness> all;
  for (const Target &target : targets) {
    for (const AttentionVariant variant :
         {AttentionVariant::Softcap, AttentionVariant::Alibi,
          AttentionVariant::SlidingWindow, AttentionVariant::Sigmoid})
      for (const bool isCausal : {false, true})
        for (const int64_t headDim : {64, 128, 256})
          addAttention(all, target, variant, ElementType::BF16, headDim,
                       isCausal);
    addAttention(all, target, AttentionVariant::Softcap, ElementType::BF16, 128,
                 /*isCausal=*/true, /*fastTanh=*/true);
    for (const Activation activation : kActivations) {
      addMatmul(all, target, activation);
      for (const int64_t width : {64, 128, 256})
        addMlp(all, target, activation, width, /*hasBias=*/width == 128);
    }
  }
  return all;
}

} // namespace

TEST_P(WitnessKernelsTest, NeitherSpillsNorWaits) {
  std::string missing;
  const std::string ptxas = findPtxas("", missing);
  if (ptxas.empty())
    GTEST_SKIP() << missing;
  const Witness &witness = GetParam();
  const ArtifactResult compiled = compile(witness);
  ASSERT_TRUE(compiled.artifact) << compiled.error;
  const AssembledPtx assembled =
      assemblePtx(compiled.artifact->code, witness.target, ptxas);
  ASSERT_EQ(assembled.error, "");
  EXPECT_THAT(assembled.log.advice, testing::IsEmpty());
  for (const auto &[name, taken] : assembled.log.functions) {
    EXPECT_EQ(taken.spillStoreBytes, 0) << name;
    EXPECT_EQ(taken.spillLoadBytes, 0) << name;
  }
}

TEST_P(WitnessKernelsTest, GetsRingsRolesAndOverlapOnHopper) {
  const Witness &witness = GetParam();
  if (witness.target != "sm_90a")
    return;
  const ArtifactResult compiled = compile(witness);
  ASSERT_TRUE(compiled.artifact) << compiled.error;
  const std::string &ptx = compiled.artifact->code;
  for (const char *instruction :
       {"wgmma.mma_async.sync.aligned", "cp.async.bulk.tensor",
        "mbarrier.try_wait", "setmaxnreg.inc", "setmaxnreg.dec"})
    EXPECT_NE(ptx.find(instruction), std::string::npos) << instruction;
  const std::vector<std::string> &remarks = compiled.artifact->remarks;
  EXPECT_THAT(remarks, Contains(HasSubstr("by TMA through rings of")));
  EXPECT_THAT(remarks, Contains(HasSubstr(witness.overlap)));
}

INSTANTIATE_TEST_SUITE_P(All, WitnessKernelsTest,
                         testing::ValuesIn(witnesses()),
                         [](const auto &info) { return info.param.name; });
