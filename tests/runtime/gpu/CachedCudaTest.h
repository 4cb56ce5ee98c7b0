//===- CachedCudaTest.h - Tests of kernels kept on disk -------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On the scripted driver, with a cache of its own for each test.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_RUNTIME_GPU_CACHEDCUDATEST_H
#define FLASHTILE_TESTS_RUNTIME_GPU_CACHEDCUDATEST_H

#include "runtime/Jit.h"
#include "tests/runtime/TemporaryFolder.h"
#include "tests/runtime/cuda/CudaTest.h"

#include <cstdlib>

namespace flashtile {

class CachedCudaTest : public CudaTest {
protected:
  void SetUp() override {
    CudaTest::SetUp();
    setenv("FLASHTILE_CACHE", "on", 1);
    setenv("FLASHTILE_CACHE_DIR", folder.file("").c_str(), 1);
    Jit::clearCache();
  }
  void TearDown() override {
    setenv("FLASHTILE_CACHE", "off", 1);
    unsetenv("FLASHTILE_CACHE_DIR");
    Jit::clearCache();
    CudaTest::TearDown();
  }

  TemporaryFolder folder;
};

} // namespace flashtile

#endif // FLASHTILE_TESTS_RUNTIME_GPU_CACHEDCUDATEST_H
