//===- LoopCounter.h - Loops that end whatever their bounds ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// scf.for adds its step once more before it compares. Where that passes the
// largest number of the counter's type, the counter starts anew and the loop
// goes on. Targets create their loops here: they count in i64 where needed.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_ANALYSIS_PROGRAM_LOOPCOUNTER_H
#define FLASHTILE_COMPILER_ANALYSIS_PROGRAM_LOOPCOUNTER_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace flashtile {

/// What a target computes for the bounds and the step of a loop.
struct LoopBounds {
  mlir::Value begin, end, step;
};

/// A loop over the counters of `loop`, by its comparison, with `bounds` in its
/// place and `inits` carried. Its body is empty.
mlir::scf::ForOp createLoopLike(mlir::ImplicitLocOpBuilder &b,
                                mlir::scf::ForOp loop, LoopBounds bounds,
                                mlir::ValueRange inits);

/// The counter of `created`, which createLoopLike made, in the type that `loop`
/// counts in. `b` is in the body.
mlir::Value counterLike(mlir::ImplicitLocOpBuilder &b, mlir::scf::ForOp loop,
                        mlir::scf::ForOp created);

} // namespace flashtile

#endif // FLASHTILE_COMPILER_ANALYSIS_PROGRAM_LOOPCOUNTER_H
