//===- CacheCompile.cpp - Compiles and runs kernels with the cache on -----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   FLASHTILE_CACHE_DIR=folder cache-compile 1 2 3
//
// compiles addConstant for each number, runs it, and prints a line:
//
//   1 compiled 12.345 ms
//   2 cached 0.678 ms
//
// with the time from Jit::compile to the kernel. Fails where a kernel does
// something else than it should.
//
//===----------------------------------------------------------------------===//

#include "tests/runtime/cache/AddConstant.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace flashtile;

int main(int argc, char **argv) {
  setenv("FLASHTILE_CACHE", "on", /*overwrite=*/1);
  for (int i = 1; i < argc; ++i) {
    const int constant = std::atoi(argv[i]);
    const std::string text = testkernels::addConstant(constant);
    const auto begin = std::chrono::steady_clock::now();
    const Kernel kernel = Jit().compile(text).kernel();
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - begin;
    std::printf("%d %s %.3f ms\n", constant,
                kernel.report().fromCache ? "cached" : "compiled",
                elapsed.count());
    if (!testkernels::adds(kernel, constant)) {
      std::printf("%d is wrong\n", constant);
      return 1;
    }
  }
  return 0;
}
