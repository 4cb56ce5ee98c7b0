//===- ElementBranches.h - Branches that elements of a tile decide --------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// "If any element is so": where both sides agree wherever none is, a part of
// the tile may take such a branch for the sake of another part.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_SCHEDULE_ELEMENTBRANCHES_H
#define FLASHTILE_COMPILER_SCHEDULE_ELEMENTBRANCHES_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace flashtile::gpu {

/// Whether the sides of `branch` agree in all rows of a part of the tile in
/// which the i1 tile `condition` is false. Parts are what `staysInPart` says:
/// elements reach a choice by such operations only; by default, by any.
bool keepsOthers(
    mlir::scf::IfOp branch, mlir::Value condition,
    llvm::function_ref<bool(mlir::Operation *)> staysInPart = nullptr);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_SCHEDULE_ELEMENTBRANCHES_H
