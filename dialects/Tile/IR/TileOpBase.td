//===----------------------------------------------------------------------===//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Base class shared by all operations of the dialect.
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILE_IR_TILEOPBASE_TD
#define FLASHTILE_DIALECTS_TILE_IR_TILEOPBASE_TD

include "TileTypes.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

class Tile_InferredOp<string mnemonic, list<Trait> traits = []>
    : Tile_Op<mnemonic, traits # [Pure,
        DeclareOpInterfaceMethods<InferTypeOpInterface>]>;

#endif // FLASHTILE_DIALECTS_TILE_IR_TILEOPBASE_TD
