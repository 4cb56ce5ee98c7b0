//===- GpuReport.cpp - What a function takes of a GPU ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The granularities of registers are those of the CUDA occupancy calculator,
// the same for every GPU since sm_70.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/GpuReport.h"

#include <algorithm>

using namespace flashtile;

static constexpr int64_t lanesPerWarp = 32;

MultiprocessorLimits MultiprocessorLimits::ofTarget(std::string_view target) {
  constexpr int64_t kilobyte = 1024;
  MultiprocessorLimits limits;
  const bool isHopper = target == "sm_90a";
  limits.sharedBytes = (isHopper ? 228 : 164) * kilobyte;
  limits.sharedBytesPerBlock = limits.sharedBytes - reservedSharedBytes;
  return limits;
}

int64_t Occupancy::blocks() const {
  int64_t least = -1;
  for (const int64_t each : {byRegisters, bySharedMemory, byThreads})
    if (each >= 0 && (least < 0 || each < least))
      least = each;
  return least;
}

static int64_t roundUp(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

Occupancy GpuEntryReport::occupancy() const {
  constexpr int64_t registerUnit = 256; // of a warp
  constexpr int64_t partitions = 4;     // schedulers, each with its registers
  constexpr int64_t sharedUnit = 128;
  Occupancy result;
  const int64_t warps = roundUp(numThreads, lanesPerWarp) / lanesPerWarp;
  result.byThreads =
      std::min(limits.blocks, limits.threads / (warps * lanesPerWarp));
  if (resources.registers > 0) {
    const int64_t ofWarp =
        roundUp(resources.registers * lanesPerWarp, registerUnit);
    const int64_t warpsThatFit =
        limits.registers / partitions / ofWarp * partitions;
    result.byRegisters = std::min(limits.blocks, warpsThatFit / warps);
  }
  const int64_t shared = sharedBytes + staticSharedBytes;
  result.bySharedMemory =
      shared > limits.sharedBytesPerBlock
          ? 0
          : std::min(
                limits.blocks,
                limits.sharedBytes /
                    roundUp(shared + limits.reservedSharedBytes, sharedUnit));
  return result;
}

static std::string plural(int64_t count, const std::string &what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// "a number or not known"
static std::string known(int64_t value) {
  return value < 0 ? "unknown" : std::to_string(value);
}

std::string GpuEntryReport::toString() const {
  std::string text =
      "  function " + symbol + ": " + plural(numThreads, "thread");
  if (resources.registers >= 0)
    text += ", " + plural(resources.registers, "register") + " a thread";
  if (clusterBlocks > 1)
    text += ", clusters of " + std::to_string(clusterBlocks) + " blocks";
  if (persistentBlocks)
    text += ", persistent with " + plural(persistentBlocks, "block") +
            " on each multiprocessor" +
            (countsPrograms ? ", programs by a counter" : "");
  for (size_t axis = 0; axis < programsAtOnce.size(); ++axis)
    if (programsAtOnce[axis] > 1)
      text += ", " + std::to_string(programsAtOnce[axis]) + " programs along " +
              std::string(1, "xyz"[axis]) + " at once";
  if (!tensorMaps.empty())
    text +=
        ", " + plural(static_cast<int64_t>(tensorMaps.size()), "tensor map");
  text += "\n  bytes of a thread: spill stores " +
          known(resources.spillStoreBytes) + ", spill loads " +
          known(resources.spillLoadBytes) + ", stack " +
          known(resources.stackBytes);
  if (localBytes >= 0)
    text += ", local memory " + std::to_string(localBytes);
  text +=
      "\n  shared memory: " + std::to_string(sharedBytes + staticSharedBytes) +
      " bytes of " + std::to_string(limits.sharedBytesPerBlock) + "\n";
  for (const SharedBuffer &buffer : sharedBuffers)
    text += "    " + buffer.name + ": " + std::to_string(buffer.bytes) +
            " bytes from " + std::to_string(buffer.offset) + "\n";
  const Occupancy fits = occupancy();
  text += "  blocks on a multiprocessor: " +
          std::to_string(blocksPerMultiprocessor >= 0 ? blocksPerMultiprocessor
                                                      : fits.blocks()) +
          " (registers allow " + known(fits.byRegisters) + ", shared memory " +
          known(fits.bySharedMemory) + ", threads " + known(fits.byThreads) +
          ")\n";
  return text;
}
