//===- ScalarOps.cpp - Scalars that stay as their operations are ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Numerics/ScalarOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

LogicalResult flashtile::numeric::copyScalarOp(OpBuilder &b, Operation *op,
                                               IRMapping &scalars) {
  if (op->getNumRegions() != 0 ||
      !isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return op->emitOpError("is not supported: kernels consist of operations of "
                           "tile, arith and math, scf.for, scf.while and "
                           "scf.if");
  b.clone(*op, scalars);
  return success();
}
