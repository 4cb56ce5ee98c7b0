//===- TileDialect.h - The tile dialect -----------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dialect, types, enumerations and operations of tile programs. The contract
// of each is in the .td files of this folder.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILE_IR_TILEDIALECT_H
#define FLASHTILE_DIALECTS_TILE_IR_TILEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Tile/IR/TileAttrInterfaces.h.inc"
#include "dialects/Tile/IR/TileDialect.h.inc"
#include "dialects/Tile/IR/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Tile/IR/TileAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Tile/IR/TileTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/Tile/IR/TileOps.h.inc"

namespace flashtile::tile {

/// Element type of a tile, or the type itself for a scalar.
inline mlir::Type getElementType(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tensor ? tensor.getElementType() : type;
}

/// `type` with its element type replaced; scalars become `element`.
inline mlir::Type withElementType(mlir::Type type, mlir::Type element) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tensor ? mlir::Type(tensor.clone(element)) : element;
}

/// Whether `order` lists each of the dimensions 0 to rank - 1 once.
bool isPermutation(llvm::ArrayRef<int32_t> order, int64_t rank);

/// `type` without its encoding, if it is a tile that has one.
inline mlir::Type withoutEncoding(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tensor ? mlir::Type(mlir::RankedTensorType::get(
                      tensor.getShape(), tensor.getElementType()))
                : type;
}

/// Reports where the result types of `op`, apart from encodings, are not
/// `expected`.
llvm::LogicalResult verifyResultTypes(mlir::Operation *op,
                                      mlir::TypeRange expected);

} // namespace flashtile::tile

#endif // FLASHTILE_DIALECTS_TILE_IR_TILEDIALECT_H
