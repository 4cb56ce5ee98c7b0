//===- DriverWatch.cpp - What is asked of the driver ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/fa-bench/DriverWatch.h"

#include <algorithm>

using namespace flashtile;
using namespace flashtile::cuda;
using namespace flashtile::tools;

static DriverWatch *active = nullptr;

namespace {
/// What takes the place of one function; `row` tells functions with the same
/// parameters apart.
template <int row, typename... Parameters>
struct Watched {
  static inline DriverFunction<Parameters...> original{nullptr};

  static Result call(Parameters... parameters) {
    active->calls.push_back(original.name);
    return original(parameters...);
  }
};
} // namespace

template <int row, typename... Parameters>
static void watch(DriverFunction<Parameters...> &function) {
  if (!function)
    return;
  Watched<row, Parameters...>::original = function;
  function.address = Watched<row, Parameters...>::call;
}

static DriverApi table; // as it was before the watch

static void show(const DriverLaunch &launch) {
  if (active->onLaunch)
    active->onLaunch(launch, table);
}

static Result launchKernel(FunctionHandle function, unsigned gridX,
                           unsigned gridY, unsigned gridZ, unsigned blockX,
                           unsigned blockY, unsigned blockZ,
                           unsigned sharedBytes, StreamHandle stream,
                           void **arguments, void **extra) {
  active->calls.push_back(table.cuLaunchKernel.name);
  DriverLaunchConfig config{};
  config.grid[0] = gridX, config.grid[1] = gridY, config.grid[2] = gridZ;
  config.block[0] = blockX, config.block[1] = blockY, config.block[2] = blockZ;
  config.dynamicSharedBytes = sharedBytes;
  config.stream = stream;
  show({function, config, /*isExtended=*/false, arguments, extra});
  return table.cuLaunchKernel(function, gridX, gridY, gridZ, blockX, blockY,
                              blockZ, sharedBytes, stream, arguments, extra);
}

static Result launchKernelEx(const DriverLaunchConfig *config,
                             FunctionHandle function, void **arguments,
                             void **extra) {
  active->calls.push_back(table.cuLaunchKernelEx.name);
  show({function, *config, /*isExtended=*/true, arguments, extra});
  return table.cuLaunchKernelEx(config, function, arguments, extra);
}

Result DriverLaunch::repeat(const DriverApi &api) const {
  if (isExtended)
    return api.cuLaunchKernelEx(&config, function, arguments, extra);
  return api.cuLaunchKernel(function, config.grid[0], config.grid[1],
                            config.grid[2], config.block[0], config.block[1],
                            config.block[2], config.dynamicSharedBytes,
                            config.stream, arguments, extra);
}

/// The table is only const to those who have no business in it.
static DriverApi &writable(const DriverApi &api) {
  return const_cast<DriverApi &>(api);
}

DriverWatch::DriverWatch(const DriverApi &api) : api(api), before(api) {
  active = this;
  table = before;
  DriverApi &watched = writable(api);
#define FLASHTILE_DRIVER_FUNCTION(name, version, ...)                          \
  watch<__LINE__>(watched.name);
#include "runtime/cuda/DriverApi.def"
  watched.cuLaunchKernel.address = launchKernel;
  watched.cuLaunchKernelEx.address = launchKernelEx;
}

DriverWatch::~DriverWatch() {
  writable(api) = before;
  active = nullptr;
}

std::string DriverWatch::summary() const {
  std::vector<std::pair<std::string, int>> counts;
  for (const char *call : calls) {
    const auto found =
        std::find_if(counts.begin(), counts.end(),
                     [&](const auto &each) { return each.first == call; });
    if (found == counts.end())
      counts.emplace_back(call, 1);
    else
      ++found->second;
  }
  std::string text;
  for (const auto &[name, count] : counts) {
    text += text.empty() ? "" : ", ";
    text += count > 1 ? std::to_string(count) + " " + name : name;
  }
  return text;
}
