//===- TileFeasibility.h - Which tiles a kernel can have on a device ------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the loops of a kernel hold in registers and in shared memory, by its
// tiles, beside what a device has. Tables of defaults are held to it, and
// tuning compiles nothing that it refuses: such a kernel would spill its sums
// to memory in every iteration, or not run at all.
//
// The model counts what is there whatever a compiler does, and leaves a margin
// for the rest (addresses, row maxima and sums, masks). The margins are what
// ptxas 13.0 needed for some thousand kernels of the shapes that tuning tries,
// with this compiler: kernels on the near side of a limit spill at most a few
// dozen bytes outside of their loops, those beyond it hundreds inside.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_TILEFEASIBILITY_H
#define FLASHTILE_KERNELS_TILEFEASIBILITY_H

#include "kernels/ProblemClass.h"
#include "runtime/DType.h"

#include <cstdint>
#include <string>
#include <vector>

namespace flashtile {

/// What the loop of a program does.
enum class TileWork {
  /// Rows are queries, which stay; columns are keys and values, which go by. In
  /// registers: scores, weights as an operand, output.
  Attention,
  /// Rows are keys and values, which stay; columns are queries and gradients of
  /// o. In registers: scores and their gradients, dk and dv.
  KeyGradients,
  /// The same, and in each iteration a tile of dq.
  KeyGradientsAndDq,
  /// Rows are queries and gradients of o; columns are keys and values. In
  /// registers: scores and their gradients, dq.
  QueryGradients,
  /// Rows of a and columns of b; `depth` of both goes by.
  Product,
};

struct TileShape {
  TileWork work = TileWork::Attention;
  DType dtype = DType::BF16;
  int64_t rows = 64, columns = 64;
  int64_t depth = 64; ///< the head dimension; of products, that of a step
  int64_t numWarps = 4, numStages = 2;
};

/// What a block can have.
struct TileLimits {
  DeviceClass device = DeviceClass::Cpu;
  int64_t sharedBytes = 0;

  /// Those of the GPU that a class is named after.
  static TileLimits of(DeviceClass device);
  /// Those of this device.
  static TileLimits of(Device device);
};

/// What a shape takes, of what there is.
struct TileDemand {
  /// Warpgroups multiply (wgmma), fed by producer warps. If not, warps do
  /// (mma.sync), and `whyNoWarpgroups` says why on a device that has them.
  bool usesWarpgroups = false;
  std::string whyNoWarpgroups;
  /// Of a thread that computes: what is counted, and the most that leaves room
  /// for the rest.
  int64_t registers = 0, registerLimit = 0;
  int64_t sharedBytes = 0, sharedLimit = 0;
  /// Buffers that loops get: the compiler takes fewer than it is asked for
  /// where the GPU that a class is named after has no room. Warpgroups need
  /// those that were asked for.
  int64_t numStages = 0;
  /// Why the shape is refused; empty where it is feasible.
  std::string whyNot;

  bool isFeasible() const { return whyNot.empty(); }
};

/// Everything is feasible on the cpu, where nothing is counted.
///
/// Refused on GPUs, with the value and the limit: no warps, or more than 16;
/// rows that are no multiple of 16; no stages; more registers or shared memory
/// than there are.
///
/// Warpgroups multiply 16-bit types where each has 64 rows, the columns, at
/// most 256, are a multiple of 16 (scores become a left operand, whose steps
/// are 16 deep, and accumulators have 8 columns at a time), the depth is a
/// multiple of 8, and two buffers of each operand fit. Of gradients of keys,
/// two may have the same 64 rows and share the columns, if the depth is a
/// multiple of 64, or more than 128, and then filled up to one.
TileDemand tileDemand(const TileLimits &limits, const TileShape &shape);

/// A whole problem, as far as it decides which tiles are fast.
struct TileProblem {
  int64_t rows = 4096, columns = 4096;
  int64_t batch = 16; ///< programs for each tile of rows and columns
  int64_t depth = 0;  ///< of products: all of it
  bool causal = false;
  int64_t multiprocessors = 132;
};

/// Clocks that the problem takes in these tiles, by a coarse model: products
/// and the exponentials beside them in their units, what of the shorter one
/// shows behind the longer, a share for each iteration and for each program,
/// and whole rounds of programs. Not good for more than an order in which to
/// try tiles. For feasible shapes on GPUs.
double estimatedClocks(const TileLimits &limits, const TileShape &shape,
                       const TileProblem &problem);

/// Of `shapes`, those that are feasible, the best by the estimate first: at
/// most `most`, and at most `mostOfRows` with the same rows, so that a mistake
/// of the estimate costs little. Where warpgroups multiply in one of them, only
/// those where they do.
std::vector<TileShape> bestShapes(const TileLimits &limits,
                                  const std::vector<TileShape> &shapes,
                                  const TileProblem &problem, size_t most,
                                  size_t mostOfRows);

} // namespace flashtile

#endif // FLASHTILE_KERNELS_TILEFEASIBILITY_H
