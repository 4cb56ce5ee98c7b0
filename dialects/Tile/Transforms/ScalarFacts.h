//===- ScalarFacts.h - What is known of a scalar --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts that follow from constants, `tile.assume` and arithmetic on them.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILE_TRANSFORMS_SCALARFACTS_H
#define FLASHTILE_DIALECTS_TILE_TRANSFORMS_SCALARFACTS_H

#include "mlir/IR/Value.h"

#include "llvm/ADT/APFloat.h"

#include <optional>

namespace flashtile::tile {

/// A scalar or uniform tile of floats that is a constant.
std::optional<llvm::APFloat> getConstantFloat(mlir::Value value);

/// A scalar or uniform tile of integers that is a constant of at most 64 bits.
std::optional<int64_t> getConstantInt(mlir::Value value);

/// Whether `value` (scalar or uniform tile of floats) is positive, not NaN and
/// not subnormal, so that it stays positive where subnormals are flushed.
bool isPositiveNormal(mlir::Value value);

/// Whether the integer scalar `value` is at least 0 as a signed number.
bool isNonNegative(mlir::Value value);

/// Whether the integer scalar `value` is a multiple of `divisor`, which is at
/// least 1.
bool isMultipleOf(mlir::Value value, int64_t divisor);

} // namespace flashtile::tile

#endif // FLASHTILE_DIALECTS_TILE_TRANSFORMS_SCALARFACTS_H
