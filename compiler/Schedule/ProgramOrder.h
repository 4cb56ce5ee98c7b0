//===- ProgramOrder.h - Which programs take long, and when they start -----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The time of a program is judged by how often its loops run. Nothing here is
// needed for right results: a wrong answer costs time only.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_SCHEDULE_PROGRAMORDER_H
#define FLASHTILE_COMPILER_SCHEDULE_PROGRAMORDER_H

#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <array>
#include <optional>

namespace flashtile::gpu {

/// How a number changes where another one grows.
enum class Trend { None, Grows, Shrinks, Unknown };

/// How often the loops of a kernel run, by where the program is in the grid.
struct ProgramCost {
  std::array<Trend, 3> axes = {Trend::None, Trend::None, Trend::None};
  /// By the number of the block, which an order of programs uses.
  Trend block = Trend::None;

  /// All programs run them equally often.
  bool isUniform() const;
  /// The only axis that matters, where programs become longer or shorter along
  /// it.
  std::optional<unsigned> slope() const;
};

ProgramCost costOfPrograms(tile::KernelOp kernel);

/// Places of programs in the order in which blocks take them.
struct ProgramOrder {
  /// Programs start along this axis last of all, from its end.
  unsigned axis = 0;
  bool fromEnd = false;
  /// Programs of a group: all along the axis, of so many positions along the
  /// other axes, which go side by side. 0: the grid's order, x fastest.
  int64_t group = 0;
};

/// The position in the grid (i32) of the program at `place` (i32) of the order.
std::array<mlir::Value, 3> positionOf(mlir::ImplicitLocOpBuilder &b,
                                      mlir::Value place,
                                      const ProgramOrder &order);

/// Computes all positions in the grid from the number of the block.
void placePrograms(tile::KernelOp kernel, const ProgramOrder &order);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_SCHEDULE_PROGRAMORDER_H
