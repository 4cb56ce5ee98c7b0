//===- CudaLaunch.cpp - Launches of kernels -------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/CudaLaunch.h"

#include "compiler/Support/Error.h"
#include "runtime/cuda/CudaModuleImpl.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

using namespace flashtile;
using namespace flashtile::cuda;

static constexpr const char *axisNames[] = {"x", "y", "z"};

std::string flashtile::toString(const std::array<int64_t, 3> &extents) {
  return "(" + std::to_string(extents[0]) + ", " + std::to_string(extents[1]) +
         ", " + std::to_string(extents[2]) + ")";
}

//===----------------------------------------------------------------------===//
// FlattenedGrid.
//===----------------------------------------------------------------------===//

FlattenedGrid::FlattenedGrid(const std::array<int64_t, 3> &extents) {
  for (size_t i = 0; i < 3; ++i) {
    if (extents[i] < 0 || extents[i] > limit)
      throw Error(ErrorCode::InvalidArgument,
                  "expected dimension " + std::string(axisNames[i]) +
                      " of the grid to be from 0 to " + std::to_string(limit) +
                      ", but got " + std::to_string(extents[i]));
    hidden[i] = static_cast<int32_t>(extents[i]);
  }
  total = 1;
  if (std::find(extents.begin(), extents.end(), 0) != extents.end())
    total = 0;
  for (int64_t extent : extents) {
    if (extent && total > limit / extent)
      throw Error(ErrorCode::InvalidArgument,
                  "a grid of " + toString(extents) +
                      " has more programs than the limit of " +
                      std::to_string(limit));
    total *= extent;
  }
}

int64_t FlattenedGrid::numBlocks(int64_t clusterSize) const {
  const int64_t blocks = (total + clusterSize - 1) / clusterSize * clusterSize;
  if (blocks > limit)
    throw Error(ErrorCode::InvalidArgument,
                std::to_string(total) + " programs in clusters of " +
                    std::to_string(clusterSize) +
                    " take more blocks than the limit of " +
                    std::to_string(limit));
  return blocks;
}

std::array<int64_t, 3> FlattenedGrid::position(int64_t linear) const {
  const int64_t x = hidden[0], y = hidden[1];
  return {linear % x, linear / x % y, linear / (x * y)};
}

//===----------------------------------------------------------------------===//
// Checks before a launch.
//===----------------------------------------------------------------------===//

[[noreturn]] static void failConfig(const CudaFunction &function,
                                    const std::string &problem) {
  throw Error(ErrorCode::InvalidArgument,
              "cannot launch kernel '" + function.name() + "' on device " +
                  function.device().describe() + ": " + problem);
}

static void checkExtents(const CudaFunction &function, const char *what,
                         const std::array<int64_t, 3> &extents,
                         const std::array<int64_t, 3> &limits) {
  for (size_t i = 0; i < 3; ++i)
    if (extents[i] < 1 || extents[i] > limits[i])
      failConfig(function,
                 "dimension " + std::string(axisNames[i]) + " of the " + what +
                     " is " + std::to_string(extents[i]) +
                     ", but must be from 1 to " + std::to_string(limits[i]));
}

void CudaFunction::checkConfig(const CudaStream &stream,
                               const CudaLaunchConfig &config) const {
  const CudaDeviceProperties &device = this->device().properties();
  if (&stream.device() != &this->device())
    failConfig(*this, "the " + stream.describe() + " is of another device");
  checkExtents(*this, "grid", config.grid, device.maxGrid);
  checkExtents(*this, "block", config.block, device.maxBlock);
  const int64_t threads = config.block[0] * config.block[1] * config.block[2];
  const int64_t threadLimit =
      std::min(attributes().maxThreadsPerBlock, device.maxThreadsPerBlock);
  if (threads > threadLimit)
    failConfig(*this, "a block of " + toString(config.block) + " has " +
                          std::to_string(threads) +
                          " threads, but the limit of this kernel is " +
                          std::to_string(threadLimit) + " (it takes " +
                          std::to_string(attributes().registers) +
                          " registers per thread)");
  const int64_t clusterLimit = 16; // of blocks, with the opt-in
  const int64_t clusterBlocks =
      config.cluster[0] * config.cluster[1] * config.cluster[2];
  checkExtents(*this, "cluster", config.cluster,
               {clusterLimit, clusterLimit, clusterLimit});
  if (clusterBlocks == 1)
    return;
  if (!device.hasClusters)
    failConfig(*this, "clusters of " + toString(config.cluster) +
                          " blocks need sm_90 or later");
  if (clusterBlocks > clusterLimit)
    failConfig(*this, "a cluster of " + toString(config.cluster) + " has " +
                          std::to_string(clusterBlocks) +
                          " blocks, but the limit is " +
                          std::to_string(clusterLimit));
  for (size_t i = 0; i < 3; ++i)
    if (config.grid[i] % config.cluster[i])
      failConfig(*this, "dimension " + std::string(axisNames[i]) +
                            " of the grid is " +
                            std::to_string(config.grid[i]) +
                            ", which is no multiple of the cluster's " +
                            std::to_string(config.cluster[i]));
}

