//===- ProblemClass.h - Problems that like the same tiles -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_PROBLEMCLASS_H
#define FLASHTILE_KERNELS_PROBLEMCLASS_H

#include "runtime/Device.h"

#include <cstdint>

namespace flashtile {

/// What the tables of good configurations tell apart.
enum class DeviceClass {
  Cpu,
  Sm80,  ///< GPUs that run code for sm_80
  Sm90a, ///< Hopper
};

/// Throws as CudaDevice::get() where there is no such GPU.
DeviceClass deviceClassOf(Device device);

/// The power of two that holds `extent`: lengths of one class share what tuning
/// found.
int64_t sizeClass(int64_t extent);

} // namespace flashtile

#endif // FLASHTILE_KERNELS_PROBLEMCLASS_H
