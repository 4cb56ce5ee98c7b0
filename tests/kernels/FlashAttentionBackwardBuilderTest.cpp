//===- FlashAttentionBackwardBuilderTest.cpp - Programs of the backward ---===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionBackwardKernels.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <fstream>
#include <sstream>

using namespace flashtile;
using namespace flashtile::kernels;
using testing::HasSubstr;
using testing::Not;

namespace {
using Config = FlashAttentionBackwardConfig;
using Build = dsl::KernelModule (*)(const Config &);
} // namespace

// Printing both with fresh names leaves nothing but the program.
TEST(FlashAttentionBackwardBuilder, EqualsTheTextThatIsRead) {
  std::ifstream file(FLASHTILE_BACKWARD_TEXT);
  ASSERT_TRUE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  const auto read =
      dsl::KernelModule::parse(text.str(), FLASHTILE_BACKWARD_TEXT);
  Config config;
  config.addsDq = true;
  EXPECT_EQ(buildFlashAttentionBackwardKeys(config).text(), read.text());
}

TEST(FlashAttentionBackwardBuilder, EveryTypeAndHeadDimVerifies) {
  for (const ElementType type : {ElementType::F32, ElementType::F16,
                                 ElementType::BF16, ElementType::F64})
    for (int64_t headDim = 8; headDim <= 256; headDim += 8)
      for (const bool causal : {false, true})
        for (const bool addsDq : {false, true}) {
          Config config;
          config.dtype = type;
          config.headDim = headDim;
          config.causal = causal;
          config.addsDq = addsDq;
          config.grouped = headDim % 16 == 0;
          config.hasORest = config.hasGradLse = causal;
          config.hasLseRest = !causal;
          config.unitInnerStride = headDim % 24 != 0;
          for (const Build build : {buildFlashAttentionBackwardRows,
                                    buildFlashAttentionBackwardKeys,
                                    buildFlashAttentionBackwardQueries,
                                    buildFlashAttentionBackwardFinish})
            EXPECT_NO_THROW(build(config).text())
                << elementTypeName(type) << " at head dimension " << headDim;
          if (causal && addsDq)
            EXPECT_NO_THROW(buildFlashAttentionBackwardFinishCausal(config));
          config.mends = true;
          config.keysBlockM = config.keysBlockN = 128;
          if (causal && !addsDq)
            EXPECT_NO_THROW(buildFlashAttentionBackwardMend(config));
        }
}

// What only the form with dq needs is nowhere else: masks of keys behind the
// end, and additions to memory.
TEST(FlashAttentionBackwardBuilder, MasksOnlyWhatHasToBe) {
  Config config;
  std::string text = buildFlashAttentionBackwardKeys(config).text();
  EXPECT_THAT(text, Not(HasSubstr("arith.select")));
  EXPECT_THAT(text, Not(HasSubstr("tile.atomic_add")));
  config.causal = true;
  text = buildFlashAttentionBackwardKeys(config).text();
  EXPECT_THAT(text, HasSubstr("@flash_attention_backward_keys_causal"));
  EXPECT_THAT(text, HasSubstr("arith.select"));
  EXPECT_THAT(text, Not(HasSubstr("scf.if")));
}

static std::string refusal(Build build, const Config &config) {
  try {
    build(config);
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    return error.what();
  }
  ADD_FAILURE() << "expected an Error";
  return {};
}

TEST(FlashAttentionBackwardBuilder, RefusesWhatIsOutOfItsLimits) {
  Config config;
  config.headDim = 260;
  EXPECT_THAT(refusal(buildFlashAttentionBackwardKeys, config),
              HasSubstr("expected headDim between 8 and 256 in steps of 8, but "
                        "got 260"));
  config = {};
  config.width = 60;
  EXPECT_THAT(refusal(buildFlashAttentionBackwardKeys, config),
              HasSubstr("expected width between headDim, 64, and 256 in steps "
                        "of 8, but got 60"));
  config = {};
  config.dtype = ElementType::F8E5M2;
  EXPECT_THAT(
      refusal(buildFlashAttentionBackwardRows, config),
      HasSubstr("expected dtype to be f32, f16, bf16 or f64, but got f8E5M2"));
  config = {};
  config.blockM = 0;
  EXPECT_THAT(refusal(buildFlashAttentionBackwardQueries, config),
              HasSubstr("expected blockM between 1 and 16384, but got 0"));
  config = {};
  config.blockM = config.blockN = 2048;
  EXPECT_THAT(refusal(buildFlashAttentionBackwardKeys, config),
              HasSubstr("expected blockN between 1 and 512, but got 2048"));
  config = {};
  EXPECT_THAT(refusal(buildFlashAttentionBackwardFinishCausal, config),
              HasSubstr("expected addsDq and causal"));
  EXPECT_THAT(refusal(buildFlashAttentionBackwardMend, config),
              HasSubstr("expected mends with causal"));
  config.causal = config.mends = true;
  config.keysBlockM = 64;
  config.keysBlockN = 96;
  EXPECT_THAT(refusal(buildFlashAttentionBackwardMend, config),
              HasSubstr("keysBlockN a multiple of 64, but got 64 and 96"));
}
