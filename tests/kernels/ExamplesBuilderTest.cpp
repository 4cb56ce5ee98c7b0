//===- ExamplesBuilderTest.cpp - The small kernels' programs --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/Examples.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace flashtile;
using namespace flashtile::kernels;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(ExamplesBuilder, VectorAdd) {
  for (ElementType type :
       {ElementType::F32, ElementType::BF16, ElementType::I32, ElementType::I8})
    for (int64_t block : {1, 7, 1024})
      EXPECT_THAT(buildVectorAdd(type, block).kernelNames(),
                  ElementsAre("vector_add"));
  EXPECT_THAT(buildVectorAdd(ElementType::F32).text(),
              HasSubstr("(d0 ceildiv 1024)"));
}

TEST(ExamplesBuilder, VectorAddRejectsWhatDoesNotAdd) {
  EXPECT_THROW(buildVectorAdd(ElementType::F8E5M2), Error);
  EXPECT_THROW(buildVectorAdd(ElementType::I1), Error);
  EXPECT_THROW(buildVectorAdd(ElementType::F32, 0), Error);
}

TEST(ExamplesBuilder, RowSoftmax) {
  for (ElementType type :
       {ElementType::F32, ElementType::F16, ElementType::BF16})
    EXPECT_THAT(buildRowSoftmax(type).text(), HasSubstr("padding neg_inf"));
  EXPECT_NO_THROW(buildRowSoftmax(ElementType::F32, 1, 40));
  // f8E4M3FN has no -inf to pad with.
  EXPECT_THROW(buildRowSoftmax(ElementType::F8E4M3FN), Error);
  EXPECT_THROW(buildRowSoftmax(ElementType::I32), Error);
}

TEST(ExamplesBuilder, Transpose) {
  for (ElementType type : {ElementType::F32, ElementType::F8E4M3FN,
                           ElementType::I1, ElementType::I64})
    EXPECT_THAT(buildTranspose(type, 32, 48).text(),
                HasSubstr("tensor<32x48x"));
  EXPECT_THROW(buildTranspose(ElementType::F32, 1 << 11, 1 << 10), Error);
}

TEST(ExamplesBuilder, Matmul) {
  for (Epilogue epilogue : {Epilogue::None, Epilogue::Bias, Epilogue::BiasRelu,
                            Epilogue::BiasGelu}) {
    MatmulConfig config;
    config.epilogue = epilogue;
    std::string text = buildMatmul(config).text();
    EXPECT_EQ(text.find("%bias") != std::string::npos,
              epilogue != Epilogue::None);
    EXPECT_EQ(text.find("math.erf") != std::string::npos,
              epilogue == Epilogue::BiasGelu);
  }
  MatmulConfig config;
  config.dtype =
      ElementType::I8; // accumulates in i32, which alpha does not fit
  EXPECT_THROW(buildMatmul(config), Error);
  config.dtype = ElementType::F8E4M3FN;
  EXPECT_THAT(buildMatmul(config).text(), Not(HasSubstr("%bias")));
}
