//===----------------------------------------------------------------------===//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tilegpu dialect: tiles whose distribution over threads is decided.
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILEGPU_IR_TILEGPUDIALECT_TD
#define FLASHTILE_DIALECTS_TILEGPU_IR_TILEGPUDIALECT_TD

include "mlir/IR/DialectBase.td"

def TileGPU_Dialect : Dialect {
  let name = "tilegpu";
  let cppNamespace = "::flashtile::tilegpu";
  let summary = "tiles distributed over the threads of a GPU";
  let description = [{
    The one level between tile programs and NVVM. A kernel is still a
    `tile.kernel`, and its operations on tiles are those of `tile`, `arith`,
    `math` and `scf`; but every tile carries a layout as its encoding, and what
    moves data between layouts and memories is an operation of this dialect.

    A kernel at this level has the attributes `tilegpu.target` ("sm_80" or
    "sm_90a") and `tilegpu.num_warps` (1 to 16).
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::flashtile::tile::TileDialect"];
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
    /// Attributes of kernels whose tiles carry layouts.
    static constexpr char kTargetAttr[] = "tilegpu.target";
    static constexpr char kNumWarpsAttr[] = "tilegpu.num_warps";
    /// Unit, of the `scf.for` or `scf.while` whose iterations are the programs
    /// of a block: none sees what another one writes to memory.
    static constexpr char kProgramsAttr[] = "tilegpu.programs";
    /// Unit, of an `scf.if` whose then side seldom runs.
    static constexpr char kRareAttr[] = "tilegpu.rare";
  }];
  let hasOperationAttrVerify = 1;
}

#endif // FLASHTILE_DIALECTS_TILEGPU_IR_TILEGPUDIALECT_TD
