//===- GpuTestMain.cpp - Starts what forks processes for tests ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/gpu/ChildProcess.h"

#include <gtest/gtest.h>

int main(int argc, char **argv) {
  flashtile::startChildServer();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
