//===- GpuReport.h - What a function takes of a GPU -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For compile reports: registers, spills, shared memory, and how many blocks
// run on a multiprocessor at once, and why no more.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_DRIVER_GPUREPORT_H
#define FLASHTILE_COMPILER_DRIVER_GPUREPORT_H

#include "compiler/Driver/KernelArtifact.h"

#include <string>
#include <string_view>

namespace flashtile {

/// What the blocks of a multiprocessor share.
struct MultiprocessorLimits {
  int64_t registers = 65536, threads = 2048, blocks = 32;
  int64_t sharedBytes = 0;
  int64_t sharedBytesPerBlock = 0; ///< the most that a block can ask for
  /// Added to each block by the system.
  static constexpr int64_t reservedSharedBytes = 1024;

  /// Those of the GPU that a target is named after: "sm_80" or "sm_90a".
  static MultiprocessorLimits ofTarget(std::string_view target);
};

/// Blocks of a function on a multiprocessor at once, as far as each resource
/// goes; -1 where it is not known what a block takes.
struct Occupancy {
  int64_t byRegisters = -1, bySharedMemory = -1, byThreads = -1;
  /// The least of them, 0 where a block is too large.
  int64_t blocks() const;
};

struct GpuEntryReport : GpuEntry {
  /// What a loaded function says; -1: not loaded. Local memory is for spills
  /// and the stack.
  int64_t localBytes = -1, maxThreadsPerBlock = -1;
  int64_t staticSharedBytes = 0;
  /// According to the driver; -1: not asked.
  int64_t blocksPerMultiprocessor = -1;
  MultiprocessorLimits limits;

  Occupancy occupancy() const;
  /// Lines of text, each indented by two blanks.
  std::string toString() const;
};

} // namespace flashtile

#endif // FLASHTILE_COMPILER_DRIVER_GPUREPORT_H
