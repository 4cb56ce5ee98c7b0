//===- ProductCalls.h - Calls beside products of warpgroups ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What prints is a call, and ptxas keeps products of warpgroups asynchronous
// only in functions without calls, wherever these stand (its message C7510).
// They are still faster than mma.sync.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_CONVERSION_TILEGPUTOLLVM_PRODUCTCALLS_H
#define FLASHTILE_COMPILER_CONVERSION_TILEGPUTOLLVM_PRODUCTCALLS_H

#include "dialects/Tile/IR/TileDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace flashtile::gpu {

/// Whether the loop's step is known only when the kernel runs, which then
/// checks that it is positive.
bool checksStep(mlir::scf::ForOp loop);

/// Tells at the first operation that becomes a call, which it is and that
/// products wait for each other because of it.
void remarkCallsBesideProducts(tile::KernelOp kernel);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_CONVERSION_TILEGPUTOLLVM_PRODUCTCALLS_H