/// Raises the kernel's own limit, which starts at 48 KB. It never goes down: a
/// launch on another thread may be counting on it.
void CudaFunction::allowSharedMemory(size_t dynamicBytes) const {
  if (dynamicBytes <= impl->allowedDynamicBytes.load(std::memory_order_acquire))
    return;
  const auto available =
      static_cast<size_t>(device().properties().sharedBytesPerBlockOptIn);
  const auto fixed = static_cast<size_t>(attributes().staticSharedBytes);
  if (fixed > available || dynamicBytes > available - fixed)
    failConfig(*this, "it needs " + std::to_string(dynamicBytes) +
                          " bytes of dynamic and " + std::to_string(fixed) +
                          " of static shared memory, but a block has at most " +
                          std::to_string(available));
  const std::lock_guard<std::mutex> lock(impl->attributeMutex);
  if (dynamicBytes <= impl->allowedDynamicBytes.load(std::memory_order_relaxed))
    return;
  device().call(device().api().cuFuncSetAttribute, handle(),
                functionMaxDynamicSharedBytes, static_cast<int>(dynamicBytes));
  impl->allowedDynamicBytes.store(dynamicBytes, std::memory_order_release);
}

//===----------------------------------------------------------------------===//
// Launching.
//===----------------------------------------------------------------------===//

static Result launchWithCluster(const CudaFunction &function,
                                const CudaStream &stream,
                                const CudaLaunchConfig &config,
                                void **arguments, void **extra) {
  LaunchAttribute attribute{};
  attribute.id = launchAttributeClusterDimension;
  DriverLaunchConfig driver{};
  for (size_t i = 0; i < 3; ++i) {
    attribute.clusterDimension[i] = static_cast<unsigned>(config.cluster[i]);
    driver.grid[i] = static_cast<unsigned>(config.grid[i]);
    driver.block[i] = static_cast<unsigned>(config.block[i]);
  }
  driver.dynamicSharedBytes = static_cast<unsigned>(config.dynamicSharedBytes);
  driver.stream = stream.handle();
  driver.attributes = &attribute;
  driver.attributeCount = 1;
  CudaDevice &device = function.device();
  const DriverLaunchConfig *address = &driver;
  return device.tryCall(device.api().cuLaunchKernelEx, address,
                        function.handle(), arguments, extra);
}

void CudaFunction::launch(const CudaStream &stream,
                          const CudaLaunchConfig &config,
                          const void *const *arguments) const {
  // The driver only reads them.
  launch(stream, config, const_cast<void **>(arguments), /*extra=*/nullptr);
}

void CudaFunction::launch(const CudaStream &stream,
                          const CudaLaunchConfig &config, void **arguments,
                          void **extra) const {
  device().throwIfLost();
  if (config.grid[0] == 0 || config.grid[1] == 0 || config.grid[2] == 0)
    return;
  checkConfig(stream, config);
  allowSharedMemory(config.dynamicSharedBytes);
  const auto clusterBlocks =
      config.cluster[0] * config.cluster[1] * config.cluster[2];
  if (clusterBlocks > 8)
    impl->allowLargeClusters();
  const auto at = [](int64_t extent) { return static_cast<unsigned>(extent); };
  const Result result =
      clusterBlocks > 1
          ? launchWithCluster(*this, stream, config, arguments, extra)
          : device().tryCall(device().api().cuLaunchKernel, handle(),
                             at(config.grid[0]), at(config.grid[1]),
                             at(config.grid[2]), at(config.block[0]),
                             at(config.block[1]), at(config.block[2]),
                             static_cast<unsigned>(config.dynamicSharedBytes),
                             stream.handle(), arguments, extra);
  if (result != success)
    device().fail("launching kernel '" + name() + "'", result,
                  "; grid " + toString(config.grid) + ", block " +
                      toString(config.block) + ", " +
                      std::to_string(config.dynamicSharedBytes) +
                      " bytes of dynamic shared memory");
  if (device().launchesAreSynchronous())
    synchronizeForErrors(stream);
}

