//===- OldDriver.cpp - A libcuda from before CUDA 12 ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

extern "C" int cuInit(unsigned) { return 0; }

extern "C" int cuDriverGetVersion(int *version) {
  *version = 11040;
  return 0;
}
