//===- GpuTest.h - What the tests on a real GPU share ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_GPU_GPUTEST_H
#define FLASHTILE_TESTS_GPU_GPUTEST_H

#include "runtime/Tensor.h"
#include "runtime/cuda/CudaMemory.h"
#include "runtime/cuda/CudaModule.h"
#include "tests/runtime/ExpectError.h"

namespace flashtile {

/// Skips, with the reason, where there is no GPU.
class GpuTest : public testing::Test {
protected:
  void SetUp() override {
    std::string reason;
    if (!CudaDevice::isAvailable(&reason))
      GTEST_SKIP() << reason;
    gpu = &CudaDevice::get(0);
  }

  CudaDevice &device() const { return *gpu; }
  CudaFunction load(const std::string &name) const;

private:
  CudaDevice *gpu = nullptr;
};

/// `wanted`, or FLASHTILE_GPU_TEST_REPEATS if that is set and less: under
/// compute-sanitizer a launch takes a hundred times as long, and what a repeat
/// looks for it finds in each.
int repeatsOf(int wanted);

/// Hand-written kernels, for sm_80 and later:
///   vector_add(x, y, z: ptr<f32>, n: i32)          z = x + y
///   increment(x: ptr<i32>, n: i32)                 x = x + 1, in 2000 steps
///                                                  that take a while
///   where_am_i(out: ptr<i32>, grid_x, grid_y, grid_z: i32)
///                                                  out[i] = x + 3 y + 7 z of
///                                                  program i, FlattenedGrid
///   big_shared(out: ptr<i32>, bytes: i32)          writes the last word of its
///                                                  dynamic shared memory and
///                                                  reads it back
///   wild_store()                                   stores to address 0x10
extern const char *const testKernels;

} // namespace flashtile

#endif // FLASHTILE_TESTS_GPU_GPUTEST_H
