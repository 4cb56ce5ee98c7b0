//===- ProgramStack.h - What neighbouring programs have in common ---------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Analysis: could programs that follow each other along one axis of the grid be
// one program with more rows? It could where every value is the same in all of
// them, or a tile whose rows follow those of the program before: windows at
// `position * rows`, positions in the tensor, and all that is computed from
// them row by row.
//
// A row is only ever computed by the operations that its own program has, in
// their order, so that results do not change.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_SCHEDULE_PROGRAMSTACK_H
#define FLASHTILE_COMPILER_SCHEDULE_PROGRAMSTACK_H

#include "dialects/Tile/IR/TileDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <string>

namespace flashtile::gpu {

/// How a value changes from one program to the next.
struct ProgramValue {
  enum class Kind {
    Same,    ///< not at all
    Shifted, ///< integer scalar: by `rate`
    Rising,  ///< integer scalar: not downwards
    Differs, ///< i1 scalar: each program has its own, made of its position
    Any,     ///< i1 scalar: whether some element of the program's rows is true
    Stacked, ///< tile or window: its rows, along `dim`, come next
  };
  Kind kind = Kind::Same;
  unsigned dim = 0;
  /// Of integers, in the same row.
  int64_t rate = 0;
  /// Of integers: computed for all rows of several programs at once, the value
  /// lacks `excess` for each program before the row's own.
  int64_t excess = 0;
  /// Integers: it is at least `rate` times the position of the program.
  /// Windows: programs beyond the grid are out of bounds. Masks: false in
  /// those.
  bool isBounded = false;

  bool isSame() const { return kind == Kind::Same; }
  bool isStacked() const { return kind == Kind::Stacked; }
  bool operator==(const ProgramValue &other) const {
    return kind == other.kind && dim == other.dim && rate == other.rate &&
           excess == other.excess && isBounded == other.isBounded;
  }
};

class ProgramStack {
public:
  ProgramStack(tile::KernelOp kernel, tile::ProgramAxis axis)
      : kernel(kernel), axis(axis) {}

  /// False where some value is neither; then `culprit` and `whyNot` say which.
  bool run();

  ProgramValue of(mlir::Value value) const { return values.lookup(value); }

  mlir::Operation *culprit = nullptr;
  std::string whyNot;

private:
  bool fail(mlir::Operation *op, const llvm::Twine &reason);
  bool assign(mlir::Value value, const ProgramValue &found);
  std::optional<int64_t> excessOf(mlir::Value value, unsigned dim);
  bool isTheGrids(mlir::Value extent, int64_t rows);

  bool visit(mlir::Block &block);
  bool visit(mlir::Operation *op);
  bool visitScalar(mlir::Operation *op);
  bool visitElementwise(mlir::Operation *op);
  std::optional<ProgramValue> combine(mlir::Operation *op,
                                      llvm::ArrayRef<ProgramValue> operands);
  bool visitSplat(tile::SplatOp op);
  bool visitShape(mlir::Operation *op);
  bool visitReduction(mlir::Operation *op);
  bool visitDot(tile::DotOp op);
  bool visitWindow(tile::MakeBlockPtrOp op);
  bool visitAdvance(tile::AdvanceOp op);
  bool visitLoad(tile::LoadOp op);
  bool visitStore(tile::StoreOp op);
  bool visitFor(mlir::scf::ForOp op);
  bool visitIf(mlir::scf::IfOp op);
  bool visitSides(mlir::scf::IfOp op);
  bool join(mlir::Operation *op, mlir::Value one, mlir::Value other,
            mlir::Value target);
  std::string whyNotLonger(mlir::scf::ForOp loop);
  bool isMendedBehind(mlir::scf::ForOp loop);

  tile::KernelOp kernel;
  tile::ProgramAxis axis;
  llvm::DenseMap<mlir::Value, ProgramValue> values;
  bool changed = false;
  /// The last round, in which what loops carry is known.
  bool isStrict = false;
};

/// As reasons quote it.
std::string nameOf(mlir::Operation *op);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_SCHEDULE_PROGRAMSTACK_H
