//===- DeviceScope.h - One look at the context for a whole call -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to the functions on tensors.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_DEVICESCOPE_H
#define FLASHTILE_KERNELS_DEVICESCOPE_H

#include "runtime/cuda/CudaDevice.h"

#include <optional>

namespace flashtile::kernels {

/// For a call that allocates and launches on `device`: on a GPU, its context is
/// current until the end, so that none of its parts asks for that.
class DeviceScope {
public:
  explicit DeviceScope(Device device) {
    if (device.isCuda())
      guard.emplace(CudaDevice::get(device));
  }

private:
  std::optional<ContextGuard> guard;
};

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_DEVICESCOPE_H
