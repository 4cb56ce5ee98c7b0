//===- ProgramCounters.h - Counters from which blocks take programs -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of a launch whose programs are not equally long take them from 32 bits
// of device memory, 0 when the launch starts and again when it ends. Launches
// that may run at the same time need counters of their own:
//
//   - Those of one stream run one after the other and share one. Streams are
//     told apart by the driver's number of them, as handles are used again.
//   - Each launch that is captured gets one for itself, which the graph keeps
//     until it is destroyed, and its executable forms with it: branches of a
//     graph run beside each other. One executable form runs one launch after
//     the other; of two forms of one graph, only one may run at a time.
//
// Internal to the launcher of kernels.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_CUDA_PROGRAMCOUNTERS_H
#define FLASHTILE_RUNTIME_CUDA_PROGRAMCOUNTERS_H

#include "runtime/cuda/CudaStream.h"

#include <mutex>
#include <unordered_map>
#include <vector>

namespace flashtile {

/// Those of one device. Never destroyed: graphs give back what they keep at any
/// time.
///
/// Thread safety: all of it may be used from any thread at any time.
class ProgramCounters {
public:
  /// Allocates the first ones, which a capture would not allow.
  static ProgramCounters &of(CudaDevice &device);

  ProgramCounters(const ProgramCounters &) = delete;
  ProgramCounters &operator=(const ProgramCounters &) = delete;

  /// The counter of a launch that comes next in `stream`, of this device.
  cuda::DevicePointer forLaunch(const CudaStream &stream);

private:
  struct Kept;

  explicit ProgramCounters(CudaDevice &device) : device(device) {}

  // The driver is not called with `mutex` locked: giveBack() locks it on a
  // thread of the driver's.
  /// A counter that nobody has.
  cuda::DevicePointer take();
  void allocate();
  cuda::DevicePointer ofStream(uint64_t id);
  cuda::DevicePointer keptBy(cuda::GraphHandle graph);
  void giveBack(cuda::DevicePointer counter);

  CudaDevice &device;
  std::mutex mutex;
  size_t total = 0;
  std::vector<cuda::DevicePointer> unused;
  /// One for each stream that ever launched such a kernel, as its work may go
  /// on after its end.
  std::unordered_map<uint64_t, cuda::DevicePointer> ofStreams;
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_CUDA_PROGRAMCOUNTERS_H
