//===- ScalarOps.h - Scalars that stay as their operations are ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_CONVERSION_NUMERICS_SCALAROPS_H
#define FLASHTILE_COMPILER_CONVERSION_NUMERICS_SCALAROPS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace flashtile::numeric {

/// Copies an operation of `arith` or `math` on scalars to where `b` is; its
/// results are in `scalars` then. An error for operations that no kernel
/// consists of, the same on every target.
mlir::LogicalResult copyScalarOp(mlir::OpBuilder &b, mlir::Operation *op,
                                 mlir::IRMapping &scalars);

} // namespace flashtile::numeric

#endif // FLASHTILE_COMPILER_CONVERSION_NUMERICS_SCALAROPS_H
