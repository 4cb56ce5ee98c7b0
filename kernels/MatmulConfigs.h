//===- MatmulConfigs.h - Good tiles for products of matrices --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_MATMULCONFIGS_H
#define FLASHTILE_KERNELS_MATMULCONFIGS_H

#include "kernels/Activation.h"
#include "kernels/TileFeasibility.h"
#include "runtime/DType.h"

#include <cstdint>
#include <vector>

namespace flashtile {

/// What is open once the problem is known. On the cpu, only the tile counts.
struct MatmulTiles {
  int64_t blockM = 64; ///< rows of a
  int64_t blockN = 64; ///< columns of b
  int64_t blockK = 64; ///< depth
  int64_t numWarps = 4;
  int64_t numStages = 2;
};

/// What matmul runs where its caller chooses nothing.
MatmulTiles defaultMatmulTiles(DeviceClass device, DType dtype,
                               Activation activation = Activation::None,
                               bool hasBias = false);

/// What tiles take of registers and shared memory, on the GPU that the class is
/// named after or with the limits of a device.
TileDemand matmulDemand(const TileLimits &limits, DType dtype,
                        const MatmulTiles &tiles);
TileDemand matmulDemand(DeviceClass device, DType dtype,
                        const MatmulTiles &tiles);

/// Of a product, as far as the order of the candidates depends on it.
struct MatmulSize {
  int64_t m = 4096, n = 4096, k = 4096, batch = 1, multiprocessors = 132;
};

/// What tuning tries: the default, and then the feasible tiles that the model
/// of TileFeasibility.h thinks best of.
std::vector<MatmulTiles> matmulCandidates(const TileLimits &limits, DType dtype,
                                          const MatmulSize &size = {});

} // namespace flashtile

#endif // FLASHTILE_KERNELS_MATMULCONFIGS_H
