//===- ScanLayout.h - The layout of associative prefixes ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_CONVERSION_TILETOTILEGPU_SCANLAYOUT_H
#define FLASHTILE_COMPILER_CONVERSION_TILETOTILEGPU_SCANLAYOUT_H

#include "compiler/Analysis/Layout/DistributedLayout.h"

namespace flashtile::gpu {

/// Each thread holds a run of a line along `axis`, in its first registers;
/// lanes that the other dimensions leave over follow each other along the line,
/// each with the next run. Warps share the other dimensions.
DistributedLayout scanLayout(llvm::ArrayRef<int64_t> shape, unsigned axis,
                             int64_t warps);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_CONVERSION_TILETOTILEGPU_SCANLAYOUT_H
