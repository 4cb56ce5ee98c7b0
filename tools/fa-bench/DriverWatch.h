//===- DriverWatch.h - What is asked of the driver --------------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes the place of the functions in the driver's table: notes each call, and
// shows launches to who asks. So a launch can be repeated as it was, with its
// function and its arguments, and nothing of ours around it.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TOOLS_FA_BENCH_DRIVERWATCH_H
#define FLASHTILE_TOOLS_FA_BENCH_DRIVERWATCH_H

#include "runtime/cuda/DriverApi.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace flashtile::tools {

/// What the driver is asked to launch. Valid during the launch.
struct DriverLaunch {
  cuda::FunctionHandle function;
  cuda::DriverLaunchConfig config;
  bool isExtended; ///< by cuLaunchKernelEx
  /// Where each argument is, or null and what the driver calls `extra`: where a
  /// block of all of them is.
  void **arguments, **extra;

  cuda::Result repeat(const cuda::DriverApi &api) const;
};

/// Watches until its end. One at a time, and no other thread uses the driver.
class DriverWatch {
public:
  explicit DriverWatch(const cuda::DriverApi &api);
  ~DriverWatch();
  DriverWatch(const DriverWatch &) = delete;
  DriverWatch &operator=(const DriverWatch &) = delete;

  /// "cuCtxGetCurrent, 2 cuStreamQuery": the calls so far, by first.
  std::string summary() const;

  std::vector<const char *> calls;
  /// Called before each launch, with the table as it was before the watch.
  std::function<void(const DriverLaunch &, const cuda::DriverApi &)> onLaunch;

private:
  const cuda::DriverApi &api;
  const cuda::DriverApi before;
};

} // namespace flashtile::tools

#endif // FLASHTILE_TOOLS_FA_BENCH_DRIVERWATCH_H
