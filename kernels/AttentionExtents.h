//===- AttentionExtents.h - Tiles that kernels of attention can have ------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_ATTENTIONEXTENTS_H
#define FLASHTILE_KERNELS_ATTENTIONEXTENTS_H

#include <cstdint>

namespace flashtile::kernels {

/// Throws InvalidArgument with the value and the limit: a head dimension is 8
/// to 256 in steps of 8, and tiles of `blockM` queries, of `blockN` keys and of
/// their scores have at most 2^20 elements.
void checkAttentionExtents(int64_t headDim, int64_t blockM, int64_t blockN);

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_ATTENTIONEXTENTS_H
