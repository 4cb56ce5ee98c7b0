//===- LayoutAttrs.h - Layout attributes and layout arithmetic ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attribute keeps digits as flat lists of integers; arithmetic is on
// DistributedLayout.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_CONVERSION_TILETOTILEGPU_LAYOUTATTRS_H
#define FLASHTILE_COMPILER_CONVERSION_TILETOTILEGPU_LAYOUTATTRS_H

#include "compiler/Analysis/Layout/DistributedLayout.h"
#include "dialects/TileGPU/IR/TileGPUDialect.h"

namespace flashtile::gpu {

DistributedLayout toLayout(tilegpu::LayoutAttr attribute);
tilegpu::LayoutAttr toAttribute(mlir::MLIRContext *context,
                                const DistributedLayout &layout);

/// The layout of a tile's type, which has one.
DistributedLayout layoutOf(mlir::Type type);

/// The type of a tile in another layout.
mlir::RankedTensorType withLayout(mlir::Type type,
                                  const DistributedLayout &layout);

/// Bytes that a tile takes in shared memory: whole spans of its swizzle.
int64_t sharedBytes(tilegpu::SmemType memory);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_CONVERSION_TILETOTILEGPU_LAYOUTATTRS_H
