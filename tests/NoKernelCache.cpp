//===- NoKernelCache.cpp - Tests start without the kernel cache -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linked into every test and benchmark, run by ctest or by hand: before main,
// the cache is off. Tests of the cache turn it on, with a folder of their own.
//
//===----------------------------------------------------------------------===//

#include <cstdlib>

static const int isOff = setenv("FLASHTILE_CACHE", "off", /*overwrite=*/1);
