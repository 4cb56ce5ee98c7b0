//===- ProblemClass.cpp - Problems that like the same tiles ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/ProblemClass.h"

#include "runtime/GpuModule.h"

using namespace flashtile;

DeviceClass flashtile::deviceClassOf(Device device) {
  if (!device.isCuda())
    return DeviceClass::Cpu;
  const bool isHopper = gpuTarget(CudaDevice::get(device)) == "sm_90a";
  return isHopper ? DeviceClass::Sm90a : DeviceClass::Sm80;
}

int64_t flashtile::sizeClass(int64_t extent) {
  int64_t size = 1;
  while (size < extent)
    size *= 2;
  return size;
}
