//===- LoopCounter.cpp - Loops that end whatever their bounds -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Program/LoopCounter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace flashtile;

/// Whether end + step - 1 may not be a number of the counter's type.
static bool counterMayWrap(scf::ForOp loop) {
  auto type = dyn_cast<IntegerType>(loop.getStep().getType());
  if (!type || type.getWidth() >= 64)
    return false;
  APInt step, end;
  if (!matchPattern(loop.getStep(), m_ConstantInt(&step)))
    return true;
  if (!matchPattern(loop.getUpperBound(), m_ConstantInt(&end)))
    return !step.isOne();
  bool wraps = false;
  if (loop.getUnsignedCmp())
    (void)end.uadd_ov(step - 1, wraps);
  else
    (void)end.sadd_ov(step - 1, wraps);
  return wraps;
}

scf::ForOp flashtile::createLoopLike(ImplicitLocOpBuilder &b, scf::ForOp loop,
                                     LoopBounds bounds, ValueRange inits) {
  if (counterMayWrap(loop))
    for (Value *value : {&bounds.begin, &bounds.end, &bounds.step}) {
      if (loop.getUnsignedCmp())
        *value = arith::ExtUIOp::create(b, b.getI64Type(), *value);
      else
        *value = arith::ExtSIOp::create(b, b.getI64Type(), *value);
    }
  return scf::ForOp::create(b, bounds.begin, bounds.end, bounds.step, inits,
                            /*bodyBuilder=*/nullptr, loop.getUnsignedCmp());
}

Value flashtile::counterLike(ImplicitLocOpBuilder &b, scf::ForOp loop,
                             scf::ForOp created) {
  Value counter = created.getInductionVar();
  if (!counterMayWrap(loop))
    return counter;
  // In the body it is less than the upper bound, and so fits.
  auto fits = loop.getUnsignedCmp() ? arith::IntegerOverflowFlags::nuw
                                    : arith::IntegerOverflowFlags::nsw;
  return arith::TruncIOp::create(b, loop.getInductionVar().getType(), counter,
                                 fits);
}
