//===- AskTiles.cpp - Questions about all elements of a tile --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToTileGPU/AskTiles.h"

#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::tile;

/// The reductions that end in `last`, which gives a scalar: the first one last.
/// What other operations use stays.
template <typename Reduction>
static SmallVector<Operation *> chainTo(Reduction last) {
  SmallVector<Operation *> chain = {last};
  for (auto before = last.getOperand().template getDefiningOp<Reduction>();
       before && before->hasOneUse();
       before = before.getOperand().template getDefiningOp<Reduction>())
    chain.push_back(before);
  return chain;
}

/// The negation of an i1 scalar or tile.
static Value negate(ImplicitLocOpBuilder &b, Value value) {
  if (auto negation = value.getDefiningOp<arith::XOrIOp>())
    if (matchPattern(negation.getRhs(), m_One()))
      return negation.getLhs();
  Attribute yes = b.getBoolAttr(true);
  if (auto tile = dyn_cast<ShapedType>(value.getType()))
    yes = DenseElementsAttr::get(tile, true);
  return arith::XOrIOp::create(
      b, value, arith::ConstantOp::create(b, cast<TypedAttr>(yes)));
}

void flashtile::gpu::askWholeTiles(KernelOp kernel) {
  SmallVector<SmallVector<Operation *>> chains;
  kernel.getBody().walk([&](Operation *op) {
    if (op->getNumResults() != 1 || !op->getResult(0).getType().isInteger(1))
      return;
    if (auto maximum = dyn_cast<MaxOp>(op))
      chains.push_back(chainTo(maximum));
    else if (auto minimum = dyn_cast<MinOp>(op))
      chains.push_back(chainTo(minimum));
  });
  for (ArrayRef<Operation *> chain : chains) {
    Operation *last = chain.front();
    bool asksForAll = isa<MinOp>(last);
    ImplicitLocOpBuilder b(last->getLoc(), last);
    Value tile = chain.back()->getOperand(0);
    if (asksForAll)
      tile = negate(b, tile);
    Value answer = tilegpu::AnyOp::create(b, b.getI1Type(), tile);
    if (asksForAll)
      answer = negate(b, answer);
    last->replaceAllUsesWith(ValueRange(answer));
    for (Operation *op : chain)
      op->erase();
  }
}