void CudaFunction::synchronizeForErrors(const CudaStream &stream) const {
  // Each of the two may be the one that reports what the kernel did.
  CaptureStatus status = captureNone;
  Result result = device().tryCall(device().api().cuStreamIsCapturing,
                                   stream.handle(), &status);
  if (result == success && status != captureNone)
    return; // nothing runs, and waiting would spoil the recording
  if (result == success)
    result =
        device().tryCall(device().api().cuStreamSynchronize, stream.handle());
  if (result != success)
    device().fail("running kernel '" + name() + "'", result);
}

/// The values of all parameters in one block, which the driver takes in less
/// time than a list of where each is (4.4 us against 4.8 us with 23 arguments
/// and four maps, on an H200).
class CudaFunction::PackedParameters {
public:
  /// For a launch with `wanted` arguments.
  PackedParameters(Impl &function, size_t wanted) {
    const std::vector<Impl::Parameter> &all = function.parametersOf(wanted);
    fit = all.size() == wanted && wanted > 0 &&
          all.back().offset + all.back().numBytes <= capacity;
    next = all.data();
  }

  /// Whether the driver said where these many are, and there is room.
  bool fits() const { return fit; }
  void add(const void *value) {
    const auto [offset, size] = *next++;
    std::byte *target = &block[offset];
    numBytes = offset + size;
    if (size == 8) // as most are
      std::memcpy(target, value, 8);
    else if (size == 4)
      std::memcpy(target, value, 4);
    else
      std::memcpy(target, value, size);
  }
  void **extra() {
    const auto marker = [](uintptr_t value) {
      return reinterpret_cast<void *>(value);
    };
    list = {marker(launchExtraBlock), block.data(), marker(launchExtraBytes),
            &numBytes, marker(launchExtraEnd)};
    return list.data();
  }

private:
  static constexpr size_t capacity = 4096; // as much as any device takes
  const Impl::Parameter *next;
  bool fit;
  alignas(64) std::array<std::byte, capacity> block;
  size_t numBytes = 0;
  std::array<void *, 5> list;
};

void CudaFunction::launch(const CudaStream &stream, const FlattenedGrid &grid,
                          CudaLaunchConfig config, const void *const *arguments,
                          size_t count) const {
  if (config.cluster[1] != 1 || config.cluster[2] != 1)
    failConfig(*this, "a flattened grid has clusters along x only, but got " +
                          toString(config.cluster));
  const int64_t cluster = std::max<int64_t>(config.cluster[0], 1);
  config.grid = {grid.numBlocks(cluster), 1, 1};
  if (config.maxBlocks)
    config.grid[0] =
        std::min(config.grid[0],
                 std::max(config.maxBlocks / cluster * cluster, cluster));
  PackedParameters packed(*impl, count + FlattenedGrid::hiddenCount);
  if (packed.fits()) {
    for (size_t i = 0; i < count; ++i)
      packed.add(arguments[i]);
    for (size_t i = 0; i < FlattenedGrid::hiddenCount; ++i)
      packed.add(grid.hiddenArgument(i));
    return launch(stream, config, nullptr, packed.extra());
  }
  constexpr size_t inlineCount = 64;
  std::array<const void *, inlineCount> few;
  std::vector<const void *> many;
  const void **all = few.data();
  if (count + FlattenedGrid::hiddenCount > inlineCount) {
    many.resize(count + FlattenedGrid::hiddenCount);
    all = many.data();
  }
  std::copy_n(arguments, count, all);
  for (size_t i = 0; i < FlattenedGrid::hiddenCount; ++i)
    all[count + i] = grid.hiddenArgument(i);
  launch(stream, config, all);
}

int CudaFunction::maxBlocksPerMultiprocessor(int threads,
                                             size_t dynamicSharedBytes) const {
  allowSharedMemory(dynamicSharedBytes);
  int blocks = 0;
  device().call(device().api().cuOccupancyMaxActiveBlocksPerMultiprocessor,
                &blocks, handle(), threads, dynamicSharedBytes);
  return blocks;
}
