//===- NearestNameTest.cpp - Suggestions for misspelt names ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/NearestName.h"

#include <gtest/gtest.h>

using namespace flashtile;

TEST(NearestNameTest, FindsMisspellings) {
  const std::vector<std::string> names = {"q", "k", "scale", "seq_k", "seq_q"};
  EXPECT_EQ(nearestName("scal", names), "scale");
  EXPECT_EQ(nearestName("Scale", names), "scale");
  EXPECT_EQ(nearestName("sqe_k", {"seq_k"}), "");
  EXPECT_EQ(nearestName("seqk", names), "seq_k");
  EXPECT_EQ(nearestName("Q", names), "q");
  EXPECT_EQ(nearestName("", names), "");
  EXPECT_EQ(nearestName("v", names), "");
  EXPECT_EQ(nearestName("x", {}), "");
  EXPECT_EQ(didYouMean("seqk", names), " (did you mean 'seq_k'?)");
  EXPECT_EQ(didYouMean("stride", names), "");
}
