//===- PersistentPrograms.h - Blocks that take many programs --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_SCHEDULE_PERSISTENTPROGRAMS_H
#define FLASHTILE_COMPILER_SCHEDULE_PERSISTENTPROGRAMS_H

#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace flashtile::gpu {

/// The programs of a block: one in each round. In the order of programs, a
/// round takes the next ones, as many as there are blocks; blocks share it by
/// their numbers, in every other round from the last to the first where `turns`
/// is set. Then the one that had the longest program gets the shortest.
struct ProgramShare {
  mlir::Value block, blocks, rounds;
  bool turns = false;
};

/// Computed where `b` is; all threads of the block compute the same.
ProgramShare shareOfPrograms(mlir::ImplicitLocOpBuilder &b, bool turns);

/// A loop over the programs of the block, which carries `inits` (i32); `b` is
/// in it afterwards, and `place` becomes the program's place in the order.
mlir::scf::ForOp createProgramLoop(mlir::ImplicitLocOpBuilder &b,
                                   const ProgramShare &share,
                                   mlir::ValueRange inits, mlir::Value &place);

/// Bytes of shared memory, at most, that the kernel's operations use beside
/// rings: staged tiles that are not in `rings`, and scratch space.
int64_t bytesBesideRings(tile::KernelOp kernel,
                         llvm::function_ref<bool(tilegpu::StageOp)> isInRing);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_SCHEDULE_PERSISTENTPROGRAMS_H
