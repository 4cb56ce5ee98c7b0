//===- FlashAttentionBuilderTest.cpp - The forward kernel's program -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionForward.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <fstream>
#include <sstream>

using namespace flashtile;
using namespace flashtile::kernels;
using testing::HasSubstr;
using testing::Not;

static std::string textOf(const FlashAttentionConfig &config) {
  return buildFlashAttentionForward(config).text();
}

// Printing both with fresh names leaves nothing but the program.
TEST(FlashAttentionBuilder, EqualsTheTextThatIsRead) {
  std::ifstream file(FLASHTILE_ATTENTION_TEXT);
  ASSERT_TRUE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  auto read = dsl::KernelModule::parse(text.str(), FLASHTILE_ATTENTION_TEXT);

  dsl::KernelModule built;
  FlashAttentionConfig config;
  addFlashAttentionForward(built, flashAttentionForwardName(config), config);
  config.causal = true;
  addFlashAttentionForward(built, flashAttentionForwardName(config), config);
  EXPECT_EQ(built.text(), read.text());
}

TEST(FlashAttentionBuilder, EveryTypeAndHeadDimVerifies) {
  for (ElementType type :
       {ElementType::F32, ElementType::F16, ElementType::BF16,
        ElementType::F8E4M3FN, ElementType::F8E5M2})
    for (int64_t headDim = 8; headDim <= 256; headDim += 8)
      for (bool causal : {false, true}) {
        FlashAttentionConfig config;
        config.dtype = type;
        config.headDim = headDim;
        config.causal = causal;
        EXPECT_NO_THROW(textOf(config))
            << elementTypeName(type) << " at head dimension " << headDim;
      }
}

TEST(FlashAttentionBuilder, EveryTileVerifies) {
  for (int64_t blockM : {1, 16, 48, 64, 100, 128})
    for (int64_t blockN : {1, 8, 40, 64, 176}) {
      FlashAttentionConfig config;
      config.blockM = blockM;
      config.blockN = blockN;
      config.causal = true;
      // A quotient by 1 is the extent itself.
      std::string extent =
          blockM == 1 ? "(d2, d0" : "(d2 ceildiv " + std::to_string(blockM);
      EXPECT_THAT(textOf(config), HasSubstr(extent)) << blockN;
    }
}

TEST(FlashAttentionBuilder, TextSurvivesARoundTrip) {
  FlashAttentionConfig config;
  config.causal = true;
  config.dtype = ElementType::F8E4M3FN;
  config.headDim = 72;
  std::string text = textOf(config);
  EXPECT_EQ(dsl::KernelModule::parse(text).text(), text);
}

TEST(FlashAttentionBuilder, CausalAlignment) {
  FlashAttentionConfig config;
  config.causal = true;
  EXPECT_THAT(textOf(config), HasSubstr("arith.subi %seq_k, %seq_q"));
  config.alignment = CausalAlignment::TopLeft;
  EXPECT_THAT(textOf(config), Not(HasSubstr("arith.subi %seq_k, %seq_q")));
}

TEST(FlashAttentionBuilder, OnlyCausalKernelsHaveAStrictLoop) {
  FlashAttentionConfig config;
  EXPECT_THAT(textOf(config), Not(HasSubstr("scf.if")));
  config.causal = true;
  EXPECT_THAT(textOf(config), HasSubstr("scf.if"));
}

TEST(FlashAttentionBuilder, ShortenedLoop) {
  FlashAttentionConfig config;
  config.causal = true;
  EXPECT_THAT(textOf(config), HasSubstr("to %seq_k step"));
  config.shortenedLoop = true;
  std::string text = textOf(config);
  EXPECT_THAT(text, HasSubstr("arith.minsi %seq_k"));
  EXPECT_THAT(text, Not(HasSubstr("to %seq_k step")));
}

TEST(FlashAttentionBuilder, PositiveScale) {
  FlashAttentionConfig config;
  EXPECT_THAT(textOf(config), Not(HasSubstr("tile.assume")));
  config.scaleIsPositive = true;
  EXPECT_THAT(textOf(config), HasSubstr("tile.assume %scale {min = "));
}

TEST(FlashAttentionBuilder, InnerStrides) {
  FlashAttentionConfig config;
  EXPECT_THAT(textOf(config), Not(HasSubstr("stride_inner")));
  config.unitInnerStride = false;
  std::string text = textOf(config);
  for (const char *name : {"%q_stride_inner: i64", "%o_stride_inner: i64",
                           "strides[%k_stride_row, %k_stride_inner]"})
    EXPECT_THAT(text, HasSubstr(name));
}

TEST(FlashAttentionBuilder, Fp8GoesThroughF16) {
  FlashAttentionConfig config;
  config.dtype = ElementType::F8E5M2;
  std::string text = textOf(config);
  EXPECT_THAT(text, HasSubstr("%o: !tile.ptr<bf16>"));
  EXPECT_THAT(text, HasSubstr("tensor<64x64xf8E5M2> -> tensor<64x64xf16>"));
  EXPECT_THAT(text, HasSubstr("tensor<64x64xf32> -> tensor<64x64xf16>"));
  config.outputType = ElementType::F32;
  EXPECT_THAT(textOf(config), HasSubstr("%o: !tile.ptr<f32>"));
}

//===----------------------------------------------------------------------===//
// Configurations out of the limits
//===----------------------------------------------------------------------===//

static void expectInvalid(const FlashAttentionConfig &config,
                          const std::string &words) {
  try {
    buildFlashAttentionForward(config);
    ADD_FAILURE() << "expected an error: " << words;
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(words));
  }
}

TEST(FlashAttentionBuilder, RejectsHeadDims) {
  for (int64_t headDim : {-8, 0, 4, 7, 60, 257, 264, 1024}) {
    FlashAttentionConfig config;
    config.headDim = headDim;
    expectInvalid(config, "headDim between 8 and 256 in steps of 8, but got " +
                              std::to_string(headDim));
  }
}

TEST(FlashAttentionBuilder, RejectsTiles) {
  for (int64_t block :
       {INT64_MIN, int64_t(-1), int64_t(0), int64_t(1) << 20, INT64_MAX}) {
    FlashAttentionConfig config;
    config.blockM = block;
    expectInvalid(config, "blockM between 1 and 16384, but got");
    config.blockM = 64;
    config.blockN = block;
    expectInvalid(config, "blockN between 1 and 16384, but got");
  }
}

TEST(FlashAttentionBuilder, RejectsTypes) {
  for (ElementType type :
       {ElementType::I8, ElementType::I1, ElementType::I32}) {
    FlashAttentionConfig config;
    config.dtype = type;
    expectInvalid(config,
                  "dtype to be f64, f32, f16, bf16, f8E4M3FN or f8E5M2");
    config.dtype = ElementType::BF16;
    config.outputType = type;
    expectInvalid(config, "outputType to be f64, f32");
  }
}

TEST(FlashAttentionBuilder, RejectsAShortenedLoopWithoutCausal) {
  FlashAttentionConfig config;
  config.shortenedLoop = true;
  expectInvalid(config, "shortenedLoop only with causal");
}
