//===- WidenDots.cpp - Products of formats without an instruction ---------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToTileGPU/WidenDots.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::tile;
using flashtile::tile::getElementType;

/// The operand in f16. Transposes stay outermost, where staging sees through
/// them.
static Value widened(OpBuilder &builder, Value operand) {
  auto type = cast<RankedTensorType>(operand.getType())
                  .cloneWith(std::nullopt, builder.getF16Type());
  if (auto trans = operand.getDefiningOp<TransOp>()) {
    Value inner = widened(builder, trans.getOperand());
    builder.setInsertionPointAfter(trans);
    return TransOp::create(builder, trans.getLoc(), type, inner,
                           trans.getOrderAttr());
  }
  builder.setInsertionPointAfterValue(operand);
  return CastOp::create(builder, operand.getLoc(), type, operand);
}

void flashtile::gpu::widenFp8Dots(KernelOp kernel) {
  OpBuilder builder(kernel.getContext());
  kernel.getBody().walk([&](DotOp dot) {
    Type element = getElementType(dot.getA().getType());
    if (!isa<FloatType>(element) || element.getIntOrFloatBitWidth() != 8)
      return;
    dot.getAMutable().assign(widened(builder, dot.getA()));
    dot.getBMutable().assign(widened(builder, dot.getB()));
  });
}
