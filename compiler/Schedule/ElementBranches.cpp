//===- ElementBranches.cpp - Branches that elements of a tile decide ------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/ElementBranches.h"

#include "dialects/Tile/IR/TileDialect.h"
#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::tile;

/// Whether `tile` is false in all of a part where `condition` is.
static bool isImplied(Value tile, Value condition) {
  if (tile == condition)
    return true;
  Operation *op = tile.getDefiningOp();
  if (!op)
    return false;
  if (isa<arith::AndIOp>(op))
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return isImplied(operand, condition);
    });
  return isa<BroadcastOp, ExpandDimsOp, MaxOp, tilegpu::ConvertLayoutOp>(op) &&
         isImplied(op->getOperand(0), condition);
}

/// Whether `changed` is `kept` in parts where `condition` is false.
static bool keeps(Value changed, Value kept, Value condition) {
  if (changed == kept)
    return true;
  if (auto select = changed.getDefiningOp<arith::SelectOp>())
    return isImplied(select.getCondition(), condition) &&
           keeps(select.getFalseValue(), kept, condition);
  auto loop = changed.getDefiningOp<scf::ForOp>();
  if (!loop)
    return false;
  unsigned index = cast<OpResult>(changed).getResultNumber();
  return keeps(loop.getInitArgs()[index], kept, condition) &&
         keeps(loop.getYieldedValues()[index], loop.getRegionIterArg(index),
               condition);
}

bool flashtile::gpu::keepsOthers(scf::IfOp branch, Value condition) {
  return branch.getNumResults() > 0 && !branch.getElseRegion().empty() &&
         llvm::all_of(llvm::zip(branch.thenYield().getResults(),
                                branch.elseYield().getResults()),
                      [&](auto sides) {
                        return keeps(std::get<0>(sides), std::get<1>(sides),
                                     condition);
                      });
}
