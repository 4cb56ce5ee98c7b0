//===- DriverFloor.h - What the driver takes by itself ----------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of fa-bench launch below which no launch of ours can be: calls of
// the driver with all that they need at hand.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TOOLS_FA_BENCH_DRIVERFLOOR_H
#define FLASHTILE_TOOLS_FA_BENCH_DRIVERFLOOR_H

#include "runtime/cuda/CudaDevice.h"

#include <functional>
#include <string>

namespace flashtile::tools {

/// Measures repetitions of a call, and prints it by its name.
using MeasureFunction = std::function<void(
    const std::string &name, const std::function<void(cuda::Result &)> &call)>;

/// The launch that `launch` makes: by itself, in the stream that it takes and
/// in one of its own, and with a list of arguments in place of a block of them.
void measureBareLaunch(CudaDevice &device, const std::function<void()> &launch,
                       const MeasureFunction &measure);

/// Kernels that do nothing, contexts, memory and tensor maps.
void measureBareCalls(CudaDevice &device, const MeasureFunction &measure);

} // namespace flashtile::tools

#endif // FLASHTILE_TOOLS_FA_BENCH_DRIVERFLOOR_H
