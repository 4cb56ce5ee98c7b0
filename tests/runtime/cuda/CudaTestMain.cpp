//===- CudaTestMain.cpp - Puts the fake driver in place -------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gtest/gtest.h>

#include <cstdlib>

int main(int argc, char **argv) {
  setenv("FLASHTILE_LIBCUDA", FLASHTILE_FAKE_LIBCUDA, 1);
  unsetenv("FLASHTILE_CUDA_SYNC");
  testing::InitGoogleTest(&argc, argv);
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  return RUN_ALL_TESTS();
}
