//===- CudaLaunch.h - How many threads, and where -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_CUDA_CUDALAUNCH_H
#define FLASHTILE_RUNTIME_CUDA_CUDALAUNCH_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace flashtile {

struct CudaLaunchConfig {
  std::array<int64_t, 3> grid{1, 1, 1};    ///< blocks
  std::array<int64_t, 3> block{1, 1, 1};   ///< threads
  std::array<int64_t, 3> cluster{1, 1, 1}; ///< blocks; divides the grid
  size_t dynamicSharedBytes = 0;
  /// Of a flattened grid, whose blocks then take one program after the other;
  /// rounded to whole clusters. 0: a block for each program.
  int64_t maxBlocks = 0;
};

/// A grid of programs laid along the x axis of the device's grid, whose y and z
/// end at 65535. The convention between launcher and code generator:
///
///   - The kernel's own parameters are followed by three hidden i32 ones, the
///     extents grid_x, grid_y, grid_z.
///   - The launch has grid_x * grid_y * grid_z blocks along x, x fastest. With
///     clusters it is rounded up to whole ones: a block at or beyond the
///     product has no program and ends, after any barrier of its cluster.
///   - With i = ctaid.x, a program's position is i mod grid_x, (i div grid_x)
///     mod grid_y, i div (grid_x * grid_y), in unsigned arithmetic; the last
///     product is below 2^31.
class FlattenedGrid {
public:
  /// Any extent, and their product unless one is 0, may be up to this.
  static constexpr int64_t limit = 2147483647;

  /// Throws InvalidArgument, with the dimension, the value and the limit.
  explicit FlattenedGrid(const std::array<int64_t, 3> &extents);

  const std::array<int32_t, 3> &extents() const { return hidden; }
  /// Programs in all; 0 if an extent is.
  int64_t numPrograms() const { return total; }
  /// Blocks to launch along x in clusters of `clusterSize`.
  int64_t numBlocks(int64_t clusterSize = 1) const;
  /// Where a program is: what the kernel computes.
  std::array<int64_t, 3> position(int64_t linear) const;

  static constexpr size_t hiddenCount = 3;
  /// Where the value of a hidden argument is.
  const void *hiddenArgument(size_t i) const { return &hidden[i]; }

private:
  std::array<int32_t, 3> hidden;
  int64_t total;
};

/// "(4, 65536, 1)".
std::string toString(const std::array<int64_t, 3> &extents);

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_CUDA_CUDALAUNCH_H
