//===- ChildProcessTest.cpp - Processes for what ends a process -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/gpu/ChildProcess.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>

using namespace flashtile;

TEST(ChildProcessTest, ReportsHowItEndedAndWhatItSaid) {
  const ChildResult ended = runInChild([] {
    std::fprintf(stderr, "so long\n");
    std::exit(7);
  });
  EXPECT_EQ(ended.exitCode, 7);
  EXPECT_EQ(ended.errors, "so long\n");
  EXPECT_EQ(runInChild([] {}).exitCode, 0);
  EXPECT_EQ(runInChild([] { std::raise(SIGKILL); }).exitCode, -SIGKILL);
}

TEST(ChildProcessTest, DoesNotChangeItsParent) {
  static int count = 0;
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(runInChild([] { std::exit(++count); }).exitCode, 1);
  EXPECT_EQ(count, 0);
}
