//===- F64Functions.h - Functions of f64 as arithmetic --------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For targets without a library of mathematical functions. Results are within
// a few units in the last place, but for powf (|y log x| units) and for sines,
// cosines and tangents of numbers beyond 2^50. Narrower types compute in f64
// and round once.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_CONVERSION_NUMERICS_F64FUNCTIONS_H
#define FLASHTILE_COMPILER_CONVERSION_NUMERICS_F64FUNCTIONS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace flashtile::numeric {

/// The function that math calls `name` ("exp", "atan2", ..., and "remf") of f64
/// scalars; null where this file does not know it.
mlir::Value emitF64Function(mlir::ImplicitLocOpBuilder &b, llvm::StringRef name,
                            mlir::ValueRange operands);

/// Whether there is such a function.
bool isF64Function(llvm::StringRef name);

} // namespace flashtile::numeric

#endif // FLASHTILE_COMPILER_CONVERSION_NUMERICS_F64FUNCTIONS_H
