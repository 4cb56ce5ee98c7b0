//===- TileGPUDialect.h - The tilegpu dialect -----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dialect, layout attribute and operations; the contract is in the .td files.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILEGPU_IR_TILEGPUDIALECT_H
#define FLASHTILE_DIALECTS_TILEGPU_IR_TILEGPUDIALECT_H

#include "dialects/Tile/IR/TileDialect.h"

#include "mlir/Interfaces/InferTypeOpInterface.h"

#include "dialects/TileGPU/IR/TileGPUDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/TileGPU/IR/TileGPUAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/TileGPU/IR/TileGPUTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/TileGPU/IR/TileGPUOps.h.inc"

namespace flashtile::tilegpu {

/// The layout of a tile's type, or null where it has none.
inline LayoutAttr getLayout(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tensor ? mlir::dyn_cast_or_null<LayoutAttr>(tensor.getEncoding())
                : LayoutAttr();
}

} // namespace flashtile::tilegpu

#endif // FLASHTILE_DIALECTS_TILEGPU_IR_TILEGPUDIALECT_H
