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

using StaysInPart = llvm::function_ref<bool(Operation *)>;

/// Whether `tile` is false in all of a part where `condition` is.
static bool isImplied(Value tile, Value condition, StaysInPart staysInPart) {
  if (tile == condition)
    return true;
  Operation *op = tile.getDefiningOp();
  if (!op)
    return false;
  if (isa<arith::AndIOp>(op))
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return isImplied(operand, condition, staysInPart);
    });
  return isa<BroadcastOp, ExpandDimsOp, MaxOp, tilegpu::ConvertLayoutOp>(op) &&
         (!staysInPart || staysInPart(op)) &&
         isImplied(op->getOperand(0), condition, staysInPart);
}

/// Whether `changed` is `kept` in parts where `condition` is false.
static bool keeps(Value changed, Value kept, Value condition,
                  StaysInPart staysInPart) {
  if (changed == kept)
    return true;
  if (auto select = changed.getDefiningOp<arith::SelectOp>())
    return isImplied(select.getCondition(), condition, staysInPart) &&
           keeps(select.getFalseValue(), kept, condition, staysInPart);
  auto loop = changed.getDefiningOp<scf::ForOp>();
  if (!loop)
    return false;
  unsigned index = cast<OpResult>(changed).getResultNumber();
  return keeps(loop.getInitArgs()[index], kept, condition, staysInPart) &&
         keeps(loop.getYieldedValues()[index], loop.getRegionIterArg(index),
               condition, staysInPart);
}

bool flashtile::gpu::keepsOthers(scf::IfOp branch, Value condition,
                                 StaysInPart staysInPart) {
  return branch.getNumResults() > 0 && !branch.getElseRegion().empty() &&
         llvm::all_of(llvm::zip(branch.thenYield().getResults(),
                                branch.elseYield().getResults()),
                      [&](auto sides) {
                        return keeps(std::get<0>(sides), std::get<1>(sides),
                                     condition, staysInPart);
                      });
}
