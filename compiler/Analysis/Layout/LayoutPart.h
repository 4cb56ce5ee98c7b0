//===- LayoutPart.h - Some columns of a distributed tile ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_ANALYSIS_LAYOUT_LAYOUTPART_H
#define FLASHTILE_COMPILER_ANALYSIS_LAYOUT_LAYOUTPART_H

#include "compiler/Analysis/Layout/DistributedLayout.h"

#include <optional>
#include <vector>

namespace flashtile::gpu {

struct LayoutPart {
  DistributedLayout layout; ///< of the part, whose columns count from 0
  /// Which register of the whole tile each register of the part is.
  std::vector<int64_t> registers;
};

/// `count` columns (of the last dimension) from `first` on, where threads hold
/// all of a part in the same registers: the digit with the longest step along
/// the columns is one of registers, moves along nothing else, covers the tile,
/// and both numbers are multiples of its step. None elsewhere.
std::optional<LayoutPart> lastDimPart(const DistributedLayout &layout,
                                      int64_t first, int64_t count);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_ANALYSIS_LAYOUT_LAYOUTPART_H
