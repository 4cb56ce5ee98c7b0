//===- IssueProducts.h - Products early, waits late -------------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_SCHEDULE_ISSUEPRODUCTS_H
#define FLASHTILE_COMPILER_SCHEDULE_ISSUEPRODUCTS_H

#include "compiler/Schedule/DelayProducts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <string>

namespace flashtile::gpu {

/// Starts the products of a block as early as their operands allow, and waits
/// for each where its result is first used. The block is the body of `loop`, or
/// a side of a branch there; `handovers` may be of other loops, too.
/// `sharedLimit`: bytes of shared memory of a program. Why not, or nothing.
std::string issueProducts(mlir::scf::ForOp loop, mlir::Block &block,
                          mlir::ArrayRef<Handover> handovers,
                          int64_t sharedLimit);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_SCHEDULE_ISSUEPRODUCTS_H
