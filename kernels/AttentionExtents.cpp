//===- AttentionExtents.cpp - Tiles that kernels of attention can have ----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/AttentionExtents.h"

#include "compiler/Support/Error.h"

#include <algorithm>
#include <string>

using namespace flashtile;

/// Elements of a tile: the dialect's limit.
static constexpr int64_t kMaxElements = int64_t(1) << 20;

static void checkBlock(const char *name, int64_t rows, int64_t columns) {
  if (rows <= 0 || rows > kMaxElements / columns)
    throw Error(ErrorCode::InvalidArgument,
                std::string("expected ") + name + " between 1 and " +
                    std::to_string(kMaxElements / columns) + ", but got " +
                    std::to_string(rows));
}

void kernels::checkAttentionExtents(int64_t headDim, int64_t blockM,
                                    int64_t blockN) {
  constexpr int64_t kMin = 8, kMax = 256, kStep = 8;
  if (headDim < kMin || headDim > kMax || headDim % kStep)
    throw Error(ErrorCode::InvalidArgument,
                "expected headDim between " + std::to_string(kMin) + " and " +
                    std::to_string(kMax) + " in steps of " +
                    std::to_string(kStep) + ", but got " +
                    std::to_string(headDim));
  checkBlock("blockM", blockM, headDim);
  checkBlock("blockN", blockN, std::max(headDim, blockM));
}
