//===- PtxasTest.h - Tests that take ptxas --------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Skipped, with the reason, where there is none.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_COMPILER_PTX_PTXASTEST_H
#define FLASHTILE_TESTS_COMPILER_PTX_PTXASTEST_H

#include "compiler/Driver/PtxAssembler.h"

#include <gtest/gtest.h>

#include <string>

namespace flashtile {

class PtxasTest : public testing::Test {
protected:
  void SetUp() override {
    std::string missing;
    ptxas = findPtxas("", missing);
    if (ptxas.empty())
      GTEST_SKIP() << missing;
  }

  std::string ptxas; ///< its path
};

} // namespace flashtile

#endif // FLASHTILE_TESTS_COMPILER_PTX_PTXASTEST_H
