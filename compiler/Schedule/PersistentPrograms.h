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

#include <optional>
#include <string>

namespace flashtile::gpu {

/// Whether blocks take many programs each, and which.
enum class Persistence {
  Auto,    ///< as the kernel asks for
  Never,   ///< one program each
  Fixed,   ///< a share that the numbers of the blocks decide
  Counter, ///< the next one that nobody has, by a counter in memory
};

/// Of the text of an option: auto, off, static or dynamic; false and true are
/// off and static.
std::optional<Persistence> parsePersistence(llvm::StringRef text);

/// The programs of a block.
///
/// Fixed: one in each round. In the order of programs, a round takes the next
/// ones, as many as there are blocks; blocks share it by their numbers, in
/// every other round from the last to the first where `turns` is set. Then the
/// one that had the longest program gets the shortest.
///
/// By a counter: first that of the block's number, then those that one thread
/// of the producer takes from the counter and tells all others.
struct ProgramShare {
  bool counts = false, turns = false;
  /// Programs are few and long: who counts takes one when it has copied for the
  /// one before.
  bool areLong = false;
  mlir::Value block, blocks;
  mlir::Value rounds;   ///< of a fixed share
  mlir::Value programs; ///< of all blocks, where they count
  /// Numbers of programs, each with the program's position, on the way from the
  /// one who counts to the others, and who may read and write them.
  mlir::Value words, full, empty;
  /// What the kernel asks of the position of the block's first program (i32).
  mlir::SmallVector<mlir::Value> firstPosition;
};

/// Computed where `b` is; all threads of the block compute the same.
ProgramShare shareOfPrograms(mlir::ImplicitLocOpBuilder &b, bool turns);

/// The same with a counter. `readers` arrivals say that all have read a number;
/// `position` is of program `tilegpu.block_id`.
ProgramShare countPrograms(mlir::ImplicitLocOpBuilder &b, int64_t readers,
                           mlir::ValueRange position);

/// A role's loop over the programs of the block.
struct ProgramLoop {
  mlir::Operation *loop = nullptr; ///< null: there is one program
  mlir::Value round;               ///< programs that the block had before
  mlir::Value place;               ///< of the program, in the order
  /// What the kernel asks of that place, where programs are counted.
  mlir::SmallVector<mlir::Value> position;
  mlir::SmallVector<mlir::Value> carried;

  explicit operator bool() const { return loop != nullptr; }
};

/// What the kernel asks of a place, all i32.
using PositionFunction =
    llvm::function_ref<mlir::SmallVector<mlir::Value>(mlir::Value place)>;

/// Makes a loop that carries `inits` (i32); `b` is in it afterwards.
ProgramLoop openProgramLoop(mlir::ImplicitLocOpBuilder &b,
                            const ProgramShare &share, mlir::ValueRange inits);

/// Ends it; `b` is behind it afterwards. Where programs are counted, the role
/// with `positionOf` takes the next one and tells the others, who have none.
void closeProgramLoop(mlir::ImplicitLocOpBuilder &b, const ProgramShare &share,
                      const ProgramLoop &programs, mlir::ValueRange carried,
                      PositionFunction positionOf);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_SCHEDULE_PERSISTENTPROGRAMS_H
